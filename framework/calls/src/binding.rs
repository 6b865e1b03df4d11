//! A binding as tables of numbers over one string, and the builder that writes them.
//!
//! The builder takes texts by reference and stores each distinct text once.

mod key;
mod record;

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use divvy_framework_abi::arena::ABSENT;
use divvy_framework_abi::descriptor::binding_part;
use divvy_framework_abi::row::{
    AffinityRow, BindingNames, ComponentRow, ExpressionRow, PairRow, RequestRow, RuleRow, RuleValueRow,
    SpreadConstraintRow, TargetRow, TolerationRow, expression_source,
};
use divvy_framework_abi::text::{Span, Text};
use divvy_framework_abi::view::{PolicyView, flag};
use divvy_framework_memory::{Packed, PackedText, Packer, packed_words};
use divvy_framework_view::binding::{SpreadConstraint, Toleration};
use divvy_framework_view::words::{SelectorField, SelectorOperator};

use key::KeyHasher;

/// Declares the tables of a binding: those that grow while it is built, and those that plugins can only read.
macro_rules! tables {
    ($($field:ident : $row:ty),+ $(,)?) => {
        /// The tables of a binding that is being built.
        #[derive(Debug, Clone, Default)]
        struct Draft {
            pool: String,
            $($field: Vec<$row>,)+
        }

        /// A binding as tables of numbers over one string. Use [`BindingRecordBuilder`] to create one.
        #[derive(Debug, Clone, Default)]
        pub struct BindingRecord {
            pub(crate) head: Head,
            /// Index of an affinity, and its priority. The host turns priorities into tiers; plugins see only the tiers.
            pub(crate) priority_rules: Vec<(u32, i64)>,
            /// Plugins other than the strategy's for which the policy has preferences.
            plugins: Vec<Box<str>>,
            /// The view of the policy for each of those plugins.
            plugin_policies: Packed<PolicyView<'static>>,
            pub(crate) pool: PackedText,
            $(pub(crate) $field: Packed<$row>,)+
        }

        impl BindingRecordBuilder {
            /// Packs the tables, one behind the other.
            fn pack(self) -> BindingRecord {
                let draft = &self.draft;
                let policy = |(plugin, preferences)| (plugin, PolicyView { preferences, ..PolicyView::DEFAULT });
                let (plugins, policies): (_, Vec<_>) = self.preferences.into_iter().map(policy).unzip();
                let words = packed_words(draft.pool.as_bytes()) + packed_words(&policies) $(+ packed_words(&draft.$field))+;
                let mut packer = Packer::new(words);
                BindingRecord {
                    head: self.head,
                    priority_rules: self.priority_rules,
                    plugins,
                    plugin_policies: packer.table(&policies),
                    pool: packer.text(&draft.pool),
                    $($field: packer.table(&draft.$field),)+
                }
            }
        }
    };
}

tables! {
    texts: Text,
    affinities: AffinityRow,
    expressions: ExpressionRow,
    tolerations: TolerationRow,
    spread_constraints: SpreadConstraintRow,
    requests: RequestRow,
    components: ComponentRow,
    last: TargetRow,
    evictions: Text,
    rules: RuleRow,
    rule_values: RuleValueRow,
    labels: PairRow,
    annotations: PairRow,
    policy_labels: PairRow,
    policy_annotations: PairRow,
    workload_labels: PairRow,
    workload_annotations: PairRow,
}

/// The values of a record that are not tables.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Head {
    pub(crate) flags: u64,
    /// Parts of the binding, as bits of [`binding_part`].
    parts: u64,
    replicas: i64,
    names: BindingNames,
    pub(crate) preferences: Text,
    priority: i64,
    pub(crate) placement_affinities: Span,
    replica_requests: Span,
}

