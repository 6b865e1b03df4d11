//! Bindings from policies, workloads and bindings: Karmada's detector, on objects in memory instead of an API server.
//!
//! Objects are added one at a time, and the resulting bindings are available at any time, one by one or all at once. A binding in
//! the input keeps its last result. Its policy and its workload win over the rest of it, because Karmada's detector would write them
//! into it next. A workload without a binding gets one if a policy matches. The order of arrival matters only for warnings, and for
//! workloads whose bindings would share a name. Nothing here depends on clusters or strategies.
//!
//! Preemption is left out: a claim lasts as long as its policy selects the resource (`claims`). As in Karmada, resources in
//! reserved namespaces (`kube-*` and Karmada's own) get no binding, and the Services of a MultiClusterService are not the
//! detector's.

mod binding;
mod claims;
mod followers;
mod groups;
mod location;
mod merge;
mod order;
mod priorities;
mod unbound;
mod warnings;
mod workloads;

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::Arc;

pub use binding::{Binding, Pending, PolicyFacts, SkipReason, WorkloadFacts};
pub use claims::is_managed_by_another;
pub use location::{AnnotationLines, Location, PolicyLocation};

use crate::api::{BindingScope, ObjectMeta, PropagationPolicy, Resource, ResourceBinding};
use crate::policy::Policies;
use crate::workloads::{WorkloadKinds, WorkloadResource};
use claims::Governed;
use divvy_parallel::threads;
use divvy_spanned::{ObjectName, Source, Warning};
use followers::Followers;
use order::Order;
use priorities::Priorities;
use warnings::Warnings;
use workloads::Workloads;

/// The identity of a binding: namespace, name, scope.
pub type BindingKey = (String, String, BindingScope);

/// An object with its location in the input and its rank in the order of arrival.
#[derive(Debug, Clone)]
struct Entry<T> {
    object: Box<T>,
    source: Option<Source>,
    arrival: u64,
}

/// The objects of a control plane that determine its bindings.
#[derive(Debug, Default)]
pub struct Detector {
    workload_kinds: WorkloadKinds,
    policies: Policies,
    bindings: BTreeMap<BindingKey, Entry<ResourceBinding>>,
    workloads: Workloads,
    relabelled: BTreeSet<ResourceKey>,
    arrivals: u64,
}

/// Group, kind, namespace and name of a resource.
pub type ResourceKey = (String, String, String, String);

/// All bindings of a detector.
#[derive(Debug, Default)]
pub struct Detected {
    /// The bindings, sorted by namespace, name and scope.
    pub bindings: Vec<Binding>,
    /// Resources without a matching policy or a binding, sorted. They are not scheduled.
    pub unmatched: Vec<ObjectName>,
    /// Those of them that follow a workload to its clusters, because its pods refer to them and its policy says `propagateDeps: true`.
    pub following: Vec<ObjectName>,
    /// Resources in reserved namespaces, sorted. Karmada propagates none of them.
    pub reserved: Vec<ObjectName>,
    /// Oddities in the input that do not prevent scheduling.
    pub warnings: Vec<Warning>,
}

impl Detector {
    /// A detector without objects. `workload_kinds` are the kinds with replicas.
    pub fn new(workload_kinds: WorkloadKinds) -> Self {
        Self {
            workload_kinds,
            ..Self::default()
        }
    }

    /// Adds a policy, replacing an older version. `location` is its location in the input, for messages.
    pub fn apply_policy(&mut self, policy: PropagationPolicy, location: Option<Location>) {
        self.policies.insert(policy, location);
    }

    /// Adds a binding, replacing an older version. `source` is its location in the input, for messages.
    pub fn apply_binding(&mut self, binding: impl Into<Box<ResourceBinding>>, source: Option<Source>) {
        let entry = self.entry(binding.into(), source);
        self.bindings.insert(binding_key(&entry.object), entry);
    }

    /// Reserves memory for `count` more resources.
    pub fn reserve_resources(&mut self, count: usize) {
        self.workloads.reserve(count);
    }

    /// Adds a resource, replacing an older version. `source` is its location in the input, for messages.
    pub fn apply_resource(&mut self, resource: impl Into<Box<WorkloadResource>>, source: Option<Source>) {
        let entry = self.entry(resource.into(), source);
        self.workloads.insert(entry);
    }

    /// Marks a resource whose labels have changed while the policy that claims it has not. If that policy no longer selects it,
    /// Karmada leaves its binding as it is until the policy changes (`getAndApplyPolicy` in `pkg/detector/policy.go`).
    pub fn mark_relabelled(&mut self, resource: ResourceKey) {
        self.relabelled.insert(resource);
    }

    fn entry<T>(&mut self, object: Box<T>, source: Option<Source>) -> Entry<T> {
        self.arrivals += 1;
        let arrival = self.arrivals;
        Entry {
            object,
            source,
            arrival,
        }
    }

