//! Files laid over a dump, as if they were applied to its control plane.
//!
//! An overlay replaces the specification, labels and annotations of the object with the same identity; its status, UID and
//! Karmada's claims stay. An object that the dump lacks is added. The detector then gives bindings the placement of a changed
//! policy, and the replicas and requirements of a changed workload.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use divvy_karmada::api::{
    Cluster, ClusterStatus, FederatedResourceQuota, ObjectMeta, OverridePolicy, PropagationPolicy, Resource,
    ResourceBinding, StringMap, TypeMeta,
};
use divvy_karmada::policy::{claimed_by, default_resource_models, release};
use divvy_karmada::workloads::WorkloadResource;
use divvy_spanned::{ObjectName, Source};
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

fn resource_identity(located: &Located<Box<WorkloadResource>>) -> Identity {
    workload_identity(&located.object)
}

pub(crate) fn workload_identity(workload: &WorkloadResource) -> Identity {
    let resource = &workload.resource;
    identity(resource.type_meta.group(), &resource.type_meta.kind, &resource.metadata)
}

fn override_identity(located: &Located<OverridePolicy>) -> Identity {
    let policy = &located.object;
    identity(TypeMeta::group_of(&policy.api_version), &policy.kind, &policy.metadata)
}

fn quota_identity(located: &Located<FederatedResourceQuota>) -> Identity {
    let quota = &located.object;
    identity(TypeMeta::group_of(&quota.api_version), &quota.kind, &quota.metadata)
}

/// Identity of the resource that a binding is for.
pub(crate) fn bound_identity(binding: &ResourceBinding) -> Identity {
    let reference = &binding.spec.resource;
    let type_meta = TypeMeta {
        api_version: reference.api_version.clone(),
        kind: reference.kind.clone(),
    };
    let name = ObjectName::new(&reference.kind, &reference.namespace, &reference.name);
    (type_meta.group().to_owned(), name)
}

/// Effect of laying files over a dump on one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverlayChange {
    /// The object.
    pub object: ObjectName,
    /// Its location in the overlay; `None` if it is deleted.
    pub source: Option<Source>,
    /// The change.
    pub kind: OverlayKind,
}

/// Change of an object of an overlay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverlayKind {
    /// The dump lacked it.
    Added,
    /// A part that a scheduler reads differs from the dump.
    Changed,
    /// Every part that a scheduler reads is as in the dump.
    Same,
    /// It was deleted.
    Deleted,
}

