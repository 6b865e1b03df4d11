//! The clusters of a snapshot as one block of primitive columns.
//!
//! An arena is a slice of 64-bit words: a head, a directory of columns, then the columns, each aligned to eight bytes.
//! Rows are clusters sorted by name, so a row number is also the rank of the cluster's name. Texts are interned: a
//! [`symbol`](column::SYMBOL_OFFSETS) is a number, equal texts have equal symbols, and symbol 0 is the empty text.
//! Properties with a varying number of entries per cluster (labels, taints, zones) have one [`Span`] per cluster into
//! columns of entries.
//!
//! Hosts update changed clusters in place, in an arena that no call is reading. So spans come in any order, with gaps
//! between them, and some symbols and sets may belong to no cluster. But a column of entries is empty if no cluster has
//! any.
//!
//! The layout contains no pointers. The same bytes serve a plugin in the process, a process that maps them, and a
//! plugin in another language. Columns are only ever appended to the directory; a reader gets an empty slice for a
//! missing column.

mod restriction;

pub use restriction::Restriction;

use std::cmp::Ordering;

use bytemuck::{Pod, Zeroable};

use crate::definition::{numbers, structure};
use crate::hash::hash_text;
use crate::text::Span;

/// The first word of an arena.
pub const MAGIC: u64 = u64::from_le_bytes(*b"divvysnp");

/// Words before the directory: magic, rows, columns, generation.
pub const HEAD_WORDS: usize = 4;

structure! {
    /// One entry of the directory: the position and length of a column.
    #[repr(C)]
    #[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
    pub struct ColumnEntry {
        /// First word of the column, counted from the arena's first word.
        pub first_word: u64,
        /// Length in bytes.
        pub bytes: u64,
    }
}

/// The value of a quantity that a cluster does not state.
pub const ABSENT: i64 = i64::MIN;

/// The row number that means "no such cluster".
pub const NO_ROW: u32 = u32::MAX;

numbers! {
    /// Bits of [`column::FLAGS`].
    pub mod flag as "DIVVY_CLUSTER_" {
        /// The cluster is being deleted.
        pub const DELETING: u32 = 1;
        /// The condition `Ready` is `True`.
        pub const READY: u32 = 2;
        /// The condition `CompleteAPIEnablements` is `True`.
        pub const COMPLETE_API_ENABLEMENTS: u32 = 4;
        /// The cluster's status has a resource summary.
        pub const RESOURCE_SUMMARY: u32 = 8;
    }
}

numbers! {
    /// Values of [`column::TAINT_EFFECTS`], and of a toleration's effect.
    pub mod effect as "DIVVY_EFFECT_" {
        /// Any effect; only for tolerations.
        pub const ANY: u32 = 0;
        /// `NoSchedule`.
        pub const NO_SCHEDULE: u32 = 1;
        /// `PreferNoSchedule`.
        pub const PREFER_NO_SCHEDULE: u32 = 2;
        /// `NoExecute`.
        pub const NO_EXECUTE: u32 = 3;
        /// An effect that Kubernetes does not define.
        pub const UNKNOWN: u32 = 4;
    }
}

numbers! {
    /// Values of [`column::CONDITION_STATUSES`].
    pub mod condition as "DIVVY_CONDITION_" {
        /// `Unknown`, or anything else.
        pub const UNKNOWN: u32 = 0;
        /// `True`.
        pub const TRUE: u32 = 1;
        /// `False`.
        pub const FALSE: u32 = 2;
    }
}

