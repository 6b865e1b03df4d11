//! A watched binding: Karmada's object, its placement as text, and the health of the resource that it propagates.
//!
//! Bindings are parsed here only. A field with the wrong type makes the whole version unreadable: it is reported, and the store keeps
//! the version before.
//!
//! The placement stays text because the annotation `policy.karmada.io/applied-placement` must repeat it with every
//! field, those of newer versions of Karmada included, and because thousands of bindings share one placement.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::num::NonZeroU32;
use std::sync::Arc;

use divvy_karmada::api::{
    BindingScope, ObjectMeta, ReadFields, ResourceBinding, ResourceBindingSpec, ResourceBindingStatus,
};
use divvy_scheduler::decide::WRITTEN_ANNOTATIONS;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{BindingKey, Fetched, Kind};

/// A binding with the parts that are kept apart from the object.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BindingDocument {
    /// The binding, without its placement.
    pub object: ResourceBinding,
    /// The placement as JSON; `None` if there is none.
    pub(crate) placement: Option<String>,
    /// State of the resource in each cluster.
    pub aggregated: Vec<AggregatedStatus>,
}

/// State of the resource in one cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AggregatedStatus {
    /// Name of the cluster. All bindings in the store share it.
    pub(crate) cluster: Arc<str>,
    /// Health of the resource there.
    pub(crate) health: Health,
    /// True if the resource was applied there. It stays true while the resource grows.
    pub(crate) applied: bool,
    /// Replicas of the resource there, by its own status; `None` for kinds whose status has none.
    pub(crate) replicas: Option<i64>,
    /// Ready replicas of the resource there, by its own status; `None` for kinds whose status has none.
    pub(crate) ready_replicas: Option<i64>,
    /// True if its status has `updatedReplicas`, and fewer than `replicas`: some are of an older template.
    pub(crate) is_rolling_out: bool,
    /// Pods of a Job that run or have ended; `None` for other kinds and before the first.
    pub(crate) started: Option<NonZeroU32>,
    /// True if it is a Job that has completed or failed, and no pod of it is active.
    pub(crate) has_ended: bool,
    /// Hash of the whole entry, to notice that it changed.
    pub(crate) fingerprint: u64,
}

/// Health of a resource in a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Health {
    /// All of it runs.
    Healthy,
    /// Not all of it runs.
    Unhealthy,
    /// Not reported yet, or not known for resources of this kind.
    Unknown,
}

/// A text by the name of its field.
type Fields<'a> = BTreeMap<String, &'a RawValue>;

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct AggregatedItem<'a> {
    cluster_name: String,
    health: Option<String>,
    applied: Option<bool>,
    /// Of any form: it is the resource's own.
    #[serde(borrow)]
    status: Option<&'a RawValue>,
}

/// The part of a resource's status that is compared with its result.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ResourceStatus {
    replicas: Value,
    ready_replicas: Value,
    updated_replicas: Value,
    /// Of Jobs, like those below.
    active: Value,
    succeeded: Value,
    failed: Value,
    conditions: Value,
}

impl BindingDocument {
    pub(super) fn read(kind: Kind, fetched: Fetched) -> Result<Self, serde_json::Error> {
        let Fetched {
            metadata, spec, status, ..
        } = fetched;
        let mut spec = fields(spec.as_deref())?;
        // A placement that cannot be read is a failure of the binding, which its owner sees.
        let placement = spec.remove("placement");
        let placement = placement.filter(|placement| placement.get() != "null");
        let mut status = fields(status.as_deref())?;
        let items: Option<Vec<&RawValue>> = match status.remove("aggregatedStatus") {
            Some(items) => serde_json::from_str(items.get())?,
            None => None,
        };
        let items = items.unwrap_or_default();
        let mut aggregated = Vec::with_capacity(items.len());
        for item in items {
            aggregated.push(AggregatedStatus::read(item)?);
        }
        let scope = match kind {
            Kind::ClusterBinding => BindingScope::Cluster,
            _ => BindingScope::Namespaced,
        };
        Ok(Self {
            object: ResourceBinding {
                api_version: ResourceBinding::API_VERSION.to_owned(),
                kind: scope.kind().to_owned(),
                metadata,
                spec: ResourceBindingSpec::from_fields(spec)?,
                status: ResourceBindingStatus::from_fields(status)?,
            },
            placement: placement.map(in_one_form).transpose()?,
            aggregated,
        })
    }

    /// Identity of the binding.
    pub(crate) fn key(&self) -> BindingKey {
        BindingKey {
            scope: self.object.scope(),
            namespace: self.object.metadata.namespace.clone(),
            name: self.object.metadata.name.clone(),
        }
    }
}

impl ResourceStatus {
    /// Pods of a Job that run or have ended. One that has ended has been in the cluster, whatever became of it.
    fn started(&self) -> Option<NonZeroU32> {
        if !self.replicas.is_null() {
            return None;
        }
        let counts = [&self.active, &self.succeeded, &self.failed].map(|count| count.as_u64().unwrap_or(0));
        let sum = counts.into_iter().fold(0_u64, u64::saturating_add);
        NonZeroU32::new(u32::try_from(sum).unwrap_or(u32::MAX))
    }

