//! Resources that follow a workload to its clusters: what its pods refer to, if its policy says `propagateDeps: true`.
//!
//! Karmada's dependencies distributor makes bindings for them without a placement of their own, whether a policy matches them or not.

use std::collections::HashSet;

use super::resource_name;
use crate::api::{Dependency, PropagationPolicy, Resource};
use divvy_spanned::ObjectName;

/// What workloads refer to, and resources that may be among it.
#[derive(Debug, Default)]
pub(super) struct Followers {
    /// Namespaces and dependencies of workloads.
    needed: HashSet<(String, Dependency)>,
    /// Resources of the core group that no policy matches.
    candidates: Vec<ObjectName>,
}

impl Followers {
    /// Adds the dependencies of a workload that the policy governs.
    pub(super) fn add(&mut self, policy: &PropagationPolicy, workload: &Resource) {
        if !policy.spec.propagate_deps {
            return;
        }
        let namespace = &workload.metadata.namespace;
        let needed = workload.dependencies.iter();
        self.needed
            .extend(needed.map(|needed| (namespace.clone(), needed.clone())));
    }

    /// Adds a resource that no policy matches.
    pub(super) fn may_be(&mut self, resource: &Resource) {
        if resource.type_meta.group().is_empty() {
            self.candidates.push(resource_name(resource));
        }
    }

    /// Adds what others have.
    pub(super) fn take_in(&mut self, others: Self) {
        self.needed.extend(others.needed);
        self.candidates.extend(others.candidates);
    }

    /// The resources that follow a workload, sorted.
    pub(super) fn found(self) -> Vec<ObjectName> {
        let needed = self.needed.iter();
        let needed = needed.map(|(namespace, needed)| (needed.kind.word(), namespace.as_str(), &*needed.name));
        let needed: HashSet<(&str, &str, &str)> = needed.collect();
        let is_needed =
            |name: &ObjectName| needed.contains(&(name.kind.as_str(), name.namespace.as_str(), name.name.as_str()));
        let mut found: Vec<ObjectName> = self.candidates.into_iter().filter(is_needed).collect();
        found.sort();
        found
    }
}
