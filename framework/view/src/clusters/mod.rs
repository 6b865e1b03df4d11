//! A plugin's view of the clusters of a snapshot.
//!
//! There are two ways to read them. [`Cluster`] reads like the object: `cluster.region()`, `cluster.label("tier")`.
//! [`Clusters`] gives whole columns of numbers, for loops over thousands of clusters: texts are [`Symbol`]s there, so
//! that "is it in this region" compares two integers. A [`Row`] indexes these columns.

mod cluster;
mod matcher;
mod row;
mod selector;
mod taints;

pub use crate::words::{ConditionStatus, TaintEffect};
pub use cluster::{Cluster, Condition, Model, NotDeclared, Resource, Taint};
pub use matcher::{AffinityTables, ClusterMatcher, LabelColumn, RowSet, collect_equal, write_equal};
pub use row::{Candidate, Column, ColumnIndex, Row};
pub use selector::ClusterSelector;
pub use taints::{TaintColumns, TaintSymbols};

use std::cmp::Ordering;

use divvy_framework_abi::arena::{Arena, Texts, column};
use divvy_framework_abi::hash::hash_text;

/// Number of resources up to which comparing names takes fewer steps than hashing the wanted name.
const FEW_RESOURCES: usize = 8;

/// An interned text of a snapshot: equal texts have equal symbols.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
pub struct Symbol(pub(crate) u32);

impl Symbol {
    /// The symbol of the empty text, which means "not set".
    pub const EMPTY: Self = Self(0);

    /// The symbol as a dense number from 0, suitable as a table index. See [`Clusters::symbol_count`].
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// All clusters of a snapshot.
#[derive(Debug, Clone, Copy)]
pub struct Clusters<'a> {
    arena: Arena<'a>,
    raw: bool,
}

impl<'a> Clusters<'a> {
    /// The clusters of an arena. For hosts; plugins receive them as an argument.
    #[doc(hidden)]
    #[inline]
    pub fn new(arena: Arena<'a>) -> Self {
        Self { arena, raw: true }
    }

    /// The same clusters; `raw` is true for a reader that declared the need for raw JSON.
    #[doc(hidden)]
    #[inline]
    #[must_use]
    pub fn declaring_raw(self, raw: bool) -> Self {
        Self { raw, ..self }
    }