numbers! {
    /// Groups of columns: bits of [`crate::descriptor::PointDescriptor::reads`], by which a plugin names the columns that its
    /// value for a snapshot is made from.
    ///
    /// The host knows when a cluster last changed in each group. A heartbeat changes free resources and little else, so
    /// a value that is made from labels survives it.
    pub mod group as "DIVVY_GROUP_" {
        /// Names, their order, and texts. They stay the same as long as rows and symbols keep their numbers, so they can always
        /// be read: [`super::column::NAME`], [`super::column::NAME_HASH`] and the columns of symbols.
        pub const NAMES: u64 = 1;
        /// `metadata.uid`.
        pub const UID: u64 = 1 << 1;
        /// The bits of [`super::flag`].
        pub const FLAGS: u64 = 1 << 2;
        /// Region, provider and zones.
        pub const LOCATION: u64 = 1 << 3;
        /// Labels.
        pub const LABELS: u64 = 1 << 4;
        /// Annotations.
        pub const ANNOTATIONS: u64 = 1 << 5;
        /// Taints.
        pub const TAINTS: u64 = 1 << 6;
        /// API enablements.
        pub const APIS: u64 = 1 << 7;
        /// Conditions.
        pub const CONDITIONS: u64 = 1 << 8;
        /// Amounts of resources. Heartbeats change them.
        pub const RESOURCES: u64 = 1 << 9;
        /// Resource models, and the numbers of nodes in their grades. Heartbeats change these.
        pub const MODELS: u64 = 1 << 10;
        /// The clusters as JSON. Heartbeats change it.
        pub const RAW: u64 = 1 << 11;
        /// All groups of this version.
        pub const ALL: u64 = (1 << COUNT) - 1;
        /// Number of groups in this version.
        pub const COUNT: u32 = 12;
    }
}

numbers! {
    /// The columns, by their index in the directory.
    ///
    /// A column "per cluster" has one row for each cluster. The documentation of a column of spans names the columns that
    /// the spans point into.
    pub mod column as "DIVVY_COLUMN_" {
        /// `u32` per cluster: symbol of the name.
        pub const NAME: usize = 0;
        /// `u64` per cluster: hash of the name.
        pub const NAME_HASH: usize = 1;
        /// `u32` per cluster: bits of [`super::flag`].
        pub const FLAGS: usize = 2;
        /// `u32` per cluster: symbol of `spec.region`.
        pub const REGION: usize = 3;
        /// `u32` per cluster: symbol of `spec.provider`.
        pub const PROVIDER: usize = 4;
        /// `u32` per cluster: symbol of the deprecated `spec.zone`.
        pub const ZONE: usize = 5;
        /// `Span` per cluster into [`ZONES`].
        pub const ZONE_SPANS: usize = 6;
        /// `u32`: symbols of `spec.zones`.
        pub const ZONES: usize = 7;
        /// `Span` per cluster into [`LABEL_KEYS`] and [`LABEL_VALUES`].
        pub const LABEL_SPANS: usize = 8;
        /// `u32`: symbols of label keys.
        pub const LABEL_KEYS: usize = 9;
        /// `u32`: symbols of label values.
        pub const LABEL_VALUES: usize = 10;
        /// `Span` per cluster into [`ANNOTATION_KEYS`] and [`ANNOTATION_VALUES`].
        pub const ANNOTATION_SPANS: usize = 11;
        /// `u32`: symbols of annotation keys.
        pub const ANNOTATION_KEYS: usize = 12;
        /// `u32`: symbols of annotation values.
        pub const ANNOTATION_VALUES: usize = 13;
        /// `Span` per cluster into the four taint columns.
        pub const TAINT_SPANS: usize = 14;
        /// `u32`: symbols of taint keys.
        pub const TAINT_KEYS: usize = 15;
        /// `u32`: symbols of taint values.
        pub const TAINT_VALUES: usize = 16;
        /// `u32`: values of [`super::effect`].
        pub const TAINT_EFFECTS: usize = 17;
        /// `i64`: `timeAdded` in seconds since the Unix epoch, [`super::ABSENT`] if not stated.
        pub const TAINT_TIMES: usize = 18;
        /// `u32` per cluster: index of its set of API enablements. Clusters with the same APIs share a set.
        pub const API_SET: usize = 19;
        /// `Span` per set into [`API_GROUP_VERSIONS`] and [`API_KINDS`].
        pub const API_SET_SPANS: usize = 20;
        /// `u32`: symbols of group versions.
        pub const API_GROUP_VERSIONS: usize = 21;
        /// `u32`: symbols of kinds.
        pub const API_KINDS: usize = 22;
        /// `Span` per cluster into the three condition columns.
        pub const CONDITION_SPANS: usize = 23;
        /// `u32`: symbols of condition types.
        pub const CONDITION_TYPES: usize = 24;
        /// `u32`: values of [`super::condition`].
        pub const CONDITION_STATUSES: usize = 25;
        /// `u32`: symbols of condition reasons.
        pub const CONDITION_REASONS: usize = 26;
        /// `u32` per resource: symbol of its name; `u32::MAX` for an unused index. A resource's rows in the four matrices
        /// below begin at its index here times the number of clusters.
        pub const RESOURCE_NAMES: usize = 27;
        /// `i64` per resource and cluster: allocatable. `cpu` in thousandths, everything else in its own unit, rounded up.
        pub const RESOURCE_ALLOCATABLE: usize = 28;
        /// `i64` per resource and cluster: allocated, in the same units.
        pub const RESOURCE_ALLOCATED: usize = 29;
        /// `i64` per resource and cluster: allocating, in the same units.
        pub const RESOURCE_ALLOCATING: usize = 30;
        /// `i64` per resource and cluster: allocatable − allocated − allocating, exact and then rounded up, in the same
        /// units; [`super::ABSENT`] where allocatable is not stated.
        pub const RESOURCE_REMAINING: usize = 31;
        /// `u32` per cluster: index of its set of resource models; set 0 is empty.
        pub const MODEL_SET: usize = 32;
        /// `Span` per set of models into [`MODEL_GRADES`] and [`MODEL_RANGE_SPANS`].
        pub const MODEL_SET_SPANS: usize = 33;
        /// `i64` per model: its grade.
        pub const MODEL_GRADES: usize = 34;
        /// `Span` per model into the three range columns.
        pub const MODEL_RANGE_SPANS: usize = 35;
        /// `u32`: symbols of resource names.
        pub const MODEL_RANGE_RESOURCES: usize = 36;
        /// `i64`: lower end, in the units of the resource matrices.
        pub const MODEL_RANGE_MINIMUMS: usize = 37;
        /// `i64`: upper end, in the same units.
        pub const MODEL_RANGE_MAXIMUMS: usize = 38;
        /// `Span` per cluster into [`MODELING_GRADES`] and [`MODELING_COUNTS`].
        pub const MODELING_SPANS: usize = 39;
        /// `i64`: a grade in `status.resourceSummary.allocatableModelings`.
        pub const MODELING_GRADES: usize = 40;
        /// `i64`: nodes of that grade.
        pub const MODELING_COUNTS: usize = 41;
        /// `u64` per symbol, plus a final one: start of its text in [`SYMBOL_TEXT`].
        pub const SYMBOL_OFFSETS: usize = 42;
        /// `u8`: the concatenated texts of the symbols, UTF-8.
        pub const SYMBOL_TEXT: usize = 43;
        /// `u32`: an open-addressing hash table, keyed by the hash of the text, of symbols plus one (0: free). Its length
        /// is a power of two.
        pub const SYMBOL_TABLE: usize = 44;
        /// `u64` per symbol: hash of the text.
        pub const SYMBOL_HASHES: usize = 45;
        /// `u32` per symbol: the row of the cluster with that name, [`super::NO_ROW`] if there is none.
        pub const SYMBOL_ROWS: usize = 46;
        /// `Span` per cluster into [`RAW_TEXT`]: its JSON; empty if no plugin needs it.
        pub const RAW_SPANS: usize = 47;
        /// `u8`: the clusters as JSON.
        pub const RAW_TEXT: usize = 48;
        /// `u32` per cluster: symbol of `metadata.uid`.
        pub const UID: usize = 49;
        /// Number of columns in this version.
        pub const COUNT: usize = 50;
    }
}

