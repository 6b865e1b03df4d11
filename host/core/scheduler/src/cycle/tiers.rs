//! Tiers: groups of clusters that are filled one after another.
//!
//! There are two kinds. With *overflow* affinities in the placement, each tier gets what the tiers before it could not
//! hold. Cluster *priorities* work the same way but take the last result into account: growth goes to the best tier,
//! and shrinkage drains the worst. If a policy has both, priorities apply within each overflow tier. Select sees both
//! as a single rank, 0 being the best.

use divvy_framework_calls::cycle as calls;

use super::run::{Cycle, CycleInput};

/// Tiers of the feasible clusters, in memory that is reused from cycle to cycle.
#[derive(Debug, Default)]
pub(super) struct Tiers {
    /// Index of the first overflow affinity that each feasible cluster matches. Empty without overflow.
    pub(super) overflow: Vec<u32>,
    /// Distinct pairs of overflow tier and priority, the best first. A rank is an index into this list.
    pub(super) ranks: Vec<(u32, std::cmp::Reverse<i64>)>,
}

impl Cycle {
    /// Computes the rank of each feasible cluster's tier, if the binding has tiers.
    pub(super) fn tier_of_feasible(&mut self, input: &CycleInput<'_>) {
        let group = input.group;
        let rows = &self.feasible.rows;
        let ranks_of = &mut self.feasible.tiers;
        ranks_of.clear();
        self.tiers.overflow.clear();
        if !group.has_tiers() {
            return;
        }
        let snapshot = input.fleet.snapshot();
        if group.overflows {
            calls::first_affinities(snapshot, &group.record, rows, &mut self.tiers.overflow);
        }
        if group.record.has_priorities() {
            calls::priorities(snapshot, &group.record, &mut self.priorities, &mut self.priority_rows);
        } else {
            self.priorities.clear();
        }
        let overflow = &self.tiers.overflow;
        let priorities = &self.priorities;
        let pair = |index: usize| {
            let tier = overflow.get(index).copied().unwrap_or(0);
            let priority = priorities.get(rows[index] as usize).copied().unwrap_or(0);
            (tier, std::cmp::Reverse(priority))
        };
        let ranks = &mut self.tiers.ranks;
        ranks.clear();
        ranks.extend((0..rows.len()).map(pair));
        // Clusters with equal pairs share a rank, and ranks have no gaps.
        ranks.sort_unstable();
        ranks.dedup();
        // Every pair is in the list, so the search cannot fail.
        ranks_of.extend(
            (0..rows.len()).map(|index| ranks.binary_search(&pair(index)).unwrap_or_else(|index| index) as u32),
        );
    }
}
