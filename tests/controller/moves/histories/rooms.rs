//! Clusters with little room, where a profile has them: other workloads come and go, and with them the room for what is moved.

use serde_json::{Value, json};

use super::super::weighted;
use super::{NAMES, World};

impl World {
    /// The placement of a binding: with fixed weights, which room does not limit, or as few clusters as have room.
    pub(super) fn placement(&self, weights: &[(&'static str, i64)]) -> Value {
        if self.setting.room.is_none() {
            return weighted(weights);
        }
        let names: Vec<&str> = weights.iter().map(|(name, _)| *name).collect();
        json!({
            "clusterAffinity": {"clusterNames": names},
            "replicaScheduling": {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"},
        })
    }

    /// Other workloads take almost all of a cluster, or leave it.
    pub(super) fn crowd(&mut self) {
        let Some(room) = self.setting.room else { return };
        for cluster in 0..4 {
            if self.random.chance(4) {
                self.others[cluster] = match self.random.chance(60) {
                    true => room - self.random.count(8),
                    false => 0,
                };
            }
        }
    }

    /// Clusters that run report what their pods take.
    pub(super) fn summarise(&mut self) {
        let Some(room) = self.setting.room else { return };
        for cluster in 0..4 {
            if !self.is_ready[cluster] || self.stalled_until[cluster] > self.now {
                continue;
            }
            let given: i64 = self.copies.values().map(|copies| copies[cluster].given).sum();
            let taken = self.others[cluster] + given;
            let cpu = |count: i64| json!({"cpu": count.to_string(), "pods": (100 * count).to_string()});
            let summary = json!({"allocatable": cpu(room), "allocated": cpu(taken)});
            let mut object = self.simulation.stored_cluster(NAMES[cluster]);
            if object["status"]["resourceSummary"] != summary {
                self.note(format!("{} has {taken} of {room} taken", NAMES[cluster]));
                object["status"]["resourceSummary"] = summary;
                self.simulation.cluster(&object);
                self.pump();
            }
        }
    }

    /// Further replicas that fit into a cluster, as far as the scheduler can know.
    pub(super) fn room(&self, cluster: usize) -> i64 {
        if self.setting.room.is_none() {
            return i64::MAX;
        }
        if !self.is_ready[cluster] {
            return 0;
        }
        let summary = &self.simulation.stored_cluster(NAMES[cluster])["status"]["resourceSummary"];
        let cpu = |part: &str| -> i64 {
            let text = summary[part]["cpu"].as_str();
            text.map_or(0, |text| text.parse().expect("a count"))
        };
        (cpu("allocatable") - cpu("allocated")).max(0)
    }
}
