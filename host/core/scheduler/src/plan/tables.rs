//! Writes a binding into the tables that plugins read.

use divvy_framework_calls::binding::{AffinityWriter, BindingRecord, BindingRecordBuilder};
use divvy_framework_view::binding::{SpreadConstraint, Toleration};
use divvy_framework_view::words::{SelectorField, SelectorOperator, SpreadField, TaintEffect, TolerationOperator};
use divvy_karmada::api::{self, ClusterAffinity, Enumeration, Word};

use super::PlanInput;
use crate::fleet::requests;
use crate::strategy::StrategyRequest;

/// An affinity with the name of its group.
pub(super) type NamedAffinity<'a> = (&'a str, &'a ClusterAffinity);

/// Builds the tables of a binding with the affinities of one group.
pub(super) fn binding_tables(
    input: &PlanInput<'_>,
    request: &StrategyRequest,
    spread_constraints: &[api::SpreadConstraint],
    affinities: &[NamedAffinity<'_>],
    priorities: &[(&ClusterAffinity, i64)],
    has_metadata: bool,
) -> BindingRecord {
    let preferences = request
        .preferences
        .as_ref()
        .map_or_else(String::new, ToString::to_string);
    let [api_version, kind, namespace, name, uid] = input.resource;
    let mut builder = BindingRecordBuilder::new();
    builder
        .identity(input.namespace, input.name, &input.identity())
        .resource(api_version, kind, namespace, name, uid)
        .strategy(&request.strategy, &preferences)
        .replicas(input.replicas, input.is_workload)
        .replica_requests(requests(input.requests));
    for (name, affinity) in affinities {
        builder.placement_affinity(|writer| write_affinity(affinity, writer.name(name)));
    }
    for (name, replicas, component_requests) in &input.components {
        builder.component(name, *replicas, requests(*component_requests));
    }
    for target in input.last {
        builder.last(&target.name, i64::from(target.replicas));
    }
    for cluster in &input.evicted_from {
        builder.eviction(cluster);
    }
    for toleration in input
        .placement
        .iter()
        .flat_map(|placement| &placement.cluster_tolerations)
    {
        builder.toleration(view_of_toleration(toleration));
    }
    for constraint in spread_constraints {
        builder.spread_constraint(view_of_constraint(constraint));
    }
    for rule in &request.rules {
        let values = rule.fields.iter().map(|(field, &value)| (field, value));
        builder.rule(&rule.list, &rule.origin, values, |writer| {
            write_affinity(&rule.target, writer)
        });
    }
    for (target, priority) in priorities {
        builder.priority(*priority, |writer| write_affinity(target, writer));
    }
    for (key, value) in input.labels.iter() {
        builder.label(key, value);
    }
    for (key, value) in input.annotations.iter() {
        builder.annotation(key, value);
    }
    for given in &request.plugin_preferences {
        builder.plugin_preferences(&given.plugin, &given.preferences.to_string());
    }
    // Annotations can be long, so they are copied only for a plugin that reads them.
    if has_metadata {
        builder.queue_priority(input.priority.into());
        // A policy without a name is not known. Only its request is, from the annotation of a decision.
        if let Some(policy) = input.policy.filter(|policy| !policy.name.is_empty()) {
            builder.policy_metadata(&policy.labels, &policy.annotations);
        }
        if let Some(workload) = input.workload {
            builder.workload_metadata(&workload.labels, &workload.annotations);
        }
    }
    builder.build()
}

/// Writes everything but the name of the affinity's group.
fn write_affinity(affinity: &ClusterAffinity, writer: &mut AffinityWriter<'_>) {
    writer
        .cluster_names(&affinity.cluster_names)
        .exclude(&affinity.exclude_clusters);
    if let Some(unmatchable) = affinity.unmatchable() {
        // The selector matches nothing, whatever its operator.
        writer.label(
            unmatchable.text(),
            SelectorOperator::Unknown,
            std::iter::empty::<&str>(),
        );
    }
    if let Some(selector) = &affinity.label_selector {
        for (key, value) in &selector.match_labels {
            writer.label(key, SelectorOperator::In, [value]);
        }
        for requirement in &selector.match_expressions {
            let operator = requirement.operator.known().unwrap_or(SelectorOperator::Unknown);
            writer.label(&requirement.key, operator, &requirement.values);
        }
    }
    if let Some(selector) = &affinity.field_selector {
        for requirement in &selector.match_expressions {
            let field = SelectorField::named(&requirement.key).unwrap_or(SelectorField::Unknown);
            let operator = requirement.operator.known().unwrap_or(SelectorOperator::Unknown);
            writer.field(field, operator, &requirement.values);
        }
    }
}

/// Converts a toleration. As in Kubernetes, the operator defaults to `Equal`, and a missing effect matches all effects.
fn view_of_toleration(toleration: &api::Toleration) -> Toleration<'_> {
    let (equal, unknown) = (TolerationOperator::Equal, TolerationOperator::Unknown);
    let mut view = Toleration::new(
        &toleration.key,
        word_or(&toleration.operator, equal, unknown),
        &toleration.value,
        word_or(&toleration.effect, TaintEffect::Any, TaintEffect::Unknown),
    );
    view.seconds = toleration.toleration_seconds;
    view
}

/// The value of a word, or the values for an absent or empty word and for an unknown one.
fn word_or<E: Enumeration>(word: &Option<Word<E>>, absent: E, unknown: E) -> E {
    match word {
        Some(word) if !word.as_str().is_empty() => word.known().unwrap_or(unknown),
        _ => absent,
    }
}

/// Converts a spread constraint. Without a label or a known field, it spreads by cluster.
fn view_of_constraint(constraint: &api::SpreadConstraint) -> SpreadConstraint<'_> {
    let (minimum, maximum) = (constraint.min_groups, constraint.max_groups);
    match constraint.spread_by_label.as_str() {
        "" => {
            let field = constraint.spread_by_field.as_ref().and_then(Word::known);
            SpreadConstraint::by(field.unwrap_or(SpreadField::Cluster), minimum, maximum)
        }
        label => SpreadConstraint::by_label(label, minimum, maximum),
    }
}
