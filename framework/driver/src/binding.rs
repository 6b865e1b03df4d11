//! The owned form of a binding, and the builder that makes it.

use std::collections::HashMap;

use divvy_framework_abi::call::{
    AffinityRow, BindingNames, ComponentRow, ExpressionRow, PairRow, RequestRow, RuleRow, RuleValueRow,
    SpreadConstraintRow, TargetRow, TolerationRow, expression_source, flag, spread_field,
};
use divvy_framework_abi::text::{Span, Text};

use divvy_framework_view::words::{ExpressionOperator, ExpressionSource, SpreadField, TaintEffect, TolerationOperator};

/// A binding as tables of numbers over one string. Made by [`BindingRecordBuilder`].
#[derive(Debug, Clone, Default)]
pub struct BindingRecord {
    pub(crate) pool: String,
    pub(crate) flags: u64,
    pub(crate) replicas: i64,
    pub(crate) names: BindingNames,
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
    /// Affinity and priority: the host makes tiers of them, plugins see the tiers.
    pub(crate) priority_rules: Vec<(u32, i64)>,
    pub(crate) labels: Vec<PairRow>,
    pub(crate) annotations: Vec<PairRow>,
}

/// A cluster affinity in plain data.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AffinityRecord {
    /// Name of the affinity group, if it is one.
    pub name: String,
    /// `clusterNames`; empty: any.
    pub cluster_names: Vec<String>,
    /// `exclude`.
    pub exclude: Vec<String>,
    /// Label selector (`matchLabels` as `In` with one value) and field selector.
    pub expressions: Vec<ExpressionRecord>,
}

/// One expression of a selector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpressionRecord {
    /// What it looks at.
    pub source: ExpressionSource,
    /// The test.
    pub operator: ExpressionOperator,
    /// The values that the test needs.
    pub values: Vec<String>,
}

/// A toleration in plain data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TolerationRecord {
    /// Key; empty: every key.
    pub key: String,
    /// Operator.
    pub operator: TolerationOperator,
    /// Value, for `Equal`.
    pub value: String,
    /// Effect.
    pub effect: TaintEffect,
    /// `tolerationSeconds`.
    pub seconds: Option<i64>,
}

/// A spread constraint in plain data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpreadConstraintRecord {
    /// By what.
    pub field: SpreadField,
    /// Least number of groups.
    pub minimum_groups: i64,
    /// Largest number of groups; 0 or less: no limit.
    pub maximum_groups: i64,
}

/// One pod template of a workload with several, in plain data.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ComponentRecord {
    /// Its name.
    pub name: String,
    /// Its replicas.
    pub replicas: i64,
    /// Resource and quantity of one replica.
    pub requests: Vec<(String, i64)>,
}

/// One entry of the list by which a policy says what each group of clusters is to get.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuleRecord {
    /// Which clusters.
    pub target: AffinityRecord,
    /// Its named numbers, such as `weight`.
    pub values: Vec<(String, i64)>,
    /// Where it stands in the policy, for messages.
    pub origin: String,
}

/// Builds a [`BindingRecord`]: each text is stored once.
#[derive(Debug, Default)]
pub struct BindingRecordBuilder {
    record: BindingRecord,
    known: HashMap<String, Text>,
}

impl BindingRecordBuilder {
    /// A builder of a binding of no replicas.
    pub fn new() -> Self {
        Self::default()
    }

    fn text(&mut self, text: &str) -> Text {
        if text.is_empty() {
            return Text::EMPTY;
        }
        if let Some(&known) = self.known.get(text) {
            return known;
        }
        let entry = Text {
            start: self.record.pool.len() as u32,
            length: text.len() as u32,
            hash: divvy_framework_abi::hash::hash_text(text),
        };
        self.record.pool.push_str(text);
        self.known.insert(text.to_owned(), entry);
        entry
    }

    fn texts(&mut self, texts: &[String]) -> Span {
        let entries: Vec<Text> = texts.iter().map(|text| self.text(text)).collect();
        append(&mut self.record.texts, entries)
    }

