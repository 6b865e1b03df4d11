//! Clusters and bindings of a measurement, in Karmada's form.
//!
//! Each follows from its number, so that an API server in memory can make them on demand.

use serde_json::{Value, json};

/// Label of everything that a measurement creates.
pub const LABEL: &str = "divvy.io/bench";
/// Namespace of the bindings.
pub const NAMESPACE: &str = "divvy-bench";
/// Scheduler that the bindings name. No other scheduler takes them.
pub const SCHEDULER: &str = "divvy-bench";
/// Policy that claims the bindings. A scheduler waits a moment for a policy that it does not know.
pub const POLICY: &str = "bench";
/// Its permanent identifier.
const POLICY_ID: &str = "5f0f5d3c-7a3f-4d0e-9d7c-1c5a3b9e2f10";
/// Replicas of a binding. Clusters have equal room, so that each replica goes to another one.
pub const REPLICAS: usize = 5;
/// Regions of the clusters.
const REGIONS: usize = 8;
/// Time in objects that are not new.
const PAST: &str = "2026-01-01T00:00:00Z";

/// Name of a cluster.
pub fn cluster_name(number: usize) -> String {
    format!("member-{number:05}")
}

/// A ready cluster with room for a million replicas, which serves Deployments and `apis` further kinds.
pub fn cluster(number: usize, apis: usize) -> Value {
    let name = cluster_name(number);
    let region = format!("region-{}", number % REGIONS);
    // As discovery has them: about ten kinds per group.
    let groups = (0..apis.div_ceil(10)).map(|group| {
        let kinds = (group * 10..apis.min(group * 10 + 10))
            .map(|kind| json!({"name": format!("resources{kind}"), "kind": format!("Resource{kind}")}));
        json!({"groupVersion": format!("group{group}.example.io/v1"), "resources": kinds.collect::<Vec<_>>()})
    });
    let deployments = json!({"groupVersion": "apps/v1", "resources": [{"name": "deployments", "kind": "Deployment"}]});
    let condition =
        |kind: &str| json!({"type": kind, "status": "True", "reason": kind, "message": "", "lastTransitionTime": PAST});
    json!({
        "apiVersion": "cluster.karmada.io/v1alpha1",
        "kind": "Cluster",
        "metadata": {"name": name, "labels": {LABEL: "true", "topology.example.io/region": region}},
        "spec": {
            "id": name,
            "syncMode": "Push",
            "apiEndpoint": format!("https://{name}.example:6443"),
            "provider": "example",
            "region": region,
            "zones": [format!("{region}-a")],
        },
        "status": {
            "kubernetesVersion": "v1.34.0",
            "apiEnablements": std::iter::once(deployments).chain(groups).collect::<Vec<_>>(),
            "conditions": [condition("Ready"), condition("CompleteAPIEnablements")],
            "nodeSummary": {"totalNum": 1000, "readyNum": 1000},
            "resourceSummary": {
                "allocatable": {"cpu": "100000", "memory": "400Ti", "pods": "1000000", "ephemeral-storage": "400Ti"},
                "allocated": {"cpu": "0", "memory": "0", "pods": "0"},
            },
        },
    })
}

