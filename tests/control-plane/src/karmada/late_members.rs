//! Member clusters that a busy control plane reaches late: works follow a result after a while, pods need a while to be ready, and until
//! then a report has the state of before.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Karmada, items, name};
use crate::Error;
use crate::objects::BINDING;

/// Time from a result to its works.
const WORKS: Duration = Duration::from_secs(3);
/// Time from a work to pods that are ready.
const START: Duration = Duration::from_secs(3);

/// What runs in the clusters.
pub struct LateMembers {
    karmada: Karmada,
    /// By binding and cluster.
    running: BTreeMap<String, BTreeMap<String, Running>>,
    /// Clusters whose works are gone.
    lost: BTreeSet<String>,
}

/// Replicas of a binding in a cluster.
#[derive(Debug, Clone, Default)]
struct Running {
    /// What the result and the evictions say, since when.
    asked: Option<(i64, Instant)>,
    replicas: i64,
    ready: i64,
    /// Time at which the replicas grew.
    grew: Option<Instant>,
}

impl Running {
    /// Takes in what the cluster is to run, and lets time pass. What is taken away ends at once when its work changes.
    fn pass(&mut self, wanted: i64, now: Instant) {
        if self.asked.is_none_or(|(asked, _)| asked != wanted) {
            self.asked = Some((wanted, now));
        }
        let is_worked = self.asked.is_some_and(|(_, since)| now.duration_since(since) >= WORKS);
        if is_worked && self.replicas != wanted {
            self.grew = (wanted > self.replicas).then_some(now);
            self.replicas = wanted;
            self.ready = self.ready.min(wanted);
        }
        if self.grew.is_some_and(|grew| now.duration_since(grew) >= START) {
            (self.ready, self.grew) = (self.replicas, None);
        }
    }
}

impl LateMembers {
    /// Members that run nothing yet.
    pub fn new(karmada: &Karmada) -> Self {
        Self {
            karmada: karmada.clone(),
            running: BTreeMap::new(),
            lost: BTreeSet::new(),
        }
    }

    /// Removes a cluster's execution namespace, and with it all works, which is the first that Karmada does when the cluster is deleted.
    pub fn lose(&mut self, cluster: &str) {
        self.lost.insert(cluster.to_owned());
    }

    /// The clusters of every binding in the namespace `default` do what is due, and report. Returns the bindings.
    pub async fn pass(&mut self) -> Result<Vec<Value>, Error> {
        let bindings = self.karmada.objects().list(BINDING, "default").await?;
        let now = Instant::now();
        for binding in &bindings {
            if binding["status"]["lastScheduledTime"].is_null() {
                continue;
            }
            self.apply(binding, now);
            self.report(binding).await?;
        }
        Ok(bindings)
    }

    /// The replicas of a binding that are ready, in all clusters.
    pub fn ready(&self, binding: &str) -> i64 {
        let running = self.running.get(binding);
        running.map_or(0, |clusters| clusters.values().map(|running| running.ready).sum())
    }

    fn apply(&mut self, binding: &Value, now: Instant) {
        let mut wanted: BTreeMap<String, i64> = BTreeMap::new();
        let parts = [
            ("/spec/clusters", "name"),
            ("/spec/gracefulEvictionTasks", "fromCluster"),
        ];
        for (list, field) in parts {
            for part in items(binding, list) {
                let cluster = part[field].as_str().unwrap_or_default().to_owned();
                let replicas = wanted.entry(cluster).or_default();
                *replicas = (*replicas).max(part["replicas"].as_i64().unwrap_or(0));
            }
        }
        let running = self.running.entry(name(binding).to_owned()).or_default();
        for cluster in wanted.keys() {
            running.entry(cluster.clone()).or_default();
        }
        for (cluster, running) in running {
            match wanted.get(cluster).filter(|_| !self.lost.contains(cluster)) {
                Some(replicas) => running.pass(*replicas, now),
                // A work that is deleted takes everything with it.
                None => *running = Running::default(),
            }
        }
    }

    /// Writes the state in the clusters of the result, as far as there is any.
    async fn report(&self, binding: &Value) -> Result<(), Error> {
        let running = self.running.get(name(binding));
        let entry = |target: &Value| {
            let cluster = target["name"].as_str().unwrap_or_default();
            let running = running.and_then(|running| running.get(cluster))?;
            let health = if running.ready == running.replicas {
                "Healthy"
            } else {
                "Unhealthy"
            };
            (running.replicas > 0).then(|| {
                json!({
                    "clusterName": cluster,
                    "applied": true,
                    "health": health,
                    "status": {"replicas": running.replicas, "readyReplicas": running.ready},
                })
            })
        };
        let entries: Vec<Value> = items(binding, "/spec/clusters").iter().filter_map(entry).collect();
        if items(binding, "/status/aggregatedStatus") == entries {
            return Ok(());
        }
        let patch = json!({"status": {"aggregatedStatus": entries}});
        let objects = self.karmada.objects();
        objects.merge_status(BINDING, "default", name(binding), &patch).await?;
        Ok(())
    }
}
