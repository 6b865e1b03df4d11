//! The other parties of a round, simulated from the recording: karmada-scheduler, Karmada's controllers, and the member clusters.
//!
//! It decides nothing: it writes what the recording of a real Karmada says they wrote. So it is no third Karmada beside those of
//! `tests/world` and `divvy_control_plane_tests::karmada`.

use std::collections::BTreeMap;

use divvy_control_plane_tests::objects::{CLUSTER, Objects};
use divvy_control_plane_tests::scenario::{APPLIED_PLACEMENT, result};
use divvy_control_plane_tests::{Error, Scenario};
use divvy_karmada::api::Quantity;
use serde_json::{Map, Value, json};

use super::recorded::{Transition, applied};

/// Fields of a specification that the detector and the distributor of dependencies write, before the scheduler decides.
const OF_DETECTOR: [&str; 3] = ["placement", "requiredBy", "resource"];
/// Fields of a specification that change after a decision: evictions end.
const OF_EVICTION: [&str; 1] = ["gracefulEvictionTasks"];
/// Fields of a status that karmada-scheduler writes, beside the condition.
const OF_SCHEDULER: [&str; 2] = ["lastScheduledTime", "schedulerObservingAffinityName"];

/// Plays them on an API server.
pub(super) struct StandIn<'a> {
    objects: &'a Objects,
}

impl<'a> StandIn<'a> {
    pub(super) fn new(scenario: &'a Scenario) -> Self {
        Self {
            objects: scenario.objects(),
        }
    }

    /// Writes what Karmada's controllers wrote into a binding before it was decided.
    pub(super) async fn prepare(&self, binding: &Transition) -> Result<(), Error> {
        self.write_fields(binding, &OF_DETECTOR).await
    }

    /// Writes what karmada-scheduler wrote into a binding, in its two steps: the result, then the status.
    pub(super) async fn schedule(&self, binding: &Transition) -> Result<(), Error> {
        let Transition { kind, after, .. } = binding;
        let (namespace, name) = (binding.namespace(), binding.name());
        let written = match binding.has_new_result() {
            true => {
                let patch = json!({
                    "metadata": {"annotations": {APPLIED_PLACEMENT: applied(after)}},
                    "spec": {"clusters": after["spec"]["clusters"]},
                });
                self.objects.merge(*kind, namespace, name, &patch).await?
            }
            false => self.objects.get(*kind, namespace, name).await?,
        };
        let mut status = Map::new();
        for field in OF_SCHEDULER {
            status.insert(field.to_owned(), after["status"][field].clone());
        }
        // It observes the generation that it has just written. A failure observes none.
        let observed = &after["status"]["schedulerObservedGeneration"];
        let observed = match *observed == after["metadata"]["generation"] {
            true => &written["metadata"]["generation"],
            false => observed,
        };
        status.insert("schedulerObservedGeneration".to_owned(), observed.clone());
        status.insert("conditions".to_owned(), after["status"]["conditions"].clone());
        self.objects
            .merge_status(*kind, namespace, name, &json!({"status": status}))
            .await?;
        Ok(())
    }

    /// Writes what Karmada's controllers wrote into a binding after it was decided.
    pub(super) async fn follow(&self, binding: &Transition) -> Result<(), Error> {
        self.write_fields(binding, &OF_EVICTION).await?;
        if binding.changed("/status/aggregatedStatus") {
            let aggregated = binding.after.pointer("/status/aggregatedStatus");
            let patch = json!({"status": {"aggregatedStatus": aggregated}});
            let (namespace, name) = (binding.namespace(), binding.name());
            self.objects.merge_status(binding.kind, namespace, name, &patch).await?;
        }
        Ok(())
    }

    /// Has every member report the pods that the results of these bindings added to it. They run on nodes that were added for them, so
    /// that the room of each cluster stays what it was when karmada-scheduler decided: the recorded decisions hold for it.
    pub(super) async fn report(&self, bindings: impl Iterator<Item = &Transition>) -> Result<(), Error> {
        for (cluster, pods) in growth(bindings) {
            let object = self.objects.get(CLUSTER, "", &cluster).await?;
            let summary = &object["status"]["resourceSummary"];
            if summary.is_null() {
                // It has never reported anything, and does not begin now.
                continue;
            }
            let mut lists = Map::new();
            for list in ["allocatable", "allocated"] {
                let sums = pods.iter().map(|(resource, growth)| {
                    let before = summary[list][resource].as_str().unwrap_or("0");
                    (resource.clone(), json!(format!("{}m", millis(before) + growth)))
                });
                lists.insert(list.to_owned(), Value::Object(sums.collect()));
            }
            let patch = json!({"status": {"resourceSummary": lists}});
            self.objects.merge_status(CLUSTER, "", &cluster, &patch).await?;
        }
        Ok(())
    }

    async fn write_fields(&self, binding: &Transition, fields: &[&str]) -> Result<(), Error> {
        let changed = fields.iter().filter(|field| binding.changed(&format!("/spec/{field}")));
        let specification: Map<String, Value> = changed
            .map(|field| ((*field).to_owned(), binding.after["spec"][field].clone()))
            .collect();
        if !specification.is_empty() {
            let patch = json!({"spec": specification});
            let (namespace, name) = (binding.namespace(), binding.name());
            self.objects.merge(binding.kind, namespace, name, &patch).await?;
        }
        Ok(())
    }
}

/// What the results of bindings added to each cluster: thousandths by resource, the number of pods among them.
fn growth<'a>(bindings: impl Iterator<Item = &'a Transition>) -> BTreeMap<String, BTreeMap<String, i128>> {
    let mut clusters: BTreeMap<String, BTreeMap<String, i128>> = BTreeMap::new();
    for Transition { before, after, .. } in bindings {
        assert!(
            after["spec"]["components"].is_null(),
            "no recorded binding has components"
        );
        let last = result(before);
        for (cluster, replicas) in result(after) {
            let added = i128::from(replicas - last.get(&cluster).copied().unwrap_or(0));
            if added <= 0 {
                continue;
            }
            let pods = clusters.entry(cluster).or_default();
            *pods.entry("pods".to_owned()).or_default() += 1000 * added;
            let requests = after.pointer("/spec/replicaRequirements/resourceRequest");
            for (resource, request) in requests.and_then(Value::as_object).into_iter().flatten() {
                let request = millis(request.as_str().expect("a quantity is a text"));
                *pods.entry(resource.clone()).or_default() += request * added;
            }
        }
    }
    clusters
}

/// A quantity in thousandths, which are exact for everything in the recordings.
fn millis(quantity: &str) -> i128 {
    let quantity: Quantity = quantity.parse().expect("a quantity");
    quantity.as_nano() / 1_000_000
}