    #[inline]
    pub(crate) fn arena(&self) -> Arena<'a> {
        self.arena
    }

    /// The generation of the snapshot: two snapshots with the same generation have the same clusters, in the same
    /// process. 0 if it is unknown.
    #[inline]
    pub fn generation(&self) -> u64 {
        self.arena.generation()
    }

    /// The number of clusters.
    #[inline]
    pub fn len(&self) -> usize {
        self.arena.rows()
    }

    /// True if the snapshot has no clusters.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The cluster in a row. A row past the end yields a cluster without a name or properties.
    #[inline]
    pub fn get(&self, row: Row) -> Cluster<'a> {
        Cluster::new(self.arena, row, self.raw)
    }

    /// All clusters, in the order of their names.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = Cluster<'a>> + use<'a> {
        let clusters = *self;
        clusters.rows().map(move |row| clusters.get(row))
    }

    /// The rows of all clusters, in the order of their names.
    #[inline]
    pub fn rows(&self) -> impl ExactSizeIterator<Item = Row> + DoubleEndedIterator + Clone + use<> {
        (0..self.len()).map(Row::from_index)
    }

    /// Row of the cluster with that name; `None` if the snapshot has no such cluster.
    #[inline]
    pub fn row(&self, name: &str) -> Option<Row> {
        self.arena.row(name).map(|row| Row::from_index(row as usize))
    }

    /// The symbol of a text; `None` if no cluster mentions it. A text that clusters mentioned earlier may still have a
    /// symbol, which then appears in no column.
    #[inline]
    pub fn symbol(&self, text: &str) -> Option<Symbol> {
        self.arena.symbol(text).map(Symbol)
    }

    /// The symbols of several texts, each as [`Self::symbol`] gives it. Cheaper than one call per text.
    #[inline]
    pub fn symbols<const N: usize>(&self, texts: [&str; N]) -> [Option<Symbol>; N] {
        let symbols = self.arena.symbols();
        texts.map(|text| symbols.find(text, hash_text(text)).map(Symbol))
    }

    /// The text of a symbol.
    #[inline]
    pub fn text(&self, symbol: Symbol) -> &'a str {
        self.arena.text(symbol.0)
    }

    /// Compares two symbols by their [texts](Self::text). Cheaper than reading the texts.
    #[inline]
    pub fn compare_texts(&self, left: Symbol, right: Symbol) -> Ordering {
        self.arena.texts().compare(left.0, right.0)
    }

    /// Number of symbols in the snapshot: the size of a table indexed by [`Symbol::index`].
    #[inline]
    pub fn symbol_count(&self) -> usize {
        self.arena.column::<u64>(column::SYMBOL_HASHES).len()
    }

    /// Symbol of each cluster's name, by row.
    #[inline]
    pub fn names(&self) -> Column<'a, Row, Symbol> {
        Column::new(self.arena.column(column::NAME))
    }

    /// Hash of each cluster's name, by row. It is the same in every snapshot.
    #[inline]
    pub fn name_hashes(&self) -> Column<'a, Row, u64> {
        Column::new(self.arena.column(column::NAME_HASH))
    }

    /// Symbol of each cluster's region, by row.
    #[inline]
    pub fn regions(&self) -> Column<'a, Row, Symbol> {
        Column::new(self.arena.column(column::REGION))
    }

    /// Symbol of each cluster's provider, by row.
    #[inline]
    pub fn providers(&self) -> Column<'a, Row, Symbol> {
        Column::new(self.arena.column(column::PROVIDER))
    }

    /// Number of each cluster's set of API enablements, by row. Sets are numbered densely from 0 and stay below
    /// [`Self::api_set_count`], so a filter can decide once per set instead of once per cluster.
    #[inline]
    pub fn api_sets(&self) -> Column<'a, Row, u32> {
        Column::new(self.arena.column(column::API_SET))
    }

    /// Number of distinct sets of API enablements, including sets that no cluster uses any more.
    #[inline]
    pub fn api_set_count(&self) -> usize {
        self.arena
            .column::<divvy_framework_abi::text::Span>(column::API_SET_SPANS)
            .len()
    }

    /// For each set of API enablements, by number: true if it contains the kind in that group version.
    #[inline]
    pub fn api_sets_with(&self, group_version: Symbol, kind: Symbol) -> impl Iterator<Item = bool> + use<'a> {
        let group_versions: &'a [Symbol] = self.arena.column(column::API_GROUP_VERSIONS);
        let kinds: &'a [Symbol] = self.arena.column(column::API_KINDS);
        let spans: &'a [divvy_framework_abi::text::Span] = self.arena.column(column::API_SET_SPANS);
        spans.iter().map(move |span| {
            let mut pairs = span.of(group_versions).iter().zip(span.of(kinds));
            pairs.any(|pair| pair == (&group_version, &kind))
        })
    }

    /// A column of spans, by row.
    #[inline]
    pub(crate) fn spans(&self, spans: usize) -> &'a [divvy_framework_abi::text::Span] {
        self.arena.column(spans)
    }

    /// True if any cluster has a taint.
    #[inline]
    pub fn any_tainted(&self) -> bool {
        !self.arena.column::<u32>(column::TAINT_KEYS).is_empty()
    }

    /// The taints of all clusters, as columns of numbers.
    #[inline]
    pub fn taints(&self) -> TaintColumns<'a> {
        TaintColumns::new(self.arena)
    }

    /// For each cluster, by row: true if it has a taint. Does not read the taints.
    #[inline]
    pub fn tainted(&self) -> impl Iterator<Item = bool> + use<'a> {
        self.spans(column::TAINT_SPANS).iter().map(|span| span.length > 0)
    }

    /// True if any cluster reports its nodes by resource model.
    #[inline]
    pub fn any_modelings(&self) -> bool {
        !self.arena.column::<i64>(column::MODELING_GRADES).is_empty()
    }

    /// The columns of a resource; `None` if no cluster's summary names it.
    #[inline]
    pub fn resource(&self, name: &str) -> Option<ResourceColumns<'a>> {
        let index = self.resource_index(name)?;
        Some(ResourceColumns {
            allocatable: self.resource_column(column::RESOURCE_ALLOCATABLE, index),
            allocated: self.resource_column(column::RESOURCE_ALLOCATED, index),
            allocating: self.resource_column(column::RESOURCE_ALLOCATING, index),
            remaining: self.resource_column(column::RESOURCE_REMAINING, index),
        })
    }

    /// Only the column [`ResourceColumns::remaining`] of a resource; `None` if no cluster's summary names it.
    #[inline]
    pub fn remaining(&self, resource: &str) -> Option<Column<'a, Row, i64>> {
        self.all_remaining().of(resource)
    }

    /// The columns [`ResourceColumns::remaining`] of all resources, to look up several of them.
    #[inline]
    pub fn all_remaining(&self) -> RemainingColumns<'a> {
        RemainingColumns {
            clusters: *self,
            names: self.arena.column(column::RESOURCE_NAMES),
            texts: self.arena.texts(),
            cells: self.arena.column(column::RESOURCE_REMAINING),
        }
    }

    #[inline]
    fn resource_index(&self, name: &str) -> Option<usize> {
        let names: &[u32] = self.arena.column(column::RESOURCE_NAMES);
        self.index_among(names, self.arena.texts(), name)
    }

    #[inline]
    fn index_among(&self, names: &[u32], texts: Texts<'_>, name: &str) -> Option<usize> {
        if names.len() <= FEW_RESOURCES {
            return texts.position_of(names, name);
        }
        let symbol = self.arena.symbol(name)?;
        names.iter().position(|&known| known == symbol)
    }

    #[inline]
    fn resource_column(&self, column: usize, index: usize) -> Column<'a, Row, i64> {
        column_at(self.arena.column(column), index, self.len())
    }

    /// Symbols of all resources that any cluster's summary names.
    #[inline]
    pub fn resource_names(&self) -> impl Iterator<Item = Symbol> + use<'a> {
        let names: &'a [Symbol] = self.arena.column(column::RESOURCE_NAMES);
        // `u32::MAX` marks a slot that no resource currently uses.
        names.iter().copied().filter(|name| name.0 != u32::MAX)
    }
}

