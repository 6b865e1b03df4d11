//! Evictions begin by taints, as the taint manager does, and end once they are replaced or their time is up
//! (`pkg/controllers/gracefuleviction/evictiontask.go`).

use std::sync::Arc;

use divvy_controller::objects::{Kind, ObjectKey};
use divvy_karmada::api::Timestamp;
use serde_json::{Value, json};

use super::{ControlPlane, Happening, cluster_key, target_number};

impl ControlPlane {
    /// Begins evictions from clusters with a taint `NoExecute`, as the taint manager does.
    pub(super) fn evict(&mut self, key: &ObjectKey) {
        let Some(binding) = self.server.get(Kind::Binding, key).cloned() else {
            return;
        };
        let tolerations = binding["spec"]["placement"]["clusterTolerations"].as_array();
        if tolerations.is_some_and(|tolerations| !tolerations.is_empty()) {
            return;
        }
        let is_evicted = |target: &Value| {
            let cluster = target_number(target).and_then(|number| self.server.get(Kind::Cluster, &cluster_key(number)));
            let taints = cluster.and_then(|cluster| cluster["spec"]["taints"].as_array());
            taints.is_some_and(|taints| taints.iter().any(|taint| taint["effect"] == "NoExecute"))
        };
        let targets = binding["spec"]["clusters"].as_array().cloned().unwrap_or_default();
        let (from, kept): (Vec<Value>, Vec<Value>) = targets.into_iter().partition(is_evicted);
        if from.is_empty() {
            return;
        }
        self.say(format!(
            "the taint manager evicts {} from {}",
            key.name,
            Value::Array(from.clone())
        ));
        let (now, grace) = (self.wall().to_string(), self.grace);
        self.change_binding(key, |binding| {
            let mut tasks = binding["spec"]["gracefulEvictionTasks"]
                .as_array()
                .cloned()
                .unwrap_or_default();
            tasks.extend(from.iter().map(|target| {
                json!({
                    "fromCluster": target["name"],
                    "replicas": target["replicas"],
                    "reason": "TaintUntolerated",
                    "producer": "TaintManager",
                    "purgeMode": "Gracefully",
                    "gracePeriodSeconds": grace,
                    "creationTimestamp": now,
                })
            }));
            binding["spec"]["gracefulEvictionTasks"] = Value::Array(tasks);
            binding["spec"]["clusters"] = Value::Array(kept);
        });
    }

    /// Ends evictions of a binding: all once the replacement is scheduled and healthy, and each when its time is up.
    pub(super) fn purge(&mut self, key: &ObjectKey) {
        let Some(binding) = self.server.get(Kind::Binding, key).cloned() else {
            return;
        };
        let Some(ends) = ends(&binding, self.wall(), self.grace) else {
            return;
        };
        let left = match ends {
            Ends::Replaced => {
                let ready = self.members.iter().map(|member| member.pods_that_were_ready(key));
                self.happenings.push(Happening::Replaced {
                    key: key.clone(),
                    binding: Arc::clone(&binding),
                    ready: ready.collect(),
                });
                Vec::new()
            }
            Ends::ByTime(left) => left,
        };
        if !left.is_empty() {
            // It is looked at again, because time alone may end it.
            self.dirty.insert(key.clone());
        }
        if Some(left.len()) < binding["spec"]["gracefulEvictionTasks"].as_array().map(Vec::len) {
            self.change_binding(key, |binding| match left.is_empty() {
                true => {
                    let spec = binding["spec"].as_object_mut();
                    spec.and_then(|spec| spec.remove("gracefulEvictionTasks"));
                }
                false => binding["spec"]["gracefulEvictionTasks"] = Value::Array(left),
            });
        }
    }
}

/// The way in which Karmada ends evictions of a binding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ends {
    /// All of them, because the result is scheduled and reported as healthy everywhere.
    Replaced,
    /// Those whose time is up. These tasks are left.
    ByTime(Vec<Value>),
}

/// What Karmada does with the evictions of a binding, which end after so many seconds at the latest; `None` if it has none. It reads reports, and
/// not what members run.
pub fn ends(binding: &Value, now: Timestamp, grace: u32) -> Option<Ends> {
    let (spec, status) = (&binding["spec"], &binding["status"]);
    let tasks = spec["gracefulEvictionTasks"].as_array()?;
    let is_observed = status["schedulerObservedGeneration"] == binding["metadata"]["generation"];
    let reports = status["aggregatedStatus"].as_array();
    let is_settled = |target: &Value| {
        let mut reports = reports.into_iter().flatten();
        reports.any(|report| report["clusterName"] == target["name"] && report["health"] == "Healthy")
    };
    if is_observed && spec["clusters"].as_array().into_iter().flatten().all(is_settled) {
        return Some(Ends::Replaced);
    }
    let is_over = |task: &&Value| {
        let began: Option<Timestamp> = serde_json::from_value(task["creationTimestamp"].clone()).ok();
        began.is_none_or(|began| began.seconds() + i64::from(grace) <= now.seconds())
    };
    Some(Ends::ByTime(
        tasks.iter().filter(|task| !is_over(task)).cloned().collect(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_eviction_ends_once_what_replaces_it_is_observed_and_reported_as_healthy_or_by_time() {
        let task = json!({"fromCluster": "c0", "creationTimestamp": Timestamp::from_seconds(100)});
        let mut binding = json!({
            "metadata": {"generation": 2},
            "spec": {"clusters": [{"name": "c1", "replicas": 3}], "gracefulEvictionTasks": [task.clone()]},
            "status": {
                "schedulerObservedGeneration": 1,
                "aggregatedStatus": [{"clusterName": "c1", "health": "Healthy"}],
            },
        });
        let after = |binding: &Value, seconds: i64| ends(binding, Timestamp::from_seconds(100 + seconds), 40);
        assert_eq!(after(&binding, 39), Some(Ends::ByTime(vec![task])));
        assert_eq!(after(&binding, 40), Some(Ends::ByTime(Vec::new())));
        binding["status"]["schedulerObservedGeneration"] = json!(2);
        assert_eq!(after(&binding, 1), Some(Ends::Replaced));
        binding["status"]["aggregatedStatus"][0]["health"] = json!("Unhealthy");
        assert_ne!(after(&binding, 1), Some(Ends::Replaced));
        binding["spec"]["gracefulEvictionTasks"] = Value::Null;
        assert_eq!(after(&binding, 1), None);
    }
}
