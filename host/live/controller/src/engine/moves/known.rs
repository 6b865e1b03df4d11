//! A move as it was seen last: its claim, and what it waits for.

use std::time::Instant;

use divvy_scheduler::moves::budgets::{Applicant, ClaimedCluster};
use divvy_scheduler::moves::claim::Claim;
use divvy_scheduler::moves::step::Reason as Wait;

/// A move that is under way or waits, as it was seen last.
#[derive(Debug, Clone)]
pub(in crate::engine) struct Known {
    /// Its key, as budgets order it.
    pub(super) text: String,
    /// Priority of the binding.
    pub(super) priority: i32,
    /// What it uses of the budgets, and what may end its wait.
    pub(super) claim: Claim,
    /// What it waits for, and since when in this process.
    pub(super) wait: Option<(Wait, Instant)>,
}

impl Known {
    /// True if a report may permit the next step.
    pub(super) fn follows_reports(&self) -> bool {
        let is_elsewhere = |wait: &Wait| {
            matches!(
                wait,
                Wait::Hours | Wait::Dispatching | Wait::Budget(_) | Wait::Admission | Wait::MissingClusters
            )
        };
        self.claim.has_mark || !self.wait.as_ref().is_some_and(|(wait, _)| is_elsewhere(wait))
    }

    /// True if the move is known to use any budget.
    pub(super) fn has_given(&self) -> bool {
        self.claim.has_given()
    }

    /// True if the move depends on a cluster.
    pub(super) fn depends_on(&self, cluster: &str) -> bool {
        self.cluster_names().any(|known| known == cluster)
    }

    /// Names of the clusters that the move depends on.
    pub(in crate::engine) fn cluster_names(&self) -> impl Iterator<Item = &str> {
        self.claim.names.iter().map(String::as_str)
    }

    /// The move as it asks for admission, with the clusters of its claim.
    pub(super) fn applicant<'a>(&'a self, clusters: &'a [ClaimedCluster<'a>]) -> Applicant<'a> {
        self.claim.applicant(&self.text, self.priority, clusters)
    }

    /// This move with what it is seen to use now.
    pub(super) fn using(&self, seen: Claim) -> Self {
        Self {
            text: self.text.clone(),
            priority: self.priority,
            claim: self.claim.using(seen),
            wait: self.wait.clone(),
        }
    }

    /// True if this uses less of any budget than `before`, or leaves a turn to others.
    pub(super) fn frees(&self, before: &Self) -> bool {
        self.priority < before.priority || self.claim.frees(&before.claim)
    }

    /// True if it waits for a place among the moves under way.
    pub(super) fn waits_for_place(&self) -> bool {
        let is_for_place = |(wait, _): &(Wait, Instant)| matches!(wait, Wait::Budget(_) | Wait::Admission);
        self.claim.wants.is_empty() && self.wait.as_ref().is_some_and(is_for_place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_move_of_a_lower_priority_leaves_its_turn_to_others() {
        let known = |priority| Known {
            text: "default/web".to_owned(),
            priority,
            claim: Claim {
                is_under_way: true,
                is_blocked: false,
                lacks_room: false,
                wants: Vec::new(),
                has_mark: true,
                target: Vec::new(),
                clusters: Vec::new(),
                names: Vec::new(),
            },
            wait: None,
        };
        assert!(known(2).frees(&known(3)));
        assert!(!known(3).frees(&known(3)) && !known(4).frees(&known(3)));
    }
}
