//! The placements of other bindings, as tables of numbers over one string.
//!
//! They change from one decision to the next, so they are separate from the binding's record, which is built once.

use divvy_framework_abi::arena::NO_ROW;
use divvy_framework_abi::descriptor::binding_part;
use divvy_framework_abi::hash::hash_text;
use divvy_framework_abi::row::{PeerRow, TargetRow, peer_group};
use divvy_framework_abi::text::{Span, Text};
use divvy_framework_abi::view::PlacementsView;
use divvy_framework_abi::{Slice, Str};
use divvy_framework_memory::{Column, Pool};

use crate::snapshot::Snapshot;

/// The workload affinity groups of a binding, and its peers. Reuse one across cycles to save its allocations.
#[derive(Debug, Clone, Default)]
pub struct PlacementsRecord {
    pool: Pool,
    affinity_group: Text,
    anti_affinity_group: Text,
    peers: Column<PeerRow>,
    targets: Column<TargetRow>,
    target_rows: Column<u32>,
}

impl PlacementsRecord {
    /// Removes all peers and sets the groups of a binding, `<label key>=<label value>`; empty for none.
    pub fn reset(&mut self, affinity_group: &str, anti_affinity_group: &str) {
        self.pool.clear();
        self.peers.clear();
        self.targets.clear();
        self.target_rows.clear();
        self.affinity_group = self.text(affinity_group);
        self.anti_affinity_group = self.text(anti_affinity_group);
    }

    /// Adds a peer: its name, whether it shares the affinity and the anti-affinity group, and its clusters with their
    /// replicas. Callers add peers in the order of their names.
    pub fn peer<'t>(
        &mut self,
        name: &str,
        (affinity, anti_affinity): (bool, bool),
        targets: impl IntoIterator<Item = (&'t str, i64)>,
    ) {
        let start = self.targets.len();
        for (cluster, replicas) in targets {
            let cluster = self.text(cluster);
            self.targets.push(TargetRow { cluster, replicas });
        }
        let mut groups = 0;
        for (bit, is_shared) in [
            (peer_group::AFFINITY, affinity),
            (peer_group::ANTI_AFFINITY, anti_affinity),
        ] {
            if is_shared {
                groups |= bit;
            }
        }
        let row = PeerRow {
            name: self.text(name),
            groups,
            targets: Span {
                start: start as u32,
                length: (self.targets.len() - start) as u32,
            },
        };
        self.peers.push(row);
    }

    fn text(&mut self, text: &str) -> Text {
        if text.is_empty() {
            return Text::EMPTY;
        }
        let start = self.pool.len() as u32;
        self.pool.push_str(text);
        Text {
            start,
            length: text.len() as u32,
            hash: hash_text(text),
        }
    }

    /// Finds the clusters of the peers in a snapshot.
    pub fn resolve(&mut self, snapshot: &Snapshot) {
        let arena = snapshot.arena();
        let pool = &*self.pool;
        self.target_rows.clear();
        self.target_rows.extend(self.targets.iter().map(|target| {
            let row = arena.row_hashed(target.cluster.read(pool), target.cluster.hash);
            row.unwrap_or(NO_ROW)
        }));
    }

    /// The workload affinity groups that the binding is in, as bits of [`binding_part`].
    pub fn parts(&self) -> u64 {
        let part = |group: Text, part| if group.length > 0 { part } else { 0 };
        part(self.affinity_group, binding_part::AFFINITY_GROUP)
            | part(self.anti_affinity_group, binding_part::ANTI_AFFINITY_GROUP)
    }

    /// The view that plugins read.
    pub fn view(&self) -> PlacementsView<'_> {
        PlacementsView {
            pool: Str::new(&self.pool),
            affinity_group: self.affinity_group,
            anti_affinity_group: self.anti_affinity_group,
            peers: Slice::new(&self.peers),
            targets: Slice::new(&self.targets),
            target_rows: Slice::new(&self.target_rows),
            ..PlacementsView::DEFAULT
        }
    }
}
