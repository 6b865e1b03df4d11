//! One cluster of a snapshot.

use divvy_framework_abi::arena::{ABSENT, Arena, column, flag};

use super::{Row, Symbol};
use crate::words::{ConditionStatus, TaintEffect};

/// One cluster: the contents of Karmada's `Cluster` that a scheduler needs.
#[derive(Debug, Clone, Copy)]
pub struct Cluster<'a> {
    arena: Arena<'a>,
    row: usize,
    /// True if the caller declared that it reads raw JSON.
    raw: bool,
}

/// A plugin read a value that hosts provide only to plugins that declare the need for it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("reads {value} without declaring `Needs::{need}`")]
#[non_exhaustive]
pub struct NotDeclared {
    /// The value.
    pub value: &'static str,
    /// The need to declare.
    pub need: &'static str,
}

impl NotDeclared {
    /// For the SDK; plugins receive it from the views.
    #[doc(hidden)]
    pub const fn new(value: &'static str, need: &'static str) -> Self {
        Self { value, need }
    }
}

/// A taint of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Taint<'a> {
    /// Key.
    pub key: &'a str,
    /// Value.
    pub value: &'a str,
    /// Effect.
    pub effect: TaintEffect,
    /// Time at which it was added, in seconds since 1970.
    pub time_added: Option<i64>,
}

impl<'a> Taint<'a> {
    /// A taint without a known time.
    pub const fn new(key: &'a str, value: &'a str, effect: TaintEffect) -> Self {
        Self {
            key,
            value,
            effect,
            time_added: None,
        }
    }
}

/// A condition of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Condition<'a> {
    /// `type`.
    pub kind: &'a str,
    /// `status`.
    pub status: ConditionStatus,
    /// `reason`.
    pub reason: &'a str,
}

impl<'a> Condition<'a> {
    /// A condition.
    pub const fn new(kind: &'a str, status: ConditionStatus, reason: &'a str) -> Self {
        Self { kind, status, reason }
    }
}

/// Amounts of one resource in a cluster: `cpu` in thousandths of a core, everything else in its own unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Resource<'a> {
    /// Resource name, such as `cpu`.
    pub name: &'a str,
    /// `allocatable`.
    pub allocatable: Option<i64>,
    /// `allocated`.
    pub allocated: Option<i64>,
    /// `allocating`.
    pub allocating: Option<i64>,
    /// Allocatable − allocated − allocating; negative if the cluster is overcommitted.
    pub remaining: Option<i64>,
}

impl<'a> Resource<'a> {
    /// A resource without amounts.
    pub const fn new(name: &'a str) -> Self {
        Self {
            name,
            allocatable: None,
            allocated: None,
            allocating: None,
            remaining: None,
        }
    }
}

/// One of a cluster's resource models, with the number of nodes in its grade.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Model<'a> {
    /// Grade: identifies the model within the cluster.
    pub grade: i64,
    /// Allocatable nodes of that grade; 0 if the status does not list the grade.
    pub nodes: i64,
    /// Ranges: name of the resource, minimum and maximum.
    pub ranges: Vec<(&'a str, i64, i64)>,
}

impl<'a> Cluster<'a> {
    #[inline]
    pub(crate) fn new(arena: Arena<'a>, row: Row, raw: bool) -> Self {
        Self {
            arena,
            row: row.index(),
            raw,
        }
    }

    /// Row in the snapshot, which is also the rank of the cluster's name.
    #[inline]
    pub fn row(&self) -> Row {
        Row::from_index(self.row)
    }

