//! Tree as a plugin. [`tree`] checks the preferences, [`fleet`] finds the clusters of each node, and
//! [`division`] divides.
//!
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod content;
pub mod division;
mod explanation;
pub mod fleet;
mod kept;
mod locations;
pub mod preferences;
mod refusal;
pub mod selection;
pub mod tree;

use std::sync::Arc;

use divvy_framework::division::Rounding;
use divvy_framework::prelude::*;

use division::{Members, divide};
use kept::Kept;
use locations::Locations;
use preferences::TreePreferences;

/// The strategy, which has no configuration.
#[derive(Default)]
struct Tree;

/// Buffers reused between calls.
#[derive(Debug, Default)]
struct Buffers {
    leaf_of: Vec<u32>,
    weights: Vec<i64>,
    division: division::Memory,
}

impl Plugin for Tree {
    const NAME: &'static str = "tree";
    const DESCRIPTION: &'static str = "divides over a tree of clusters: weights, counts and bounds at any depth";
}

/// The plan, which depends on the binding alone.
impl BindingValuePlugin for Tree {
    type BindingValue = Kept;

    fn binding_value(&self, context: &BindingValueContext<'_, Self>) -> Result<Kept, Failure> {
        let preferences = context.preferences::<TreePreferences>()?;
        let absent = TreePreferences::default();
        Ok(Kept::new(tree::nodes(preferences.unwrap_or(&absent))?))
    }
}

impl SnapshotValuePlugin for Tree {
    type SnapshotValue = Arc<Locations>;
    const READS: ClusterColumns = ClusterColumns::NONE.location();

    fn snapshot_value(
        &self,
        context: &SnapshotValueContext<'_>,
        previous: Option<&Arc<Locations>>,
    ) -> Result<Arc<Locations>, Failure> {
        Ok(Locations::shared(&context.clusters(), previous))
    }
}

/// Rejects no cluster. The host propagates a binding with several components whole, without calling its strategy, so
/// only a filter can report that a tree cannot divide it.
impl FilterPlugin<TreePreferences> for Tree {
    const PROMISES: Promises = Promises::NONE.each_alone();
    /// The host calls a filter for each binding with preferences for it, which is all that this one needs. Of the parts
    /// that a filter must name in addition, this one is the rarest of those that the host always knows.
    const ACTS_ON: BindingParts = BindingParts::EVICTIONS;

    fn filter(
        &self,
        context: &FilterContext<'_, Self, TreePreferences>,
        _: &mut FilterResult<'_>,
    ) -> Result<(), Failure> {
        match <Self as AssignPlugin<TreePreferences>>::STRATEGIES.contains(&context.binding().strategy()) {
            true => refusal::check_components(&context.binding()),
            false => Ok(()),
        }
    }
}

impl AssignPlugin<TreePreferences> for Tree {
    const STRATEGIES: &'static [&'static str] = &["Tree"];
    const PROMISES: Promises = Promises::NONE.respects_capacity().order_independent().inert();
    /// The tree takes the place of tiers.
    const NEEDS: Needs = Needs::NONE.own_tiers().no_priorities();

    fn assign(
        &self,
        context: &AssignContext<'_, Self, TreePreferences>,
        result: &mut AssignResult<'_>,
    ) -> Result<(), Failure> {
        let kept = context.binding_value()?;
        let fleet = kept.fleet(context.snapshot_value()?, &context.clusters(), context.seed())?;
        let (request, ties, out) = (context.division_request(), context.ties(), result.replicas());
        // A workload that is scaled to zero stops, whatever the bounds.
        if request.replicas == 0 {
            out.fill(0);
            return Ok(());
        }
        with_scratch(|buffers: &mut Buffers| {
            let Buffers {
                leaf_of,
                weights,
                division,
            } = buffers;
            let none = fleet.names.len() as u32;
            let of_row = |row: &Row| fleet.leaf_of_row.get(row.index()).copied().unwrap_or(none);
            let rows = context.rows().as_slice();
            leaf_of.clear();
            leaf_of.extend(rows.iter().map(of_row));
            weights.clear();
            if !fleet.weight_of_row.is_empty() {
                let of_row = |row: &Row| fleet.weight_of_row.get(row.index()).copied().unwrap_or(0);
                weights.extend(rows.iter().map(of_row));
            }
            let members = Members { leaf_of, weights };
            divide(&request, &fleet.tree, members, Rounding::default(), ties, out, division)
                .map_err(|error| refusal::failure(error, context, &fleet, members))?;
            if context.wants_explanation() {
                explanation::explain(context, &fleet, members, out, division);
            }
            Ok(())
        })
    }
}

divvy_framework::export_plugin!(Tree: Filter, Assign, BindingValue, SnapshotValue);

#[cfg(test)]
mod tests;
