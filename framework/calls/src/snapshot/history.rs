//! The versions of a store's snapshots, and the generations in which each row and each group of columns last changed.
//!
//! Each arena carries its own copy of these numbers and brings it up to date with the rows that it writes, so a snapshot
//! can name the rows that changed since any earlier one with the same rows. A log of changes was considered and
//! rejected: it is bounded, so it forgets, and a snapshot would need a copy of it.

use std::sync::atomic::{AtomicU64, Ordering};

use divvy_framework_abi::arena::group;

/// A generation that no snapshot of this process has had yet.
fn next_generation() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Identifies the contents of a snapshot in this process: snapshots with equal versions have the same clusters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnapshotVersion {
    /// The generation in which the store last numbered its rows or symbols. Generations are never shared, so this also
    /// identifies the store.
    origin: u64,
    generation: u64,
}

impl SnapshotVersion {
    fn new() -> Self {
        let origin = next_generation();
        Self {
            origin,
            generation: origin,
        }
    }

    /// The generation that plugins see.
    pub(super) fn generation(self) -> u64 {
        self.generation
    }
}

/// A version, and the generations in which each row and each group of columns last changed before it.
#[derive(Debug, Clone)]
pub(super) struct Changes {
    version: SnapshotVersion,
    rows: Vec<u64>,
    /// By the number of the group's bit.
    groups: [u64; group::COUNT as usize],
}

impl Changes {
    pub(super) fn version(&self) -> SnapshotVersion {
        self.version
    }

    /// True if the changes after another version are known.
    fn knows(&self, earlier: SnapshotVersion) -> bool {
        earlier.origin == self.version.origin && earlier.generation <= self.version.generation
    }

    /// Groups of columns in which no row changed after an earlier version, as bits of [`group`].
    pub(super) fn unchanged_groups(&self, earlier: SnapshotVersion) -> u64 {
        if !self.knows(earlier) {
            return 0;
        }
        let numbered = (0..).zip(&self.groups);
        let unchanged = numbered.filter(|(_, last)| **last <= earlier.generation);
        unchanged.fold(0, |groups, (number, _)| groups | 1 << number)
    }

    /// Rows that changed after an earlier version, ascending; `None` if they are unknown.
    pub(super) fn since(&self, earlier: SnapshotVersion) -> Option<impl Iterator<Item = u32> + use<'_>> {
        self.knows(earlier).then(|| {
            let numbered = (0..).zip(&self.rows);
            numbered.filter_map(move |(row, &last)| (last > earlier.generation).then_some(row))
        })
    }

    /// Becomes equal to `newer`, from which only the `stale` rows may differ.
    pub(super) fn catch_up(&mut self, newer: &Self, stale: &[u32]) {
        self.version = newer.version;
        self.groups = newer.groups;
        for &row in stale {
            self.rows[row as usize] = newer.rows[row as usize];
        }
    }
}

/// The changes of a store since it last numbered its rows or symbols.
#[derive(Debug)]
pub(super) struct History {
    changes: Changes,
    /// True if a snapshot of this version was taken, so that the next change begins another version.
    is_taken: bool,
}

impl Default for History {
    fn default() -> Self {
        Self {
            changes: Changes {
                version: SnapshotVersion::new(),
                rows: Vec::new(),
                groups: [0; group::COUNT as usize],
            },
            is_taken: false,
        }
    }
}

impl History {
    /// Records that a row has changed in these groups of columns.
    pub(super) fn change(&mut self, row: usize, groups: u64) {
        if std::mem::take(&mut self.is_taken) {
            self.changes.version.generation = next_generation();
        }
        // The list is empty until the first snapshot is taken; before that, no caller can ask for changes.
        if let Some(last) = self.changes.rows.get_mut(row) {
            *last = self.changes.version.generation;
        }
        for (number, last) in (0..).zip(&mut self.changes.groups) {
            if groups & 1 << number != 0 {
                *last = self.changes.version.generation;
            }
        }
    }

    /// Forgets all changes, because rows or symbols have new numbers.
    pub(super) fn restart(&mut self) {
        self.changes.version = SnapshotVersion::new();
        self.changes.rows.clear();
        self.changes.groups = [0; group::COUNT as usize];
        self.is_taken = false;
    }

    /// The changes so far.
    pub(super) fn changes(&self) -> &Changes {
        &self.changes
    }

    /// The changes, for a snapshot of a store with this many rows.
    pub(super) fn take(&mut self, rows: usize) -> &Changes {
        self.is_taken = true;
        self.changes.rows.resize(rows, self.changes.version.origin);
        &self.changes
    }
}
