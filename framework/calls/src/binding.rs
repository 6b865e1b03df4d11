//! A binding as tables of numbers over one string, and the builder that writes them.
//!
//! The builder takes texts by reference and stores each distinct text once.

mod key;

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use divvy_framework_abi::arena::ABSENT;
use divvy_framework_abi::descriptor::binding_part;
use divvy_framework_abi::row::{
    AffinityRow, BindingNames, ComponentRow, ExpressionRow, PairRow, RequestRow, RuleRow, RuleValueRow,
    SpreadConstraintRow, TargetRow, TolerationRow, expression_source,
};
use divvy_framework_abi::text::{Span, Text};
use divvy_framework_abi::view::{CycleView, flag};
use divvy_framework_abi::{Slice, Str};
use divvy_framework_view::binding::{SpreadConstraint, Toleration};
use divvy_framework_view::words::{SelectorField, SelectorOperator};

use key::KeyHasher;

/// A binding as tables of numbers over one string. Use [`BindingRecordBuilder`] to create one.
#[derive(Debug, Clone, Default)]
pub struct BindingRecord {
    pub(crate) pool: String,
    pub(crate) flags: u64,
    /// Parts of the binding, as bits of [`binding_part`].
    parts: u64,
    pub(crate) replicas: i64,
    pub(crate) names: BindingNames,
    pub(crate) preferences: Text,
    /// Preferences for plugins other than the strategy's, by the plugin's name.
    pub(crate) plugin_preferences: Vec<(Box<str>, Text)>,
    pub(crate) priority: i64,
    pub(crate) policy: MetadataRecord,
    pub(crate) workload: MetadataRecord,
    pub(crate) texts: Vec<Text>,
    pub(crate) affinities: Vec<AffinityRow>,
    pub(crate) expressions: Vec<ExpressionRow>,
    pub(crate) placement_affinities: Span,
    pub(crate) tolerations: Vec<TolerationRow>,
    pub(crate) spread_constraints: Vec<SpreadConstraintRow>,
    pub(crate) requests: Vec<RequestRow>,
    pub(crate) replica_requests: Span,
    pub(crate) components: Vec<ComponentRow>,
    pub(crate) last: Vec<TargetRow>,
    pub(crate) evictions: Vec<Text>,
    pub(crate) rules: Vec<RuleRow>,
    pub(crate) rule_values: Vec<RuleValueRow>,
    /// Index of an affinity, and its priority. The host turns priorities into tiers; plugins see only the tiers.
    pub(crate) priority_rules: Vec<(u32, i64)>,
    pub(crate) labels: Vec<PairRow>,
    pub(crate) annotations: Vec<PairRow>,
}

/// Labels and annotations of an object that the binding comes from.
#[derive(Debug, Clone, Default)]
pub(crate) struct MetadataRecord {
    pub(crate) labels: Vec<PairRow>,
    pub(crate) annotations: Vec<PairRow>,
}

/// Builds a [`BindingRecord`].
#[derive(Debug, Clone, Default)]
pub struct BindingRecordBuilder {
    record: BindingRecord,
    /// Kept apart until `build`, because one span must cover them without other affinities in between.
    placement_affinities: Vec<AffinityRow>,
    /// The texts, by hash and by number among texts with the same hash, so that finding one again copies nothing.
    known: HashMap<(u64, u32), Text, BuildHasherDefault<KeyHasher>>,
}

/// Writes one affinity of the placement, a rule or a priority. Every cluster matches an affinity without requirements.
#[derive(Debug)]
pub struct AffinityWriter<'a> {
    builder: &'a mut BindingRecordBuilder,
    row: AffinityRow,
}

