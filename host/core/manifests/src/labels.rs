//! Labels of workloads, for commands that choose bindings by them. A binding has none of its workload's labels.

use std::collections::BTreeMap;

use divvy_karmada::api::{ObjectMeta, ResourceBinding, StringMap, TypeMeta};

use crate::Manifests;
use crate::overlay::{Identity, bound_identity, identity, workload_identity};

/// The labels of every workload and resource of the input.
#[derive(Debug, Clone, Default)]
pub struct WorkloadLabels {
    by_identity: BTreeMap<Identity, StringMap>,
}

impl WorkloadLabels {
    /// The labels in manifests that have not been moved into a detector yet.
    pub fn of(manifests: &Manifests) -> Self {
        let resources = manifests.resources.iter().map(|located| &located.object);
        let labels = resources.map(|workload| (workload_identity(workload), workload.resource.metadata.labels.clone()));
        Self {
            by_identity: labels.collect(),
        }
    }

    /// Adds the labels of a workload, unless the manifests have it.
    pub fn add(&mut self, type_meta: &TypeMeta, metadata: &ObjectMeta) {
        let identity = identity(type_meta.group(), &type_meta.kind, metadata);
        let labels = || metadata.labels.clone();
        self.by_identity.entry(identity).or_insert_with(labels);
    }

    /// Labels of the workload that a binding is for; `None` if it is not in the input.
    pub fn for_binding(&self, binding: &ResourceBinding) -> Option<&StringMap> {
        let mut identity = bound_identity(binding);
        // A namespaced binding need not repeat its namespace.
        if identity.1.namespace.is_empty() {
            identity.1.namespace.clone_from(&binding.metadata.namespace);
        }
        self.by_identity.get(&identity)
    }
}
