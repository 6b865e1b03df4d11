//! A plugin's view of a binding.
//!
//! Its texts are spans into one string, stored with their hashes; its lists are tables of numbers. Both are built once,
//! when the binding is read. A cycle hands out views of them and converts nothing.

mod affinities;
mod metadata;
mod placements;
mod policy;
mod tolerations;

use divvy_framework_abi::arena::{ABSENT, NO_ROW};
use divvy_framework_abi::row::{AffinityRow, ComponentRow, PairRow, RequestRow, SpreadConstraintRow, TolerationRow};
use divvy_framework_abi::text::{Span, Text};
use divvy_framework_abi::view::{CycleView, flag};

use crate::clusters::{AffinityTables, Clusters, Row, RowSet};
use crate::words::TaintEffect;
pub use crate::words::{SelectorField, SelectorOperator, SpreadField, TolerationOperator};
pub use affinities::{Affinities, Affinity};
pub use metadata::Metadata;
pub use placements::{Peer, PeerTarget, Placements};
pub use policy::{Policy, Rule};
pub use tolerations::{Tolerations, UntoleratedTaints};

/// The contents of Karmada's ResourceBinding or ClusterResourceBinding, and the known facts about its policy and its
/// workload.
///
/// Binding, policy and workload each have labels and annotations of their own; none inherits from another. A binding
/// from a control plane has those that Karmada's detector gave it: the permanent identifier and the name of its policy,
/// but none of its workload's. A binding that Divvy derives from a workload in its input has none.
#[derive(Clone, Copy)]
pub struct Binding<'a> {
    view: &'a CycleView<'a>,
    /// Needs that the plugin declared, as bits of [`divvy_framework_abi::descriptor::feature`].
    needs: u64,
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
    /// The binding of a cycle. For hosts; plugins receive it as an argument.
    #[doc(hidden)]
    #[inline]
    pub fn new(view: &'a CycleView<'a>) -> Self {
        Self { view, needs: 0 }
    }

    /// The binding for a plugin that declared these needs, as bits of [`divvy_framework_abi::descriptor::feature`].
    #[doc(hidden)]
    #[inline]
    #[must_use]
    pub fn declaring(self, needs: u64) -> Self {
        Self { needs, ..self }
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

    /// `metadata.uid`, or the host's substitute if the manifest has none.
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

    /// Name of the strategy that the policy selects.
    pub fn strategy(&self) -> &'a str {
        self.read(self.view.names.strategy)
    }

    /// Replicas that the workload requests.
    pub fn replicas(&self) -> i64 {
        self.view.replicas
    }

    /// True if the resource has replicas to divide; other resources are propagated whole.
    pub fn is_workload(&self) -> bool {
        self.has(flag::WORKLOAD)
    }

    /// True if a reschedule was requested, so that the division starts from scratch.
    pub fn is_fresh(&self) -> bool {
        self.has(flag::FRESH)
    }

    /// True if every candidate gets the full replica count.
    pub fn is_duplicated(&self) -> bool {
        self.has(flag::DUPLICATED)
    }

    fn has(&self, bit: u64) -> bool {
        self.view.flags & bit != 0
    }

    /// Resource requests of one replica: `cpu` in thousandths of a core, everything else in its own unit.
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

    /// The pod templates of a workload with several; empty for any other resource.
    pub fn components(&self) -> impl Iterator<Item = Component<'a>> + use<'a> {
        let binding = *self;
        let rows: &'a [ComponentRow] = self.view.components.as_slice();
        rows.iter().map(move |&row| Component { binding, row })
    }

    /// The last result: the clusters in `spec.clusters`, with their replicas.
    pub fn last(&self) -> impl Iterator<Item = LastTarget<'a>> + use<'a> {
        let pool = self.view.pool.as_str();
        let rows = self.view.last_rows.as_slice();
        self.view
            .last
            .as_slice()
            .iter()
            .enumerate()
            .map(move |(index, target)| LastTarget {
                cluster: target.cluster.read(pool),
                row: rows
                    .get(index)
                    .filter(|&&row| row != NO_ROW)
                    .map(|&row| Row::from_index(row as usize)),
                replicas: target.replicas,
            })
    }

    /// Replaces `rows` with the clusters of the last result, including those with 0 replicas. Without a last result,
    /// this leaves an empty set and allocates nothing.
    pub fn collect_last_rows(&self, clusters: &Clusters<'_>, rows: &mut RowSet) {
        let last = self.view.last_rows.as_slice();
        rows.reset(if last.is_empty() { 0 } else { clusters.len() });
        for &row in last.iter().filter(|&&row| row != NO_ROW) {
            rows.insert(Row::from_index(row as usize));
        }
    }

    /// Names of the clusters that the binding is being evicted from (`spec.gracefulEvictionTasks`).
    pub fn evictions(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let pool = self.view.pool.as_str();
        self.view.evictions.as_slice().iter().map(move |text| text.read(pool))
    }

    /// Rows of the clusters that the binding is being evicted from. Clusters missing from the snapshot are left out.
    pub fn eviction_rows(&self, clusters: &Clusters<'a>) -> impl Iterator<Item = Row> + use<'a> {
        let pool = self.view.pool.as_str();
        let arena = clusters.arena();
        self.view
            .evictions
            .as_slice()
            .iter()
            .filter_map(move |text| arena.row_hashed(text.read(pool), text.hash))
            .map(|row| Row::from_index(row as usize))
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

    /// True if the strategy ignores spread constraints, so that Select must ignore them too.
    pub fn ignores_spread_constraints(&self) -> bool {
        self.has(flag::IGNORE_SPREAD)
    }

    /// The placement's affinities in this cycle. A cluster must match at least one of them; without any, every cluster
    /// matches.
    pub fn affinities(&self) -> impl Iterator<Item = Affinity<'a>> + use<'a> {
        let tables = self.tables();
        let rows: &'a [AffinityRow] = self.view.placement_affinities.of(self.view.affinities.as_slice());
        rows.iter().map(move |&row| Affinity { row, tables })
    }

    /// The placement's affinities, compiled into one matcher of rows. `None` if every cluster matches: there is no affinity, or one without
    /// conditions. Compile once per cycle, not once per cluster.
    #[inline]
    pub fn compile_affinities(&self, clusters: &Clusters<'a>) -> Option<Affinities<'a>> {
        Affinities::new(self.affinities().map(|affinity| affinity.compile(clusters)))
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
        pairs(self.view.pool.as_str(), rows)
    }
}

fn pairs<'a>(pool: &'a str, rows: &'a [PairRow]) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
    rows.iter().map(move |row| (row.key.read(pool), row.value.read(pool)))
}

/// Amount of one resource that a replica requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Request<'a> {
    /// Resource name, such as `cpu`.
    pub resource: &'a str,
    /// Amount: `cpu` in thousandths of a core, everything else in its own unit.
    pub quantity: i64,
}

