//! The fleet that decisions read, and its snapshot.

use divvy_karmada::api::Cluster;
use divvy_scheduler::fleet::{Fleet, FleetSnapshot};

/// The fleet, with a snapshot that lasts until a cluster changes.
pub(super) struct SharedFleet {
    fleet: Fleet,
    snapshot: Option<FleetSnapshot>,
    /// Changes of the set of clusters.
    sets: u64,
    /// Changes of any cluster.
    changes: u64,
}

impl SharedFleet {
    pub(super) fn new(fleet: Fleet) -> Self {
        Self {
            fleet,
            snapshot: None,
            sets: 0,
            changes: 0,
        }
    }

    /// The snapshot, and the number of the set of its clusters.
    pub(super) fn snapshot(&mut self) -> (FleetSnapshot, u64) {
        let snapshot = self.snapshot.get_or_insert_with(|| self.fleet.snapshot());
        (snapshot.clone(), self.sets)
    }

    /// Number of changes of clusters so far. What was decided by another number may be decided otherwise now.
    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    /// Takes in a version of a cluster.
    pub(super) fn upsert(&mut self, cluster: &Cluster, is_new: bool) {
        // The snapshot must be gone before the fleet changes, or the fleet would be copied.
        self.snapshot = None;
        self.fleet.upsert(cluster);
        self.sets += u64::from(is_new);
        self.changes += 1;
    }

    /// Removes a cluster.
    pub(super) fn remove(&mut self, name: &str) {
        self.snapshot = None;
        self.fleet.remove(name);
        self.sets += 1;
        self.changes += 1;
    }

    /// True if clusters are kept as the API server has them.
    pub(super) fn keeps_raw(&self) -> bool {
        self.fleet.keeps_raw()
    }

    /// From the next version of each on, keeps clusters as the API server has them, or does not.
    pub(super) fn keep_raw(&mut self, keeps: bool) {
        self.fleet.keep_raw(keeps);
    }
}