impl AffinityWriter<'_> {
    /// The name of the affinity group.
    pub fn name(&mut self, name: &str) -> &mut Self {
        self.row.name = self.builder.text(name);
        self
    }

    /// `clusterNames`: only these clusters match. An empty list restricts nothing.
    pub fn cluster_names<T: AsRef<str>>(&mut self, names: impl IntoIterator<Item = T>) -> &mut Self {
        self.row.cluster_names = self.builder.texts(names);
        self
    }

    /// `exclude`: these clusters do not match.
    pub fn exclude<T: AsRef<str>>(&mut self, names: impl IntoIterator<Item = T>) -> &mut Self {
        self.row.exclude = self.builder.texts(names);
        self
    }

    /// Adds a requirement on a cluster label.
    pub fn label<T: AsRef<str>>(
        &mut self,
        key: &str,
        operator: SelectorOperator,
        values: impl IntoIterator<Item = T>,
    ) -> &mut Self {
        let key = self.builder.text(key);
        self.expression(expression_source::LABEL, key, operator, values)
    }

    /// Adds a requirement on a cluster field.
    pub fn field<T: AsRef<str>>(
        &mut self,
        field: SelectorField,
        operator: SelectorOperator,
        values: impl IntoIterator<Item = T>,
    ) -> &mut Self {
        self.expression(field.code(), Text::EMPTY, operator, values)
    }

    fn expression<T: AsRef<str>>(
        &mut self,
        source: u32,
        key: Text,
        operator: SelectorOperator,
        values: impl IntoIterator<Item = T>,
    ) -> &mut Self {
        let row = ExpressionRow {
            key,
            values: self.builder.texts(values),
            source,
            operator: operator.code(),
        };
        self.builder.record.expressions.push(row);
        self.row.expressions.length += 1;
        self
    }
}

impl BindingRecordBuilder {
    /// A builder for a binding that has no replicas yet.
    pub fn new() -> Self {
        /// Number of texts of a usual binding, and their length in bytes.
        const USUAL: (usize, usize) = (28, 512);
        let mut builder = Self {
            known: HashMap::with_capacity_and_hasher(USUAL.0, BuildHasherDefault::default()),
            ..Self::default()
        };
        builder.record.pool.reserve(USUAL.1);
        builder
    }

    fn text(&mut self, text: &str) -> Text {
        if text.is_empty() {
            return Text::EMPTY;
        }
        let hash = divvy_framework_abi::hash::hash_text(text);
        let mut number = 0;
        while let Some(&known) = self.known.get(&(hash, number)) {
            if known.read(&self.record.pool) == text {
                return known;
            }
            number += 1;
        }
        let entry = Text {
            start: self.record.pool.len() as u32,
            length: text.len() as u32,
            hash,
        };
        self.record.pool.push_str(text);
        self.known.insert((hash, number), entry);
        entry
    }

    fn texts<T: AsRef<str>>(&mut self, texts: impl IntoIterator<Item = T>) -> Span {
        let start = self.record.texts.len();
        for text in texts {
            let text = self.text(text.as_ref());
            self.record.texts.push(text);
        }
        span_from(start, &self.record.texts)
    }

    /// Sets the namespace, name and UID of the binding. An empty namespace makes it a ClusterResourceBinding.
    pub fn identity(&mut self, namespace: &str, name: &str, uid: &str) -> &mut Self {
        self.record.names.namespace = self.text(namespace);
        self.record.names.name = self.text(name);
        self.record.names.uid = self.text(uid);
        self.set_flag(flag::NAMESPACED, !namespace.is_empty());
        self
    }

    /// Sets the resource that the binding propagates.
    pub fn resource(&mut self, api_version: &str, kind: &str, namespace: &str, name: &str, uid: &str) -> &mut Self {
        self.record.names.resource_api_version = self.text(api_version);
        self.record.names.resource_kind = self.text(kind);
        self.record.names.resource_namespace = self.text(namespace);
        self.record.names.resource_name = self.text(name);
        self.record.names.resource_uid = self.text(uid);
        self
    }

    /// Sets the strategy's name and its preferences as JSON; empty if there are none.
    pub fn strategy(&mut self, strategy: &str, preferences: &str) -> &mut Self {
        self.record.names.strategy = self.text(strategy);
        self.record.preferences = self.text(preferences);
        self
    }

    /// Sets the preferences of a plugin other than the strategy's, as JSON.
    pub fn plugin_preferences(&mut self, plugin: &str, preferences: &str) -> &mut Self {
        let preferences = self.text(preferences);
        self.record.plugin_preferences.retain(|(known, _)| **known != *plugin);
        self.record.plugin_preferences.push((plugin.into(), preferences));
        self
    }

