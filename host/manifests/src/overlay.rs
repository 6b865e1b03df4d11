//! Files laid over a dump: what a control plane would hold after they were applied.
//!
//! An overlay replaces the specification, labels and annotations of the object with the same identity; its status, UID and
//! Karmada's claims stay. An object that the dump lacks is added. What Karmada's detector would then copy into bindings is
//! copied: the placement of a policy, the replicas and requirements of a workload.

use std::collections::BTreeMap;

use divvy_documents::ObjectName;
use divvy_karmada::api::{Cluster, ObjectMeta, PropagationPolicy, ResourceBinding, StringMap, TypeMeta};
use divvy_karmada::detector::Detected;
use divvy_karmada::policy::default_resource_models;
use divvy_karmada::workloads::WorkloadResource;
use serde_json::Value;

use crate::{Located, Manifests};

/// Value of `activationPreference` with which a policy waits for its workload.
const LAZY: &str = "Lazy";

/// Annotation of Divvy that belongs to a binding's last decision.
const APPLIED_POLICY: &str = "divvy.io/applied-policy";

/// Identity of an object: API group, kind, namespace and name.
type Identity = (String, ObjectName);

fn identity(group: &str, kind: &str, metadata: &ObjectMeta) -> Identity {
    let name = ObjectName::new(kind, &metadata.namespace, &metadata.name);
    (group.to_owned(), name)
}

fn of_resource(located: &Located<WorkloadResource>) -> Identity {
    let resource = &located.object.resource;
    identity(resource.type_meta.group(), &resource.type_meta.kind, &resource.metadata)
}

impl Manifests {
    /// Lays other manifests over these.
    pub fn overlay(&mut self, overlay: &Self) {
        lay(
            &mut self.clusters,
            &overlay.clusters,
            |located| located.object.metadata.name.clone(),
            cluster,
        );
        let of_policy =
            |located: &Located<PropagationPolicy>| identity("", &located.object.kind, &located.object.metadata);
        lay(&mut self.policies, &overlay.policies, of_policy, |live, over| {
            live.object.spec = over.object.spec.clone();
            metadata(&mut live.object.metadata, &over.object.metadata);
        });
        let of_binding =
            |located: &Located<ResourceBinding>| identity("", &located.object.kind, &located.object.metadata);
        lay(&mut self.bindings, &overlay.bindings, of_binding, |live, over| {
            binding(&mut live.object, &over.object);
        });
        lay(&mut self.resources, &overlay.resources, of_resource, |live, over| {
            resource(&mut live.object, &over.object);
        });
    }

    /// Copies what these manifests, laid over others, change about bindings that were detected since: Karmada's detector
    /// acts on a policy and a workload that changed, whatever their binding says. A policy that waits for its workload
    /// acts only if the workload changed too.
    pub fn adopt(&self, detected: &mut Detected) {
        let policies: BTreeMap<ObjectName, &PropagationPolicy> = self
            .policies
            .iter()
            .map(|located| {
                let policy = &located.object;
                let metadata = &policy.metadata;
                (
                    ObjectName::new(&policy.kind, &metadata.namespace, &metadata.name),
                    policy,
                )
            })
            .collect();
        let workloads: BTreeMap<Identity, &WorkloadResource> = self
            .resources
            .iter()
            .map(|located| (of_resource(located), &located.object))
            .collect();
        for binding in &mut detected.bindings {
            let reference = &binding.object.spec.resource;
            let type_meta = TypeMeta {
                api_version: reference.api_version.clone(),
                kind: reference.kind.clone(),
            };
            let name = ObjectName::new(&reference.kind, &reference.namespace, &reference.name);
            let workload = workloads.get(&(type_meta.group().to_owned(), name));
            let policy = binding
                .policy
                .as_ref()
                .and_then(|facts| policies.get(&facts.object_name()));
            let spec = &mut binding.object.spec;
            if let Some(policy) = policy
                && (policy.spec.activation_preference != LAZY || workload.is_some())
                && spec.required_by.is_empty()
            {
                spec.placement = Some(policy.spec.placement.clone());
            }
            if let Some(workload) = workload
                && let Some(demand) = &workload.demand
                && spec.components.is_empty()
            {
                if names_replicas(workload) || spec.replicas.is_none() {
                    spec.replicas = Some(demand.replicas);
                }
                spec.replica_requirements.clone_from(&demand.requirements);
            }
        }
    }
}

