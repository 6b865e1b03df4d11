//! The clusters of a result, each as its row in the snapshot: a duplicated workload has thousands, and their names would be the largest
//! part of a report.

use divvy_scheduler::decision::{Decision, Outcome, TargetFigures};
use divvy_scheduler::fleet::FleetSnapshot;

/// A cluster of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Target {
    /// Row of the cluster in the snapshot.
    pub(crate) row: u32,
    /// Replicas in the result.
    pub(crate) replicas: i64,
    /// Score and capacity from the cycle.
    pub(crate) figures: TargetFigures,
}

/// Takes the clusters out of a decision against this snapshot, sorted by name. A binding that was not scheduled has none.
pub(crate) fn take(decision: &mut Decision, fleet: &FleetSnapshot) -> Box<[Target]> {
    let figures = std::mem::take(&mut decision.figures);
    let Outcome::Scheduled(named) = &mut decision.outcome else {
        return Box::default();
    };
    let clusters = fleet.snapshot().clusters();
    let targets = std::mem::take(named).into_iter().enumerate();
    // Every cluster of a result is in the snapshot.
    let targets = targets.filter_map(|(index, (name, replicas))| {
        Some(Target {
            row: u32::try_from(clusters.row(&name)?.index()).ok()?,
            replicas,
            figures: figures[index],
        })
    });
    targets.collect()
}