    /// Sets the priority in the scheduling queue, larger first.
    pub fn queue_priority(&mut self, priority: i64) -> &mut Self {
        self.record.priority = priority;
        self
    }

    /// Sets the labels and annotations of the policy, each by key. Without this call they are not known.
    pub fn policy_metadata<T: AsRef<str>>(
        &mut self,
        labels: impl IntoIterator<Item = (T, T)>,
        annotations: impl IntoIterator<Item = (T, T)>,
    ) -> &mut Self {
        self.record.policy = self.metadata(labels, annotations);
        self.set_flag(flag::POLICY_METADATA, true);
        self
    }

    /// Sets the labels and annotations of the workload, each by key. Without this call they are not known.
    pub fn workload_metadata<T: AsRef<str>>(
        &mut self,
        labels: impl IntoIterator<Item = (T, T)>,
        annotations: impl IntoIterator<Item = (T, T)>,
    ) -> &mut Self {
        self.record.workload = self.metadata(labels, annotations);
        self.set_flag(flag::WORKLOAD_METADATA, true);
        self
    }

    fn metadata<T: AsRef<str>>(
        &mut self,
        labels: impl IntoIterator<Item = (T, T)>,
        annotations: impl IntoIterator<Item = (T, T)>,
    ) -> MetadataRecord {
        let labels = labels.into_iter();
        let labels = labels
            .map(|(key, value)| self.pair(key.as_ref(), value.as_ref()))
            .collect();
        let annotations = annotations.into_iter();
        let annotations = annotations.map(|(key, value)| self.pair(key.as_ref(), value.as_ref()));
        MetadataRecord {
            labels,
            annotations: annotations.collect(),
        }
    }

    /// Sets the replicas to divide. `workload` is false for a resource that is propagated whole.
    pub fn replicas(&mut self, replicas: i64, workload: bool) -> &mut Self {
        self.record.replicas = replicas;
        self.set_flag(flag::WORKLOAD, workload);
        self
    }

    /// Sets the resource requests of one replica: `cpu` in thousandths of a core, everything else in its own unit.
    pub fn replica_requests<T: AsRef<str>>(&mut self, requests: impl IntoIterator<Item = (T, i64)>) -> &mut Self {
        self.record.replica_requests = self.requests(requests);
        self
    }

    fn requests<T: AsRef<str>>(&mut self, requests: impl IntoIterator<Item = (T, i64)>) -> Span {
        let start = self.record.requests.len();
        for (resource, quantity) in requests {
            let resource = self.text(resource.as_ref());
            self.record.requests.push(RequestRow { resource, quantity });
        }
        span_from(start, &self.record.requests)
    }

    /// Adds a pod template of a workload with several: its name, its replicas and the requests of one replica.
    pub fn component<T: AsRef<str>>(
        &mut self,
        name: &str,
        replicas: i64,
        requests: impl IntoIterator<Item = (T, i64)>,
    ) -> &mut Self {
        let row = ComponentRow {
            name: self.text(name),
            replicas,
            requests: self.requests(requests),
        };
        self.record.components.push(row);
        self
    }

    /// Adds a cluster of the last result.
    pub fn last(&mut self, cluster: &str, replicas: i64) -> &mut Self {
        let cluster = self.text(cluster);
        self.record.last.push(TargetRow { cluster, replicas });
        self
    }

    /// Adds a cluster that the binding is being evicted from.
    pub fn eviction(&mut self, cluster: &str) -> &mut Self {
        let cluster = self.text(cluster);
        self.record.evictions.push(cluster);
        self
    }