    /// The binding with that key, completed by its policy and workload; `None` if it was not added.
    pub fn binding(&self, key: &BindingKey) -> Option<Binding> {
        self.bindings
            .get(key)
            .map(|entry| self.completed(entry.clone(), &Priorities::of_detector(self)))
    }

    /// All bindings, including new ones for workloads that match a policy but have no binding yet. Those are made on all cores.
    pub fn detect(self) -> Detected {
        self.detect_on(threads())
    }

    /// Like [`Self::detect`], on at most this many threads. Their number does not affect the result.
    fn detect_on(mut self, threads: NonZeroUsize) -> Detected {
        // Both are moved out one by one, because copies would be the largest part of the memory, and in the order of arrival,
        // because warnings have that order.
        let mut bindings: Vec<_> = std::mem::take(&mut self.bindings).into_values().collect();
        bindings.sort_unstable_by_key(|entry| entry.arrival);
        let mut warnings = Warnings::default();
        let priorities = Priorities::of_detector(&self);
        warnings.warn_of_classes(priorities.missing());
        let mut followers = Followers::default();
        let mut found: Vec<Binding> = Vec::with_capacity(bindings.len());
        // Bindings in the input come first, because their workloads must not get a second binding.
        for entry in bindings {
            if let Some(workload) = self.workloads.bind(&entry.object) {
                warnings.warn_of_kind(workload, &self.workload_kinds, "the binding's count is used");
            }
            let binding = self.completed(entry, &priorities);
            self.add_followers(&binding, &mut followers);
            warnings.warn_of_placement(&binding);
            found.push(binding);
        }
        let workloads = std::mem::take(&mut self.workloads).into_unbound();
        let parts = unbound::detect(workloads, &self.policies, &self.workload_kinds, &priorities, threads);
        found.reserve_exact(parts.iter().map(|part| part.found.len()).sum());
        let (mut order, mut unmatched, mut reserved) = (Order::of(&found), Vec::new(), Vec::new());
        for part in parts {
            // Each part is already sorted, so the final sort only merges.
            order.append(part.order);
            found.extend(part.found);
            unmatched.extend(part.unmatched);
            followers.take_in(part.followers);
            reserved.extend(part.reserved);
            warnings.take_in(part.warnings);
        }
        order.sort(&mut found);
        // Two resources can map to the same binding name, as `a:b` and `a.b` do. Like Karmada, keep only one.
        found.dedup_by(|second, first| {
            let is_same = second.identity() == first.identity();
            if is_same {
                warnings.warn_of_second(second);
            }
            is_same
        });
        unmatched.sort();
        reserved.sort();
        Detected {
            bindings: found,
            unmatched,
            following: followers.found(),
            reserved,
            warnings: warnings.found(),
        }
    }

    /// Adds what follows the workload of a binding.
    fn add_followers(&self, binding: &Binding, followers: &mut Followers) {
        let policy = binding.policy.as_ref().and_then(|facts| self.policies.named(facts));
        let workload = self.workloads.bound_to(&binding.object);
        if let (Some(known), Some(workload)) = (policy, workload) {
            followers.add(&known.policy, &workload.object.resource);
        }
    }

    /// A binding from the input, completed by its policy and workload.
    fn completed(&self, entry: Entry<ResourceBinding>, priorities: &Priorities) -> Binding {
        let workload = self.workloads.bound_to(&entry.object).map(|workload| &*workload.object);
        let Governed {
            object,
            known,
            is_left_alone,
        } = self.governed(entry.object, workload);
        let policy = known.filter(|_| !is_left_alone).map(|known| &known.policy);
        let parts = workload.filter(|_| !is_left_alone);
        let parts = parts.map(|workload| (&workload.resource, workload.demand.as_ref()));
        let (object, pending) = merge::merge(object, policy, policy.and_then(|policy| priorities.of(policy)), parts);
        Binding {
            object,
            policy: known.map(|known| Arc::clone(&known.facts)),
            workload: workload.map(|workload| WorkloadFacts::from(&workload.resource.metadata)),
            source: entry.source,
            pending,
        }
    }
}

/// The key under which a binding is stored.
pub fn binding_key(binding: &ResourceBinding) -> BindingKey {
    let ObjectMeta { namespace, name, .. } = &binding.metadata;
    (namespace.clone(), name.clone(), binding.scope())
}

/// True for namespaces from which Karmada's detector propagates nothing (`names.IsReservedNamespace`).
pub fn is_reserved(namespace: &str) -> bool {
    matches!(namespace, "karmada-system" | "karmada-cluster")
        || namespace.starts_with("karmada-es-")
        || namespace.starts_with("kube-")
}

fn resource_name(resource: &Resource) -> ObjectName {
    let metadata = &resource.metadata;
    ObjectName::new(&resource.type_meta.kind, &metadata.namespace, &metadata.name)
}
