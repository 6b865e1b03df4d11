//! Clusters on the control plane: joining, leaving, vanishing, and their reports.

use divvy_controller::objects::{Kind, ObjectKey};
use serde_json::{Value, json};

use super::{Event, World};
use crate::agenda::Millis;
use crate::member::Member;
use crate::script::LABEL;

/// Time between two reports of a cluster: Karmada's default.
const REPORT_PERIOD: Millis = 10_000;

/// Key of the taint that actions set.
const MAINTENANCE: &str = "maintenance";

/// Identity of a cluster by its number.
pub(crate) fn cluster_key(number: usize) -> ObjectKey {
    ObjectKey {
        namespace: String::new(),
        name: format!("c{number}"),
    }
}

impl World<'_> {
    /// Changes a cluster, and shows it to the processes.
    fn change_cluster(&mut self, number: usize, change: impl FnOnce(&mut Value)) {
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
                self.books.note_offer(self.server.version());
            }
            self.publish_changes(Kind::Cluster);
        }
    }

    /// A cluster joins, unless it is there.
    pub(super) fn join(&mut self, number: usize) {
        let plan = &self.script.setup.clusters[number];
        let (has_models, region, label) = (plan.has_models, plan.region, plan.label);
        let mut object = json!({
            "metadata": {"name": format!("c{number}"), "labels": {LABEL: label}},
            "spec": {"syncMode": "Push", "region": region},
            "status": {
                "kubernetesVersion": "v1.34.0",
                "apiEnablements": enablements(true),
                "conditions": [ready(true)],
                "resourceSummary": self.members[number].summary(self.now),
            },
        });
        if has_models {
            object["spec"]["resourceModels"] = Member::models();
        }
        self.vanished.remove(&number);
        let now = self.now;
        self.server.create(now, Kind::Cluster, object);
        self.books.note_offer(self.server.version());
        self.publish_changes(Kind::Cluster);
    }

    /// The deletion of a cluster begins: Karmada removes the namespace of its Works first of all, and so every pod (`removeCluster`). It ends
    /// when no binding names it.
    pub(super) fn leave(&mut self, number: usize) {
        let at = self.wall().to_string();
        self.change_cluster(number, |cluster| cluster["metadata"]["deletionTimestamp"] = json!(at));
        if self.is_leaving(number) && !self.members[number].is_cut_off(self.now) {
            for binding in self.members[number].bindings() {
                self.members[number].apply(&binding, &[], self.now);
            }
        }
    }

    /// True if a cluster is being deleted.
    pub(crate) fn is_leaving(&self, number: usize) -> bool {
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
                self.note(|| format!("{} is gone", key.name));
                let now = self.now;
                self.server.delete(now, Kind::Cluster, &key);
                self.books.note_offer(self.server.version());
                self.publish_changes(Kind::Cluster);
                for binding in self.members[number].bindings() {
                    self.members[number].apply(&binding, &[], now);
                }
            }
        }
    }

    /// A cluster vanishes from the API server without having been deleted.
    pub(super) fn vanish(&mut self, number: usize) {
        let now = self.now;
        if let Some(object) = self.server.delete(now, Kind::Cluster, &cluster_key(number)) {
            self.books.note_offer(self.server.version());
            self.vanished.insert(number, Value::clone(&object));
            self.publish_changes(Kind::Cluster);
        }
    }

    /// A cluster that vanished is back as it was.
    pub(super) fn come_back(&mut self, number: usize) {
        if let Some(object) = self.vanished.remove(&number) {
            let now = self.now;
            self.server.create(now, Kind::Cluster, object);
            self.books.note_offer(self.server.version());
            self.publish_changes(Kind::Cluster);
        }
    }

    /// Everything that vanished is back.
    pub(super) fn all_come_back(&mut self) {
        let vanished: Vec<usize> = self.vanished.keys().copied().collect();
        for number in vanished {
            self.come_back(number);
        }
    }

    pub(super) fn label(&mut self, number: usize, value: &str) {
        self.change_cluster(number, |cluster| cluster["metadata"]["labels"][LABEL] = json!(value));
    }

    pub(super) fn taint(&mut self, number: usize, effect: Option<&str>) {
        self.change_cluster(number, |cluster| {
            set_taint(
                cluster,
                MAINTENANCE,
                effect.map(|effect| json!({"key": MAINTENANCE, "effect": effect})),
            );
        });
        self.look_at_all();
    }

    pub(super) fn serve(&mut self, number: usize, is_served: bool) {
        self.change_cluster(number, |cluster| {
            cluster["status"]["apiEnablements"] = enablements(is_served)
        });
    }

    /// A cluster cannot be reached for a time.
    pub(super) fn flap(&mut self, number: usize, millis: Millis) {
        self.members[number].is_unreachable = true;
        self.set_ready(number, false);
        self.enter(millis, Event::Reachable(number));
    }

    /// A cluster is reachable again.
    pub(super) fn reachable(&mut self, number: usize) {
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

    /// A cluster reports, if it can and something has changed.
    pub(super) fn report(&mut self, number: usize) {
        self.enter(REPORT_PERIOD, Event::Report(number));
        let member = &self.members[number];
        if member.is_unreachable || self.now < member.silent_until {
            return;
        }
        let (summary, delay) = (member.summary(self.now), member.report_delay);
        match delay {
            0 => self.reported(number, &summary),
            delay => self.enter(delay, Event::Reported(number, summary)),
        }
    }

    /// A report arrives.
    pub(super) fn reported(&mut self, number: usize, summary: &Value) {
        let key = cluster_key(number);
        let known = self
            .server
            .get(Kind::Cluster, &key)
            .map(|cluster| cluster["status"]["resourceSummary"].clone());
        if known.is_none_or(|known| known == *summary) {
            return;
        }
        self.note(|| {
            let (allocated, allocating) = (&summary["allocated"]["cpu"], &summary["allocating"]["cpu"]);
            let allocatable = &summary["allocatable"]["cpu"];
            format!(
                "{} reports {allocated} CPU allocated, {allocating} allocating, of {allocatable}",
                key.name
            )
        });
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
