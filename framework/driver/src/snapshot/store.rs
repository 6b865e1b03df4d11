//! The store of clusters, and the snapshots it gives out.

use std::sync::Arc;

use divvy_framework_abi::arena::Arena;
use divvy_framework_view::clusters::Clusters;

use super::arena::RoomyArena;
use super::contents::{Change, Contents};
use super::row::{ClusterWriter, Draft};

/// The clusters at one moment, immutable and cheap to share.
#[derive(Debug, Clone)]
pub struct Snapshot {
    words: Arc<Vec<u64>>,
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
        Arena::new(&self.words)
    }

    /// The arena's words: what crosses the boundary.
    #[inline]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Rows of the clusters that are being deleted, ascending.
    pub fn deleting(&self) -> &[u32] {
        &self.deleting
    }
}

/// Clusters that come, change and go, and the snapshots of them.
#[derive(Debug, Default)]
pub struct SnapshotStore {
    contents: Contents,
    draft: Draft,
    /// The arena of the latest snapshot.
    front: Option<RoomyArena>,
    /// Takes changes while a reader holds the other.
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

    /// `true` if there is no cluster.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes a cluster in as `write` writes it, in place of an older one of that name. The others are not touched.
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
            Change::Row(row, deletion) => self.mark(row, deletion),
            Change::Rows => self.forget_arenas(),
        }
        if self.contents.wants_compaction() {
            self.contents.compact();
            self.front = None;
            self.spare = None;
        }
    }

    /// Takes a cluster out; `true` if there was one.
    pub fn remove(&mut self, name: &str) -> bool {
        let found = self.contents.remove(name);
        if found {
            self.forget_arenas();
        }
        found
    }

    /// The clusters as they are now. Asked again without a change in between, it is the same snapshot.
    pub fn snapshot(&mut self) -> Snapshot {
        let rows = &self.contents.rows;
        let deleting = self.deleting.get_or_insert_with(|| {
            let numbered = (0..).zip(rows).filter(|(_, row)| row.is_deleting());
            numbered.map(|(number, _)| number).collect()
        });
        let deleting = Arc::clone(deleting);
        if !self.front.as_ref().is_some_and(RoomyArena::is_current) {
            self.renew();
        }
        let front = self.front.get_or_insert_with(|| RoomyArena::new(&self.contents));
        Snapshot {
            words: front.share(),
            deleting,
        }
    }

    /// Brings the front up to date, or empties it if that cannot be done.
    fn renew(&mut self) {
        for _ in 0..2 {
            match self.front.as_mut().and_then(|arena| arena.catch_up(&self.contents)) {
                Some(Ok(())) => return,
                Some(Err(_)) => {
                    self.contents.compact();
                    self.front = None;
                    self.spare = None;
                    return;
                }
                // A reader holds it, and keeps it as it is: the other is next.
                None => std::mem::swap(&mut self.front, &mut self.spare),
            }
        }
        // Readers hold both. The older one is theirs from now on.
        self.spare = self.front.take();
    }

    fn mark(&mut self, row: usize, deletion: bool) {
        let rows = self.len();
        for arena in [&mut self.front, &mut self.spare] {
            arena.take_if(|arena| !arena.mark(row, &self.contents.dropped, rows));
        }
        if deletion {
            self.deleting = None;
        }
    }

    fn forget_arenas(&mut self) {
        self.front = None;
        self.spare = None;
        self.deleting = None;
    }
}
