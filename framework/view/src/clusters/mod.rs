//! The clusters of a snapshot, as a plugin sees them.
//!
//! Two ways in. [`Cluster`] reads like the object: `cluster.region()`, `cluster.label("tier")`. [`Clusters`] gives whole
//! columns of numbers, for loops over thousands of clusters: texts are [`Symbol`]s there, so that "is it in this region"
//! is a comparison of two integers. Rows are sorted by name: a row number is also the rank of the cluster's name.

mod cluster;
mod matcher;
mod taints;

pub use crate::words::{ConditionStatus, TaintEffect};
pub use cluster::{Cluster, Condition, Model, Resource, Taint};
pub use matcher::{AffinityTables, ClusterMatcher, RowSet};
pub use taints::{TaintColumns, TaintSymbols};

use divvy_framework_abi::arena::{Arena, column};

/// An interned text of a snapshot: equal texts have equal symbols.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
pub struct Symbol(pub(crate) u32);

impl Symbol {
    /// The symbol of the empty text, which stands for "not set".
    pub const EMPTY: Self = Self(0);

    /// The symbol as a number, dense from 0: fit to index a table.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// All clusters of a snapshot.
#[derive(Debug, Clone, Copy)]
pub struct Clusters<'a> {
    arena: Arena<'a>,
}

impl<'a> Clusters<'a> {
    /// The clusters of an arena. For hosts: a plugin is given them.
    #[inline]
    pub fn new(arena: Arena<'a>) -> Self {
        Self { arena }
    }

