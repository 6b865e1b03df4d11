//! Bindings from workloads and policies.
//!
//! `divvy_karmada`'s detector makes the bindings; this adds what only a control plane has: the labels and annotations
//! by which a binding belongs to its policy, changes to bindings that exist, and policies that wait for their workload.

use std::collections::BTreeMap;

use divvy_karmada::api::{ObjectMeta, Resource, TypeMeta};
use divvy_karmada::detector::{Binding, Detector};
use divvy_karmada::workloads::{Fields, ResourceInterpreter, WorkloadKinds, WorkloadResource, value_at};
use divvy_spanned::{Cause, FieldPath};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{Karmada, key};
use crate::Error;
use crate::objects::{BINDING, CLUSTER_BINDING, CLUSTER_POLICY, CLUSTER_ROLE, CONFIG_MAP, DEPLOYMENT, Kind, POLICY};

/// Resources that policies may select here.
const RESOURCES: [Kind; 3] = [DEPLOYMENT, CONFIG_MAP, CLUSTER_ROLE];
/// The fields of a binding's specification that the detector writes.
const OWN_FIELDS: [&str; 7] = [
    "resource",
    "placement",
    "replicas",
    "replicaRequirements",
    "schedulerName",
    "suspension",
    "conflictResolution",
];

impl Karmada {
    /// Creates, changes and deletes bindings so that they follow their workloads and policies.
    pub async fn detect(&self) -> Result<(), Error> {
        let mut detector = Detector::new(WorkloadKinds::new(ResourceInterpreter::Karmada, &[]));
        let mut policies = BTreeMap::new();
        for kind in [POLICY, CLUSTER_POLICY] {
            for object in self.objects().list(kind, "").await? {
                detector.apply_policy(typed(&object)?, None);
                let (namespace, name) = key(&object);
                policies.insert((namespace.to_owned(), name.to_owned()), object);
            }
        }
        for kind in RESOURCES {
            for object in self.objects().list(kind, "").await? {
                detector.apply_resource(resource(object)?, None);
            }
        }
        let mut wanted = BTreeMap::new();
        for binding in detector.detect().bindings {
            let policy = binding
                .policy
                .as_ref()
                .and_then(|facts| policies.get(&(facts.namespace.clone(), facts.name.clone())));
            if let Some(policy) = policy {
                let metadata = &binding.object.metadata;
                let key = (metadata.namespace.clone(), metadata.name.clone());
                wanted.insert(key, self.binding(&binding, policy)?);
            }
        }
        self.write_bindings(wanted).await
    }

    /// The binding as the detector writes it.
    fn binding(&self, binding: &Binding, policy: &Value) -> Result<Value, Error> {
        let mut object = json(&binding.object)?;
        let (namespace, name) = key(policy);
        let (prefix, annotations) = if namespace.is_empty() {
            let prefix = "clusterpropagationpolicy.karmada.io";
            (prefix, json!({format!("{prefix}/name"): name}))
        } else {
            let prefix = "propagationpolicy.karmada.io";
            let annotations = json!({format!("{prefix}/name"): name, format!("{prefix}/namespace"): namespace});
            (prefix, annotations)
        };
        let metadata = &mut object["metadata"];
        metadata["labels"] = json!({format!("{prefix}/permanent-id"): policy["metadata"]["uid"]});
        metadata["annotations"] = annotations;
        let spec = &mut object["spec"];
        if spec["schedulerName"].as_str().unwrap_or(super::DEFAULT_SCHEDULER) == super::DEFAULT_SCHEDULER {
            spec["schedulerName"] = self.scheduler_name.as_str().into();
        }
        // A policy suspends dispatching; only other controllers suspend scheduling.
        if policy["spec"]["suspension"].is_object() {
            spec["suspension"] = policy["spec"]["suspension"].clone();
        }
        spec["conflictResolution"] = policy["spec"]["conflictResolution"].clone();
        // The policy's placement, with the defaults of the API server and without anything that it prunes.
        let is_lazy = policy["spec"]["activationPreference"] == "Lazy";
        object["spec"]["placement"] = policy["spec"]["placement"].clone();
        object["metadata"]["lazy"] = is_lazy.into();
        Ok(object)
    }

