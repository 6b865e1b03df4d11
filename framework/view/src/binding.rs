//! A binding, as a plugin reads it.
//!
//! Its texts are spans into one string with their hashes, its lists are tables of numbers. They were built once, when the
//! binding was read; a cycle hands out views of them and converts nothing.

use divvy_framework_abi::arena::{ABSENT, NO_ROW};
use divvy_framework_abi::call::{
    AffinityRow, ComponentRow, CycleView, PairRow, RequestRow, RuleRow, SpreadConstraintRow, TolerationRow, flag,
};
use divvy_framework_abi::text::{Span, Text};

use crate::clusters::{AffinityTables, ClusterMatcher, Clusters, RowSet};
use crate::words::TaintEffect;
pub use crate::words::{SelectorField, SelectorOperator, SpreadField, TolerationOperator};

/// A binding: what Karmada's ResourceBinding or ClusterResourceBinding holds.
#[derive(Clone, Copy)]
pub struct Binding<'a> {
    view: &'a CycleView<'a>,
}

impl std::fmt::Debug for Binding<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Binding")
            .field("namespace", &self.namespace())
            .field("name", &self.name())
            .field("strategy", &self.strategy())
            .field("replicas", &self.replicas())
            .finish_non_exhaustive()
    }
}

impl<'a> Binding<'a> {
    /// The binding of a cycle. For hosts: a plugin is given it.
    #[inline]
    pub fn new(view: &'a CycleView<'a>) -> Self {
        Self { view }
    }

