//! A binding in the store is the binding that was watched.

use std::sync::Arc;

use divvy_controller::objects::{BindingDocument, Kind, Object};
use divvy_controller::store::BindingStore;
use divvy_karmada::api::{BindingScope, ResourceBinding};
use divvy_karmada::detector::Binding;
use divvy_recordings::read_recording;
use divvy_scheduler::fleet::Footprint;
use divvy_scheduler::plan::PlanInput;
use serde_json::{Value, json};

use super::simulation::Simulation;
use super::{cluster, clusters, divided};
use crate::artifacts::repository;

/// Annotation that the store keeps apart.
const APPLIED_PLACEMENT: &str = "policy.karmada.io/applied-placement";

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

/// The binding that a decision sees after the store has had it, with the footprint of its results.
pub(super) fn through_the_store(binding: &Value) -> (ResourceBinding, Footprint) {
    let mut store = BindingStore::default();
    let (key, _) = store.upsert(*watched(binding), true, false);
    let record = store.get(&key).expect("it is stored");
    let kept = record.binding(&key);
    assert!(record.clusters.are(&kept.spec.clusters));
    assert_eq!(record.resource(), kept.spec.resource);
    assert_eq!(record.groups(), kept.spec.workload_affinity_groups.as_ref());
    (kept, record.footprint())
}

/// Compares a binding with what the store makes of it, and what both are to the plan.
#[track_caller]
fn compare(binding: &Value) {
    let mut expected: ResourceBinding = serde_json::from_str(&binding.to_string()).expect("a binding");
    expected.api_version = ResourceBinding::API_VERSION.to_owned();
    expected.kind = expected.scope().kind().to_owned();
    expected.metadata.annotations.remove(APPLIED_PLACEMENT);
    let (kept, footprint) = through_the_store(binding);
    assert_eq!(kept, expected);
    assert_eq!(footprint, Footprint::new(&expected.spec));
    let input = |object: ResourceBinding| {
        let binding = Binding {
            object: Box::new(object),
            ..Binding::default()
        };
        PlanInput::new(&binding).key()
    };
    assert_eq!(input(kept), input(expected));
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

/// Every field that Divvy knows has a value of its own here.
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
            "requiredBy": [{"namespace": "shop", "name": "other", "clusters": targets}],
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
    let specification = |key| store.get(key).expect("it is stored").binding(key).spec;
    let (first, second) = (specification(&first), specification(&second));
    let shared =
        |left: &Option<Arc<_>>, right: &Option<Arc<_>>| Arc::ptr_eq(left.as_ref().unwrap(), right.as_ref().unwrap());
    assert!(shared(&first.replica_requirements, &second.replica_requirements));
    assert!(Arc::ptr_eq(&first.placement.unwrap(), &second.placement.unwrap()));
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