/// The group of each column.
#[rustfmt::skip]
pub const GROUPS: [u64; column::COUNT] = [
    group::NAMES, // NAME
    group::NAMES, // NAME_HASH
    group::FLAGS, // FLAGS
    group::LOCATION, // REGION
    group::LOCATION, // PROVIDER
    group::LOCATION, // ZONE
    group::LOCATION, // ZONE_SPANS
    group::LOCATION, // ZONES
    group::LABELS, // LABEL_SPANS
    group::LABELS, // LABEL_KEYS
    group::LABELS, // LABEL_VALUES
    group::ANNOTATIONS, // ANNOTATION_SPANS
    group::ANNOTATIONS, // ANNOTATION_KEYS
    group::ANNOTATIONS, // ANNOTATION_VALUES
    group::TAINTS, // TAINT_SPANS
    group::TAINTS, // TAINT_KEYS
    group::TAINTS, // TAINT_VALUES
    group::TAINTS, // TAINT_EFFECTS
    group::TAINTS, // TAINT_TIMES
    group::APIS, // API_SET
    group::APIS, // API_SET_SPANS
    group::APIS, // API_GROUP_VERSIONS
    group::APIS, // API_KINDS
    group::CONDITIONS, // CONDITION_SPANS
    group::CONDITIONS, // CONDITION_TYPES
    group::CONDITIONS, // CONDITION_STATUSES
    group::CONDITIONS, // CONDITION_REASONS
    group::RESOURCES, // RESOURCE_NAMES
    group::RESOURCES, // RESOURCE_ALLOCATABLE
    group::RESOURCES, // RESOURCE_ALLOCATED
    group::RESOURCES, // RESOURCE_ALLOCATING
    group::RESOURCES, // RESOURCE_REMAINING
    group::MODELS, // MODEL_SET
    group::MODELS, // MODEL_SET_SPANS
    group::MODELS, // MODEL_GRADES
    group::MODELS, // MODEL_RANGE_SPANS
    group::MODELS, // MODEL_RANGE_RESOURCES
    group::MODELS, // MODEL_RANGE_MINIMUMS
    group::MODELS, // MODEL_RANGE_MAXIMUMS
    group::MODELS, // MODELING_SPANS
    group::MODELS, // MODELING_GRADES
    group::MODELS, // MODELING_COUNTS
    group::NAMES, // SYMBOL_OFFSETS
    group::NAMES, // SYMBOL_TEXT
    group::NAMES, // SYMBOL_TABLE
    group::NAMES, // SYMBOL_HASHES
    group::NAMES, // SYMBOL_ROWS
    group::RAW, // RAW_SPANS
    group::RAW, // RAW_TEXT
    group::UID, // UID
];

