//! Karmada's graceful evictions: the taint manager takes replicas out of a result, and their cluster keeps them until they are replaced
//! (`pkg/controllers/gracefuleviction/evictiontask.go`).

use divvy_karmada::api::Timestamp;
use divvy_world::plane::{EPOCH, Ends, ends};
use serde_json::{Value, json};

use super::{KEYS, NAMES, World, targets};

/// Seconds for which Karmada keeps old copies at most; ten minutes by default.
const GRACE: u32 = 200;

impl World {
    /// The taint manager evicts a binding from a cluster.
    pub(super) fn evict(&mut self, key: &'static str, cluster: usize) {
        let mut result = self.result(key);
        if result[cluster] == 0 {
            return;
        }
        let task = json!({
            "fromCluster": NAMES[cluster], "replicas": result[cluster], "producer": "TaintManager",
            "creationTimestamp": Timestamp::from_seconds(EPOCH + self.now),
        });
        result[cluster] = 0;
        let specification = json!({"clusters": targets(result), "gracefulEvictionTasks": [task]});
        self.act(key, &json!({"spec": specification}));
    }

    /// One cluster is drained: what has replicas there is evicted.
    pub(super) fn evict_all(&mut self) {
        let cluster = self.random.index(4);
        for key in KEYS {
            self.evict(key, cluster);
        }
    }

    /// The clusters that a binding is evicted from.
    pub(super) fn evicted(&self, key: &str) -> [bool; 4] {
        let tasks = self.simulation.binding(key)["spec"]["gracefulEvictionTasks"].as_array();
        let tasks: Vec<&Value> = tasks.into_iter().flatten().collect();
        NAMES.map(|name| tasks.iter().any(|task| task["fromCluster"] == name))
    }

    /// Karmada removes the old copies as soon as the scheduler has observed the binding, and everything that its result has is reported as
    /// healthy. All replicas must be there again by then.
    pub(super) fn finish_eviction(&mut self, key: &'static str) {
        let now = Timestamp::from_seconds(EPOCH + self.now);
        match ends(self.simulation.binding(key), now, GRACE) {
            Some(Ends::Replaced) => {}
            // It waits for no longer, whatever is left.
            Some(Ends::ByTime(left)) if left.is_empty() => {
                self.act(key, &json!({"spec": {"gracefulEvictionTasks": null}}));
                return;
            }
            Some(Ends::ByTime(_)) | None => return,
        }
        let result = self.result(key);
        let (left, total) = (result.iter().sum::<i64>(), self.total(key));
        assert!(
            left >= total,
            "seed {}, second {}: what `{key}` was evicted from is removed, and {left} of {total} are left\n{}",
            self.seed,
            self.now,
            self.story()
        );
        self.evictions += 1;
        self.act(key, &json!({"spec": {"gracefulEvictionTasks": null}}));
    }

    /// While Karmada evicts, the observed generation stays behind until the result has everything again.
    pub(super) fn check_observed(&self, key: &str) {
        let (left, total) = (self.result(key).iter().sum::<i64>(), self.total(key));
        assert!(
            !self.evicted(key).contains(&true) || left >= total || !self.is_observed(key),
            "seed {}, second {}: `{key}` is observed with {left} of {total} replicas while it is evicted\n{}",
            self.seed,
            self.now,
            self.story()
        );
    }

    /// True if the scheduler has observed the last generation of a binding.
    pub(super) fn is_observed(&self, key: &str) -> bool {
        let binding = self.simulation.binding(key);
        binding["status"]["schedulerObservedGeneration"] == binding["metadata"]["generation"]
    }
}
