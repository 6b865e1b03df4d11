//! Builders of manifests for tests: clusters with a number of free pods, and bindings with a number of replicas.
//!
//! Everything else has a fixed default: every cluster serves Deployments, and a replica requests only one of the
//! cluster's pods, so that the number of free pods is what fits now.

use serde_json::{Map, Value, json};

/// The manifest of a cluster.
#[derive(Debug, Clone)]
pub(crate) struct Cluster(Value);

/// A cluster with this name and room for `fits_now` replicas.
pub(crate) fn cluster(name: &str, fits_now: i64) -> Cluster {
    Cluster(json!({
        "apiVersion": "cluster.karmada.io/v1alpha1",
        "kind": "Cluster",
        "metadata": { "name": name },
        "spec": { "syncMode": "Push" },
        "status": {
            "apiEnablements": [{
                "groupVersion": "apps/v1",
                "resources": [{ "kind": "Deployment", "name": "deployments" }],
            }],
            "resourceSummary": { "allocatable": { "pods": fits_now.to_string() } },
        },
    }))
}

impl Cluster {
    /// Sets the region.
    pub(crate) fn region(mut self, region: &str) -> Self {
        self.0["spec"]["region"] = region.into();
        self
    }

    /// Sets the provider.
    pub(crate) fn provider(mut self, provider: &str) -> Self {
        self.0["spec"]["provider"] = provider.into();
        self
    }
}

impl From<Cluster> for Value {
    fn from(cluster: Cluster) -> Self {
        cluster.0
    }
}

/// A binding of a Deployment in the namespace `default`.
#[derive(Debug, Clone)]
pub(crate) struct Binding(Value);

/// A binding with this name and no last result. Its name is also its UID, which determines ties.
pub(crate) fn binding(name: &str, replicas: i64) -> Binding {
    Binding(json!({
        "apiVersion": "work.karmada.io/v1alpha2",
        "kind": "ResourceBinding",
        "metadata": { "name": name, "namespace": "default", "uid": name },
        "spec": {
            "resource": { "apiVersion": "apps/v1", "kind": "Deployment", "namespace": "default", "name": name },
            "replicas": replicas,
            "placement": {},
        },
    }))
}

impl Binding {
    /// Sets the last result, in this order.
    pub(crate) fn last<'a>(mut self, last: impl IntoIterator<Item = (&'a str, i64)>) -> Self {
        let targets = last.into_iter();
        self.0["spec"]["clusters"] = targets
            .map(|(name, replicas)| json!({ "name": name, "replicas": replicas }))
            .collect();
        self
    }

    /// Sets the strategy through `divvy.io/strategy`.
    pub(crate) fn strategy(self, strategy: &str) -> Self {
        self.annotation("divvy.io/strategy", strategy)
    }

    /// Sets the preferences through `divvy.io/preferences`.
    pub(crate) fn preferences(self, preferences: &Value) -> Self {
        self.annotation("divvy.io/preferences", &preferences.to_string())
    }

    /// Sets an annotation.
    pub(crate) fn annotation(mut self, key: &str, value: &str) -> Self {
        self.0["metadata"]["annotations"][key] = value.into();
        self
    }

    /// Removes the placement, so that the policy's placement counts.
    pub(crate) fn without_placement(mut self) -> Self {
        if let Some(spec) = self.0["spec"].as_object_mut() {
            spec.remove("placement");
        }
        self
    }

    /// Requests a reschedule after the last scheduling.
    pub(crate) fn fresh(mut self) -> Self {
        self.0["spec"]["rescheduleTriggeredAt"] = "2026-01-02T00:00:00Z".into();
        self.0["status"] = json!({ "lastScheduledTime": "2026-01-01T00:00:00Z" });
        self
    }

    /// Sets a key of the placement.
    pub(crate) fn placement(mut self, key: &str, value: Value) -> Self {
        self.0["spec"]["placement"][key] = value;
        self
    }

    /// Sets a key of the specification.
    pub(crate) fn spec(mut self, key: &str, value: Value) -> Self {
        self.0["spec"][key] = value;
        self
    }
}

impl From<Binding> for Value {
    fn from(binding: Binding) -> Self {
        binding.0
    }
}

/// A manifest that contains these objects, in this order.
pub(crate) fn list(objects: impl IntoIterator<Item = Value>) -> String {
    let items: Vec<Value> = objects.into_iter().collect();
    json!({ "apiVersion": "v1", "kind": "List", "items": items }).to_string()
}

/// Preferences with one weight per cluster.
pub(crate) fn weights<'a>(weights: impl IntoIterator<Item = (&'a str, i64)>) -> Value {
    rules("staticWeightList", "weight", weights)
}

/// Preferences with one specified count per cluster.
pub(crate) fn counts<'a>(counts: impl IntoIterator<Item = (&'a str, i64)>) -> Value {
    rules("staticSpecifyList", "replicas", counts)
}

/// Preferences with one priority per cluster.
pub(crate) fn priorities<'a>(priorities: impl IntoIterator<Item = (&'a str, i64)>) -> Value {
    rules("preferredPriorityList", "priority", priorities)
}

/// Preferences with a list that has one entry per cluster.
pub(crate) fn rules<'a>(list: &str, field: &str, values: impl IntoIterator<Item = (&'a str, i64)>) -> Value {
    let entries: Vec<Value> = values
        .into_iter()
        .map(|(cluster, value)| json!({ "targetCluster": { "clusterNames": [cluster] }, field: value }))
        .collect();
    Value::Object(Map::from_iter([(list.to_owned(), entries.into())]))
}
