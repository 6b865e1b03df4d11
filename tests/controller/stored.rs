//! A binding in the store is the binding that was watched, as far as anything reads it.

use std::sync::Arc;

use divvy_controller::objects::{BindingDocument, Kind, Object};
use divvy_controller::store::{BindingStore, StoredBinding};
use divvy_karmada::api::{BindingScope, ResourceBinding, StringMap};
use divvy_karmada::detector::{Binding, PolicyFacts};
use divvy_recordings::read_recording;
use divvy_scheduler::fleet::Footprint;
use divvy_scheduler::plan::{Annotations, Decidable, PlanInput, TextMap};
use serde_json::{Value, json};

use super::simulation::Simulation;
use super::{cluster, clusters, divided};
use crate::artifacts::repository;

/// A binding as the watch reads it.
fn watched(binding: &Value) -> Box<BindingDocument> {
    let kind = match binding["kind"] == BindingScope::Cluster.kind() {
        true => Kind::ClusterBinding,
        false => Kind::Binding,
    };
    let fetched = serde_json::from_str(&binding.to_string()).expect("an object");
    match Object::read(kind, fetched) {
        Ok(Object::Binding(document)) => document,
        other => panic!("{other:?}"),
    }
}

/// The binding as a decision reads it once the store has it.
pub(super) fn through_the_store(binding: &Value, policy: Option<Arc<PolicyFacts>>) -> StoredBinding {
    let mut store = BindingStore::default();
    let (key, _) = store.upsert(*watched(binding), true, false);
    store.stored(&key, policy).expect("it is stored")
}

/// An input, but for the form in which it has labels and annotations.
fn described(input: &PlanInput<'_>) -> String {
    let labels: Vec<_> = input.labels.iter().collect();
    let annotations: Vec<_> = input.annotations.iter().collect();
    let nothing = StringMap::new();
    let rest = PlanInput {
        labels: TextMap::from(&nothing),
        annotations: Annotations::new(&nothing),
        ..input.clone()
    };
    format!("{labels:?} {annotations:?} {rest:?}")
}

/// Compares a binding with what the store makes of it: for its plan, for its footprint, and for a patch of its status.
#[track_caller]
fn compare(binding: &Value) {
    let parsed: ResourceBinding = serde_json::from_str(&binding.to_string()).expect("a binding");
    let expected = Binding {
        object: Box::new(parsed),
        ..Binding::default()
    };
    let object = &expected.object;
    let stored = through_the_store(binding, None);
    let (input, wanted) = (stored.input(), expected.input());
    assert_eq!(described(&input), described(&wanted));
    assert_eq!(input.key(), wanted.key());
    assert_eq!(stored.observed_affinity(), expected.observed_affinity());
    let record = stored.record();
    assert!(record.clusters.are(&object.spec.clusters));
    assert_eq!(stored.last(), object.spec.clusters);
    assert_eq!(record.resource(), object.spec.resource);
    assert_eq!(record.requirements(), object.spec.replica_requirements.as_ref());
    assert_eq!(record.component_list(), object.spec.components);
    assert_eq!(record.evictions(), object.spec.graceful_eviction_tasks);
    assert_eq!(record.suspension(), object.spec.suspension.as_ref());
    assert_eq!(record.status(), object.status);
    let metadata = &object.metadata;
    assert_eq!(
        (stored.uid(), stored.generation()),
        (metadata.uid.as_str(), metadata.generation)
    );
    assert_eq!(stored.resource_version(), metadata.resource_version);
    let footprint = Footprint::new(&object.spec);
    assert_eq!(
        (record.footprint(), Footprint::from_input(&input)),
        (footprint.clone(), footprint)
    );
}

#[test]
fn recorded_bindings_are_kept_whole() {
    let mut compared = 0;
    for file in [
        "bench",
        "karmada-parity",
        "karmada-parity-components",
        "karmada-parity-large",
        "karmada-parity-odd",
    ] {
        let path = repository().join(format!("tests/conformance/{file}.jsonl.gz"));
        let recording = read_recording(&path).expect("a recording");
        for case in &recording.cases {
            compare(&json!(case.binding));
            compared += 1;
        }
    }
    assert!(compared > 1_000, "{compared}");
}