/// The texts of an arena's symbols.
#[derive(Debug, Clone, Copy)]
pub struct Texts<'a> {
    offsets: &'a [u64],
    bytes: &'a [u8],
}

impl<'a> Texts<'a> {
    /// The text of a symbol; `None` if the arena does not have it.
    #[inline]
    fn get(&self, symbol: u32) -> Option<&'a [u8]> {
        let [start, end] = *self.offsets.get(symbol as usize..)?.first_chunk()?;
        self.bytes.get(start as usize..end as usize)
    }

    /// Compares the texts of two symbols. A symbol that the arena does not have counts as the empty text.
    #[inline]
    pub fn compare(&self, left: u32, right: u32) -> Ordering {
        let text = |symbol| self.get(symbol).unwrap_or_default();
        text(left).cmp(text(right))
    }

    /// Index of the first symbol in a list that has this text. For short lists: comparing a few texts takes fewer steps
    /// than looking up the symbol.
    #[inline]
    pub fn position_of(&self, symbols: &[u32], text: &str) -> Option<usize> {
        symbols
            .iter()
            .position(|&symbol| self.get(symbol) == Some(text.as_bytes()))
    }
}

/// The symbols of an arena.
#[derive(Debug, Clone, Copy)]
pub struct Symbols<'a> {
    table: &'a [u32],
    hashes: &'a [u64],
    texts: Texts<'a>,
}

impl Symbols<'_> {
    /// The symbol of a text with a known hash; `None` if the text does not occur in the snapshot.
    #[inline]
    pub fn find(&self, text: &str, hash: u64) -> Option<u32> {
        let mask = self.table.len().checked_sub(1)?;
        let mut slot = hash as usize & mask;
        // The table is never full, but a damaged one must not cause an endless loop.
        for _ in 0..self.table.len() {
            let symbol = self.table.get(slot)?.checked_sub(1)?;
            if self.hashes.get(symbol as usize) == Some(&hash) && self.texts.get(symbol) == Some(text.as_bytes()) {
                return Some(symbol);
            }
            slot = (slot + 1) & mask;
        }
        None
    }
}

/// A read-only view of an arena.
#[derive(Debug, Clone, Copy)]
pub struct Arena<'a> {
    words: &'a [u64],
    directory: &'a [ColumnEntry],
    /// Records reads of columns outside the permitted groups.
    restriction: Option<&'a Restriction>,
}