    /// `metadata.name`.
    #[inline]
    pub fn name(&self) -> &'a str {
        self.symbol_text(column::NAME)
    }

    /// `metadata.uid`.
    #[inline]
    pub fn uid(&self) -> &'a str {
        self.symbol_text(column::UID)
    }

    /// `spec.region`; empty if not set.
    #[inline]
    pub fn region(&self) -> &'a str {
        self.symbol_text(column::REGION)
    }

    /// `spec.provider`; empty if not set.
    #[inline]
    pub fn provider(&self) -> &'a str {
        self.symbol_text(column::PROVIDER)
    }

    /// The deprecated `spec.zone`; empty if not set.
    #[inline]
    pub fn zone(&self) -> &'a str {
        self.symbol_text(column::ZONE)
    }

    /// `spec.zones`, as symbols.
    #[inline]
    pub fn zone_symbols(&self) -> &'a [Symbol] {
        self.arena
            .span(column::ZONE_SPANS, self.row)
            .of(self.arena.column(column::ZONES))
    }

    /// `spec.zones`.
    #[inline]
    pub fn zones(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let arena = self.arena;
        self.zone_symbols().iter().map(move |zone| arena.text(zone.0))
    }

    /// `metadata.labels`, as symbols of keys and values.
    #[inline]
    pub fn label_symbols(&self) -> impl Iterator<Item = (Symbol, Symbol)> + use<'a> {
        self.pairs(column::LABEL_SPANS, column::LABEL_KEYS, column::LABEL_VALUES)
    }

    /// `metadata.labels`.
    #[inline]
    pub fn labels(&self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        let arena = self.arena;
        self.label_symbols()
            .map(move |(key, value)| (arena.text(key.0), arena.text(value.0)))
    }

    /// Value of a label; `None` if the cluster does not have it.
    #[inline]
    pub fn label(&self, key: &str) -> Option<&'a str> {
        // The columns are read first: whether a reader may read them must not depend on the texts of the snapshot.
        let mut labels = self.label_symbols();
        let key = self.arena.symbol(key)?;
        labels
            .find(|(candidate, _)| candidate.0 == key)
            .map(|(_, value)| self.arena.text(value.0))
    }

    /// Symbol of a label's value, for a key that is already a symbol; [`Symbol::EMPTY`] if the value is empty.
    #[inline]
    pub fn label_symbol(&self, key: Symbol) -> Option<Symbol> {
        self.label_symbols()
            .find(|(candidate, _)| *candidate == key)
            .map(|(_, value)| value)
    }

    /// `metadata.annotations`.
    #[inline]
    pub fn annotations(&self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        let arena = self.arena;
        self.pairs(
            column::ANNOTATION_SPANS,
            column::ANNOTATION_KEYS,
            column::ANNOTATION_VALUES,
        )
        .map(move |(key, value)| (arena.text(key.0), arena.text(value.0)))
    }

    /// Value of an annotation; `None` if the cluster does not have it.
    #[inline]
    pub fn annotation(&self, key: &str) -> Option<&'a str> {
        self.annotations()
            .find(|(candidate, _)| *candidate == key)
            .map(|(_, value)| value)
    }

    /// `spec.taints`.
    #[inline]
    pub fn taints(&self) -> impl Iterator<Item = Taint<'a>> + use<'a> {
        let arena = self.arena;
        let span = arena.span(column::TAINT_SPANS, self.row);
        let keys = span.of(arena.column::<u32>(column::TAINT_KEYS));
        let values = span.of(arena.column::<u32>(column::TAINT_VALUES));
        let effects = span.of(arena.column::<u32>(column::TAINT_EFFECTS));
        let times = span.of(arena.column::<i64>(column::TAINT_TIMES));
        keys.iter()
            .zip(values)
            .zip(effects)
            .zip(times)
            .map(move |(((&key, &value), &effect), &time)| Taint {
                key: arena.text(key),
                value: arena.text(value),
                effect: TaintEffect::from_code(effect),
                time_added: stated(time),
            })
    }

    /// True if the cluster is being deleted.
    #[inline]
    pub fn is_deleting(&self) -> bool {
        self.flag(flag::DELETING)
    }

    /// True if the condition `Ready` is true.
    #[inline]
    pub fn is_ready(&self) -> bool {
        self.flag(flag::READY)
    }

    /// True if the condition `CompleteAPIEnablements` is true. Otherwise the cluster may serve APIs it does not list.
    #[inline]
    pub fn has_complete_api_enablements(&self) -> bool {
        self.flag(flag::COMPLETE_API_ENABLEMENTS)
    }

    /// True if the status has a resource summary.
    #[inline]
    pub fn has_resource_summary(&self) -> bool {
        self.flag(flag::RESOURCE_SUMMARY)
    }

    /// `status.conditions`.
    #[inline]
    pub fn conditions(&self) -> impl Iterator<Item = Condition<'a>> + use<'a> {
        let arena = self.arena;
        let span = arena.span(column::CONDITION_SPANS, self.row);
        let kinds = span.of(arena.column::<u32>(column::CONDITION_TYPES));
        let statuses = span.of(arena.column::<u32>(column::CONDITION_STATUSES));
        let reasons = span.of(arena.column::<u32>(column::CONDITION_REASONS));
        kinds
            .iter()
            .zip(statuses)
            .zip(reasons)
            .map(move |((&kind, &status), &reason)| Condition {
                kind: arena.text(kind),
                status: ConditionStatus::from_code(status),
                reason: arena.text(reason),
            })
    }

    /// Number of the cluster's set of API enablements. See [`Clusters::api_sets`](super::Clusters::api_sets).
    #[inline]
    pub fn api_set(&self) -> u32 {
        self.number(column::API_SET)
    }

    /// `status.apiEnablements`, as pairs of group version and kind.
    #[inline]
    pub fn api_enablements(&self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        let arena = self.arena;
        let span = arena.span(column::API_SET_SPANS, self.api_set() as usize);
        let group_versions = span.of(arena.column::<u32>(column::API_GROUP_VERSIONS));
        let kinds = span.of(arena.column::<u32>(column::API_KINDS));
        group_versions
            .iter()
            .zip(kinds)
            .map(move |(&group_version, &kind)| (arena.text(group_version), arena.text(kind)))
    }

    /// Amounts of one resource; `None` if the cluster's summary does not name it.
    #[inline]
    pub fn resource(&self, name: &str) -> Option<Resource<'a>> {
        self.resources().find(|resource| resource.name == name)
    }

    /// Amounts of every resource that the cluster's summary names.
    pub fn resources(&self) -> impl Iterator<Item = Resource<'a>> + use<'a> {
        let arena = self.arena;
        let row = self.row;
        let rows = arena.rows();
        let cell = move |matrix: usize, index: usize| {
            arena
                .column::<i64>(matrix)
                .get(index * rows + row)
                .copied()
                .and_then(stated)
        };
        arena
            .column::<u32>(column::RESOURCE_NAMES)
            .iter()
            .enumerate()
            .map(move |(index, &name)| Resource {
                name: arena.text(name),
                allocatable: cell(column::RESOURCE_ALLOCATABLE, index),
                allocated: cell(column::RESOURCE_ALLOCATED, index),
                allocating: cell(column::RESOURCE_ALLOCATING, index),
                remaining: cell(column::RESOURCE_REMAINING, index),
            })
            .filter(|resource| {
                resource.allocatable.is_some() || resource.allocated.is_some() || resource.allocating.is_some()
            })
    }

    /// Number of the cluster's set of resource models. Clusters share equal sets; 0 is the empty set.
    #[inline]
    pub fn model_set(&self) -> u32 {
        self.number(column::MODEL_SET)
    }

    /// The cluster's resource models, with the number of nodes in each grade.
    pub fn models(&self) -> Vec<Model<'a>> {
        let arena = self.arena;
        let set = arena.span(column::MODEL_SET_SPANS, self.model_set() as usize);
        let modelings = arena.span(column::MODELING_SPANS, self.row);
        let grades = modelings.of(arena.column::<i64>(column::MODELING_GRADES));
        let counts = modelings.of(arena.column::<i64>(column::MODELING_COUNTS));
        (set.start as usize..)
            .zip(set.of(arena.column::<i64>(column::MODEL_GRADES)))
            .map(|(index, &grade)| {
                let ranges = arena.span(column::MODEL_RANGE_SPANS, index);
                let resources = ranges.of(arena.column::<u32>(column::MODEL_RANGE_RESOURCES));
                let minimums = ranges.of(arena.column::<i64>(column::MODEL_RANGE_MINIMUMS));
                let maximums = ranges.of(arena.column::<i64>(column::MODEL_RANGE_MAXIMUMS));
                Model {
                    grade,
                    nodes: grades
                        .iter()
                        .zip(counts)
                        .find(|(candidate, _)| **candidate == grade)
                        .map_or(0, |(_, &nodes)| nodes),
                    ranges: resources
                        .iter()
                        .zip(minimums)
                        .zip(maximums)
                        .map(|((&resource, &minimum), &maximum)| (arena.text(resource), minimum, maximum))
                        .collect(),
                }
            })
            .collect()
    }

    /// `status.resourceSummary.allocatableModelings`, as pairs of grade and number of nodes.
    #[inline]
    pub fn modelings(&self) -> impl Iterator<Item = (i64, i64)> + use<'a> {
        let span = self.arena.span(column::MODELING_SPANS, self.row);
        let grades = span.of(self.arena.column::<i64>(column::MODELING_GRADES));
        let counts = span.of(self.arena.column::<i64>(column::MODELING_COUNTS));
        grades.iter().copied().zip(counts.iter().copied())
    }

    /// The whole object as JSON.
    ///
    /// # Errors
    ///
    /// [`NotDeclared`] unless the plugin declares `Needs::raw_cluster`, even if another plugin of the profile does.
    #[inline]
    pub fn raw_json(&self) -> Result<&'a str, NotDeclared> {
        if !self.raw {
            return Err(NotDeclared {
                value: "the raw JSON of a cluster",
                need: "raw_cluster",
            });
        }
        let span = self.arena.span(column::RAW_SPANS, self.row);
        Ok(std::str::from_utf8(span.of(self.arena.column(column::RAW_TEXT))).unwrap_or(""))
    }

    #[inline]
    fn number(&self, column: usize) -> u32 {
        self.arena.column::<u32>(column).get(self.row).copied().unwrap_or(0)
    }

    #[inline]
    fn flag(&self, bit: u32) -> bool {
        self.number(column::FLAGS) & bit != 0
    }

    #[inline]
    fn symbol_text(&self, column: usize) -> &'a str {
        self.arena.text(self.number(column))
    }

    #[inline]
    fn pairs(&self, spans: usize, keys: usize, values: usize) -> impl Iterator<Item = (Symbol, Symbol)> + use<'a> {
        let span = self.arena.span(spans, self.row);
        let keys: &'a [Symbol] = span.of(self.arena.column(keys));
        let values: &'a [Symbol] = span.of(self.arena.column(values));
        keys.iter().copied().zip(values.iter().copied())
    }
}

/// A quantity; `None` for the value that means "not stated".
fn stated(value: i64) -> Option<i64> {
    (value != ABSENT).then_some(value)
}