/// The placement of all bindings: their replicas are divided by the room that each cluster has.
pub fn placement() -> Value {
    json!({
        "clusterAffinity": {"labelSelector": {"matchLabels": {LABEL: "true"}}},
        "clusterTolerations": [
            {"key": "cluster.karmada.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
            {"key": "cluster.karmada.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
        ],
        "replicaScheduling": {
            "replicaSchedulingType": "Divided",
            "replicaDivisionPreference": "Weighted",
            "weightPreference": {"dynamicWeight": "AvailableReplicas"},
        },
    })
}

/// The policy of all bindings. It selects no workload that exists.
pub fn policy() -> Value {
    json!({
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "PropagationPolicy",
        "metadata": {
            "namespace": NAMESPACE,
            "name": POLICY,
            "labels": {LABEL: "true", "propagationpolicy.karmada.io/permanent-id": POLICY_ID},
        },
        "spec": {
            "resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "divvy-bench"}],
            "schedulerName": SCHEDULER,
            "placement": placement(),
        },
    })
}

/// A binding that waits for its first decision.
pub fn binding(name: &str) -> Value {
    json!({
        "apiVersion": "work.karmada.io/v1alpha2",
        "kind": "ResourceBinding",
        "metadata": {
            "namespace": NAMESPACE,
            "name": name,
            "labels": {
                LABEL: "true",
                "propagationpolicy.karmada.io/permanent-id": POLICY_ID,
                "resourcebinding.karmada.io/permanent-id": "0b8f6c1e-2f64-4c39-8a55-9f1d7e3b6a20",
            },
            "annotations": {
                "propagationpolicy.karmada.io/namespace": NAMESPACE,
                "propagationpolicy.karmada.io/name": POLICY,
            },
            "finalizers": [],
        },
        "spec": {
            "resource": {
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "namespace": NAMESPACE,
                "name": name,
                "uid": "6f2c8a4e-0d1b-4b7e-9c33-5e8f7a1d2c40",
                "resourceVersion": "1",
            },
            "schedulerName": SCHEDULER,
            "conflictResolution": "Abort",
            "replicas": REPLICAS,
            "replicaRequirements": {"resourceRequest": {"cpu": "100m", "memory": "128Mi"}},
            "placement": placement(),
        },
    })
}

/// The result of a binding that a bare client writes: one replica for each of five clusters, beginning at `number`.
pub fn targets(number: usize, clusters: usize) -> Value {
    let each = |step: usize| json!({"name": cluster_name((number + step) % clusters.max(1)), "replicas": 1});
    (0..REPLICAS.min(clusters)).map(each).collect()
}

/// The status that a scheduler writes.
pub fn scheduled_status(generation: i64, now: &str) -> Value {
    json!({
        "conditions": [{
            "type": "Scheduled",
            "status": "True",
            "reason": "Success",
            "message": "Binding has been scheduled successfully.",
            "lastTransitionTime": now,
        }],
        "schedulerObservedGeneration": generation,
        "lastScheduledTime": now,
    })
}

/// A binding that was scheduled long ago, with everything that others write: managed fields of four controllers and the state
/// of the workload in each of its clusters. About eight kilobytes.
pub fn settled_binding(number: usize, clusters: usize) -> Value {
    let name = settled_name(number);
    let mut binding = binding(&name);
    let metadata = &mut binding["metadata"];
    metadata["uid"] = json!(format!("00000000-0000-4000-8000-{number:012}"));
    metadata["generation"] = json!(2);
    metadata["resourceVersion"] = json!("1");
    metadata["creationTimestamp"] = json!(PAST);
    metadata["annotations"]["policy.karmada.io/applied-placement"] = json!(placement().to_string());
    metadata["ownerReferences"] = json!([{
        "apiVersion": "apps/v1", "kind": "Deployment", "name": name, "controller": true, "blockOwnerDeletion": true,
        "uid": "6f2c8a4e-0d1b-4b7e-9c33-5e8f7a1d2c40",
    }]);
    metadata["finalizers"] = json!(["karmada.io/binding-controller"]);
    metadata["managedFields"] = managed_fields();
    binding["spec"]["clusters"] = targets(number, clusters);
    let mut status = scheduled_status(2, PAST);
    let aggregated = (0..REPLICAS.min(clusters)).map(|step| {
        json!({
            "clusterName": cluster_name((number + step) % clusters.max(1)),
            "applied": true,
            "health": "Healthy",
            "status": {
                "availableReplicas": 1, "readyReplicas": 1, "replicas": 1, "updatedReplicas": 1,
                "generation": 3, "observedGeneration": 3, "resourceTemplateGeneration": 7,
            },
        })
    });
    status["aggregatedStatus"] = aggregated.collect();
    let applied = json!({
        "type": "FullyApplied", "status": "True", "reason": "FullyAppliedSuccess", "lastTransitionTime": PAST,
        "message": "All works have been successfully applied",
    });
    if let Some(conditions) = status["conditions"].as_array_mut() {
        conditions.push(applied);
    }
    binding["status"] = status;
    binding
}

/// Name of a settled binding.
pub fn settled_name(number: usize) -> String {
    format!("service-{number:07}-deployment")
}

/// Managed fields as the API server keeps them for four writers.
fn managed_fields() -> Value {
    let fields = |names: &[&str]| -> Value { names.iter().map(|name| (format!("f:{name}"), json!({}))).collect() };
    let entry = |manager: &str, subresource: &str, fields: Value| {
        json!({
            "manager": manager, "operation": "Update", "apiVersion": "work.karmada.io/v1alpha2", "time": PAST,
            "fieldsType": "FieldsV1", "fieldsV1": fields, "subresource": subresource,
        })
    };
    let mut detector = json!({"f:metadata": {}, "f:spec": {}});
    detector["f:metadata"] = json!({
        "f:annotations": {".": {}, "f:propagationpolicy.karmada.io/name": {}, "f:propagationpolicy.karmada.io/namespace": {}},
        "f:finalizers": {".": {}, "v:\"karmada.io/binding-controller\"": {}},
        "f:labels": {".": {}, "f:propagationpolicy.karmada.io/permanent-id": {}, "f:resourcebinding.karmada.io/permanent-id": {}},
        "f:ownerReferences": {".": {}, "k:{\"uid\":\"6f2c8a4e-0d1b-4b7e-9c33-5e8f7a1d2c40\"}": {}},
    });
    detector["f:spec"] = fields(&[
        "conflictResolution",
        "placement",
        "replicaRequirements",
        "replicas",
        "resource",
        "schedulerName",
    ]);
    let clusters: Value = (0..REPLICAS)
        .map(|step| {
            (
                format!("k:{{\"clusterName\":\"{}\"}}", cluster_name(step)),
                fields(&["applied", "clusterName", "health", "status"]),
            )
        })
        .collect();
    json!([
        entry("karmada-controller-manager", "", detector),
        entry(
            "karmada-scheduler",
            "",
            json!({
                "f:metadata": {"f:annotations": {"f:policy.karmada.io/applied-placement": {}}},
                "f:spec": {"f:clusters": {}},
            })
        ),
        entry(
            "karmada-scheduler",
            "status",
            json!({"f:status": fields(&["conditions", "lastScheduledTime", "schedulerObservedGeneration"])})
        ),
        entry(
            "karmada-controller-manager",
            "status",
            json!({"f:status": {"f:aggregatedStatus": clusters, "f:conditions": {}}})
        ),
    ])
}

#[cfg(test)]
mod tests {
    use divvy_controller::objects::{Fetched, Kind, Object};

    use super::*;

    #[test]
    fn objects_are_those_that_a_scheduler_reads() {
        let read = |kind, object| Object::read(kind, serde_json::from_value::<Fetched>(object).unwrap()).unwrap();
        let Object::Cluster(cluster) = read(Kind::Cluster, cluster(7, 300)) else {
            panic!("not a cluster")
        };
        let kinds: usize = cluster
            .status
            .api_enablements
            .iter()
            .map(|group| group.resources.len())
            .sum();
        assert_eq!((cluster.metadata.name.as_str(), kinds), ("member-00007", 301));
        let Object::Binding(document) = read(Kind::Binding, settled_binding(3, 100)) else {
            panic!("not a binding")
        };
        assert_eq!(document.object.spec.clusters.len(), REPLICAS);
        assert_eq!(document.aggregated.len(), REPLICAS);
        assert!(divvy_scheduler::decide::ownership::is_ours(&document.object, SCHEDULER));
    }

    #[test]
    fn a_settled_binding_has_a_realistic_size() {
        let size = settled_binding(3, 100).to_string().len();
        assert!((4_000..12_000).contains(&size), "{size}");
    }
}
