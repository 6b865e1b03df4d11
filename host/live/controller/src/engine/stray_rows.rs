//! Rows of a profile's tables for clusters, regions, providers or values of labels that do not exist. Clusters come and go, so a row may
//! exist before its cluster or outlive it, and a warning names each such row once.

use std::collections::BTreeSet;

use divvy_profile::table::{TableError, TableKey};
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
        let clusters = snapshot.snapshot().clusters();
        let values = |property: &TableKey| -> BTreeSet<&str> {
            clusters
                .iter()
                .filter_map(|cluster| property.row_key(&cluster))
                .collect()
        };
        let mut unknown = tables.unknown_clusters(&values(&TableKey::Cluster));
        unknown.extend(tables.unknown_values(values));
        let row = |error: &TableError| match error.hint() {
            Some(hint) => format!("{error} ({hint})"),
            None => error.to_string(),
        };
        let stray: BTreeSet<String> = unknown.iter().map(row).collect();
        for row in stray.difference(&self.reported) {
            tracing::warn!(row, "a row of a table is for no cluster");
        }
        // If a cluster returns and disappears again, its rows are reported again.
        self.reported = stray;
    }
}
