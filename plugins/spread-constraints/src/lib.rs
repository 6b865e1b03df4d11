//! The Select plugin `spread-constraints`: picks the candidates that the spread constraints of the placement allow.
//!
//! This file connects the SDK to the rule. [`constraints`] converts a placement to a plan, and [`spread_constraints`]
//! passes it to a selector: [`by_cluster`](mod@by_cluster) and [`by_group`](mod@by_group) follow Karmada, and
//! [`by_several`](mod@by_several) goes beyond it. All selectors start from the [`order`] of the clusters.

#![forbid(unsafe_code)]

mod by_cluster;
mod by_group;
mod by_several;
mod constraints;
mod explanation;
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
use constraints::{AbsentMaximum, Column, Limits, Plan, Property, SpreadBy};
use order::Columns;
use refusal::Refusal;
use spread_constraints::{Feasible, Scratch};

/// Picks the candidates that the spread constraints allow.
struct SpreadConstraints {
    configuration: SpreadConstraintsConfiguration,
}

/// Configuration of the plugin in a profile.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Configuration)]
#[serde(default)]
struct SpreadConstraintsConfiguration {
    /// Meaning of a maximum that the policy omits: no limit, or zero as in Karmada's scheduler.
    absent_maximum: AbsentMaximum,
    /// Fields by which constraints may group clusters: all, or only those of Karmada's scheduler.
    spread_by: SpreadBy,
}

impl Plugin for SpreadConstraints {
    const NAME: &'static str = "spread-constraints";
    const DESCRIPTION: &'static str = "picks the candidates that the spread constraints allow";
}

impl ConfiguredPlugin for SpreadConstraints {
    type Configuration = SpreadConstraintsConfiguration;

    fn new(configuration: SpreadConstraintsConfiguration) -> Result<Self, Box<dyn std::error::Error>> {
        Ok(Self { configuration })
    }
}

impl SpreadConstraints {
    /// Returns the plan for the placement. Strategies that ignore spread constraints get every feasible cluster.
    fn plan(&self, context: &SelectContext<'_, Self>) -> Result<Plan, Failure> {
        let binding = context.binding();
        if !binding.ignores_spread_constraints() {
            let SpreadConstraintsConfiguration {
                absent_maximum,
                spread_by,
            } = self.configuration;
            return Plan::new(
                binding.spread_constraints(),
                &context.clusters(),
                absent_maximum,
                spread_by,
            );
        }
        if binding.spread_constraints().next().is_some() {
            context.note(|| "the strategy ignores spread constraints".to_owned());
        }
        Ok(Plan::All)
    }
}

impl SelectPlugin for SpreadConstraints {
    const PROMISES: Promises = Promises::NONE.enforces_spread_constraints().each_alone();

    fn select(&self, context: &SelectContext<'_, Self>, result: &mut SelectResult<'_>) -> Result<(), Failure> {
        let binding = context.binding();
        let feasible = Feasible {
            columns: Columns {
                tiers: context.tiers().as_slice(),
                scores: context.scores().as_slice(),
                available: context.capacity().as_slice(),
            },
            duplicated: binding.is_duplicated(),
            replicas: binding.replicas(),
            needed: context.needed(),
            // Several affinities in force are an affinity and its overflow affinities, whose tiers follow Karmada's
            // rule.
            exchange: match binding.affinities().nth(1) {
                Some(_) => Exchange::AcrossTiers,
                None => Exchange::WithinTier,
            },
            symbols: context.clusters().symbol_count(),
        };
        let plan = self.plan(context)?;
        let choose = |index| result.choose(candidate(index));
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
        if context.wants_explanation() {
            explanation::explain(context, &plan, result);
        }
        Ok(())
    }
}

/// Passes the values of one property to the rule.
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
        |index| column.value(rows.get(candidate(index))?),
        |left, right| clusters.compare_texts(left, right),
        choose,
    )
}

/// Passes the values of zones or several properties to the rule.
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
        |property, index, values| columns[property].collect(rows[candidate(index)], values),
        choose,
    )
}

/// The feasible cluster with this index, as the selectors use it.
fn candidate(index: u32) -> Candidate {
    Candidate::from_index(index as usize)
}

divvy_framework::export_plugin!(SpreadConstraints: Select);