    /// Name, namespace and UID of the binding.
    pub fn identity(&mut self, namespace: &str, name: &str, uid: &str) -> &mut Self {
        self.record.names.namespace = self.text(namespace);
        self.record.names.name = self.text(name);
        self.record.names.uid = self.text(uid);
        self.set_flag(flag::NAMESPACED, !namespace.is_empty());
        self
    }

    /// The resource that is bound.
    pub fn resource(&mut self, api_version: &str, kind: &str, namespace: &str, name: &str, uid: &str) -> &mut Self {
        self.record.names.resource_api_version = self.text(api_version);
        self.record.names.resource_kind = self.text(kind);
        self.record.names.resource_namespace = self.text(namespace);
        self.record.names.resource_name = self.text(name);
        self.record.names.resource_uid = self.text(uid);
        self
    }

    /// The strategy's name, and its preferences as JSON (empty: none).
    pub fn strategy(&mut self, strategy: &str, preferences: &str) -> &mut Self {
        self.record.names.strategy = self.text(strategy);
        self.record.names.preferences = self.text(preferences);
        self
    }

    /// Replicas to divide, and whether the resource is a workload at all.
    pub fn replicas(&mut self, replicas: i64, workload: bool) -> &mut Self {
        self.record.replicas = replicas;
        self.set_flag(flag::WORKLOAD, workload);
        self
    }

    /// Whether the division starts from scratch.
    pub fn fresh(&mut self, fresh: bool) -> &mut Self {
        self.set_flag(flag::FRESH, fresh);
        self
    }

    /// What one replica requests: `cpu` in thousandths, everything else in its own unit.
    pub fn replica_requests(&mut self, requests: &[(String, i64)]) -> &mut Self {
        self.record.replica_requests = self.requests(requests);
        self
    }

    fn requests(&mut self, requests: &[(String, i64)]) -> Span {
        let rows: Vec<RequestRow> = requests
            .iter()
            .map(|(resource, quantity)| RequestRow {
                resource: self.text(resource),
                quantity: *quantity,
            })
            .collect();
        append(&mut self.record.requests, rows)
    }