    #[inline]
    fn read(&self, text: Text) -> &'a str {
        text.read(self.view.pool.as_str())
    }

    fn tables(&self) -> AffinityTables<'a> {
        AffinityTables {
            pool: self.view.pool.as_str(),
            texts: self.view.texts.as_slice(),
            expressions: self.view.expressions.as_slice(),
        }
    }

    /// `metadata.namespace`; empty for a ClusterResourceBinding.
    pub fn namespace(&self) -> &'a str {
        self.read(self.view.names.namespace)
    }

    /// `metadata.name`.
    pub fn name(&self) -> &'a str {
        self.read(self.view.names.name)
    }

    /// `metadata.uid`, or what stands for it in a manifest without one.
    pub fn uid(&self) -> &'a str {
        self.read(self.view.names.uid)
    }

    /// `spec.resource.apiVersion`.
    pub fn resource_api_version(&self) -> &'a str {
        self.read(self.view.names.resource_api_version)
    }

    /// `spec.resource.kind`.
    pub fn resource_kind(&self) -> &'a str {
        self.read(self.view.names.resource_kind)
    }

    /// `spec.resource.namespace`; empty for a cluster-wide resource.
    pub fn resource_namespace(&self) -> &'a str {
        self.read(self.view.names.resource_namespace)
    }

    /// `spec.resource.name`.
    pub fn resource_name(&self) -> &'a str {
        self.read(self.view.names.resource_name)
    }

    /// `spec.resource.uid`.
    pub fn resource_uid(&self) -> &'a str {
        self.read(self.view.names.resource_uid)
    }

    /// The strategy that the policy names.
    pub fn strategy(&self) -> &'a str {
        self.read(self.view.names.strategy)
    }

    /// The preferences as JSON; empty if the policy carries none in free form.
    pub fn preferences_json(&self) -> &'a str {
        self.read(self.view.names.preferences)
    }

    /// Replicas that the workload asks for.
    pub fn replicas(&self) -> i64 {
        self.view.replicas
    }

    /// Whether the resource has replicas to divide; others are propagated whole.
    pub fn is_workload(&self) -> bool {
        self.has(flag::WORKLOAD)
    }

    /// Whether the division starts from scratch, because a reschedule was asked for.
    pub fn is_fresh(&self) -> bool {
        self.has(flag::FRESH)
    }

    /// Whether every candidate gets the full count.
    pub fn is_duplicated(&self) -> bool {
        self.has(flag::DUPLICATED)
    }

    fn has(&self, bit: u64) -> bool {
        self.view.flags & bit != 0
    }

    /// What one replica requests: `cpu` in thousandths, everything else in its own unit.
    pub fn requests(&self) -> impl Iterator<Item = Request<'a>> + use<'a> {
        self.requests_in(self.view.replica_requests)
    }

    fn requests_in(&self, span: Span) -> impl Iterator<Item = Request<'a>> + use<'a> {
        let pool = self.view.pool.as_str();
        let rows: &'a [RequestRow] = span.of(self.view.requests.as_slice());
        rows.iter().map(move |row| Request {
            resource: row.resource.read(pool),
            quantity: row.quantity,
        })
    }

    /// The pod templates of a workload that has several.
    pub fn components(&self) -> impl Iterator<Item = Component<'a>> + use<'a> {
        let binding = *self;
        let rows: &'a [ComponentRow] = self.view.components.as_slice();
        rows.iter().map(move |&row| Component { binding, row })
    }

    /// The last result: the clusters that `spec.clusters` lists, with their replicas.
    pub fn last(&self) -> impl Iterator<Item = LastTarget<'a>> + use<'a> {
        let pool = self.view.pool.as_str();
        let rows = self.view.last_rows.as_slice();
        self.view
            .last
            .as_slice()
            .iter()
            .enumerate()
            .map(move |(place, target)| LastTarget {
                cluster: target.cluster.read(pool),
                row: rows.get(place).filter(|&&row| row != NO_ROW).map(|&row| row as usize),
                replicas: target.replicas,
            })
    }

    /// Makes `rows` the set of the clusters that the last result lists, whatever their replicas. Without a last result the
    /// set is empty and costs nothing.
    pub fn collect_last_rows(&self, clusters: &Clusters<'_>, rows: &mut RowSet) {
        let last = self.view.last_rows.as_slice();
        rows.reset(if last.is_empty() { 0 } else { clusters.len() });
        for &row in last.iter().filter(|&&row| row != NO_ROW) {
            rows.insert(row as usize);
        }
    }

    /// The clusters that the binding is being evicted from: `spec.gracefulEvictionTasks`.
    pub fn evictions(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let pool = self.view.pool.as_str();
        self.view.evictions.as_slice().iter().map(move |text| text.read(pool))
    }

    /// The rows of the clusters that the binding is being evicted from.
    pub fn eviction_rows(&self, clusters: &Clusters<'a>) -> impl Iterator<Item = usize> + use<'a> {
        let pool = self.view.pool.as_str();
        let arena = clusters.arena();
        self.view
            .evictions
            .as_slice()
            .iter()
            .filter_map(move |text| arena.row_hashed(text.read(pool), text.hash))
            .map(|row| row as usize)
    }

    /// `placement.clusterTolerations`.
    pub fn tolerations(&self) -> impl Iterator<Item = Toleration<'a>> + use<'a> {
        let pool = self.view.pool.as_str();
        let rows: &'a [TolerationRow] = self.view.tolerations.as_slice();
        rows.iter().map(move |row| Toleration {
            key: row.key.read(pool),
            operator: TolerationOperator::from_code(row.operator),
            value: row.value.read(pool),
            effect: TaintEffect::from_code(row.effect),
            seconds: (row.seconds != ABSENT).then_some(row.seconds),
        })
    }

    /// `placement.spreadConstraints`.
    pub fn spread_constraints(&self) -> impl Iterator<Item = SpreadConstraint<'a>> + use<'a> {
        let pool = self.view.pool.as_str();
        let rows: &'a [SpreadConstraintRow] = self.view.spread_constraints.as_slice();
        rows.iter().map(move |row| SpreadConstraint {
            field: SpreadField::from_code(row.field),
            label: row.label.read(pool),
            minimum_groups: row.minimum_groups,
            maximum_groups: row.maximum_groups,
        })
    }

    /// Whether Select leaves the spread constraints out of account, because the strategy does.
    pub fn ignores_spread_constraints(&self) -> bool {
        self.has(flag::IGNORE_SPREAD)
    }

    /// The affinities of the placement that are in force: a cluster must match one of them; none: any cluster will do.
    pub fn affinities(&self) -> impl Iterator<Item = Affinity<'a>> + use<'a> {
        let tables = self.tables();
        let rows: &'a [AffinityRow] = self.view.placement_affinities.of(self.view.affinities.as_slice());
        rows.iter().map(move |&row| Affinity { row, tables })
    }

    /// What the policy says of groups of clusters, in the list that belongs to the strategy.
    pub fn rules(&self) -> impl ExactSizeIterator<Item = Rule<'a>> + use<'a> {
        let binding = *self;
        let rows: &'a [RuleRow] = self.view.rules.as_slice();
        rows.iter()
            .enumerate()
            .map(move |(place, &row)| Rule { binding, place, row })
    }

    /// `metadata.labels`.
    pub fn labels(&self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        self.pairs(self.view.labels.as_slice())
    }

    /// `metadata.annotations`.
    pub fn annotations(&self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        self.pairs(self.view.annotations.as_slice())
    }

    fn pairs(&self, rows: &'a [PairRow]) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        let pool = self.view.pool.as_str();
        rows.iter().map(move |row| (row.key.read(pool), row.value.read(pool)))
    }
}

/// A quantity of a resource that one replica requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'a> {
    /// The resource's name.
    pub resource: &'a str,
    /// How much: `cpu` in thousandths, everything else in its own unit.
    pub quantity: i64,
}

/// One pod template of a workload that has several.
#[derive(Debug, Clone, Copy)]
pub struct Component<'a> {
    binding: Binding<'a>,
    row: ComponentRow,
}

