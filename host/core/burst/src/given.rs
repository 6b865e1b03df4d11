//! The room that a plan gives a binding.

use std::collections::BTreeMap;

use divvy_scheduler::decision::Estimates;
use divvy_scheduler::fleet::FleetSnapshot;
use divvy_scheduler::fleet::estimate::Demand;

/// Replicas by cluster for which a plan gives a binding room, beyond those that it has. All other clusters have none for it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GivenRoom(BTreeMap<String, i64>);

impl GivenRoom {
    /// Room given by row.
    pub(crate) fn new(rows: &[(u32, u64)], fleet: &FleetSnapshot) -> Self {
        let given = rows.iter().map(|(row, replicas)| {
            (
                fleet.name(*row).to_owned(),
                i64::try_from(*replicas).unwrap_or(i64::MAX),
            )
        });
        Self(given.collect())
    }
}

impl Estimates for GivenRoom {
    fn fits(&self, cluster: &str, _: &Demand) -> Option<i64> {
        Some(self.0.get(cluster).copied().unwrap_or(0))
    }
}