    fn is_rolling_out(&self) -> bool {
        let counts = (self.updated_replicas.as_i64(), self.replicas.as_i64());
        matches!(counts, (Some(updated), Some(replicas)) if updated < replicas)
    }

    fn has_ended(&self) -> bool {
        let mut conditions = self.conditions.as_array().into_iter().flatten();
        let is_final = |condition: &Value| {
            matches!(condition["type"].as_str(), Some("Complete" | "Failed")) && condition["status"] == "True"
        };
        self.replicas.is_null() && self.active.as_u64().unwrap_or(0) == 0 && conditions.any(is_final)
    }
}

impl AggregatedStatus {
    /// Pods of the resource that exist there or have ended, of this many; `None` if its status does not say. More replicas than that are
    /// those of an update or of an earlier result.
    pub(crate) fn pods(&self, replicas: i32) -> Option<i64> {
        match (self.replicas, self.started) {
            (Some(pods), _) => Some(pods).filter(|pods| *pods <= i64::from(replicas)),
            (None, started) => started.map(|pods| i64::from(pods.get()).min(i64::from(replicas))),
        }
    }

    fn read(item: &RawValue) -> Result<Self, serde_json::Error> {
        let mut hasher = DefaultHasher::new();
        item.get().hash(&mut hasher);
        let AggregatedItem {
            cluster_name,
            health,
            applied,
            status,
        } = serde_json::from_str(item.get())?;
        // A status of another form is that of a kind without replicas.
        let status = status.and_then(|status| serde_json::from_str::<ResourceStatus>(status.get()).ok());
        let status = status.unwrap_or_default();
        Ok(Self {
            cluster: cluster_name.into(),
            applied: applied.unwrap_or(false),
            replicas: status.replicas.as_i64(),
            ready_replicas: status.ready_replicas.as_i64(),
            is_rolling_out: status.is_rolling_out(),
            started: status.started(),
            has_ended: status.has_ended(),
            health: match health.as_deref() {
                Some("Healthy") => Health::Healthy,
                Some("Unhealthy") => Health::Unhealthy,
                _ => Health::Unknown,
            },
            fingerprint: hasher.finish(),
        })
    }
}

/// The fields of an object; none if there is no object.
fn fields(text: Option<&RawValue>) -> Result<Fields<'_>, serde_json::Error> {
    text.map_or_else(|| Ok(Fields::new()), |text| serde_json::from_str(text.get()))
}