/// Builds a [`BindingRecord`].
#[derive(Debug, Clone, Default)]
pub struct BindingRecordBuilder {
    head: Head,
    draft: Draft,
    priority_rules: Vec<(u32, i64)>,
    /// Preferences for plugins other than the strategy's, by the plugin's name.
    preferences: Vec<(Box<str>, Text)>,
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
        self.builder.draft.expressions.push(row);
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
        builder.draft.pool.reserve(USUAL.1);
        builder
    }

    fn text(&mut self, text: &str) -> Text {
        if text.is_empty() {
            return Text::EMPTY;
        }
        let hash = divvy_framework_abi::hash::hash_text(text);
        let mut number = 0;
        while let Some(&known) = self.known.get(&(hash, number)) {
            if known.read(&self.draft.pool) == text {
                return known;
            }
            number += 1;
        }
        let entry = Text {
            start: self.draft.pool.len() as u32,
            length: text.len() as u32,
            hash,
        };
        self.draft.pool.push_str(text);
        self.known.insert((hash, number), entry);
        entry
    }

    fn texts<T: AsRef<str>>(&mut self, texts: impl IntoIterator<Item = T>) -> Span {
        let start = self.draft.texts.len();
        for text in texts {
            let text = self.text(text.as_ref());
            self.draft.texts.push(text);
        }
        span_from(start, &self.draft.texts)
    }

    /// Sets the namespace, name and UID of the binding. An empty namespace makes it a ClusterResourceBinding.
    pub fn identity(&mut self, namespace: &str, name: &str, uid: &str) -> &mut Self {
        self.head.names.namespace = self.text(namespace);
        self.head.names.name = self.text(name);
        self.head.names.uid = self.text(uid);
        self.set_flag(flag::NAMESPACED, !namespace.is_empty());
        self
    }

    /// Sets the resource that the binding propagates.
    pub fn resource(&mut self, api_version: &str, kind: &str, namespace: &str, name: &str, uid: &str) -> &mut Self {
        self.head.names.resource_api_version = self.text(api_version);
        self.head.names.resource_kind = self.text(kind);
        self.head.names.resource_namespace = self.text(namespace);
        self.head.names.resource_name = self.text(name);
        self.head.names.resource_uid = self.text(uid);
        self
    }

    /// Sets the strategy's name and its preferences as JSON; empty if there are none.
    pub fn strategy(&mut self, strategy: &str, preferences: &str) -> &mut Self {
        self.head.names.strategy = self.text(strategy);
        self.head.preferences = self.text(preferences);
        self
    }

    /// Sets the preferences of a plugin other than the strategy's, as JSON.
    pub fn plugin_preferences(&mut self, plugin: &str, preferences: &str) -> &mut Self {
        let preferences = self.text(preferences);
        self.preferences.retain(|(known, _)| **known != *plugin);
        self.preferences.push((plugin.into(), preferences));
        self
    }

    /// Sets the priority in the scheduling queue, larger first.
    pub fn queue_priority(&mut self, priority: i64) -> &mut Self {
        self.head.priority = priority;
        self
    }

    /// Sets the labels and annotations of the policy, each by key. Without this call they are not known.
    pub fn policy_metadata<T: AsRef<str>>(
        &mut self,
        labels: impl IntoIterator<Item = (T, T)>,
        annotations: impl IntoIterator<Item = (T, T)>,
    ) -> &mut Self {
        (self.draft.policy_labels, self.draft.policy_annotations) = self.metadata(labels, annotations);
        self.set_flag(flag::POLICY_METADATA, true);
        self
    }

    /// Sets the labels and annotations of the workload, each by key. Without this call they are not known.
    pub fn workload_metadata<T: AsRef<str>>(
        &mut self,
        labels: impl IntoIterator<Item = (T, T)>,
        annotations: impl IntoIterator<Item = (T, T)>,
    ) -> &mut Self {
        (self.draft.workload_labels, self.draft.workload_annotations) = self.metadata(labels, annotations);
        self.set_flag(flag::WORKLOAD_METADATA, true);
        self
    }

    fn metadata<T: AsRef<str>>(
        &mut self,
        labels: impl IntoIterator<Item = (T, T)>,
        annotations: impl IntoIterator<Item = (T, T)>,
    ) -> (Vec<PairRow>, Vec<PairRow>) {
        let labels = labels.into_iter();
        let labels = labels
            .map(|(key, value)| self.pair(key.as_ref(), value.as_ref()))
            .collect();
        let annotations = annotations.into_iter();
        let annotations = annotations.map(|(key, value)| self.pair(key.as_ref(), value.as_ref()));
        (labels, annotations.collect())
    }

    /// Sets the replicas to divide. `workload` is false for a resource that is propagated whole.
    pub fn replicas(&mut self, replicas: i64, workload: bool) -> &mut Self {
        self.head.replicas = replicas;
        self.set_flag(flag::WORKLOAD, workload);
        self
    }

    /// Sets the resource requests of one replica: `cpu` in thousandths of a core, everything else in its own unit.
    pub fn replica_requests<T: AsRef<str>>(&mut self, requests: impl IntoIterator<Item = (T, i64)>) -> &mut Self {
        self.head.replica_requests = self.requests(requests);
        self
    }

    fn requests<T: AsRef<str>>(&mut self, requests: impl IntoIterator<Item = (T, i64)>) -> Span {
        let start = self.draft.requests.len();
        for (resource, quantity) in requests {
            let resource = self.text(resource.as_ref());
            self.draft.requests.push(RequestRow { resource, quantity });
        }
        span_from(start, &self.draft.requests)
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
        self.draft.components.push(row);
        self
    }

    /// Adds a cluster of the last result.
    pub fn last(&mut self, cluster: &str, replicas: i64) -> &mut Self {
        let cluster = self.text(cluster);
        self.draft.last.push(TargetRow { cluster, replicas });
        self
    }

    /// Adds a cluster that the binding is being evicted from.
    pub fn eviction(&mut self, cluster: &str) -> &mut Self {
        let cluster = self.text(cluster);
        self.draft.evictions.push(cluster);
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
        let start = self.draft.rule_values.len();
        for (field, value) in values {
            let field = self.text(field.as_ref());
            self.draft.rule_values.push(RuleValueRow { field, value });
        }
        let row = RuleRow {
            list: self.text(list),
            target,
            reserved: 0,
            values: span_from(start, &self.draft.rule_values),
            origin: self.text(origin),
        };
        self.draft.rules.push(row);
        self
    }

    /// Gives the clusters of an affinity a priority, larger first. If several match a cluster, the largest counts.
    pub fn priority(&mut self, priority: i64, target: impl FnOnce(&mut AffinityWriter<'_>)) -> &mut Self {
        let target = self.target(target);
        self.priority_rules.push((target, priority));
        self
    }

    /// Writes an affinity that belongs to a rule or a priority, and returns its index.
    fn target(&mut self, write: impl FnOnce(&mut AffinityWriter<'_>)) -> u32 {
        let row = self.affinity(write);
        self.draft.affinities.push(row);
        self.draft.affinities.len() as u32 - 1
    }

    fn affinity(&mut self, write: impl FnOnce(&mut AffinityWriter<'_>)) -> AffinityRow {
        let expressions = span_from(self.draft.expressions.len(), &self.draft.expressions);
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
        self.draft.tolerations.push(row);
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
        self.draft.spread_constraints.push(row);
        self
    }

    /// Adds a label of the binding.
    pub fn label(&mut self, key: &str, value: &str) -> &mut Self {
        let row = self.pair(key, value);
        self.draft.labels.push(row);
        self
    }

    /// Adds an annotation of the binding.
    pub fn annotation(&mut self, key: &str, value: &str) -> &mut Self {
        let row = self.pair(key, value);
        self.draft.annotations.push(row);
        self
    }

    /// Removes parts of the binding, given as bits of [`binding_part`]. Its workload affinity groups are not in this builder.
    pub fn remove(&mut self, parts: u64) -> &mut Self {
        let removes = |part: u64| parts & part != 0;
        if removes(binding_part::LAST_RESULT) {
            self.draft.last.clear();
        }
        if removes(binding_part::EVICTIONS) {
            self.draft.evictions.clear();
        }
        if removes(binding_part::SPREAD_CONSTRAINTS) {
            self.draft.spread_constraints.clear();
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
            self.head.flags |= bit;
        } else {
            self.head.flags &= !bit;
        }
    }

    /// Finishes the binding.
    pub fn build(mut self) -> BindingRecord {
        let Self {
            head,
            draft,
            placement_affinities,
            ..
        } = &mut self;
        let start = draft.affinities.len();
        draft.affinities.append(placement_affinities);
        head.placement_affinities = span_from(start, &draft.affinities);
        for (part, is_there) in [
            (binding_part::LAST_RESULT, !draft.last.is_empty()),
            (binding_part::EVICTIONS, !draft.evictions.is_empty()),
            (binding_part::SPREAD_CONSTRAINTS, !draft.spread_constraints.is_empty()),
            (binding_part::CLUSTER_AFFINITIES, head.placement_affinities.length > 0),
        ] {
            if is_there {
                head.parts |= part;
            }
        }
        self.pack()
    }
}

/// The span from `start` to the end of a table.
fn span_from<T>(start: usize, table: &[T]) -> Span {
    Span {
        start: start as u32,
        length: (table.len() - start) as u32,
    }
}
