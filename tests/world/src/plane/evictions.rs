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
        let (spec, status) = (&binding["spec"], &binding["status"]);
        let Some(tasks) = spec["gracefulEvictionTasks"].as_array() else {
            return;
        };
        let is_observed = status["schedulerObservedGeneration"] == binding["metadata"]["generation"];
        let reports = status["aggregatedStatus"].as_array();
        let is_settled = |target: &Value| {
            let mut reports = reports.into_iter().flatten();
            reports.any(|report| report["clusterName"] == target["name"] && report["health"] == "Healthy")
        };
        let is_replaced = is_observed && spec["clusters"].as_array().into_iter().flatten().all(is_settled);
        let now = self.wall();
        let is_over = |task: &Value| {
            let began: Option<Timestamp> = serde_json::from_value(task["creationTimestamp"].clone()).ok();
            began.is_none_or(|began| began.seconds() + i64::from(self.grace) <= now.seconds())
        };
        let left: Vec<Value> = match is_replaced {
            true => Vec::new(),
            false => tasks.iter().filter(|task| !is_over(task)).cloned().collect(),
        };
        if is_replaced {
            let ready = self.members.iter().map(|member| member.pods_that_were_ready(key));
            self.happenings.push(Happening::Replaced {
                key: key.clone(),
                binding: Arc::clone(&binding),
                ready: ready.collect(),
            });
        }
        if !left.is_empty() {
            // It is looked at again, because time alone may end it.
            self.dirty.insert(key.clone());
        }
        if left.len() < tasks.len() {
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