/// Replaces or adds each object of an overlay.
fn lay<T: Clone, K: Ord>(
    live: &mut Vec<Located<T>>,
    overlay: &[Located<T>],
    key: impl Fn(&Located<T>) -> K,
    replace: impl Fn(&mut Located<T>, &Located<T>),
) {
    let known: BTreeMap<K, usize> = live
        .iter()
        .enumerate()
        .map(|(index, located)| (key(located), index))
        .collect();
    for over in overlay {
        match known.get(&key(over)).and_then(|&index| live.get_mut(index)) {
            Some(located) => {
                replace(located, over);
                located.source = over.source.clone();
            }
            None => live.push(over.clone()),
        }
    }
}

/// Replaces labels and annotations, except those that Karmada or a scheduler wrote.
fn metadata(live: &mut ObjectMeta, over: &ObjectMeta) {
    let replace = |live: &mut StringMap, over: &StringMap| {
        live.retain(|key, _| is_claim(key));
        live.extend(over.iter().map(|(key, value)| (key.clone(), value.clone())));
    };
    replace(&mut live.labels, &over.labels);
    replace(&mut live.annotations, &over.annotations);
    live.annotation.clone_from(&over.annotation);
}

/// True for keys of Karmada's domains, and for the record of a decision.
fn is_claim(key: &str) -> bool {
    let domain = key.split_once('/').map_or("", |(domain, _)| domain);
    domain == "karmada.io" || domain.ends_with(".karmada.io") || key == APPLIED_POLICY
}

fn cluster(live: &mut Located<Cluster>, over: &Located<Cluster>) {
    live.object.spec = over.object.spec.clone();
    metadata(&mut live.object.metadata, &over.object.metadata);
    default_resource_models(&mut live.object);
    let parsed = |text: &Option<Box<str>>| {
        text.as_deref()
            .and_then(|text| serde_json::from_str::<Value>(text).ok())
    };
    if let (Some(mut json), Some(over)) = (parsed(&live.json), parsed(&over.json)) {
        json["spec"] = over["spec"].clone();
        json["metadata"]["labels"] = serde_json::json!(live.object.metadata.labels);
        json["metadata"]["annotations"] = serde_json::json!(live.object.metadata.annotations);
        live.json = Some(json.to_string().into());
    }
}

/// The last result, evictions and requests are state, though Karmada keeps them in the specification.
fn binding(live: &mut ResourceBinding, over: &ResourceBinding) {
    let old = std::mem::replace(&mut live.spec, over.spec.clone());
    let spec = &mut live.spec;
    spec.clusters = old.clusters;
    spec.graceful_eviction_tasks = old.graceful_eviction_tasks;
    spec.replicas = spec.replicas.or(old.replicas);
    spec.reschedule_triggered_at = spec.reschedule_triggered_at.or(old.reschedule_triggered_at);
    if spec.resource.kind.is_empty() {
        spec.resource = old.resource;
    }
    metadata(&mut live.metadata, &over.metadata);
}

fn resource(live: &mut WorkloadResource, over: &WorkloadResource) {
    let own = live.resource.metadata.clone();
    let replicas = live.demand.as_ref().map(|demand| demand.replicas);
    let keeps_count = !names_replicas(over);
    *live = over.clone();
    let merged = &mut live.resource.metadata;
    *merged = own;
    metadata(merged, &over.resource.metadata);
    // Another version than the one that the binding was made from.
    merged.resource_version.clear();
    if let (Some(demand), Some(replicas), true) = (&mut live.demand, replicas, keeps_count) {
        demand.replicas = replicas;
    }
}

/// False if a workload leaves its replicas to whoever scales it.
fn names_replicas(workload: &WorkloadResource) -> bool {
    let spec = workload.resource.value.get("spec");
    let is_set = |key: &str| {
        spec.and_then(|spec| spec.get(key))
            .is_some_and(|value| !value.is_null())
    };
    is_set("replicas") || is_set("parallelism") || is_set("completions")
}
