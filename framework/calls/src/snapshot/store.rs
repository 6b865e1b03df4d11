//! The store of clusters and its snapshots.

use std::sync::Arc;

use divvy_framework_abi::arena::Arena;
use divvy_framework_view::clusters::Clusters;

use super::arena::{Block, RoomyArena};
use super::contents::{Change, Contents};
use super::history::{History, SnapshotVersion};
use super::row::{ClusterWriter, Draft};

/// The clusters at one moment, immutable and cheap to share.
#[derive(Debug, Clone)]
pub struct Snapshot {
    block: Arc<Block>,
    deleting: Arc<[u32]>,
}

impl Snapshot {
    /// The clusters.
    #[inline]
    pub fn clusters(&self) -> Clusters<'_> {
        Clusters::new(self.arena())
    }

    /// The arena.
    #[inline]
    pub fn arena(&self) -> Arena<'_> {
        Arena::new(&self.block.words)
    }

    /// The arena's words, which plugins receive across the ABI.
    #[inline]
    pub fn words(&self) -> &[u64] {
        &self.block.words
    }

    /// The version of the snapshot.
    #[inline]
    pub fn version(&self) -> SnapshotVersion {
        self.block.changes.version()
    }

    /// Rows whose clusters have changed since an earlier snapshot, ascending and without duplicates. They include
    /// clusters that changed and changed back.
    ///
    /// `None` if the changes are unknown: the other snapshot is of another store or is not earlier, or rows or symbols
    /// have been renumbered since then, because a cluster was added or removed or because unused texts were dropped.
    pub fn changed_since(&self, earlier: SnapshotVersion) -> Option<impl Iterator<Item = u32> + use<'_>> {
        self.block.changes.since(earlier)
    }

    /// Groups of columns in which no cluster has changed since an earlier snapshot, as bits of
    /// [`group`](divvy_framework_abi::arena::group); 0 where [`Self::changed_since`] returns `None`. A group in which a
    /// cluster changed and changed back is not included.
    pub fn unchanged_since(&self, earlier: SnapshotVersion) -> u64 {
        self.block.changes.unchanged_groups(earlier)
    }

    /// Rows of the clusters that are being deleted, ascending.
    pub fn deleting(&self) -> &[u32] {
        &self.deleting
    }
}

/// The current clusters, from which snapshots are taken.
#[derive(Debug, Default)]
pub struct SnapshotStore {
    contents: Contents,
    history: History,
    draft: Draft,
    /// The arena of the latest snapshot.
    front: Option<RoomyArena>,
    /// Receives changes while a reader holds `front`.
    spare: Option<RoomyArena>,
    deleting: Option<Arc<[u32]>>,
}

impl SnapshotStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of clusters.
    pub fn len(&self) -> usize {
        self.contents.rows.len()
    }

    /// True if the store has no clusters.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Inserts the cluster that `write` writes, replacing an older one with that name. An unchanged cluster does not
    /// change the snapshot.
    pub fn upsert(&mut self, name: &str, write: impl FnOnce(&mut ClusterWriter<'_>)) {
        self.draft.clear();
        let symbols = &mut self.contents.symbols;
        self.draft.row.name = symbols.intern(name);
        write(&mut ClusterWriter {
            symbols,
            draft: &mut self.draft,
        });
        match self.contents.take(name, &mut self.draft) {
            Change::None => {}
            Change::Row { row, groups, deletion } => self.mark(row, groups, deletion),
            Change::Rows => self.forget_arenas(),
        }
        if self.contents.wants_compaction() {
            self.compact();
        }
    }

    /// Removes a cluster. Returns false if there was none.
    pub fn remove(&mut self, name: &str) -> bool {
        let found = self.contents.remove(name);
        if found {
            self.forget_arenas();
        }
        found
    }

    /// The current clusters. Two calls without a change in between return the same snapshot.
    pub fn snapshot(&mut self) -> Snapshot {
        let rows = &self.contents.rows;
        let count = rows.len();
        let deleting = self.deleting.get_or_insert_with(|| {
            let numbered = (0..).zip(rows).filter(|(_, row)| row.is_deleting());
            numbered.map(|(number, _)| number).collect()
        });
        let deleting = Arc::clone(deleting);
        if !self.front.as_ref().is_some_and(RoomyArena::is_current) {
            self.renew();
        }
        let changes = self.history.take(count);
        let front = self
            .front
            .get_or_insert_with(|| RoomyArena::new(&self.contents, changes));
        Snapshot {
            block: front.share(),
            deleting,
        }
    }

    /// Brings `front` up to date, or clears it so that the caller rebuilds it.
    fn renew(&mut self) {
        for _ in 0..2 {
            let front = self.front.as_mut();
            match front.and_then(|arena| arena.catch_up(&self.contents, self.history.changes())) {
                Some(Ok(())) => return,
                Some(Err(_)) => {
                    // Out of room: a rebuild follows, so compact first rather than copy garbage into the new arena.
                    self.compact();
                    return;
                }
                // A reader holds this arena, so try the other one.
                None => std::mem::swap(&mut self.front, &mut self.spare),
            }
        }
        // Readers hold both arenas. Leave the older one to them and rebuild the front.
        self.spare = self.front.take();
    }

    fn mark(&mut self, row: usize, groups: u64, deletion: bool) {
        self.history.change(row, groups);
        let rows = self.len();
        for arena in [&mut self.front, &mut self.spare] {
            arena.take_if(|arena| !arena.mark(row, &self.contents.dropped, rows));
        }
        if deletion {
            self.deleting = None;
        }
    }

    /// Drops unused texts and sets. Symbols get new numbers, so no arena and no recorded change remains valid.
    fn compact(&mut self) {
        self.contents.compact();
        self.history.restart();
        self.front = None;
        self.spare = None;
    }

    fn forget_arenas(&mut self) {
        self.history.restart();
        self.front = None;
        self.spare = None;
        self.deleting = None;
    }
}
