//! Graceful eviction: a task ends when the replacement is scheduled and healthy.

use std::time::{SystemTime, UNIX_EPOCH};

use divvy_karmada::api::Timestamp;
use serde_json::{Value, json};

use super::{Karmada, items, key};
use crate::Error;
use crate::objects::{BINDING, CLUSTER_BINDING};

/// Seconds after which the controller ends a task that does not say.
const GRACE_SECONDS: i64 = 600;

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

    /// Ends the tasks of every binding as Karmada's controller does: one that has no time yet gets one; one whose time is up ends; and once
    /// the scheduler has observed the generation, all end if everything that the result names is Healthy by its last report.
    pub async fn purge_evictions(&self) -> Result<(), Error> {
        for kind in [BINDING, CLUSTER_BINDING] {
            for binding in self.objects().list(kind, "").await? {
                let tasks = items(&binding, "/spec/gracefulEvictionTasks");
                let kept = kept(&binding, tasks, now());
                if kept != tasks {
                    let (namespace, name) = key(&binding);
                    let kept = if kept.is_empty() {
                        Value::Null
                    } else {
                        Value::from(kept)
                    };
                    // The controller decides about the version that it has seen.
                    let version = &binding["metadata"]["resourceVersion"];
                    let patch =
                        json!({"metadata": {"resourceVersion": version}, "spec": {"gracefulEvictionTasks": kept}});
                    match self.objects().merge(kind, namespace, name, &patch).await {
                        Err(error) if error.status() == Some(409) => {}
                        result => _ = result?,
                    }
                }
            }
        }
        Ok(())
    }
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_seconds(i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
}

/// The tasks that are left (`pkg/controllers/gracefuleviction/evictiontask.go`).
fn kept(binding: &Value, tasks: &[Value], now: Timestamp) -> Vec<Value> {
    let is_observed = binding["status"]["schedulerObservedGeneration"] == binding["metadata"]["generation"];
    let reports = items(binding, "/status/aggregatedStatus");
    let is_healthy = |target: &Value| {
        let report = reports.iter().find(|report| report["clusterName"] == target["name"]);
        report.is_some_and(|report| report["health"] == "Healthy")
    };
    let is_replaced = is_observed && items(binding, "/spec/clusters").iter().all(is_healthy);
    let assess = |task: &Value| {
        let Some(created) = task["creationTimestamp"].as_str() else {
            let mut stamped = task.clone();
            stamped["creationTimestamp"] = json!(now);
            return Some(stamped);
        };
        match task["suppressDeletion"].as_bool() {
            Some(true) => return Some(task.clone()),
            Some(false) => return None,
            None => {}
        }
        let created: Option<Timestamp> = serde_json::from_value(json!(created)).ok();
        let grace = task["gracePeriodSeconds"].as_i64().unwrap_or(GRACE_SECONDS);
        let is_over = created.is_none_or(|created| created.seconds() + grace < now.seconds());
        (!is_over && !is_replaced).then(|| task.clone())
    };
    tasks.iter().filter_map(assess).collect()
}
