//! Graceful eviction: a task ends when the replacement is scheduled and healthy.

use serde_json::{Value, json};

use super::{Karmada, items, key};
use crate::Error;
use crate::objects::{BINDING, CLUSTER_BINDING};

impl Karmada {
    /// Starts the eviction of a binding from a cluster, as Karmada's taint manager does: the cluster leaves the result and
    /// becomes a task.
    pub async fn evict(&self, namespace: &str, binding: &str, cluster: &str) -> Result<Value, Error> {
        let object = self.objects().get(BINDING, namespace, binding).await?;
        let clusters = items(&object, "/spec/clusters");
        let (from, kept): (Vec<Value>, Vec<Value>) =
            clusters.iter().cloned().partition(|target| target["name"] == cluster);
        let mut tasks = items(&object, "/spec/gracefulEvictionTasks").to_vec();
        tasks.extend(from.iter().map(|target| {
            json!({
                "fromCluster": cluster,
                "replicas": target["replicas"],
                "reason": "TaintUntolerated",
                "producer": "TaintManager",
                "purgeMode": "Gracefully",
                "gracePeriodSeconds": 600,
            })
        }));
        let patch = json!({"spec": {"clusters": kept, "gracefulEvictionTasks": tasks}});
        self.objects().merge(BINDING, namespace, binding, &patch).await
    }

    /// Ends the tasks of every binding that the scheduler has seen in its latest generation and that is healthy everywhere.
    pub async fn purge_evictions(&self) -> Result<(), Error> {
        for kind in [BINDING, CLUSTER_BINDING] {
            for binding in self.objects().list(kind, "").await? {
                let is_observed = binding["status"]["schedulerObservedGeneration"] == binding["metadata"]["generation"];
                if items(&binding, "/spec/gracefulEvictionTasks").is_empty() || !is_observed {
                    continue;
                }
                let reports = items(&binding, "/status/aggregatedStatus");
                let is_healthy = |target: &Value| {
                    reports
                        .iter()
                        .any(|report| report["clusterName"] == target["name"] && report["health"] == "Healthy")
                };
                if items(&binding, "/spec/clusters").iter().all(is_healthy) {
                    let (namespace, name) = key(&binding);
                    let patch = json!({"spec": {"gracefulEvictionTasks": null}});
                    self.objects().merge(kind, namespace, name, &patch).await?;
                }
            }
        }
        Ok(())
    }
}