    async fn write_bindings(&self, mut wanted: BTreeMap<(String, String), Value>) -> Result<(), Error> {
        for kind in [BINDING, CLUSTER_BINDING] {
            for existing in self.objects().list(kind, "").await? {
                let (namespace, name) = key(&existing);
                match wanted.remove(&(namespace.to_owned(), name.to_owned())) {
                    Some(binding) => self.update_binding(kind, &existing, &binding).await?,
                    // A binding that a test made by hand has no policy, and is left alone.
                    None if policy_of(&existing).is_some() && existing["metadata"]["deletionTimestamp"].is_null() => {
                        self.objects().delete(kind, namespace, name).await?;
                    }
                    None => {}
                }
            }
        }
        for ((namespace, _), mut binding) in wanted {
            let kind = if namespace.is_empty() { CLUSTER_BINDING } else { BINDING };
            remove(&mut binding["metadata"], "lazy");
            if let Err(error) = self.objects().create(kind, &binding).await {
                // A namespace that is being deleted takes no new objects.
                if error.status() != Some(403) && error.status() != Some(409) {
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    async fn update_binding(&self, kind: Kind, existing: &Value, binding: &Value) -> Result<(), Error> {
        let is_lazy = binding["metadata"]["lazy"] == true;
        let is_workload_unchanged = existing["spec"]["resource"] == binding["spec"]["resource"];
        if is_lazy && is_workload_unchanged {
            return Ok(());
        }
        let mut patch = json!({});
        for field in OWN_FIELDS {
            let value = &binding["spec"][field];
            // An absent suspension changes nothing: a test may have suspended scheduling.
            if *value != existing["spec"][field] && !(value.is_null() && field == "suspension") {
                patch["spec"][field] = replaced(&existing["spec"][field], value);
            }
        }
        if policy_of(existing) != policy_of(binding) {
            patch["metadata"]["labels"] = binding["metadata"]["labels"].clone();
            patch["metadata"]["annotations"] = binding["metadata"]["annotations"].clone();
        }
        if patch != json!({}) {
            let (namespace, name) = key(existing);
            match self.objects().merge(kind, namespace, name, &patch).await {
                // Deleted meanwhile; the next pass sees it.
                Err(error) if error.status() == Some(404) => {}
                result => {
                    result?;
                }
            }
        }
        Ok(())
    }
}

/// A merge patch that turns one value into another: keys that are gone are removed.
fn replaced(old: &Value, new: &Value) -> Value {
    let (Value::Object(old), Value::Object(new)) = (old, new) else {
        return new.clone();
    };
    let mut patch = serde_json::Map::new();
    for key in old.keys().filter(|key| !new.contains_key(*key)) {
        patch.insert(key.clone(), Value::Null);
    }
    for (key, value) in new {
        let old = old.get(key).unwrap_or(&Value::Null);
        patch.insert(key.clone(), replaced(old, value));
    }
    Value::Object(patch)
}

/// The identifier of the policy that a binding belongs to.
fn policy_of(binding: &Value) -> Option<&str> {
    let labels = binding["metadata"]["labels"].as_object()?;
    labels
        .iter()
        .find(|(key, _)| key.ends_with("propagationpolicy.karmada.io/permanent-id"))
        .and_then(|(_, id)| id.as_str())
}

fn remove(object: &mut Value, key: &str) {
    if let Some(object) = object.as_object_mut() {
        object.remove(key);
    }
}

fn resource(object: Value) -> Result<WorkloadResource, Error> {
    let type_meta: TypeMeta = typed(&object)?;
    let metadata: ObjectMeta = typed(&object["metadata"])?;
    let mut fields = Read { object: &object };
    let demand = WorkloadKinds::default().demand(&type_meta, &metadata.namespace, &mut fields);
    Ok(WorkloadResource {
        resource: Resource::new(type_meta, metadata, &object),
        demand,
    })
}

/// Fields of an object that the API server has validated.
struct Read<'a> {
    object: &'a Value,
}

impl Fields for Read<'_> {
    fn field<T: DeserializeOwned + Default>(&mut self, path: &FieldPath) -> Option<T> {
        serde_json::from_value(value_at(self.object, path)?.clone()).ok()
    }

    fn report(&mut self, _: FieldPath, _: Cause) {}
}

fn typed<T: DeserializeOwned>(object: &Value) -> Result<T, Error> {
    serde_json::from_value(object.clone()).map_err(|error| unreadable(object, &error))
}

fn json(binding: &divvy_karmada::api::ResourceBinding) -> Result<Value, Error> {
    serde_json::to_value(binding).map_err(|error| unreadable(&Value::Null, &error))
}

fn unreadable(object: &Value, error: &serde_json::Error) -> Error {
    let (namespace, name) = key(object);
    Error::Content {
        path: format!("{} {namespace}/{name}", object["kind"].as_str().unwrap_or("object")).into(),
        message: error.to_string(),
    }
}
