//! The Select plugin `spread-constraints`: the candidates that the spread constraints of the placement allow.
//!
//! This file joins the SDK to the rule. [`constraints`] says what a placement asks for, [`spread_constraints`] which
//! selector answers: [`by_cluster`](mod@by_cluster) and [`by_group`](mod@by_group) as Karmada does,
//! [`by_several`](mod@by_several) beyond it. All of them start from the [`order`] of the clusters.

#![forbid(unsafe_code)]

mod by_cluster;
mod by_group;
mod by_several;
mod constraints;
mod group_search;
mod grouping;
mod kinds;
mod order;
mod refusal;
mod spread_constraints;
#[cfg(test)]
mod tests;

use divvy_framework::prelude::*;
use divvy_framework::reuse::with_scratch;

use by_cluster::Exchange;
use constraints::{AbsentMaximum, Column, Limits, Plan, Property};
use order::Columns;
use refusal::Refusal;
use spread_constraints::{Feasible, Scratch};

/// Picks the candidates that the spread constraints allow.
struct SpreadConstraints {
    absent_maximum: AbsentMaximum,
}

/// What a profile can configure.
#[derive(Debug, Default, Configuration)]
#[serde(default)]
struct SpreadConstraintsConfiguration {
    /// What a maximum means that a policy does not state: no limit, or zero as Karmada's scheduler reads it.
    absent_maximum: AbsentMaximum,
}

impl Plugin for SpreadConstraints {
    const NAME: &'static str = "spread-constraints";
    const DESCRIPTION: &'static str = "picks the candidates that the spread constraints allow";
    type Configuration = SpreadConstraintsConfiguration;
    type Preferences = NoPreferences;
    // The plan is made in the call, of which there is one a binding: handed over, it would be allocated.
    type Prepared = ();

    fn new(configuration: SpreadConstraintsConfiguration) -> Result<Self, Box<dyn std::error::Error>> {
        Ok(Self {
            absent_maximum: configuration.absent_maximum,
        })
    }

    fn prepare(&self, _: &PrepareContext<'_, Self>) -> Result<(), Failure> {
        Ok(())
    }
}

impl SpreadConstraints {
    /// What the placement asks for.
    fn plan(&self, context: &SelectContext<'_, Self>) -> Plan {
        let binding = context.binding();
        if !binding.ignores_spread_constraints() {
            return Plan::of(binding.spread_constraints(), &context.clusters(), self.absent_maximum);
        }
        if binding.spread_constraints().next().is_some() {
            context.note(|| "the strategy leaves the spread constraints out of account".to_owned());
        }
        Plan::All
    }
}

impl SelectPlugin for SpreadConstraints {
    fn select(&self, context: &SelectContext<'_, Self>, result: &mut SelectResult<'_>) -> Result<(), Failure> {
        let binding = context.binding();
        let feasible = Feasible {
            columns: Columns {
                tiers: context.tiers(),
                scores: context.scores(),
                available: context.available(),
            },
            duplicated: binding.is_duplicated(),
            replicas: binding.replicas(),
            needed: context.needed(),
            // Several affinities in force are an affinity and those that it overflows to: tiers that Karmada made.
            exchange: match binding.affinities().nth(1) {
                Some(_) => Exchange::AcrossTiers,
                None => Exchange::WithinTier,
            },
            symbols: context.clusters().symbol_count(),
        };
        let plan = self.plan(context);
        let choose = |place: u32| result.choose(place as usize);
        with_scratch(|scratch: &mut Scratch| match &plan {
            Plan::All => {
                scratch.all(&feasible, choose);
                Ok(())
            }
            Plan::Clusters(limits) => scratch.by_cluster(&feasible, *limits, choose),
            Plan::Groups {
                property,
                groups,
                clusters,
            } => by_group(context, scratch, &feasible, (property, *groups), *clusters, choose),
            Plan::Several { properties, clusters } => {
                by_several(context, scratch, &feasible, properties, *clusters, choose)
            }
        })?;
        Ok(())
    }
}

/// Hands the values of one property to the rule.
fn by_group(
    context: &SelectContext<'_, SpreadConstraints>,
    scratch: &mut Scratch,
    feasible: &Feasible<'_>,
    (property, limits): (&Property, Limits),
    cluster_limits: Limits,
    choose: impl FnMut(u32),
) -> Result<(), Refusal> {
    let clusters = context.clusters();
    let column = property.column(&clusters);
    let rows = context.rows();
    scratch.by_group(
        feasible,
        (property.name(), limits),
        cluster_limits,
        |place| column.value(row_at(rows, place)),
        |value| clusters.text(value),
        choose,
    )
}

/// Hands the values of zones or several properties to the rule.
fn by_several(
    context: &SelectContext<'_, SpreadConstraints>,
    scratch: &mut Scratch,
    feasible: &Feasible<'_>,
    properties: &[(Property, Limits)],
    cluster_limits: Limits,
    choose: impl FnMut(u32),
) -> Result<(), Refusal> {
    let clusters = context.clusters();
    let rows = context.rows();
    let named: Vec<(&str, Limits)> = properties
        .iter()
        .map(|(property, limits)| (property.name(), *limits))
        .collect();
    let columns: Vec<Column<'_>> = properties
        .iter()
        .map(|(property, _)| property.column(&clusters))
        .collect();
    scratch.by_several(
        feasible,
        &named,
        cluster_limits,
        |property, place, values| columns[property].collect(row_at(rows, place), values),
        choose,
    )
}

/// The row of the feasible cluster at a place; one past the end of the snapshot if there is none.
fn row_at(rows: &[u32], place: u32) -> u32 {
    rows.get(place as usize).copied().unwrap_or(u32::MAX)
}

divvy_framework::export_plugin!(SpreadConstraints: Select);
