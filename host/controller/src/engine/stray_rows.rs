//! Rows of a profile's tables for clusters that do not exist. Offline, they are an error. Here, clusters come and go, so a
//! row may exist before its cluster or outlive it, and a warning names each such row once.

use std::collections::BTreeSet;

use divvy_scheduler::fleet::FleetSnapshot;
use divvy_scheduler::profile::Profile;

/// Rows that were reported so far.
#[derive(Debug, Default)]
pub(super) struct StrayRows {
    /// The tables' versions and the set of clusters that were compared last.
    compared: Option<(u64, u64)>,
    /// The messages for these tables.
    reported: BTreeSet<String>,
}

impl StrayRows {
    /// Logs rows for clusters that a snapshot lacks and that were not logged before. It compares again only if the tables or
    /// the set of clusters have changed.
    pub(super) fn report(&mut self, profile: &Profile, snapshot: &FleetSnapshot, cluster_sets: u64) {
        let Some(tables) = profile.tables() else {
            return;
        };
        let current = (tables.number(), cluster_sets);
        if self.compared == Some(current) {
            return;
        }
        self.compared = Some(current);
        let names: BTreeSet<&str> = snapshot
            .snapshot()
            .clusters()
            .iter()
            .map(|cluster| cluster.name())
            .collect();
        let stray: BTreeSet<String> = tables
            .unknown_clusters(&names)
            .iter()
            .map(ToString::to_string)
            .collect();
        for row in stray.difference(&self.reported) {
            tracing::warn!(row, "a row of a table is for a cluster that does not exist");
        }
        // If a cluster returns and disappears again, its rows are reported again.
        self.reported = stray;
    }
}
