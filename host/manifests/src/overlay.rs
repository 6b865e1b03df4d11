//! Files laid over a dump: what a control plane would hold after they were applied.
//!
//! An overlay replaces the specification, labels and annotations of the object with the same identity; its status, UID and
//! Karmada's claims stay. An object that the dump lacks is added. The detector then gives bindings the placement of a changed
//! policy, and the replicas and requirements of a changed workload.

use std::collections::BTreeMap;

use divvy_documents::ObjectName;
use divvy_karmada::api::{Cluster, ObjectMeta, PropagationPolicy, ResourceBinding, StringMap, TypeMeta};
use divvy_karmada::policy::default_resource_models;
use divvy_karmada::workloads::WorkloadResource;
use serde_json::Value;

use crate::{Located, Manifests};

/// Annotation of Divvy that belongs to a binding's last decision.
const APPLIED_POLICY: &str = "divvy.io/applied-policy";

/// Identity of an object: API group, kind, namespace and name.
pub(crate) type Identity = (String, ObjectName);

pub(crate) fn identity(group: &str, kind: &str, metadata: &ObjectMeta) -> Identity {
    let name = ObjectName::new(kind, &metadata.namespace, &metadata.name);
    (group.to_owned(), name)
}

fn of_resource(located: &Located<Box<WorkloadResource>>) -> Identity {
    of_workload(&located.object)
}

pub(crate) fn of_workload(workload: &WorkloadResource) -> Identity {
    let resource = &workload.resource;
    identity(resource.type_meta.group(), &resource.type_meta.kind, &resource.metadata)
}

/// Identity of the resource that a binding is for.
pub(crate) fn of_bound(binding: &ResourceBinding) -> Identity {
    let reference = &binding.spec.resource;
    let type_meta = TypeMeta {
        api_version: reference.api_version.clone(),
        kind: reference.kind.clone(),
    };
    let name = ObjectName::new(&reference.kind, &reference.namespace, &reference.name);
    (type_meta.group().to_owned(), name)
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
            |located: &Located<Box<ResourceBinding>>| identity("", &located.object.kind, &located.object.metadata);
        lay(&mut self.bindings, &overlay.bindings, of_binding, |live, over| {
            binding(&mut live.object, &over.object);
        });
        let mut workloads = overlay.resources.clone();
        if workloads.iter().any(|workload| !workload.object.resource.sets_count) {
            let live = LiveCounts::of(self);
            for workload in &mut workloads {
                live.keep_count(&mut workload.object);
            }
        }
        lay(&mut self.resources, &workloads, of_resource, |live, over| {
            resource(&mut live.object, &over.object);
        });
    }
}

/// The workloads and bindings of a dump, from which a workload without a count takes its replicas.
struct LiveCounts<'a> {
    workloads: BTreeMap<Identity, &'a WorkloadResource>,
    bindings: BTreeMap<Identity, &'a ResourceBinding>,
}

impl<'a> LiveCounts<'a> {
    fn of(manifests: &'a Manifests) -> Self {
        let mut live = Self {
            workloads: BTreeMap::new(),
            bindings: BTreeMap::new(),
        };
        for Located { object, .. } in &manifests.resources {
            live.workloads.entry(of_workload(object)).or_insert(&**object);
        }
        for Located { object, .. } in &manifests.bindings {
            live.bindings.entry(of_bound(object)).or_insert(&**object);
        }
        live
    }

    /// Gives a workload that leaves its replicas to whoever scales it the live count: that of its binding, or of the workload in
    /// the dump if the binding was made from another version.
    fn keep_count(&self, over: &mut WorkloadResource) {
        if over.resource.sets_count {
            return;
        }
        let key = of_workload(over);
        let (live, bound) = (self.workloads.get(&key), self.bindings.get(&key));
        let is_due =
            |bound: &&&ResourceBinding| live.is_none_or(|live| bound.spec.resource.is_in_step(&live.resource.metadata));
        let of_binding = bound.filter(is_due).and_then(|bound| bound.spec.replicas);
        let of_live = || Some(live?.demand.as_ref()?.replicas);
        if let (Some(replicas), Some(demand)) = (of_binding.or_else(of_live), &mut over.demand) {
            demand.replicas = replicas;
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
    // A binding cannot move to another resource, and the version that it was made from is state, too.
    spec.resource = old.resource;
    metadata(&mut live.metadata, &over.metadata);
}

fn resource(live: &mut WorkloadResource, over: &WorkloadResource) {
    let own = live.resource.metadata.clone();
    *live = over.clone();
    let merged = &mut live.resource.metadata;
    *merged = own;
    metadata(merged, &over.resource.metadata);
    // Another version than the one that the binding was made from.
    merged.resource_version.clear();
}
