//! Objects that tests create: clusters, policies, workloads.

use serde_json::{Value, json};

/// A cluster with a region, labels and free resources. Chained methods change the defaults.
#[derive(Debug, Clone)]
pub struct Cluster(Value);

impl Cluster {
    /// A ready cluster with 100 CPUs, 400 GiB of memory and 1,000 pods free, which serves Deployments and ConfigMaps.
    pub fn new(name: &str) -> Self {
        let since = "2026-11-01T00:00:00Z";
        let condition = |kind: &str| json!({"type": kind, "status": "True", "reason": "Ready", "message": "", "lastTransitionTime": since});
        Self(json!({
            "metadata": {"name": name, "labels": {}},
            "spec": {"syncMode": "Push", "id": name},
            "status": {
                "kubernetesVersion": "v1.34.0",
                "apiEnablements": [
                    {"groupVersion": "apps/v1", "resources": [{"name": "deployments", "kind": "Deployment"}]},
                    {"groupVersion": "v1", "resources": [{"name": "configmaps", "kind": "ConfigMap"}]},
                    {"groupVersion": "rbac.authorization.k8s.io/v1",
                     "resources": [{"name": "clusterroles", "kind": "ClusterRole"}]},
                ],
                "conditions": [condition("Ready"), condition("CompleteAPIEnablements")],
                "resourceSummary": {
                    "allocatable": {"cpu": "100", "memory": "400Gi", "pods": "1000"},
                    "allocated": {"cpu": "0", "memory": "0", "pods": "0"},
                },
            },
        }))
    }

    /// Adds a label.
    pub fn label(mut self, key: &str, value: &str) -> Self {
        self.0["metadata"]["labels"][key] = value.into();
        self
    }

    /// Sets the region.
    pub fn region(mut self, region: &str) -> Self {
        self.0["spec"]["region"] = region.into();
        self
    }

    /// Sets the CPUs, in whole units.
    pub fn cpu(mut self, count: u32) -> Self {
        self.0["status"]["resourceSummary"]["allocatable"]["cpu"] = count.to_string().into();
        self
    }

    /// Sets the memory, in GiB.
    pub fn memory(mut self, count: u32) -> Self {
        self.0["status"]["resourceSummary"]["allocatable"]["memory"] = format!("{count}Gi").into();
        self
    }

    /// Adds a kind that it serves.
    pub fn serving(mut self, group_version: &str, kind: &str) -> Self {
        let resource =
            json!({"groupVersion": group_version, "resources": [{"name": kind.to_lowercase(), "kind": kind}]});
        if let Some(served) = self.0["status"]["apiEnablements"].as_array_mut() {
            served.push(resource);
        }
        self
    }

    /// Adds a finalizer, which keeps the cluster when it is deleted, as Karmada does until no binding names it.
    pub fn finalizer(mut self) -> Self {
        self.0["metadata"]["finalizers"] = json!(["karmada.io/cluster-controller"]);
        self
    }

    /// The object.
    pub fn object(&self) -> &Value {
        &self.0
    }
}

/// A Deployment of pods that request 1 CPU and 1 GiB each.
pub fn deployment(namespace: &str, name: &str, replicas: u32) -> Value {
    json!({
        "metadata": {"name": name, "namespace": namespace, "labels": {"app": name}},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{
                    "name": "main",
                    "image": "registry.example/main",
                    "resources": {"requests": {"cpu": "1", "memory": "1Gi"}},
                }]},
            },
        },
    })
}

/// A ConfigMap.
pub fn config_map(namespace: &str, name: &str) -> Value {
    json!({"metadata": {"name": name, "namespace": namespace}, "data": {"key": "value"}})
}

/// A namespaced policy for one resource of its namespace.
pub fn policy(
    namespace: &str,
    name: &str,
    (api_version, kind, resource): (&str, &str, &str),
    placement: Value,
) -> Value {
    json!({
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "resourceSelectors": [{"apiVersion": api_version, "kind": kind, "name": resource}],
            "placement": placement,
        },
    })
}

/// The binding of a Deployment in the namespace `default`, as Karmada makes one for a policy, for the default scheduler.
pub fn binding(name: &str, replicas: i64, placement: Value) -> Value {
    json!({
        "metadata": {
            "namespace": "default",
            "name": name,
            "labels": {"propagationpolicy.karmada.io/permanent-id": "5f0f5d3c-0000-4000-8000-000000000000"},
        },
        "spec": {
            "resource": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "default", "name": name},
            "schedulerName": "default-scheduler",
            "replicas": replicas,
            "placement": placement,
        },
    })
}

/// A placement that divides replicas by fixed weights among these clusters.
pub fn divided_by_weight(weights: &[(&str, u32)]) -> Value {
    let names: Vec<&str> = weights.iter().map(|(name, _)| *name).collect();
    let list: Vec<Value> = weights
        .iter()
        .map(|(name, weight)| json!({"targetCluster": {"clusterNames": [name]}, "weight": weight}))
        .collect();
    json!({
        "clusterAffinity": {"clusterNames": names},
        "replicaScheduling": {
            "replicaSchedulingType": "Divided",
            "replicaDivisionPreference": "Weighted",
            "weightPreference": {"staticWeightList": list},
        },
    })
}

/// A placement that divides replicas by the room that each selected cluster has.
pub fn divided_by_room(affinity: Value) -> Value {
    json!({
        "clusterAffinity": affinity,
        "replicaScheduling": {
            "replicaSchedulingType": "Divided",
            "replicaDivisionPreference": "Weighted",
            "weightPreference": {"dynamicWeight": "AvailableReplicas"},
        },
    })
}

/// A placement that gives every selected cluster all replicas.
pub fn duplicated(affinity: Value) -> Value {
    json!({"clusterAffinity": affinity, "replicaScheduling": {"replicaSchedulingType": "Duplicated"}})
}