/// The columns [`ResourceColumns::remaining`] of all resources.
#[derive(Debug, Clone, Copy)]
pub struct RemainingColumns<'a> {
    clusters: Clusters<'a>,
    names: &'a [u32],
    texts: Texts<'a>,
    cells: &'a [i64],
}

impl<'a> RemainingColumns<'a> {
    /// The column of a resource; `None` if no cluster's summary names it.
    #[inline]
    pub fn of(&self, resource: &str) -> Option<Column<'a, Row, i64>> {
        let index = self.clusters.index_among(self.names, self.texts, resource)?;
        Some(column_at(self.cells, index, self.clusters.len()))
    }
}

/// The column with this index among columns of `rows` cells each.
#[inline]
fn column_at(cells: &[i64], index: usize, rows: usize) -> Column<'_, Row, i64> {
    Column::new(cells.get(index * rows..(index + 1) * rows).unwrap_or(&[]))
}

/// Amounts of one resource, by row: one value per cluster, [`Self::ABSENT`] where the cluster does not state it.
///
/// `cpu` is in thousandths of a core, everything else in its own unit (bytes, pieces). Fractions are rounded up.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ResourceColumns<'a> {
    /// `status.resourceSummary.allocatable`.
    pub allocatable: Column<'a, Row, i64>,
    /// `status.resourceSummary.allocated`.
    pub allocated: Column<'a, Row, i64>,
    /// `status.resourceSummary.allocating`.
    pub allocating: Column<'a, Row, i64>,
    /// Allocatable − allocated − allocating; negative where a cluster is overcommitted.
    pub remaining: Column<'a, Row, i64>,
}

impl ResourceColumns<'_> {
    /// The value that means "not stated".
    pub const ABSENT: i64 = divvy_framework_abi::arena::ABSENT;
}