impl Manifests {
    /// Lays other manifests over these. Returns the effect on each object.
    pub fn overlay(&mut self, overlay: &Self) -> Vec<OverlayChange> {
        let mut changes = Vec::new();
        let name = |kind: &str, metadata: &ObjectMeta| ObjectName::new(kind, &metadata.namespace, &metadata.name);
        let clusters = lay(
            &mut self.clusters,
            &overlay.clusters,
            |located| located.object.metadata.name.clone(),
            cluster,
        );
        let of_cluster = |located: &Located<Cluster>| name("Cluster", &located.object.metadata);
        record(&mut changes, &overlay.clusters, clusters, of_cluster);
        let of_policy =
            |located: &Located<PropagationPolicy>| identity("", &located.object.kind, &located.object.metadata);
        let policies = lay(&mut self.policies, &overlay.policies, of_policy, |live, over| {
            live.object.spec = over.object.spec.clone();
            metadata(&mut live.object.metadata, &over.object.metadata);
        });
        let policy_kinds = policies.clone();
        record(&mut changes, &overlay.policies, policies, |located| {
            of_policy(located).1
        });
        let of_binding =
            |located: &Located<Box<ResourceBinding>>| identity("", &located.object.kind, &located.object.metadata);
        let bindings = lay(&mut self.bindings, &overlay.bindings, of_binding, |live, over| {
            binding(&mut live.object, &over.object);
        });
        record(&mut changes, &overlay.bindings, bindings, |located| {
            of_binding(located).1
        });
        let mut workloads = overlay.resources.clone();
        if workloads.iter().any(|workload| !workload.object.resource.sets_count) {
            let live = LiveCounts::of(self);
            for workload in &mut workloads {
                live.keep_count(&mut workload.object);
            }
        }
        let versions: Vec<String> = {
            let known: BTreeMap<Identity, &str> = self
                .resources
                .iter()
                .map(|located| {
                    (
                        resource_identity(located),
                        located.object.resource.metadata.resource_version.as_str(),
                    )
                })
                .collect();
            // A workload that the dump lacks has no version yet.
            let version_of = |located| {
                known
                    .get(&resource_identity(located))
                    .copied()
                    .unwrap_or_default()
                    .to_owned()
            };
            workloads.iter().map(version_of).collect()
        };
        let written: Vec<&PropagationPolicy> = overlay
            .policies
            .iter()
            .zip(&policy_kinds)
            .filter(|(_, kind)| **kind != OverlayKind::Same)
            .map(|(located, _)| &located.object)
            .collect();
        let relabelled = RefCell::new(Vec::new());
        let resources = lay_compared(
            &mut self.resources,
            &workloads,
            resource_identity,
            |live, over| {
                let labels = live.object.resource.metadata.labels.clone();
                resource(&mut live.object, &over.object);
                if labels != live.object.resource.metadata.labels {
                    relabelled.borrow_mut().push(live.object.resource.clone());
                }
            },
            |index, before, after| {
                // The version is cleared, so that the binding takes the workload's replicas.
                let mut after = after.clone();
                after.resource.metadata.resource_version.clone_from(&versions[index]);
                *before == after
            },
        );
        record(&mut changes, &workloads, resources, |located| {
            resource_identity(located).1
        });
        // They change no decision, so that they have no row of their own.
        lay(
            &mut self.overrides,
            &overlay.overrides,
            override_identity,
            |live, over| {
                live.object.spec = over.object.spec.clone();
            },
        );
        lay(&mut self.quotas, &overlay.quotas, quota_identity, |live, over| {
            live.object.spec = over.object.spec.clone();
        });
        self.mark_relabelled(relabelled.into_inner(), &written);
        changes
    }

    /// Remembers workloads whose labels change under an unchanged policy: Karmada looks at their claims only if the policy changes.
    fn mark_relabelled(&mut self, relabelled: Vec<Resource>, written: &[&PropagationPolicy]) {
        if relabelled.is_empty() {
            return;
        }
        let mut bound: BTreeMap<Identity, &ResourceBinding> = BTreeMap::new();
        for located in &self.bindings {
            bound.entry(bound_identity(&located.object)).or_insert(&located.object);
        }
        // A claim by identifier is compared with the policy as it is in the dump.
        let written: BTreeSet<(&str, String)> = written
            .iter()
            .map(|policy| (policy.kind.as_str(), policy.metadata.key()))
            .collect();
        let policies = self.policies.iter().map(|located| &located.object);
        let changed: Vec<&PropagationPolicy> = policies
            .filter(|policy| written.contains(&(policy.kind.as_str(), policy.metadata.key())))
            .collect();
        let mut kept = Vec::new();
        for resource in &relabelled {
            let identity = identity(resource.type_meta.group(), &resource.type_meta.kind, &resource.metadata);
            let claimed = claimed_by(&resource.metadata)
                .or_else(|| bound.get(&identity).and_then(|binding| claimed_by(&binding.metadata)));
            if claimed.is_some_and(|claim| !changed.iter().any(|policy| claim.is_of(policy))) {
                let (group, name) = identity;
                kept.push((group, name.kind, name.namespace, name.name));
            }
        }
        self.relabelled.extend(kept);
    }

    /// Names of the policies, and of the workloads, also of those that only a binding names: what [`Manifests::delete`] can delete.
    pub fn deletable(&self) -> impl Iterator<Item = ObjectName> {
        let policies = self.policies.iter().map(|located| &located.object);
        let policies = policies.map(|policy| identity("", &policy.kind, &policy.metadata));
        let resources = self.resources.iter().map(resource_identity);
        let bindings = self.bindings.iter().map(|located| bound_identity(&located.object));
        policies.chain(resources).chain(bindings).map(|(_, name)| name)
    }

