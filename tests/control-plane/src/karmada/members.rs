//! Member clusters whose replicas become ready slowly, and that report late.

use std::collections::BTreeMap;

use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{Value, json};

use super::{Karmada, items, name};
use crate::Error;
use crate::objects::BINDING;

/// Replicas that become ready in one pass, per cluster of a binding.
const READY_PER_PASS: i64 = 2;
/// One of so many passes reports a binding.
const REPORTED: u64 = 2;

/// What runs in the clusters. Replicas that a result takes away end at once; those that it gives become ready one after another, in some
/// passes none at all. A report has the state of the pass before.
pub struct Members {
    karmada: Karmada,
    random: Xoshiro256PlusPlus,
    /// By binding and cluster.
    running: BTreeMap<String, BTreeMap<String, Running>>,
}

/// Replicas of a binding in a cluster.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Running {
    replicas: i64,
    ready: i64,
}

impl Members {
    /// Members that run nothing yet.
    pub fn new(karmada: &Karmada, seed: u64) -> Self {
        Self {
            karmada: karmada.clone(),
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            running: BTreeMap::new(),
        }
    }

    /// The clusters of every binding in the namespace `default` apply its result, and some report; all report what results take of them.
    /// Returns the bindings.
    pub async fn pass(&mut self) -> Result<Vec<Value>, Error> {
        let bindings = self.karmada.objects().list(BINDING, "default").await?;
        for binding in &bindings {
            if binding["status"]["lastScheduledTime"].is_null() {
                continue;
            }
            let before = self.running.get(name(binding)).cloned().unwrap_or_default();
            self.apply(binding);
            if self.random.next_u64().is_multiple_of(REPORTED) {
                self.report(binding, &before).await?;
            }
        }
        self.karmada.account().await?;
        Ok(bindings)
    }

    /// The replicas of a binding that are ready, in all clusters.
    pub fn ready(&self, binding: &str) -> i64 {
        let running = self.running.get(binding);
        running.map_or(0, |clusters| clusters.values().map(|running| running.ready).sum())
    }

    fn apply(&mut self, binding: &Value) {
        let running = self.running.entry(name(binding).to_owned()).or_default();
        let targets: BTreeMap<&str, i64> = items(binding, "/spec/clusters")
            .iter()
            .map(|target| {
                (
                    target["name"].as_str().unwrap_or_default(),
                    target["replicas"].as_i64().unwrap_or(0),
                )
            })
            .collect();
        running.retain(|cluster, _| targets.contains_key(cluster.as_str()));
        for (cluster, replicas) in targets {
            let running = running.entry(cluster.to_owned()).or_default();
            let more = i64::try_from(self.random.next_u64() % 3)
                .unwrap_or(0)
                .min(READY_PER_PASS);
            *running = Running {
                replicas,
                ready: (running.ready + more).min(replicas),
            };
        }
    }

    async fn report(&self, binding: &Value, running: &BTreeMap<String, Running>) -> Result<(), Error> {
        let entries: Vec<Value> = running
            .iter()
            .map(|(cluster, running)| {
                let health = if running.ready == running.replicas {
                    "Healthy"
                } else {
                    "Unhealthy"
                };
                json!({
                    "clusterName": cluster,
                    "applied": true,
                    "health": health,
                    "status": {
                        "replicas": running.replicas,
                        "readyReplicas": running.ready,
                        "availableReplicas": running.ready,
                    },
                })
            })
            .collect();
        if items(binding, "/status/aggregatedStatus") == entries {
            return Ok(());
        }
        let patch = json!({"status": {"aggregatedStatus": entries}});
        let objects = self.karmada.objects();
        objects.merge_status(BINDING, "default", name(binding), &patch).await?;
        Ok(())
    }
}