/// Every field that Divvy reads has a value of its own here.
#[test]
fn no_field_of_a_binding_is_lost() {
    let requirements = |cpu: &str| {
        json!({
            "nodeClaim": {
                "hardNodeAffinity": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "k", "operator": "Exists"}]}]},
                "nodeSelector": {"disk": "ssd"},
                "tolerations": [{"key": "t", "operator": "Exists", "effect": "NoSchedule", "tolerationSeconds": 3}],
            },
            "resourceRequest": {"cpu": cpu, "memory": "1Gi"},
            "namespace": "shop",
            "priorityClassName": "high",
        })
    };
    let targets = json!([
        {"name": "a", "replicas": 2, "components": [{"name": "leader", "replicas": 1}, {"name": "worker", "replicas": 4}]},
        {"name": "b"},
        {"name": "c", "replicas": -1},
    ]);
    let mut binding = json!({
        "kind": "ResourceBinding",
        "metadata": {
            "name": "web-deployment",
            "namespace": "shop",
            "uid": "u",
            "resourceVersion": "007",
            "generation": 9,
            "labels": {"resourcebinding.karmada.io/permanent-id": "p", "b": "2", "a": ""},
            "annotations": {"policy.karmada.io/applied-placement": "{}", "divvy.io/applied-policy": "{}", "x": "y"},
            "annotation": "{}",
            "deletionTimestamp": "2026-01-01T00:00:00Z",
        },
        "spec": {
            "resource": {
                "apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web", "uid": "r", "resourceVersion": "5",
            },
            "replicas": 6,
            "replicaRequirements": requirements("1"),
            "components": [
                {"name": "leader", "replicas": 1, "replicaRequirements": requirements("2")},
                {"name": "worker", "replicas": 4},
            ],
            "clusters": targets,
            "placement": {"clusterAffinity": {"clusterNames": ["a"]}},
            "gracefulEvictionTasks": [{
                "fromCluster": "d", "replicas": 1, "reason": "r", "message": "m", "producer": "p",
            }],
            "schedulerName": "default-scheduler",
            "rescheduleTriggeredAt": "2026-01-02T00:00:00Z",
            "suspension": {
                "dispatching": true, "dispatchingOnClusters": {"clusterNames": ["a"]}, "scheduling": false,
            },
            "schedulePriority": {"priority": 0},
            "workloadAffinityGroups": {"affinityGroup": "app=web", "antiAffinityGroup": "tier=gold"},
        },
        "status": {
            "schedulerObservedGeneration": 8,
            "schedulerObservingAffinityName": "group",
            "lastScheduledTime": "2026-01-03T00:00:00Z",
            "conditions": [
                {
                    "type": "Scheduled", "status": "True", "reason": "Success", "message": "m", "observedGeneration": 4,
                    "lastTransitionTime": "2026-01-04T00:00:00Z",
                },
                {"type": "Scheduled", "status": "True", "reason": "Success", "message": "m"},
            ],
        },
    });
    compare(&binding);
    binding["kind"] = json!("ClusterResourceBinding");
    compare(&binding);
    for field in ["metadata", "spec", "status"] {
        binding[field] = json!({});
    }
    compare(&binding);
}

#[test]
fn bindings_of_a_policy_share_what_they_have_in_common() {
    let mut store = BindingStore::default();
    let binding = |name: &str| {
        json!({
            "metadata": {"name": name, "namespace": "shop", "uid": name},
            "spec": {
                "placement": {"clusterAffinity": {"clusterNames": ["a"]}},
                "replicaRequirements": {"resourceRequest": {"cpu": "1"}},
            },
        })
    };
    let (first, _) = store.upsert(*watched(&binding("first")), true, false);
    let (second, _) = store.upsert(*watched(&binding("second")), true, false);
    let [first, second] = [&first, &second].map(|key| store.stored(key, None).expect("it is stored"));
    let placements = [&first, &second].map(|binding| binding.input().placement.expect("it has one"));
    assert!(std::ptr::eq(placements[0], placements[1]));
    let requirements = [&first, &second].map(|binding| binding.record().requirements().expect("it has some"));
    assert!(Arc::ptr_eq(requirements[0], requirements[1]));
}

#[test]
fn a_version_that_cannot_be_read_leaves_the_one_before() {
    let mut simulation = Simulation::new(&[cluster("a", 10)]);
    simulation.create("web", divided(3));
    simulation.break_binding("web");
    assert_eq!(simulation.engine().sizes(), (1, 1));
    assert_eq!(simulation.result("web"), clusters(&[("a", 3)]));
    assert_eq!(simulation.writes("web"), (1, 1));
    simulation.patch("web", &json!({"spec": {"replicas": 4}}));
    assert_eq!(simulation.result("web"), clusters(&[("a", 4)]));
}
