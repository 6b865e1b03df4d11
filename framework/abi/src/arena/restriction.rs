//! Readers that are restricted to some groups of columns.

use std::sync::atomic::{AtomicU64, Ordering};

use super::{Arena, ColumnEntry, GROUPS, column, group};

/// The first word of a column that must not be read: no arena is that long.
const REFUSED: u64 = u64::MAX;

/// The directory of an arena, restricted to some groups of columns. A column of another group reads as empty, and the
/// attempt is recorded.
///
/// ```
/// use divvy_framework_abi::arena::{Arena, Restriction, column, group};
///
/// let restriction = Restriction::new(Arena::EMPTY, group::LABELS);
/// let arena = restriction.arena(Arena::EMPTY);
/// arena.column::<u32>(column::LABEL_KEYS);
/// assert_eq!(restriction.refused(), 0);
/// arena.column::<u32>(column::TAINT_KEYS);
/// assert_eq!(restriction.refused(), group::TAINTS);
/// ```
#[derive(Debug)]
pub struct Restriction {
    directory: [ColumnEntry; column::COUNT],
    refused: AtomicU64,
}

impl Restriction {
    /// Permits the columns of `groups`, which are bits of [`group`], in `arena`. Names and texts can always be read.
    pub fn new(arena: Arena<'_>, groups: u64) -> Self {
        let mut directory = [ColumnEntry::default(); column::COUNT];
        for (column, entry) in directory.iter_mut().enumerate() {
            *entry = match GROUPS[column] & (groups | group::NAMES) {
                0 => ColumnEntry {
                    first_word: REFUSED,
                    bytes: 0,
                },
                // A column that the arena does not have is empty.
                _ => arena.directory.get(column).copied().unwrap_or_default(),
            };
        }
        Self {
            directory,
            refused: AtomicU64::new(0),
        }
    }

    /// `arena`, for which this restriction was made, as its reader sees it.
    pub fn arena<'a>(&'a self, arena: Arena<'a>) -> Arena<'a> {
        Arena {
            words: arena.words,
            directory: &self.directory,
            restriction: Some(self),
        }
    }

    /// Groups that are not permitted, but of which a column was read.
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    pub(super) fn note(&self, column: usize) {
        let is_refused = self
            .directory
            .get(column)
            .is_some_and(|entry| entry.first_word == REFUSED);
        if let (true, Some(group)) = (is_refused, GROUPS.get(column)) {
            self.refused.fetch_or(*group, Ordering::Relaxed);
        }
    }
}
