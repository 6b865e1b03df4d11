//! Clusters on the control plane: joining, leaving, vanishing, and their reports.

use divvy_controller::objects::{Kind, ObjectKey};
use serde_json::{Value, json};

use super::{ControlPlane, Happening};
use crate::agenda::Millis;
use crate::member::Member;

/// Time between two reports of a cluster: Karmada's default.
pub const REPORT_PERIOD: Millis = 10_000;

/// Key of the taint that actions set.
const MAINTENANCE: &str = "maintenance";

/// The number in a cluster's name.
pub fn cluster_number(cluster: &str) -> Option<usize> {
    cluster.strip_prefix('c')?.parse().ok()
}

/// Identity of a cluster by its number.
pub fn cluster_key(number: usize) -> ObjectKey {
    ObjectKey {
        namespace: String::new(),
        name: format!("c{number}"),
    }
}

impl ControlPlane {
    /// Changes a cluster.
    pub fn change_cluster(&mut self, number: usize, change: impl FnOnce(&mut Value)) {
        let now = self.now;
        let offer = |world: &Self| {
            let cluster = world.server.get(Kind::Cluster, &cluster_key(number))?;
            let (status, metadata) = (&cluster["status"], &cluster["metadata"]);
            let offers = [
                &cluster["spec"],
                &status["conditions"],
                &status["apiEnablements"],
                &metadata["labels"],
            ];
            Some((offers.map(Value::clone), metadata["deletionTimestamp"].clone()))
        };
        let before = offer(self);
        if self.server.change(now, Kind::Cluster, &cluster_key(number), change) {
            if offer(self) != before {
                self.offers();
            }
            self.happenings.push(Happening::ClusterChanged);
        }
    }

    fn offers(&mut self) {
        self.happenings.push(Happening::Offered(self.server.version()));
    }

    /// A cluster joins, unless it is there.
    pub fn join(&mut self, number: usize, region: &str, labels: &Value) {
        let mut object = json!({
            "metadata": {"name": format!("c{number}"), "labels": labels},
            "spec": {"syncMode": "Push", "region": region},
            "status": {
                "kubernetesVersion": "v1.34.0",
                "apiEnablements": enablements(true),
                "conditions": [ready(true)],
                "resourceSummary": self.members[number].summary(self.now),
            },
        });
        if self.members[number].has_models {
            object["spec"]["resourceModels"] = Member::models();
        }
        self.vanished.remove(&number);
        let now = self.now;
        self.server.create(now, Kind::Cluster, object);
        self.offers();
        self.happenings.push(Happening::ClusterChanged);
    }

    /// The deletion of a cluster begins: Karmada removes the namespace of its Works first of all, and so every pod (`removeCluster`). It ends
    /// when no binding names it.
    pub fn leave(&mut self, number: usize) {
        let at = self.wall().to_string();
        self.change_cluster(number, |cluster| cluster["metadata"]["deletionTimestamp"] = json!(at));
        if self.is_leaving(number) && !self.members[number].is_cut_off(self.now) {
            for binding in self.members[number].bindings() {
                self.members[number].apply(&binding, &[], self.now);
            }
        }
    }

    /// True if a cluster is being deleted.
    pub fn is_leaving(&self, number: usize) -> bool {
        let cluster = self.server.get(Kind::Cluster, &cluster_key(number));
        cluster.is_some_and(|cluster| !cluster["metadata"]["deletionTimestamp"].is_null())
    }

    /// Ends the deletion of clusters that nothing names any more.
    pub(super) fn finish_leaving(&mut self) {
        for number in 0..self.members.len() {
            let key = cluster_key(number);
            let object = self.server.get(Kind::Cluster, &key);
            if object.is_none_or(|object| object["metadata"]["deletionTimestamp"].is_null()) {
                continue;
            }
            let is_named = self.server.of_kind(Kind::Binding).any(|(_, binding)| {
                let targets = binding["spec"]["clusters"].as_array().into_iter().flatten();
                let tasks = binding["spec"]["gracefulEvictionTasks"]
                    .as_array()
                    .into_iter()
                    .flatten();
                let mut named = targets
                    .map(|target| &target["name"])
                    .chain(tasks.map(|task| &task["fromCluster"]));
                named.any(|name| *name == key.name.as_str())
            });
            if !is_named {
                self.say(format!("{} is gone", key.name));
                let now = self.now;
                self.server.delete(now, Kind::Cluster, &key);
                self.offers();
                self.happenings.push(Happening::ClusterChanged);
                for binding in self.members[number].bindings() {
                    self.members[number].apply(&binding, &[], now);
                }
            }
        }
    }

