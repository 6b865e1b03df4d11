//! Bindings from policies, workloads and bindings: Karmada's detector, over objects instead of an API server.
//!
//! Objects come and go one at a time, from files or from a watch, and the bindings are there at any moment: one by its
//! name, or all of them. A binding that was handed in is the truth; its workload supplies what it lacks; a workload without
//! a binding gets one if a policy matches. The order in which objects arrive changes nothing. Nothing here looks at
//! clusters, names a strategy or divides.
//!
//! Preemption is left out: a claim that was made stays made.

mod binding;
mod merge;

use std::collections::{BTreeMap, BTreeSet, HashSet, btree_map};

pub use binding::{Binding, PolicyFacts, SkipReason};

use crate::api::{BindingScope, ObjectMeta, PolicyScope, PropagationPolicy, Resource, ResourceBinding, TypeMeta};
use crate::policy::{Policies, claimed_by};
use crate::workloads::{WorkloadKinds, WorkloadResource, has_replicas};
use divvy_documents::{ObjectName, Source, Warning};

/// The identity of a resource across its versions: group, kind, namespace, name.
type ResourceKey = (String, String, String, String);

/// The identity of a binding: namespace, name, scope.
pub type BindingKey = (String, String, BindingScope);

/// An object with its place in the input and in the order of arrival.
#[derive(Debug)]
struct Entry<T> {
    object: T,
    source: Option<Source>,
    arrival: u64,
}

/// The objects of a control plane, as far as they decide bindings.
#[derive(Debug, Default)]
pub struct Detector {
    workload_kinds: WorkloadKinds,
    policies: Policies,
    bindings: BTreeMap<BindingKey, Entry<ResourceBinding>>,
    workloads: BTreeMap<ResourceKey, Entry<WorkloadResource>>,
    arrivals: u64,
}

/// All bindings of a detector.
#[derive(Debug, Default)]
pub struct Detected {
    /// The bindings, sorted by namespace, name and scope.
    pub bindings: Vec<Binding>,
    /// Resources that no policy matches and no binding names, sorted.
    pub unmatched: Vec<ObjectName>,
    /// Input that was read as well as possible.
    pub warnings: Vec<Warning>,
}

impl Detector {
    /// A detector without objects. `workload_kinds`: the kinds that have replicas.
    pub fn new(workload_kinds: WorkloadKinds) -> Self {
        Self {
            workload_kinds,
            ..Self::default()
        }
    }

    /// Takes a policy in, in place of an older version.
    pub fn apply_policy(&mut self, policy: PropagationPolicy) {
        self.policies.insert(policy);
    }

    /// Takes a policy out.
    pub fn remove_policy(&mut self, scope: PolicyScope, namespace: &str, name: &str) {
        self.policies.remove(scope, namespace, name);
    }

    /// Takes a binding in, in place of an older version. `source`: its place in the input, for messages.
    pub fn apply_binding(&mut self, binding: ResourceBinding, source: Option<Source>) {
        let entry = self.entry(binding, source);
        self.bindings.insert(binding_key(&entry.object), entry);
    }

    /// Takes a binding out.
    pub fn remove_binding(&mut self, key: &BindingKey) {
        self.bindings.remove(key);
    }

    /// Takes a resource in, in place of an older version. `source`: its place in the input, for messages.
    pub fn apply_resource(&mut self, resource: WorkloadResource, source: Option<Source>) {
        let entry = self.entry(resource, source);
        self.workloads.insert(resource_key(&entry.object.resource), entry);
    }

    /// Takes a resource out.
    pub fn remove_resource(&mut self, resource: &Resource) {
        self.workloads.remove(&resource_key(resource));
    }

    fn entry<T>(&mut self, object: T, source: Option<Source>) -> Entry<T> {
        self.arrivals += 1;
        let arrival = self.arrivals;
        Entry {
            object,
            source,
            arrival,
        }
    }

    /// The binding of that name as it is to be scheduled; `None` if it was not handed in.
    pub fn binding(&self, key: &BindingKey) -> Option<Binding> {
        self.bindings.get(key).map(|entry| self.completed(entry))
    }

    /// Every binding, those of workloads that have none yet included.
    pub fn detect(&self) -> Detected {
        let mut warnings = Warnings::default();
        let mut bound = HashSet::new();
        let mut found: BTreeMap<BindingKey, Binding> = BTreeMap::new();
        for (key, entry) in in_order_of_arrival(&self.bindings) {
            bound.insert(bound_resource(&entry.object));
            if let Some(workload) = self.workload_of(&entry.object) {
                warnings.of_kind(workload, &self.workload_kinds);
            }
            let binding = self.completed(entry);
            warnings.of_placement(&binding);
            found.insert(key.clone(), binding);
        }
        let mut unmatched = Vec::new();
        for (key, entry) in in_order_of_arrival(&self.workloads) {
            if bound.contains(key) {
                continue;
            }
            let WorkloadResource { resource, demand } = &entry.object;
            let Some(policy) = self.policies.policy_for(&resource.type_meta, &resource.metadata) else {
                unmatched.push(resource_name(resource));
                continue;
            };
            warnings.of_kind(entry, &self.workload_kinds);
            let binding = Binding {
                object: merge::merge(None, Some(policy), Some((resource, demand.as_ref()))),
                policy: Some(PolicyFacts::from(policy)),
                source: entry.source.clone(),
            };
            // Two resources can share a binding's name, as `a:b` and `a.b` do; Karmada too keeps one.
            match found.entry(binding_key(&binding.object)) {
                btree_map::Entry::Vacant(vacant) => {
                    vacant.insert(binding);
                }
                btree_map::Entry::Occupied(_) => {
                    let message = format!(
                        "the binding `{}` is in the input already; not given a second one",
                        binding.key()
                    );
                    warnings.at(entry, message, None);
                }
            }
        }
        unmatched.sort();
        Detected {
            bindings: found.into_values().collect(),
            unmatched,
            warnings: warnings.found,
        }
    }

