//! Works are dispatched and states are collected, as the execution and status controllers do; and a descheduler.

use divvy_controller::objects::{Kind, ObjectKey};
use serde_json::{Value, json};

use super::{ControlPlane, Happening, cluster_key, cluster_number};
use crate::member::{Requests, Wanted};
use crate::random::Random;

impl ControlPlane {
    /// A second of work of all controllers and members.
    pub fn second(&mut self, nature: &mut Random) {
        for member in &mut self.members {
            self.dirty.extend(member.step(self.now, nature));
        }
        let history = self.server.history(Kind::Binding);
        let written = history[self.dispatched..].iter().map(|record| record.key.clone());
        self.dirty.extend(written);
        self.dispatched = history.len();
        for key in std::mem::take(&mut self.dirty) {
            self.reconcile(&key);
        }
        self.finish_leaving();
    }

    /// Has the controllers look at every binding.
    pub fn look_at_all(&mut self) {
        let keys: Vec<ObjectKey> = self.server.of_kind(Kind::Binding).map(|(key, _)| key.clone()).collect();
        self.dirty.extend(keys);
    }

    /// The controllers act by the reports of before: those that follow a new result come after it.
    fn reconcile(&mut self, key: &ObjectKey) {
        self.evict(key);
        self.purge(key);
        self.dispatch(key);
        self.collect(key);
    }

    /// Brings the members to what a binding asks for. A member that cannot be reached is left as it is.
    fn dispatch(&mut self, key: &ObjectKey) {
        let binding = self.server.get(Kind::Binding, key).cloned();
        let templates = binding.as_deref().map(requests_of).unwrap_or_default();
        for number in 0..self.members.len() {
            let replicas = binding.as_deref().and_then(|binding| wanted_on(binding, number));
            let wanted: Vec<Wanted> = match replicas {
                None => Vec::new(),
                Some(replicas) => templates
                    .iter()
                    .map(|template| Wanted {
                        // A resource with several templates goes to each cluster as a whole.
                        pods: if templates.len() > 1 { template.pods } else { replicas },
                        requests: template.requests,
                    })
                    .collect(),
            };
            if self.members[number].is_cut_off(self.now) {
                self.dirty.insert(key.clone());
                continue;
            }
            // Its execution namespace is gone, and with it every Work.
            let wanted = if self.is_leaving(number) { Vec::new() } else { wanted };
            let member = &mut self.members[number];
            let before = member.pods_of(key).0;
            member.apply(key, &wanted, self.now);
            if member.pods_of(key).0 < before {
                self.happenings.push(Happening::PodsEnded(cluster_key(number).name));
            }
        }
    }

    /// Writes the state of the resource in each cluster that has a Work: those of the result, and those that the binding is evicted from.
    fn collect(&mut self, key: &ObjectKey) {
        let Some(binding) = self.server.get(Kind::Binding, key).cloned() else {
            return;
        };
        // As in Karmada, nothing is reported for a binding that has never been scheduled.
        if binding["status"]["lastScheduledTime"].is_null() {
            return;
        }
        let known = binding["status"]["aggregatedStatus"].as_array();
        let known = |name: &Value| {
            let mut entries = known.into_iter().flatten();
            entries.find(|entry| entry["clusterName"] == *name).cloned()
        };
        let has_health = binding["spec"]["resource"]["kind"] == "Deployment";
        let names = |list: &str, field: &str| -> Vec<Value> {
            let entries = binding["spec"][list].as_array().into_iter().flatten();
            entries.map(|entry| entry[field].clone()).collect()
        };
        let mut named = names("clusters", "name");
        let mut evicted = names("gracefulEvictionTasks", "fromCluster");
        evicted.retain(|name| !named.contains(name));
        named.extend(evicted);
        let aggregated: Vec<Value> = named
            .iter()
            .filter_map(|name| {
                let number = cluster_number(name.as_str()?)?;
                let member = &self.members[number];
                if self.is_leaving(number) {
                    return None;
                }
                if member.is_cut_off(self.now) {
                    return known(name);
                }
                let (pods, ready) = member.pods_of(key);
                let health = match (has_health, pods == ready) {
                    (false, _) => "Unknown",
                    (true, true) => "Healthy",
                    (true, false) => "Unhealthy",
                };
                let status = match has_health {
                    true => json!({"replicas": pods, "readyReplicas": ready}),
                    false => json!({"active": ready}),
                };
                Some(json!({"clusterName": name, "applied": true, "health": health, "status": status}))
            })
            .collect();
        self.change_binding(key, |binding| {
            binding["status"]["aggregatedStatus"] = Value::Array(aggregated)
        });
    }

    /// Takes replicas that found no node off a cluster, as the descheduler does.
    pub fn deschedule(&mut self, key: &ObjectKey, number: usize) {
        let unplaced = self.members[number].unplaced(key);
        let name = format!("c{number}");
        if unplaced == 0 {
            return;
        }
        self.change_binding(key, |binding| {
            let targets = binding["spec"]["clusters"].as_array_mut().into_iter().flatten();
            for target in targets.filter(|target| target["name"] == name.as_str()) {
                let replicas = target["replicas"].as_i64().unwrap_or(0);
                target["replicas"] = json!((replicas - unplaced).max(0));
            }
        });
    }
}

/// Replicas that a binding asks of a cluster, evictions under way included; `None` if it asks for nothing.
fn wanted_on(binding: &Value, number: usize) -> Option<i64> {
    let targets = binding["spec"]["clusters"].as_array().into_iter().flatten();
    let target = targets
        .filter(|target| target_number(target) == Some(number))
        .map(|target| &target["replicas"]);
    let name = format!("c{number}");
    let tasks = binding["spec"]["gracefulEvictionTasks"]
        .as_array()
        .into_iter()
        .flatten();
    let task = tasks
        .filter(|task| task["fromCluster"] == name.as_str())
        .map(|task| &task["replicas"]);
    target.chain(task).map(|replicas| replicas.as_i64().unwrap_or(0)).max()
}

/// Pods of one set of a binding's pod templates, and their requests. A binding without components has one template of one pod.
pub fn requests_of(binding: &Value) -> Vec<Wanted> {
    let spec = &binding["spec"];
    let requests = |requirements: &Value| {
        let list = &requirements["resourceRequest"];
        let number = |resource: &str, unit: &str| {
            let text = list[resource].as_str().unwrap_or("0").trim_end_matches(unit);
            text.parse().unwrap_or(0)
        };
        Requests {
            cpu: number("cpu", "m"),
            memory: number("memory", "Mi"),
        }
    };
    match spec["components"].as_array() {
        Some(components) => components
            .iter()
            .map(|component| Wanted {
                pods: component["replicas"].as_i64().unwrap_or(0),
                requests: requests(&component["replicaRequirements"]),
            })
            .collect(),
        None => vec![Wanted {
            pods: 1,
            requests: requests(&spec["replicaRequirements"]),
        }],
    }
}

/// Number of the cluster in a target.
pub fn target_number(target: &Value) -> Option<usize> {
    cluster_number(target["name"].as_str()?)
}