impl<'a> Arena<'a> {
    /// An arena without clusters.
    pub const EMPTY: Arena<'static> = Arena {
        words: &[],
        directory: &[],
        restriction: None,
    };

    /// The arena in `words`; [`Arena::EMPTY`] if they do not hold one.
    #[inline]
    pub fn new(words: &'a [u64]) -> Self {
        if words.len() < HEAD_WORDS || words[0] != MAGIC {
            return Arena::EMPTY;
        }
        let end = (words[2] as usize).saturating_mul(2).saturating_add(HEAD_WORDS);
        match words.get(HEAD_WORDS..end) {
            Some(directory) => Self {
                words,
                directory: bytemuck::cast_slice(directory),
                restriction: None,
            },
            None => Arena::EMPTY,
        }
    }

    /// The number of clusters.
    #[inline]
    pub fn rows(&self) -> usize {
        self.words.get(1).map_or(0, |&rows| rows as usize)
    }

    /// The generation of the snapshot: two arenas of one host with the same generation have the same clusters. 0 if it
    /// is unknown, and for a reader that is restricted to some groups of columns, because these outlive a generation.
    #[inline]
    pub fn generation(&self) -> u64 {
        match self.restriction {
            None => self.words.get(3).copied().unwrap_or(0),
            Some(_) => 0,
        }
    }

    /// The words that the view reads.
    pub fn words(&self) -> &'a [u64] {
        self.words
    }

    /// A column, as a slice of the type that its documentation names; empty if the arena does not have it, or if the
    /// reader may not read it.
    #[inline]
    pub fn column<T: Pod>(&self, column: usize) -> &'a [T] {
        let Some(entry) = self.directory.get(column) else {
            return &[];
        };
        // Every call of a plugin reads several columns, so this takes as few steps as possible.
        let rest = self.words.get(entry.first_word as usize..);
        let bytes = rest.and_then(|rest| bytemuck::cast_slice::<u64, u8>(rest).get(..entry.bytes as usize));
        match bytes {
            Some(bytes) => bytemuck::try_cast_slice(bytes).unwrap_or(&[]),
            None => {
                self.refuse(column);
                &[]
            }
        }
    }

    /// Records a read of a column that is not within the arena. For a reader that is restricted to some groups, the
    /// columns of all other groups are not.
    #[cold]
    fn refuse(&self, column: usize) {
        if let Some(restriction) = self.restriction {
            restriction.note(column);
        }
    }

    /// The text of a symbol; empty for a symbol that the arena does not have.
    #[inline]
    pub fn text(&self, symbol: u32) -> &'a str {
        std::str::from_utf8(self.text_bytes(symbol)).unwrap_or("")
    }

    #[inline]
    fn text_bytes(&self, symbol: u32) -> &'a [u8] {
        self.texts().get(symbol).unwrap_or(&[])
    }

    /// The texts of the symbols, for several lookups.
    #[inline]
    pub fn texts(&self) -> Texts<'a> {
        Texts {
            offsets: self.column(column::SYMBOL_OFFSETS),
            bytes: self.column(column::SYMBOL_TEXT),
        }
    }

    /// The symbol of a text with a known hash; `None` if the text does not occur in the snapshot.
    #[inline]
    pub fn symbol_hashed(&self, text: &str, hash: u64) -> Option<u32> {
        self.symbols().find(text, hash)
    }

    /// The symbols, for several lookups: their columns are looked up once.
    #[inline]
    pub fn symbols(&self) -> Symbols<'a> {
        Symbols {
            table: self.column(column::SYMBOL_TABLE),
            hashes: self.column(column::SYMBOL_HASHES),
            texts: self.texts(),
        }
    }

    /// The symbol of a text; `None` if the text does not occur in the snapshot.
    #[inline]
    pub fn symbol(&self, text: &str) -> Option<u32> {
        self.symbol_hashed(text, hash_text(text))
    }

    /// The row of the cluster with this name, given the hash of the name; `None` if no cluster has the name.
    #[inline]
    pub fn row_hashed(&self, name: &str, hash: u64) -> Option<u32> {
        let symbol = self.symbol_hashed(name, hash)?;
        let row = *self.column::<u32>(column::SYMBOL_ROWS).get(symbol as usize)?;
        (row != NO_ROW).then_some(row)
    }

    /// The row of the cluster with this name; `None` if no cluster has it.
    pub fn row(&self, name: &str) -> Option<u32> {
        self.row_hashed(name, hash_text(name))
    }

    /// The span at row `row` of a column of spans; empty if there is none.
    #[inline]
    pub fn span(&self, column: usize, row: usize) -> Span {
        self.column::<Span>(column).get(row).copied().unwrap_or_default()
    }
}
