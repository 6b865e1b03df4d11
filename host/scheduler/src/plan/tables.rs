//! A binding's part of a plan as the tables that plugins read.

use divvy_framework::binding::{
    AffinityRecord, BindingRecord, BindingRecordBuilder, ComponentRecord, ExpressionOperator, ExpressionRecord,
    ExpressionSource, RuleRecord, SpreadConstraintRecord, SpreadField, TolerationOperator, TolerationRecord,
};
use divvy_framework::snapshot::TaintEffect;

use super::PlanInput;
use crate::fleet::units;
use crate::strategy::StrategyRequest;
use divvy_karmada::api::{
    self, ClusterAffinity, ResourceList, SelectorOperator, SelectorRequirement, SpreadConstraint,
};

/// Resource and quantity of each request, in the units of the snapshot.
pub(super) fn requests(list: Option<&ResourceList>) -> Vec<(String, i64)> {
    let entries = list.into_iter().flatten();
    entries
        .map(|(resource, quantity)| (resource.clone(), units(resource, *quantity)))
        .collect()
}

/// The tables of a binding whose placement has these affinities.
pub(super) fn binding_tables(
    input: &PlanInput<'_>,
    request: &StrategyRequest,
    spread_constraints: &[SpreadConstraint],
    affinities: &[AffinityRecord],
    priorities: &[(AffinityRecord, i64)],
) -> BindingRecord {
    let preferences = request
        .preferences
        .as_ref()
        .map(ToString::to_string)
        .unwrap_or_default();
    let [api_version, kind, namespace, name, uid] = input.resource;
    let mut builder = BindingRecordBuilder::new();
    builder
        .identity(input.namespace, input.name, &input.identity())
        .resource(api_version, kind, namespace, name, uid)
        .strategy(&request.strategy, &preferences)
        .replicas(input.replicas, input.is_workload)
        .replica_requests(&requests(input.requests))
        .placement_affinities(affinities);
    for (name, replicas, component_requests) in &input.components {
        builder.component(&ComponentRecord {
            name: (*name).to_owned(),
            replicas: *replicas,
            requests: requests(*component_requests),
        });
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
        builder.toleration(&toleration_record(toleration));
    }
    for constraint in spread_constraints {
        builder.spread_constraint(&spread_constraint_record(constraint));
    }
    for rule in &request.rules {
        builder.rule(&RuleRecord {
            target: affinity_record("", &rule.target),
            values: rule
                .fields
                .iter()
                .map(|(field, value)| (field.clone(), *value))
                .collect(),
            origin: rule.origin.clone(),
        });
    }
    for (target, priority) in priorities {
        builder.priority(target, *priority);
    }
    for (key, value) in input.labels {
        builder.label(key, value);
    }
    for (key, value) in input.annotations {
        builder.annotation(key, value);
    }
    builder.build()
}

pub(super) fn affinity_record(name: &str, affinity: &ClusterAffinity) -> AffinityRecord {
    let mut expressions = Vec::new();
    if let Some(selector) = &affinity.label_selector {
        for (key, value) in &selector.match_labels {
            expressions.push(ExpressionRecord {
                source: ExpressionSource::Label(key.clone()),
                operator: ExpressionOperator::In,
                values: vec![value.clone()],
            });
        }
        for requirement in &selector.match_expressions {
            expressions.push(expression(
                ExpressionSource::Label(requirement.key.clone()),
                requirement,
            ));
        }
    }
    if let Some(selector) = &affinity.field_selector {
        for requirement in &selector.match_expressions {
            let source = match requirement.key.as_str() {
                "provider" => ExpressionSource::Provider,
                "region" => ExpressionSource::Region,
                "zone" => ExpressionSource::Zone,
                _ => ExpressionSource::Nothing,
            };
            expressions.push(expression(source, requirement));
        }
    }
    AffinityRecord {
        name: name.to_owned(),
        cluster_names: affinity.cluster_names.clone(),
        exclude: affinity.exclude_clusters.clone(),
        expressions,
    }
}

fn expression(source: ExpressionSource, requirement: &SelectorRequirement) -> ExpressionRecord {
    let (operator, values) = match &requirement.operator {
        SelectorOperator::In => (ExpressionOperator::In, requirement.values.clone()),
        SelectorOperator::NotIn => (ExpressionOperator::NotIn, requirement.values.clone()),
        SelectorOperator::Exists => (ExpressionOperator::Exists, Vec::new()),
        SelectorOperator::DoesNotExist => (ExpressionOperator::DoesNotExist, Vec::new()),
        SelectorOperator::Gt => (ExpressionOperator::GreaterThan, requirement.values.clone()),
        SelectorOperator::Lt => (ExpressionOperator::LessThan, requirement.values.clone()),
        // An operator that Kubernetes does not know matches nothing: one of no values.
        SelectorOperator::Unknown(_) => (ExpressionOperator::In, Vec::new()),
    };
    ExpressionRecord {
        source,
        operator,
        values,
    }
}

fn toleration_record(toleration: &api::Toleration) -> TolerationRecord {
    TolerationRecord {
        key: toleration.key.clone(),
        operator: match &toleration.operator {
            None | Some(api::TolerationOperator::Equal) => TolerationOperator::Equal,
            Some(api::TolerationOperator::Exists) => TolerationOperator::Exists,
            Some(api::TolerationOperator::Unknown(word)) if word.is_empty() => TolerationOperator::Equal,
            Some(api::TolerationOperator::Unknown(_)) => TolerationOperator::Unknown,
        },
        value: toleration.value.clone(),
        effect: toleration
            .effect
            .as_ref()
            .map_or(TaintEffect::Any, |effect| TaintEffect::named(effect.as_str())),
        seconds: toleration.toleration_seconds,
    }
}

fn spread_constraint_record(constraint: &api::SpreadConstraint) -> SpreadConstraintRecord {
    let field = match &constraint.spread_by_field {
        _ if !constraint.spread_by_label.is_empty() => SpreadField::Label(constraint.spread_by_label.clone()),
        Some(api::SpreadField::Region) => SpreadField::Region,
        Some(api::SpreadField::Zone) => SpreadField::Zone,
        Some(api::SpreadField::Provider) => SpreadField::Provider,
        None | Some(api::SpreadField::Cluster | api::SpreadField::Unknown(_)) => SpreadField::Cluster,
    };
    SpreadConstraintRecord {
        field,
        minimum_groups: constraint.min_groups,
        maximum_groups: constraint.max_groups,
    }
}