    /// A binding that was handed in, with what its policy and workload supply.
    fn completed(&self, entry: &Entry<ResourceBinding>) -> Binding {
        let workload = self.workload_of(&entry.object).map(|workload| &workload.object);
        let policy = self.policy_of(&entry.object, workload);
        let parts = workload.map(|workload| (&workload.resource, workload.demand.as_ref()));
        Binding {
            object: merge::merge(Some(&entry.object), policy, parts),
            policy: policy.map(PolicyFacts::from),
            source: entry.source.clone(),
        }
    }

    fn workload_of(&self, binding: &ResourceBinding) -> Option<&Entry<WorkloadResource>> {
        self.workloads.get(&bound_resource(binding))
    }

    /// The policy that made a binding: the one that it names, or that claims or matches its workload.
    fn policy_of(&self, binding: &ResourceBinding, workload: Option<&WorkloadResource>) -> Option<&PropagationPolicy> {
        if claimed_by(&binding.metadata).is_some() {
            return self.policies.claimant(&binding.metadata);
        }
        let resource = &workload?.resource;
        self.policies.policy_for(&resource.type_meta, &resource.metadata)
    }
}

/// The identity of a binding.
pub fn binding_key(binding: &ResourceBinding) -> BindingKey {
    let ObjectMeta { namespace, name, .. } = &binding.metadata;
    (namespace.clone(), name.clone(), binding.scope())
}

fn resource_key(resource: &Resource) -> ResourceKey {
    let Resource {
        type_meta, metadata, ..
    } = resource;
    (
        type_meta.group().to_owned(),
        type_meta.kind.clone(),
        metadata.namespace.clone(),
        metadata.name.clone(),
    )
}

/// The identity of the resource that a binding names.
fn bound_resource(binding: &ResourceBinding) -> ResourceKey {
    let reference = &binding.spec.resource;
    let group = reference.api_version.split_once('/').map_or("", |(group, _)| group);
    let namespace = match binding.scope() {
        BindingScope::Namespaced if reference.namespace.is_empty() => &binding.metadata.namespace,
        _ => &reference.namespace,
    };
    (
        group.to_owned(),
        reference.kind.clone(),
        namespace.clone(),
        reference.name.clone(),
    )
}

fn resource_name(resource: &Resource) -> ObjectName {
    let metadata = &resource.metadata;
    ObjectName::new(&resource.type_meta.kind, &metadata.namespace, &metadata.name)
}

/// The entries as they came, so that warnings are in the order of the input.
fn in_order_of_arrival<K, T>(entries: &BTreeMap<K, Entry<T>>) -> Vec<(&K, &Entry<T>)> {
    let mut sorted: Vec<_> = entries.iter().collect();
    sorted.sort_by_key(|(_, entry)| entry.arrival);
    sorted
}

/// Warnings, each kind of workload once.
#[derive(Debug, Default)]
struct Warnings {
    found: Vec<Warning>,
    kinds: BTreeSet<TypeMeta>,
}

impl Warnings {
    /// Warns of a kind with `spec.replicas` that no table names.
    fn of_kind(&mut self, entry: &Entry<WorkloadResource>, known: &WorkloadKinds) {
        let WorkloadResource { resource, demand } = &entry.object;
        let type_meta = &resource.type_meta;
        let is_unknown = demand.is_none() && has_replicas(resource) && !known.contains(type_meta);
        if !is_unknown || !self.kinds.insert(type_meta.clone()) {
            return;
        }
        let TypeMeta { api_version, kind } = type_meta;
        let message = format!(
            "the kind `{kind}` of `{api_version}` has `spec.replicas`, but no `[[workload]]` table names it; propagated whole"
        );
        let hint = format!(
            "add `[[workload]]` with `api-version = \"{api_version}\"`, `kind = \"{kind}\"`, `replicas = \"spec.replicas\"` and, if it has one, `template = \"spec.template\"` to the profile"
        );
        self.at(entry, message, Some(hint));
    }

    /// Warns of a binding that says nothing about where it goes.
    fn of_placement(&mut self, binding: &Binding) {
        let object = &binding.object;
        if object.spec.placement.is_some() || binding.skip_reason().is_some() {
            return;
        }
        self.found.push(Warning {
            source_of: binding.source.clone(),
            object: Some(ObjectName::new(
                &object.kind,
                &object.metadata.namespace,
                &object.metadata.name,
            )),
            message: "the binding has no placement and no policy in the input; read as every cluster, duplicated"
                .to_owned(),
            hint: None,
        });
    }

    fn at(&mut self, entry: &Entry<WorkloadResource>, message: String, hint: Option<String>) {
        self.found.push(Warning {
            source_of: entry.source.clone(),
            object: Some(resource_name(&entry.object.resource)),
            message,
            hint,
        });
    }
}