impl<'a> Component<'a> {
    /// Its name.
    pub fn name(&self) -> &'a str {
        self.binding.read(self.row.name)
    }

    /// Its replicas.
    pub fn replicas(&self) -> i64 {
        self.row.replicas
    }

    /// What one of its replicas requests.
    pub fn requests(&self) -> impl Iterator<Item = Request<'a>> + use<'a> {
        self.binding.requests_in(self.row.requests)
    }
}

/// A cluster of the last result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastTarget<'a> {
    /// The cluster's name.
    pub cluster: &'a str,
    /// Its row in the snapshot; `None` if it is gone.
    pub row: Option<usize>,
    /// Its replicas.
    pub replicas: i64,
}

/// A toleration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Toleration<'a> {
    /// Key; empty: every key.
    pub key: &'a str,
    /// Operator.
    pub operator: TolerationOperator,
    /// Value, for `Equal`.
    pub value: &'a str,
    /// Effect.
    pub effect: TaintEffect,
    /// `tolerationSeconds`.
    pub seconds: Option<i64>,
}

/// A spread constraint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpreadConstraint<'a> {
    /// By what.
    pub field: SpreadField,
    /// The label's key, if by label; else empty.
    pub label: &'a str,
    /// Least number of groups.
    pub minimum_groups: i64,
    /// Largest number of groups; 0 or less: no limit.
    pub maximum_groups: i64,
}

/// A cluster affinity.
#[derive(Debug, Clone, Copy)]
pub struct Affinity<'a> {
    row: AffinityRow,
    tables: AffinityTables<'a>,
}

impl<'a> Affinity<'a> {
    /// The name of the affinity group; empty if it is none.
    pub fn name(&self) -> &'a str {
        self.row.name.read(self.tables.pool)
    }

    /// `clusterNames`, in the order of the policy.
    pub fn cluster_names(&self) -> impl ExactSizeIterator<Item = &'a str> + use<'a> {
        let pool = self.tables.pool;
        let names: &'a [Text] = self.row.cluster_names.of(self.tables.texts);
        names.iter().map(move |name| name.read(pool))
    }

    /// The rows of the clusters that `clusterNames` lists, in the order of the policy.
    pub fn cluster_rows(&self, clusters: &Clusters<'a>) -> impl Iterator<Item = Option<usize>> + use<'a> {
        let pool = self.tables.pool;
        let arena = clusters.arena();
        let names: &'a [Text] = self.row.cluster_names.of(self.tables.texts);
        names
            .iter()
            .map(move |name| arena.row_hashed(name.read(pool), name.hash).map(|row| row as usize))
    }

    /// The affinity as a test of rows.
    pub fn compile(&self, clusters: &Clusters<'a>) -> ClusterMatcher<'a> {
        ClusterMatcher::compile(clusters.arena(), &self.row, self.tables)
    }
}

/// One entry of the list by which a policy says what each group of clusters is to get.
///
/// The host has resolved the entry's target already: [`Self::rows`] are its clusters.
#[derive(Debug, Clone, Copy)]
pub struct Rule<'a> {
    binding: Binding<'a>,
    place: usize,
    row: RuleRow,
}

impl<'a> Rule<'a> {
    /// A named number of the entry, such as `weight` or `replicas`.
    pub fn value(&self, field: &str) -> Option<i64> {
        self.values().find(|(name, _)| *name == field).map(|(_, value)| value)
    }

    /// All named numbers of the entry.
    pub fn values(&self) -> impl Iterator<Item = (&'a str, i64)> + use<'a> {
        let pool = self.binding.view.pool.as_str();
        self.row
            .values
            .of(self.binding.view.rule_values.as_slice())
            .iter()
            .map(move |row| (row.field.read(pool), row.value))
    }

    /// The rows of the clusters that the entry matches, ascending: of the whole snapshot, candidates or not.
    #[inline]
    pub fn rows(&self) -> &'a [u32] {
        self.binding
            .view
            .rule_spans
            .as_slice()
            .get(self.place)
            .copied()
            .unwrap_or_default()
            .of(self.binding.view.rule_rows.as_slice())
    }

    /// Whether the entry matches the cluster in that row.
    #[inline]
    pub fn matches(&self, row: usize) -> bool {
        u32::try_from(row).is_ok_and(|row| self.rows().binary_search(&row).is_ok())
    }

    /// Where the entry stands in the policy, for messages: `staticWeightList[0]`.
    pub fn origin(&self) -> &'a str {
        self.binding.read(self.row.origin)
    }

    /// The entry's target.
    pub fn target(&self) -> Option<Affinity<'a>> {
        let row = *self.binding.view.affinities.as_slice().get(self.row.target as usize)?;
        Some(Affinity {
            row,
            tables: self.binding.tables(),
        })
    }
}