/// Hash of the metadata that a decision reads: labels and annotations, except those that decisions write.
pub(crate) fn read_metadata(metadata: &ObjectMeta) -> u64 {
    let mut hasher = DefaultHasher::new();
    metadata.labels.hash(&mut hasher);
    metadata.is_deleting().hash(&mut hasher);
    for (key, value) in &metadata.annotations {
        if !WRITTEN_ANNOTATIONS.contains(&key.as_str()) {
            (key, value).hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// A text without spaces and escapes, with its keys in order, so that bindings with the same placement share one text. API servers
/// write objects in this form, so most texts are used unchanged.
fn in_one_form(text: &RawValue) -> Result<String, serde_json::Error> {
    let text = text.get();
    if text.contains([' ', '\n', '\r', '\t', '\\']) {
        return Ok(serde_json::from_str::<Value>(text)?.to_string());
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(binding: &Value) -> Result<BindingDocument, serde_json::Error> {
        BindingDocument::read(Kind::Binding, serde_json::from_str(&binding.to_string())?)
    }

    fn placed(text: &str) -> BindingDocument {
        let binding = format!(r#"{{"metadata": {{"name": "web"}}, "spec": {{"replicas": 3, "placement": {text}}}}}"#);
        BindingDocument::read(Kind::Binding, serde_json::from_str(&binding).unwrap()).unwrap()
    }

    #[test]
    fn a_placement_keeps_fields_that_are_not_known_and_has_one_form() {
        let compact = r#"{"clusterAffinity":{"clusterNames":["a","b"]},"newField":[1,{"x":null}]}"#;
        let spaced = r#"{ "newField": [1, {"x": null}], "clusterAffinity": {"clusterNames": ["a", "\u0062"]} }"#;
        for text in [compact, spaced] {
            let document = placed(text);
            assert_eq!(document.placement.as_deref(), Some(compact));
            assert_eq!(
                (document.object.spec.placement, document.object.spec.replicas),
                (None, Some(3))
            );
        }
    }

    #[test]
    fn a_placement_that_cannot_be_read_does_not_hide_the_binding() {
        assert_eq!(placed("7").placement.as_deref(), Some("7"));
        assert_eq!(placed("null").placement, None);
        assert!(read(&json!({"spec": {"replicas": "three"}})).is_err());
    }

    /// None of it is read as if it were not there.
    #[test]
    fn a_field_of_another_type_makes_the_binding_unreadable() {
        for binding in [
            json!({"spec": []}),
            json!({"spec": {"clusters": {"a": 1}}}),
            json!({"spec": {"replicaRequirements": {"resourceRequest": {"cpu": "much"}}}}),
            json!({"status": {"conditions": "none"}}),
            json!({"status": {"lastScheduledTime": "yesterday"}}),
            json!({"status": {"aggregatedStatus": [{"clusterName": 1}]}}),
        ] {
            let fetched: Fetched = serde_json::from_str(&binding.to_string()).unwrap();
            assert!(BindingDocument::read(Kind::Binding, fetched).is_err(), "{binding}");
        }
        let fetched = |binding: Value| serde_json::from_str::<Fetched>(&binding.to_string()).unwrap();
        assert!(fetched(json!({"status": {"conditions": "none"}})).status().is_err());
        assert!(fetched(json!({"spec": {"clusters": 3}})).clusters().is_err());
        let empty = fetched(json!({"spec": {"clusters": null}, "status": null}));
        assert_eq!(
            (empty.clusters().unwrap(), empty.status().unwrap()),
            (Vec::new(), ResourceBindingStatus::default())
        );
    }

    #[test]
    fn a_binding_may_lack_everything() {
        for binding in [json!({}), json!({"metadata": {}, "spec": null, "status": null})] {
            let document = read(&binding).unwrap();
            assert_eq!((document.placement, document.aggregated), (None, Vec::new()));
        }
        let document = read(&json!({"status": {"aggregatedStatus": null, "schedulerObservedGeneration": 4}})).unwrap();
        assert_eq!(document.object.status.scheduler_observed_generation, 4);
    }

    #[test]
    fn replicas_are_read_where_a_status_has_them() {
        let item = |name: &str, applied: Value, status: Value| json!({"clusterName": name, "applied": applied, "status": status});
        let items = [
            item(
                "deployment",
                json!(true),
                json!({"replicas": 3, "readyReplicas": 1, "updatedReplicas": 2}),
            ),
            item("job", json!(true), json!({"active": 3})),
            item("odd", json!(null), json!({"replicas": "three"})),
            item("text", json!(false), json!("running")),
        ];
        let ready = |state: &AggregatedStatus| state.ready_replicas;
        let aggregated = read(&json!({"status": {"aggregatedStatus": items}}))
            .unwrap()
            .aggregated;
        let read: Vec<_> = aggregated.iter().map(|state| (state.applied, state.replicas)).collect();
        assert_eq!(read, [(true, Some(3)), (true, None), (false, None), (false, None)]);
        let ready: Vec<_> = aggregated.iter().map(ready).collect();
        assert_eq!(ready, [Some(1), None, None, None]);
        let rolling: Vec<bool> = aggregated.iter().map(|state| state.is_rolling_out).collect();
        assert_eq!(rolling, [true, false, false, false]);
    }

    #[test]
    fn the_status_of_a_job_shows_its_pods_and_its_end() {
        let condition = |name: &str, status: &str| json!([{"type": name, "status": status}]);
        for (status, pods, has_ended) in [
            (json!({"active": 3}), Some(3), false),
            (json!({"active": 1, "succeeded": 1, "failed": 1}), Some(3), false),
            (json!({"active": 1, "succeeded": 90}), Some(4), false),
            (
                json!({"succeeded": 4, "conditions": condition("Complete", "True")}),
                Some(4),
                true,
            ),
            (
                json!({"failed": 4, "conditions": condition("Failed", "True")}),
                Some(4),
                true,
            ),
            (
                json!({"active": 1, "conditions": condition("Failed", "True")}),
                Some(1),
                false,
            ),
            (
                json!({"succeeded": 4, "conditions": condition("Complete", "False")}),
                Some(4),
                false,
            ),
            (
                json!({"replicas": 3, "conditions": condition("Failed", "True")}),
                Some(3),
                false,
            ),
            // Replicas of an update.
            (json!({"replicas": 5}), None, false),
            // Those of a CronJob are no number.
            (json!({"active": [{"name": "one"}]}), None, false),
            (json!({}), None, false),
        ] {
            let binding = json!({"status": {"aggregatedStatus": [{"clusterName": "a", "status": status}]}});
            let state = read(&binding).unwrap().aggregated.remove(0);
            assert_eq!((state.pods(4), state.has_ended), (pods, has_ended), "{binding}");
        }
        assert!(size_of::<AggregatedStatus>() <= 64);
    }

    #[test]
    fn any_change_of_a_clusters_state_shows() {
        let states = |ready: i64| {
            let item = json!({"clusterName": "a", "health": "Healthy", "status": {"readyReplicas": ready}});
            read(&json!({"status": {"aggregatedStatus": [item, {"clusterName": "b"}]}}))
                .unwrap()
                .aggregated
        };
        let (before, after) = (states(1), states(2));
        let healths: Vec<(&str, Health)> = before.iter().map(|state| (&*state.cluster, state.health)).collect();
        assert_eq!(healths, [("a", Health::Healthy), ("b", Health::Unknown)]);
        assert_ne!(before[0], after[0]);
        assert_eq!((&before[1], &before), (&after[1], &states(1)));
    }
}