    /// Adds an affinity of the placement. A cluster must match at least one; without any, every cluster matches.
    pub fn placement_affinity(&mut self, write: impl FnOnce(&mut AffinityWriter<'_>)) -> &mut Self {
        let row = self.affinity(write);
        self.placement_affinities.push(row);
        self
    }

    /// Adds an entry of a policy list that the strategy reads: the list's name, the entry's location in the policy (for
    /// messages), its named numbers such as `weight`, and the affinity that selects its clusters.
    pub fn rule<T: AsRef<str>>(
        &mut self,
        list: &str,
        origin: &str,
        values: impl IntoIterator<Item = (T, i64)>,
        target: impl FnOnce(&mut AffinityWriter<'_>),
    ) -> &mut Self {
        let target = self.target(target);
        let start = self.record.rule_values.len();
        for (field, value) in values {
            let field = self.text(field.as_ref());
            self.record.rule_values.push(RuleValueRow { field, value });
        }
        let row = RuleRow {
            list: self.text(list),
            target,
            reserved: 0,
            values: span_from(start, &self.record.rule_values),
            origin: self.text(origin),
        };
        self.record.rules.push(row);
        self
    }

    /// Gives the clusters of an affinity a priority, larger first. If several match a cluster, the largest counts.
    pub fn priority(&mut self, priority: i64, target: impl FnOnce(&mut AffinityWriter<'_>)) -> &mut Self {
        let target = self.target(target);
        self.record.priority_rules.push((target, priority));
        self
    }

    /// Writes an affinity that belongs to a rule or a priority, and returns its index.
    fn target(&mut self, write: impl FnOnce(&mut AffinityWriter<'_>)) -> u32 {
        let row = self.affinity(write);
        self.record.affinities.push(row);
        self.record.affinities.len() as u32 - 1
    }

    fn affinity(&mut self, write: impl FnOnce(&mut AffinityWriter<'_>)) -> AffinityRow {
        let expressions = span_from(self.record.expressions.len(), &self.record.expressions);
        let mut writer = AffinityWriter {
            row: AffinityRow {
                name: Text::EMPTY,
                cluster_names: Span::default(),
                exclude: Span::default(),
                expressions,
            },
            builder: self,
        };
        write(&mut writer);
        writer.row
    }

    /// Adds a toleration.
    pub fn toleration(&mut self, toleration: Toleration<'_>) -> &mut Self {
        let row = TolerationRow {
            key: self.text(toleration.key),
            value: self.text(toleration.value),
            effect: toleration.effect.code(),
            operator: toleration.operator.code(),
            seconds: toleration.seconds.unwrap_or(ABSENT),
        };
        self.record.tolerations.push(row);
        self
    }

    /// Adds a spread constraint.
    pub fn spread_constraint(&mut self, constraint: SpreadConstraint<'_>) -> &mut Self {
        let row = SpreadConstraintRow {
            label: self.text(constraint.label),
            field: constraint.field.code(),
            reserved: 0,
            minimum_groups: constraint.minimum_groups,
            maximum_groups: constraint.maximum_groups,
        };
        self.record.spread_constraints.push(row);
        self
    }

    /// Adds a label of the binding.
    pub fn label(&mut self, key: &str, value: &str) -> &mut Self {
        let row = self.pair(key, value);
        self.record.labels.push(row);
        self
    }

    /// Adds an annotation of the binding.
    pub fn annotation(&mut self, key: &str, value: &str) -> &mut Self {
        let row = self.pair(key, value);
        self.record.annotations.push(row);
        self
    }

    /// Removes parts of the binding, given as bits of [`binding_part`]. Its workload affinity groups are not in this builder.
    pub fn remove(&mut self, parts: u64) -> &mut Self {
        let removes = |part: u64| parts & part != 0;
        if removes(binding_part::LAST_RESULT) {
            self.record.last.clear();
        }
        if removes(binding_part::EVICTIONS) {
            self.record.evictions.clear();
        }
        if removes(binding_part::SPREAD_CONSTRAINTS) {
            self.record.spread_constraints.clear();
        }
        if removes(binding_part::CLUSTER_AFFINITIES) {
            self.placement_affinities.clear();
        }
        self
    }

    fn pair(&mut self, key: &str, value: &str) -> PairRow {
        PairRow {
            key: self.text(key),
            value: self.text(value),
        }
    }

    fn set_flag(&mut self, bit: u64, set: bool) {
        if set {
            self.record.flags |= bit;
        } else {
            self.record.flags &= !bit;
        }
    }

    /// Finishes the binding.
    pub fn build(self) -> BindingRecord {
        let mut record = self.record;
        // A plan may live as long as its binding.
        record.pool.shrink_to_fit();
        let start = record.affinities.len();
        record.affinities.extend(self.placement_affinities);
        record.placement_affinities = span_from(start, &record.affinities);
        for (part, is_there) in [
            (binding_part::LAST_RESULT, !record.last.is_empty()),
            (binding_part::EVICTIONS, !record.evictions.is_empty()),
            (binding_part::SPREAD_CONSTRAINTS, !record.spread_constraints.is_empty()),
            (binding_part::CLUSTER_AFFINITIES, record.placement_affinities.length > 0),
        ] {
            if is_there {
                record.parts |= part;
            }
        }
        record
    }
}

/// The span from `start` to the end of a table.
fn span_from<T>(start: usize, table: &[T]) -> Span {
    Span {
        start: start as u32,
        length: (table.len() - start) as u32,
    }
}

impl BindingRecord {
    /// The fields of a cycle's view that come from the binding alone.
    pub(crate) fn view(&self) -> CycleView<'_> {
        CycleView {
            replicas: self.replicas,
            pool: Str::new(&self.pool),
            names: self.names,
            texts: Slice::new(&self.texts),
            affinities: Slice::new(&self.affinities),
            expressions: Slice::new(&self.expressions),
            placement_affinities: self.placement_affinities,
            tolerations: Slice::new(&self.tolerations),
            spread_constraints: Slice::new(&self.spread_constraints),
            requests: Slice::new(&self.requests),
            replica_requests: self.replica_requests,
            components: Slice::new(&self.components),
            last: Slice::new(&self.last),
            evictions: Slice::new(&self.evictions),
            labels: Slice::new(&self.labels),
            annotations: Slice::new(&self.annotations),
            priority: self.priority,
            policy_labels: Slice::new(&self.policy.labels),
            policy_annotations: Slice::new(&self.policy.annotations),
            workload_labels: Slice::new(&self.workload.labels),
            workload_annotations: Slice::new(&self.workload.annotations),
            ..CycleView::DEFAULT
        }
    }

    /// Name of the binding.
    pub fn name(&self) -> &str {
        self.names.name.read(&self.pool)
    }

    /// Namespace of the binding; empty if it has none.
    pub fn namespace(&self) -> &str {
        self.names.namespace.read(&self.pool)
    }

    /// Replicas to divide.
    pub fn replicas(&self) -> i64 {
        self.replicas
    }

    /// The parts that the binding has, as bits of [`binding_part`]: all but its workload affinity groups, which are in a
    /// [`PlacementsRecord`](crate::placements::PlacementsRecord).
    pub fn parts(&self) -> u64 {
        self.parts
    }

    /// True if the policy carries preferences for the strategy's plugin.
    pub fn has_preferences(&self) -> bool {
        self.preferences.length > 0
    }

    /// Preferences for a plugin other than the strategy's; `None` if the policy carries none.
    #[inline]
    pub fn preferences_of(&self, plugin: &str) -> Option<Text> {
        let mut all = self.plugin_preferences.iter();
        all.find(|(known, _)| **known == *plugin).map(|(_, text)| *text)
    }

    /// True if the policy gives clusters priorities.
    pub fn has_priorities(&self) -> bool {
        !self.priority_rules.is_empty()
    }

    /// Number of affinities in the placement. More than one forms overflow tiers.
    pub fn placement_affinity_count(&self) -> usize {
        self.placement_affinities.length as usize
    }

    /// True if the resource has replicas to divide.
    pub fn is_workload(&self) -> bool {
        self.flags & flag::WORKLOAD != 0
    }

    /// True if the placement has spread constraints.
    pub fn has_spread_constraints(&self) -> bool {
        !self.spread_constraints.is_empty()
    }

    /// The last result, as pairs of cluster name and replicas.
    pub fn last(&self) -> impl ExactSizeIterator<Item = (&str, i64)> {
        self.last
            .iter()
            .map(|target| (target.cluster.read(&self.pool), target.replicas))
    }

    /// True if any number of the rule is positive. False for a rule that does not exist.
    pub fn rule_is_positive(&self, rule: usize) -> bool {
        self.rules
            .get(rule)
            .is_some_and(|rule| rule.values.of(&self.rule_values).iter().any(|value| value.value > 0))
    }

    /// Number of rules.
    pub fn rule_count(&self) -> usize {
        self.rules.len()
    }
}