/// One pod template of a workload that has several.
#[derive(Debug, Clone, Copy)]
pub struct Component<'a> {
    binding: Binding<'a>,
    row: ComponentRow,
}

impl<'a> Component<'a> {
    /// Name of the component.
    pub fn name(&self) -> &'a str {
        self.binding.read(self.row.name)
    }

    /// Replicas of the component.
    pub fn replicas(&self) -> i64 {
        self.row.replicas
    }

    /// Resource requests of one of its replicas, in the units of [`Binding::requests`].
    pub fn requests(&self) -> impl Iterator<Item = Request<'a>> + use<'a> {
        self.binding.requests_in(self.row.requests)
    }
}

/// A cluster of the last result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct LastTarget<'a> {
    /// Name of the cluster.
    pub cluster: &'a str,
    /// Its row in the snapshot; `None` if the cluster is gone.
    pub row: Option<Row>,
    /// Its replicas in the last result.
    pub replicas: i64,
}

/// A toleration for cluster taints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Toleration<'a> {
    /// Tolerated taint key; empty for every key.
    pub key: &'a str,
    /// Operator that compares `value`.
    pub operator: TolerationOperator,
    /// Tolerated taint value, for `Equal`.
    pub value: &'a str,
    /// Tolerated taint effect.
    pub effect: TaintEffect,
    /// `tolerationSeconds`.
    pub seconds: Option<i64>,
}

impl<'a> Toleration<'a> {
    /// A toleration without `tolerationSeconds`.
    pub const fn new(key: &'a str, operator: TolerationOperator, value: &'a str, effect: TaintEffect) -> Self {
        Self {
            key,
            operator,
            value,
            effect,
            seconds: None,
        }
    }
}

/// Bounds on the number of groups among the selected clusters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpreadConstraint<'a> {
    /// Property that groups clusters.
    pub field: SpreadField,
    /// Label key, for [`SpreadField::Label`]; otherwise empty.
    pub label: &'a str,
    /// Minimum number of groups.
    pub minimum_groups: i64,
    /// Maximum number of groups; 0 or less means no limit.
    pub maximum_groups: i64,
}

impl<'a> SpreadConstraint<'a> {
    /// A constraint by a field of the cluster.
    pub const fn by(field: SpreadField, minimum_groups: i64, maximum_groups: i64) -> Self {
        Self {
            field,
            label: "",
            minimum_groups,
            maximum_groups,
        }
    }

    /// A constraint by a label of the cluster.
    pub const fn by_label(label: &'a str, minimum_groups: i64, maximum_groups: i64) -> Self {
        Self {
            label,
            ..Self::by(SpreadField::Label, minimum_groups, maximum_groups)
        }
    }
}
