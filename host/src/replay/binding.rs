//! A binding as a recording holds it: everything that decided it, in one object.
//!
//! What a policy said beside the placement (annotations, a total) is written as annotations of the binding, which count
//! first when it is read again.

use serde_json::{Map, Value, json};

use crate::api::{
    GracefulEvictionTask, ObjectMeta, ResourceBinding, ResourceBindingSpec, ResourceBindingStatus, TargetCluster,
    Timestamp,
};
use crate::inputs::BindingInput;
use crate::strategy::{
    AFFINITY_GROUPS_ANNOTATION, PREFERENCES_ANNOTATION, PreferenceRule, STRATEGY_ANNOTATION, StrategyRequest,
    StrategySource,
};

/// The binding of an input whose strategy makes sense, with the affinity group that was used.
pub fn recorded_binding(input: &BindingInput, request: &StrategyRequest, affinity: &str) -> ResourceBinding {
    let mut annotations = input.annotations.clone();
    if !is_extension(request) {
        annotations.insert(STRATEGY_ANNOTATION.to_owned(), request.strategy.clone());
        match preferences(request) {
            Some(preferences) => annotations.insert(PREFERENCES_ANNOTATION.to_owned(), preferences.to_string()),
            None => annotations.remove(PREFERENCES_ANNOTATION),
        };
    }
    if request.affinity_groups_as_tiers {
        annotations.insert(AFFINITY_GROUPS_ANNOTATION.to_owned(), "tiers".to_owned());
    }
    let count = |replicas: i64| i32::try_from(replicas).unwrap_or(i32::MAX);
    let seconds = |seconds: i128| Timestamp::from_nanoseconds(seconds * 1_000_000_000);
    ResourceBinding {
        api_version: ResourceBinding::API_VERSION.to_owned(),
        kind: input.kind().to_owned(),
        metadata: ObjectMeta {
            name: input.name.clone(),
            namespace: input.namespace.clone(),
            uid: input.uid.clone(),
            generation: input.generation,
            labels: input.labels.clone(),
            annotations,
            ..ObjectMeta::default()
        },
        spec: ResourceBindingSpec {
            resource: input.resource.clone(),
            replicas: Some(count(input.replicas)),
            replica_requirements: input.requirements.clone(),
            components: input.components.clone(),
            clusters: input
                .last
                .iter()
                .map(|(name, replicas)| TargetCluster {
                    name: name.clone(),
                    replicas: count(*replicas),
                })
                .collect(),
            placement: Some(input.placement.clone()),
            graceful_eviction_tasks: input
                .evicted_from
                .iter()
                .map(|cluster| GracefulEvictionTask {
                    from_cluster: cluster.clone(),
                    ..GracefulEvictionTask::default()
                })
                .collect(),
            // Only the order of the two times counts.
            reschedule_triggered_at: input.fresh.then(|| seconds(1)),
            ..ResourceBindingSpec::default()
        },
        status: ResourceBindingStatus {
            scheduler_observed_affinity_name: affinity.to_owned(),
            last_scheduled_time: input.fresh.then(|| seconds(0)),
            ..ResourceBindingStatus::default()
        },
    }
}

/// Whether the placement's extension fields say everything: their list has no key in `divvy.io/preferences`.
fn is_extension(request: &StrategyRequest) -> bool {
    request.source == StrategySource::ExtendReplicaDivisionPreference
        && request.preferences.is_none()
        && request.cluster_priority.is_none()
}

/// The preferences as `divvy.io/preferences` holds them.
fn preferences(request: &StrategyRequest) -> Option<Value> {
    let mut object = match &request.preferences {
        Some(Value::Object(object)) => object.clone(),
        _ => Map::new(),
    };
    if !request.rules.is_empty() {
        // `idcs` would leave the total open again, which is filled in here.
        object.remove("idcs");
        object
            .entry(request.rules_key.clone())
            .or_insert_with(|| request.rules.iter().map(entry).collect());
    }
    if let Some(priorities) = &request.cluster_priority {
        let list: Value = priorities.iter().map(entry).collect();
        object.insert("clusterPriority".to_owned(), json!({ "preferredPriorityList": list }));
    }
    (!object.is_empty()).then_some(Value::Object(object))
}

/// A rule as an entry of its list.
fn entry(rule: &PreferenceRule) -> Value {
    let mut entry: Map<String, Value> = rule
        .fields
        .iter()
        .map(|(field, value)| (field.clone(), Value::from(*value)))
        .collect();
    entry.insert("targetCluster".to_owned(), json!(rule.target));
    Value::Object(entry)
}