    /// A cluster vanishes from the API server without having been deleted.
    pub fn vanish(&mut self, number: usize) {
        let now = self.now;
        if let Some(object) = self.server.delete(now, Kind::Cluster, &cluster_key(number)) {
            self.offers();
            self.vanished.insert(number, Value::clone(&object));
            self.happenings.push(Happening::ClusterChanged);
        }
    }

    /// A cluster that vanished is back as it was.
    pub fn come_back(&mut self, number: usize) {
        if let Some(object) = self.vanished.remove(&number) {
            let now = self.now;
            self.server.create(now, Kind::Cluster, object);
            self.offers();
            self.happenings.push(Happening::ClusterChanged);
        }
    }

    /// Everything that vanished is back.
    pub fn all_come_back(&mut self) {
        let vanished: Vec<usize> = self.vanished.keys().copied().collect();
        for number in vanished {
            self.come_back(number);
        }
    }

    /// A label of a cluster changes.
    pub fn label(&mut self, number: usize, label: &str, value: &str) {
        self.change_cluster(number, |cluster| cluster["metadata"]["labels"][label] = json!(value));
    }

    /// A cluster has this taint, or none.
    pub fn taint(&mut self, number: usize, effect: Option<&str>) {
        self.change_cluster(number, |cluster| {
            set_taint(
                cluster,
                MAINTENANCE,
                effect.map(|effect| json!({"key": MAINTENANCE, "effect": effect})),
            );
        });
        self.look_at_all();
    }

    /// A cluster serves Deployments, or not.
    pub fn serve(&mut self, number: usize, is_served: bool) {
        self.change_cluster(number, |cluster| {
            cluster["status"]["apiEnablements"] = enablements(is_served)
        });
    }

    /// A cluster cannot be reached.
    pub fn unreachable(&mut self, number: usize) {
        self.members[number].is_unreachable = true;
        self.set_ready(number, false);
    }

    /// A cluster is reachable again.
    pub fn reachable(&mut self, number: usize) {
        self.members[number].is_unreachable = false;
        self.set_ready(number, true);
        self.look_at_all();
    }

    fn set_ready(&mut self, number: usize, is_ready: bool) {
        const NOT_READY: &str = "cluster.karmada.io/not-ready";
        self.change_cluster(number, |cluster| {
            cluster["status"]["conditions"] = json!([ready(is_ready)]);
            let taint = (!is_ready).then(|| json!({"key": NOT_READY, "effect": "NoSchedule"}));
            set_taint(cluster, NOT_READY, taint);
        });
    }

    /// The report that a cluster makes now, and the time until it arrives; `None` if it makes none.
    pub fn report(&self, number: usize) -> Option<(Value, Millis)> {
        let member = &self.members[number];
        let is_silent = member.is_unreachable || self.now < member.silent_until;
        (!is_silent).then(|| (member.summary(self.now), member.report_delay))
    }

    /// A report arrives.
    pub fn reported(&mut self, number: usize, summary: &Value) {
        let key = cluster_key(number);
        let known = self
            .server
            .get(Kind::Cluster, &key)
            .map(|cluster| cluster["status"]["resourceSummary"].clone());
        if known.is_none_or(|known| known == *summary) {
            return;
        }
        let (allocated, allocating) = (&summary["allocated"]["cpu"], &summary["allocating"]["cpu"]);
        let allocatable = &summary["allocatable"]["cpu"];
        self.say(format!(
            "{} reports {allocated} CPU allocated, {allocating} allocating, of {allocatable}",
            key.name
        ));
        self.change_cluster(number, |cluster| cluster["status"]["resourceSummary"] = summary.clone());
    }
}

fn enablements(is_served: bool) -> Value {
    let mut enablements = vec![json!({"groupVersion": "batch/v1", "resources": [{"name": "jobs", "kind": "Job"}]})];
    if is_served {
        enablements
            .push(json!({"groupVersion": "apps/v1", "resources": [{"name": "deployments", "kind": "Deployment"}]}));
    }
    Value::Array(enablements)
}

fn ready(is_ready: bool) -> Value {
    let status = if is_ready { "True" } else { "False" };
    json!({"type": "Ready", "status": status, "reason": "ClusterReady", "message": "", "lastTransitionTime": "2026-11-01T00:00:00Z"})
}

fn set_taint(cluster: &mut Value, key: &str, taint: Option<Value>) {
    let mut taints = cluster["spec"]["taints"].as_array().cloned().unwrap_or_default();
    taints.retain(|taint| taint["key"] != key);
    taints.extend(taint);
    if let Some(spec) = cluster["spec"].as_object_mut() {
        match taints.is_empty() {
            true => _ = spec.remove("taints"),
            false => _ = spec.insert("taints".to_owned(), Value::Array(taints)),
        }
    }
}
