//! Tiers: clusters that are served one group after the other.
//!
//! Two kinds. *Overflow* affinities of the placement: a tier is given what the tiers before it could not hold. Cluster
//! *priorities*: the same with the last result in mind, so that growth goes to the best tier and shrinkage drains the
//! worst. Where a policy has both, overflow comes first and priorities count inside each overflow tier. Select sees both
//! as one rank, the best being 0.

use divvy_framework_driver::cycle as driver;

use super::run::{Cycle, CycleInput};

/// Tiers of the candidates, and memory for working them out.
#[derive(Debug, Default)]
pub(super) struct Tiers {
    /// Per feasible cluster: which overflow affinity it matches first. Empty without overflow.
    pub(super) overflow: Vec<u32>,
    /// Distinct pairs of overflow tier and priority, the best first: what a rank stands for.
    pub(super) ranks: Vec<(u32, std::cmp::Reverse<i64>)>,
}

impl Cycle {
    /// The rank of each feasible cluster's tier, if the binding has tiers.
    pub(super) fn tier_of_feasible(&mut self, input: &CycleInput<'_>) {
        let group = input.group;
        let rows = &self.feasible.rows;
        let ranks_of = &mut self.feasible.tiers;
        ranks_of.clear();
        self.tiers.overflow.clear();
        if !group.overflows && !group.record.has_priorities() {
            return;
        }
        let snapshot = input.fleet.snapshot();
        if group.overflows {
            driver::first_affinities(snapshot, &group.record, rows, &mut self.tiers.overflow);
        }
        if group.record.has_priorities() {
            driver::priorities(snapshot, &group.record, &mut self.priorities, &mut self.row_buffer);
        } else {
            self.priorities.clear();
        }
        let overflow = &self.tiers.overflow;
        let priorities = &self.priorities;
        let pair = |place: usize| {
            let tier = overflow.get(place).copied().unwrap_or(0);
            let priority = priorities.get(rows[place] as usize).copied().unwrap_or(0);
            (tier, std::cmp::Reverse(priority))
        };
        let ranks = &mut self.tiers.ranks;
        ranks.clear();
        ranks.extend((0..rows.len()).map(pair));
        ranks.sort_unstable();
        ranks.dedup();
        // Every pair is in the list; the place where it would be inserted is the same as where it is.
        ranks_of.extend(
            (0..rows.len()).map(|place| ranks.binary_search(&pair(place)).unwrap_or_else(|place| place) as u32),
        );
    }
}