    /// Adds a component.
    pub fn component(&mut self, component: &ComponentRecord) -> &mut Self {
        let row = ComponentRow {
            name: self.text(&component.name),
            replicas: component.replicas,
            requests: self.requests(&component.requests),
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

    /// The affinities of the placement: a cluster must match one of them. None: any cluster.
    pub fn placement_affinities(&mut self, affinities: &[AffinityRecord]) -> &mut Self {
        let rows: Vec<AffinityRow> = affinities.iter().map(|affinity| self.affinity(affinity)).collect();
        self.record.placement_affinities = append(&mut self.record.affinities, rows);
        self
    }

    fn affinity(&mut self, affinity: &AffinityRecord) -> AffinityRow {
        let expressions: Vec<ExpressionRow> = affinity
            .expressions
            .iter()
            .map(|expression| {
                let (source, key) = match &expression.source {
                    ExpressionSource::Label(key) => (expression_source::LABEL, self.text(key)),
                    ExpressionSource::Provider => (expression_source::PROVIDER, Text::EMPTY),
                    ExpressionSource::Region => (expression_source::REGION, Text::EMPTY),
                    ExpressionSource::Zone => (expression_source::ZONE, Text::EMPTY),
                    ExpressionSource::Nothing => (expression_source::NOTHING, Text::EMPTY),
                };
                ExpressionRow {
                    key,
                    values: self.texts(&expression.values),
                    source,
                    operator: expression.operator.code(),
                }
            })
            .collect();
        AffinityRow {
            name: self.text(&affinity.name),
            cluster_names: self.texts(&affinity.cluster_names),
            exclude: self.texts(&affinity.exclude),
            expressions: append(&mut self.record.expressions, expressions),
        }
    }

    /// Adds a toleration.
    pub fn toleration(&mut self, toleration: &TolerationRecord) -> &mut Self {
        let row = TolerationRow {
            key: self.text(&toleration.key),
            value: self.text(&toleration.value),
            effect: toleration.effect.code(),
            operator: match toleration.operator {
                TolerationOperator::Equal => 0,
                TolerationOperator::Exists => 1,
                TolerationOperator::Unknown => 2,
            },
            seconds: toleration.seconds.unwrap_or(divvy_framework_abi::arena::ABSENT),
        };
        self.record.tolerations.push(row);
        self
    }

    /// Adds a spread constraint.
    pub fn spread_constraint(&mut self, constraint: &SpreadConstraintRecord) -> &mut Self {
        let (field, label) = match &constraint.field {
            SpreadField::Cluster => (spread_field::CLUSTER, Text::EMPTY),
            SpreadField::Region => (spread_field::REGION, Text::EMPTY),
            SpreadField::Zone => (spread_field::ZONE, Text::EMPTY),
            SpreadField::Provider => (spread_field::PROVIDER, Text::EMPTY),
            SpreadField::Label(key) => (spread_field::LABEL, self.text(key)),
        };
        self.record.spread_constraints.push(SpreadConstraintRow {
            label,
            field,
            reserved: 0,
            minimum_groups: constraint.minimum_groups,
            maximum_groups: constraint.maximum_groups,
        });
        self
    }

    /// Adds a rule of the policy.
    pub fn rule(&mut self, rule: &RuleRecord) -> &mut Self {
        let target = self.affinity(&rule.target);
        let target = append(&mut self.record.affinities, vec![target]).start;
        let values: Vec<RuleValueRow> = rule
            .values
            .iter()
            .map(|(field, value)| RuleValueRow {
                field: self.text(field),
                value: *value,
            })
            .collect();
        let row = RuleRow {
            target,
            reserved: 0,
            values: append(&mut self.record.rule_values, values),
            origin: self.text(&rule.origin),
        };
        self.record.rules.push(row);
        self
    }

    /// Gives the clusters of an affinity a priority, larger first. Of several that match a cluster the largest counts.
    pub fn priority(&mut self, target: &AffinityRecord, priority: i64) -> &mut Self {
        let target = self.affinity(target);
        let target = append(&mut self.record.affinities, vec![target]).start;
        self.record.priority_rules.push((target, priority));
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

    /// The record.
    pub fn build(self) -> BindingRecord {
        self.record
    }
}

fn append<T>(table: &mut Vec<T>, rows: Vec<T>) -> Span {
    let span = Span {
        start: table.len() as u32,
        length: rows.len() as u32,
    };
    table.extend(rows);
    span
}

impl BindingRecord {
    /// Replicas to divide.
    pub fn replicas(&self) -> i64 {
        self.replicas
    }

    /// Whether the policy gives clusters priorities.
    pub fn has_priorities(&self) -> bool {
        !self.priority_rules.is_empty()
    }

    /// How many affinities the placement has: more than one makes tiers of overflow.
    pub fn placement_affinity_count(&self) -> usize {
        self.placement_affinities.length as usize
    }

    /// Whether the resource has replicas to divide.
    pub fn is_workload(&self) -> bool {
        self.flags & flag::WORKLOAD != 0
    }

    /// Whether the division starts from scratch.
    pub fn is_fresh(&self) -> bool {
        self.flags & flag::FRESH != 0
    }

    /// Whether the placement has spread constraints.
    pub fn has_spread_constraints(&self) -> bool {
        !self.spread_constraints.is_empty()
    }

    /// The last result: cluster and replicas.
    pub fn last(&self) -> impl ExactSizeIterator<Item = (&str, i64)> {
        self.last
            .iter()
            .map(|target| (target.cluster.read(&self.pool), target.replicas))
    }

    /// Whether a rule gives its clusters any positive value.
    pub fn rule_is_positive(&self, rule: usize) -> bool {
        self.rules
            .get(rule)
            .is_some_and(|rule| rule.values.of(&self.rule_values).iter().any(|value| value.value > 0))
    }

    /// The number of rules of the policy.
    pub fn rule_count(&self) -> usize {
        self.rules.len()
    }
}
