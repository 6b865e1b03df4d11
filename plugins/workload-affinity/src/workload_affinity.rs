//! The rule: a cluster passes if it has every placed peer of the affinity group.
//!
//! The peers of each cluster are counted once, so the cost is one step per cluster of each peer and one per cluster of
//! the fleet, regardless of the number of peers.

use divvy_framework::clusters::Row;

/// Peers per row of the snapshot.
#[derive(Debug, Default)]
pub(crate) struct PeerCounts {
    per_row: Vec<u32>,
    placed: u32,
}

impl PeerCounts {
    /// Counts the peers of a fleet of `clusters` clusters. Each item is a placed peer: the rows of its clusters,
    /// without duplicates and without those that are gone. A peer whose clusters are all gone counts, so no cluster
    /// then has every peer.
    pub(crate) fn count(&mut self, clusters: usize, peers: impl Iterator<Item = impl Iterator<Item = Row>>) {
        self.per_row.clear();
        self.per_row.resize(clusters, 0);
        self.placed = 0;
        for rows in peers {
            self.placed += 1;
            for row in rows {
                if let Some(count) = self.per_row.get_mut(row.index()) {
                    *count += 1;
                }
            }
        }
    }

    /// True if no peer is placed: the first workload of a group may go anywhere.
    pub(crate) fn is_empty(&self) -> bool {
        self.placed == 0
    }

    /// True if the cluster in a row has every placed peer.
    pub(crate) fn has_every(&self, row: Row) -> bool {
        self.per_row.get(row.index()) == Some(&self.placed)
    }
}