    /// Deletes every policy, every cluster, and every workload with its binding, for whose API group and name `is_meant` is true. Returns
    /// them.
    ///
    /// As in Karmada, the bindings of a deleted policy stay, without its claim: another policy may claim their workloads, and
    /// otherwise they keep their placement.
    pub fn delete(&mut self, is_meant: impl Fn(&str, &ObjectName) -> bool) -> Vec<OverlayChange> {
        let mut deleted = Vec::new();
        let mut policies = Vec::new();
        self.policies.retain(|located| {
            let policy = &located.object;
            let (_, name) = identity("", &policy.kind, &policy.metadata);
            let is_deleted = is_meant(TypeMeta::group_of(PropagationPolicy::API_VERSION), &name);
            if is_deleted {
                policies.push(policy.clone());
                deleted.push(name);
            }
            !is_deleted
        });
        let release_claims = |metadata: &mut ObjectMeta| {
            let is_released =
                claimed_by(metadata).is_some_and(|claim| policies.iter().any(|policy| claim.is_of(policy)));
            if is_released {
                release(metadata);
            }
        };
        if !policies.is_empty() {
            let bindings = self.bindings.iter_mut().map(|located| &mut located.object.metadata);
            let resources = self
                .resources
                .iter_mut()
                .map(|located| &mut located.object.resource.metadata);
            bindings.chain(resources).for_each(release_claims);
        }
        self.clusters.retain(|located| {
            let group = TypeMeta::group_of(Cluster::API_VERSION);
            let (_, name) = identity(group, "Cluster", &located.object.metadata);
            let is_deleted = is_meant(group, &name);
            if is_deleted {
                deleted.push(name);
            }
            !is_deleted
        });
        self.resources.retain(|located| {
            let (group, name) = resource_identity(located);
            let is_deleted = is_meant(&group, &name);
            if is_deleted {
                deleted.push(name);
            }
            !is_deleted
        });
        self.bindings.retain(|located| {
            let (group, name) = bound_identity(&located.object);
            let is_deleted = is_meant(&group, &name);
            if is_deleted && !deleted.contains(&name) {
                deleted.push(name);
            }
            !is_deleted
        });
        let deleted = deleted.into_iter().map(|object| OverlayChange {
            object,
            source: None,
            kind: OverlayKind::Deleted,
        });
        deleted.collect()
    }

    /// Removes the override policies and quotas that an overlay's earlier state has and the overlay lacks.
    pub fn remove_dropped(&mut self, before: &Self, overlay: &Self) {
        let beside = |manifests: &Self| -> BTreeSet<Identity> {
            let overrides = manifests.overrides.iter().map(override_identity);
            overrides.chain(manifests.quotas.iter().map(quota_identity)).collect()
        };
        let kept = beside(overlay);
        let dropped: BTreeSet<Identity> = beside(before).difference(&kept).cloned().collect();
        self.overrides
            .retain(|located| !dropped.contains(&override_identity(located)));
        self.quotas
            .retain(|located| !dropped.contains(&quota_identity(located)));
    }

    /// Names of the clusters of an overlay that have a status, which differs from the one here. It replaces that one if `applies`: a status
    /// is what a cluster reported, which a manifest of it usually repeats from another day.
    pub fn overlay_statuses(&mut self, overlay: &Self, applies: bool) -> BTreeSet<String> {
        let over: BTreeMap<&str, &Located<Cluster>> = overlay
            .clusters
            .iter()
            .filter(|located| located.object.status != ClusterStatus::default())
            .map(|located| (located.object.metadata.name.as_str(), located))
            .collect();
        let mut names = BTreeSet::new();
        for live in &mut self.clusters {
            let over = over.get(live.object.metadata.name.as_str());
            let Some(over) = over.filter(|over| over.object.status != live.object.status) else {
                continue;
            };
            names.insert(live.object.metadata.name.clone());
            if applies {
                live.object.status = over.object.status.clone();
                if let (Some(mut json), Some(over)) = (parsed(&live.json), parsed(&over.json)) {
                    json["status"] = over["status"].clone();
                    live.json = Some(json.to_string().into());
                }
            }
        }
        names
    }