    #[inline]
    pub(crate) fn arena(&self) -> Arena<'a> {
        self.arena
    }

    /// The number of clusters.
    #[inline]
    pub fn len(&self) -> usize {
        self.arena.rows()
    }

    /// Whether there is no cluster.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The cluster in a row. A row past the end gives a cluster without name or properties.
    #[inline]
    pub fn get(&self, row: usize) -> Cluster<'a> {
        Cluster::new(self.arena, row)
    }

    /// All clusters, by name.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = Cluster<'a>> + use<'a> {
        let clusters = *self;
        (0..clusters.len()).map(move |row| clusters.get(row))
    }

    /// The row of the cluster of that name.
    #[inline]
    pub fn row(&self, name: &str) -> Option<usize> {
        self.arena.row(name).map(|row| row as usize)
    }

    /// The symbol of a text; `None` if no cluster mentions it anywhere. A text that clusters have mentioned before may have a
    /// symbol too: one that no column holds.
    #[inline]
    pub fn symbol(&self, text: &str) -> Option<Symbol> {
        self.arena.symbol(text).map(Symbol)
    }

    /// The text of a symbol.
    #[inline]
    pub fn text(&self, symbol: Symbol) -> &'a str {
        self.arena.text(symbol.0)
    }

    /// How many symbols the snapshot has: the size of a table indexed by [`Symbol::index`].
    #[inline]
    pub fn symbol_count(&self) -> usize {
        self.arena.column::<u64>(column::SYMBOL_HASHES).len()
    }

    /// Per cluster: the symbol of its name.
    #[inline]
    pub fn names(&self) -> &'a [Symbol] {
        self.arena.column(column::NAME)
    }

    /// Per cluster: the hash of its name, which does not depend on the snapshot.
    #[inline]
    pub fn name_hashes(&self) -> &'a [u64] {
        self.arena.column(column::NAME_HASH)
    }

    /// Per cluster: the symbol of its region.
    #[inline]
    pub fn regions(&self) -> &'a [Symbol] {
        self.arena.column(column::REGION)
    }

    /// Per cluster: the symbol of its provider.
    #[inline]
    pub fn providers(&self) -> &'a [Symbol] {
        self.arena.column(column::PROVIDER)
    }

    /// Per cluster: which set of API enablements it has. The sets are numbered densely from 0 to
    /// [`Self::api_set_count`], so that a verdict can be reached once a set instead of once a cluster.
    #[inline]
    pub fn api_sets(&self) -> &'a [u32] {
        self.arena.column(column::API_SET)
    }

    /// The number of distinct sets of API enablements, those that no cluster has any more included.
    #[inline]
    pub fn api_set_count(&self) -> usize {
        self.arena
            .column::<divvy_framework_abi::text::Span>(column::API_SET_SPANS)
            .len()
    }

    /// Whether a set of API enablements has a kind in a group version.
    #[inline]
    pub fn api_set_has(&self, set: u32, group_version: Symbol, kind: Symbol) -> bool {
        let span = self.arena.span(column::API_SET_SPANS, set as usize);
        let group_versions = span.of(self.arena.column::<Symbol>(column::API_GROUP_VERSIONS));
        let kinds = span.of(self.arena.column::<Symbol>(column::API_KINDS));
        group_versions
            .iter()
            .zip(kinds)
            .any(|pair| pair == (&group_version, &kind))
    }

    /// Per cluster: how many taints it has, as the length of its span.
    #[inline]
    pub(crate) fn spans(&self, spans: usize) -> &'a [divvy_framework_abi::text::Span] {
        self.arena.column(spans)
    }

    /// Whether any cluster at all has a taint.
    #[inline]
    pub fn any_tainted(&self) -> bool {
        !self.arena.column::<u32>(column::TAINT_KEYS).is_empty()
    }

    /// The taints of all clusters as numbers.
    #[inline]
    pub fn taints(&self) -> TaintColumns<'a> {
        TaintColumns::new(self.arena)
    }

    /// Per cluster: whether it has a taint, without looking at which.
    #[inline]
    pub fn tainted(&self) -> impl Iterator<Item = bool> + use<'a> {
        self.spans(column::TAINT_SPANS).iter().map(|span| span.length > 0)
    }

    /// Whether any cluster reports its nodes by resource models.
    #[inline]
    pub fn any_modelings(&self) -> bool {
        !self.arena.column::<i64>(column::MODELING_GRADES).is_empty()
    }

    /// What the clusters have of a resource; `None` if no cluster's summary names it.
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

    /// Per cluster: what remains of a resource, as [`ResourceColumns::remaining`]; `None` if no cluster's summary names it.
    #[inline]
    pub fn remaining(&self, resource: &str) -> Option<&'a [i64]> {
        let index = self.resource_index(resource)?;
        Some(self.resource_column(column::RESOURCE_REMAINING, index))
    }

    #[inline]
    fn resource_index(&self, name: &str) -> Option<usize> {
        let symbol = self.arena.symbol(name)?;
        let names: &[u32] = self.arena.column(column::RESOURCE_NAMES);
        names.iter().position(|&known| known == symbol)
    }

    #[inline]
    fn resource_column(&self, column: usize, index: usize) -> &'a [i64] {
        let (cells, rows): (&'a [i64], usize) = (self.arena.column(column), self.len());
        cells.get(index * rows..(index + 1) * rows).unwrap_or(&[])
    }

    /// The names of all resources that any cluster's summary names.
    #[inline]
    pub fn resource_names(&self) -> impl Iterator<Item = Symbol> + use<'a> {
        let names: &'a [Symbol] = self.arena.column(column::RESOURCE_NAMES);
        // A place that no resource has is marked so.
        names.iter().copied().filter(|name| name.0 != u32::MAX)
    }
}

/// What the clusters have of one resource: a value a cluster, [`Self::ABSENT`] where the cluster does not state it.
///
/// `cpu` counts thousandths of a core, everything else its own unit (bytes, pieces); fractions are rounded up.
#[derive(Debug, Clone, Copy)]
pub struct ResourceColumns<'a> {
    /// `status.resourceSummary.allocatable`.
    pub allocatable: &'a [i64],
    /// `status.resourceSummary.allocated`.
    pub allocated: &'a [i64],
    /// `status.resourceSummary.allocating`.
    pub allocating: &'a [i64],
    /// Allocatable − allocated − allocating; negative where a cluster is overcommitted.
    pub remaining: &'a [i64],
}

impl ResourceColumns<'_> {
    /// The value that stands for "not stated".
    pub const ABSENT: i64 = divvy_framework_abi::arena::ABSENT;
}