    /// API group and name of every policy, cluster and resource.
    pub fn identities(&self) -> BTreeSet<(String, ObjectName)> {
        let clusters = self.clusters.iter().map(|located| {
            let metadata = &located.object.metadata;
            identity(TypeMeta::group_of(Cluster::API_VERSION), "Cluster", metadata)
        });
        let policies = self.policies.iter().map(|located| {
            let policy = &located.object;
            identity(
                TypeMeta::group_of(PropagationPolicy::API_VERSION),
                &policy.kind,
                &policy.metadata,
            )
        });
        let resources = self.resources.iter().map(resource_identity);
        clusters.chain(policies).chain(resources).collect()
    }
}

/// Records the effect of an overlay on each of its objects.
fn record<T>(
    changes: &mut Vec<OverlayChange>,
    overlay: &[Located<T>],
    kinds: Vec<OverlayKind>,
    name: impl Fn(&Located<T>) -> ObjectName,
) {
    let noted = overlay.iter().zip(kinds).map(|(over, kind)| OverlayChange {
        object: name(over),
        source: Some(over.source.clone()),
        kind,
    });
    changes.extend(noted);
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
            live.workloads.entry(workload_identity(object)).or_insert(&**object);
        }
        for Located { object, .. } in &manifests.bindings {
            live.bindings.entry(bound_identity(object)).or_insert(&**object);
        }
        live
    }

    /// Gives a workload that leaves its replicas to an autoscaler the live count: that of its binding, or of the workload in
    /// the dump if the binding was made from another version.
    fn keep_count(&self, over: &mut WorkloadResource) {
        if over.resource.sets_count {
            return;
        }
        let key = workload_identity(over);
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

/// Replaces or adds each object of an overlay. Returns the effect on each.
fn lay<T: Clone + PartialEq, K: Ord>(
    live: &mut Vec<Located<T>>,
    overlay: &[Located<T>],
    key: impl Fn(&Located<T>) -> K,
    replace: impl Fn(&mut Located<T>, &Located<T>),
) -> Vec<OverlayKind> {
    lay_compared(live, overlay, key, replace, |_, before, after| before == after)
}

/// Like [`lay`], with a comparison of an object before and after, by its index in the overlay.
fn lay_compared<T: Clone, K: Ord>(
    live: &mut Vec<Located<T>>,
    overlay: &[Located<T>],
    key: impl Fn(&Located<T>) -> K,
    replace: impl Fn(&mut Located<T>, &Located<T>),
    is_same: impl Fn(usize, &T, &T) -> bool,
) -> Vec<OverlayKind> {
    let known: BTreeMap<K, usize> = live
        .iter()
        .enumerate()
        .map(|(index, located)| (key(located), index))
        .collect();
    let laid = overlay.iter().enumerate().map(|(number, over)| {
        match known.get(&key(over)).and_then(|&index| live.get_mut(index)) {
            Some(located) => {
                let before = located.object.clone();
                replace(located, over);
                located.source = over.source.clone();
                match is_same(number, &before, &located.object) {
                    true => OverlayKind::Same,
                    false => OverlayKind::Changed,
                }
            }
            None => {
                live.push(over.clone());
                OverlayKind::Added
            }
        }
    });
    laid.collect()
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
    if let (Some(mut json), Some(over)) = (parsed(&live.json), parsed(&over.json)) {
        json["spec"] = over["spec"].clone();
        json["metadata"]["labels"] = serde_json::json!(live.object.metadata.labels);
        json["metadata"]["annotations"] = serde_json::json!(live.object.metadata.annotations);
        live.json = Some(json.to_string().into());
    }
}

fn parsed(text: &Option<Box<str>>) -> Option<Value> {
    text.as_deref().and_then(|text| serde_json::from_str(text).ok())
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
    // The workload is no longer the version that the binding was made from.
    merged.resource_version.clear();
}
