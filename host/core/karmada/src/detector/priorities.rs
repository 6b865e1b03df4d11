//! Priorities of bindings in the scheduling queue, from the priority classes that policies name.
//!
//! Karmada's detector copies the value of a `PriorityClass` into the binding (`getPriority` of `pkg/detector`); it makes no binding
//! while the class is missing. Offline, a missing class is reported, and the binding has no priority.

use std::collections::{BTreeMap, BTreeSet};

use super::Detector;
use crate::api::{PropagationPolicy, Resource, SchedulePriority};

/// The only source of priorities that Karmada implements.
const PRIORITY_CLASSES: &str = "KubePriorityClass";

/// The classes that every API server of Kubernetes has.
const SYSTEM_CLASSES: [(&str, i32); 2] = [
    ("system-cluster-critical", 2_000_000_000),
    ("system-node-critical", 2_000_001_000),
];

/// Priority classes of the input, and those that policies name.
#[derive(Debug, Default)]
pub(super) struct Priorities {
    values: BTreeMap<String, i32>,
    named: BTreeSet<String>,
}

impl Priorities {
    pub(super) fn of_detector(detector: &Detector) -> Self {
        let policies = detector.policies.iter();
        let named = policies.filter_map(|known| class(&known.policy).map(str::to_owned));
        let named: BTreeSet<String> = named.collect();
        if named.is_empty() {
            return Self::default();
        }
        let system = SYSTEM_CLASSES.map(|(name, value)| (name.to_owned(), value));
        let given = detector.workloads.iter().filter_map(|workload| {
            let resource = &workload.resource;
            Some((resource.metadata.name.clone(), resource.priority?))
        });
        Self {
            values: system.into_iter().chain(given).collect(),
            named,
        }
    }

    /// The priority that a policy gives its bindings; `None` if it names no class, or one that the input lacks.
    pub(super) fn of(&self, policy: &PropagationPolicy) -> Option<SchedulePriority> {
        let priority = *self.values.get(class(policy)?)?;
        Some(SchedulePriority { priority })
    }

    /// True if a resource is a priority class that a policy names.
    pub(super) fn is_named(&self, resource: &Resource) -> bool {
        resource.priority.is_some() && self.named.contains(&resource.metadata.name)
    }

    /// The classes that policies name and the input lacks.
    pub(super) fn missing(&self) -> impl Iterator<Item = &str> {
        let named = self.named.iter().map(String::as_str);
        named.filter(|name| !self.values.contains_key(*name))
    }
}

/// The priority class that a policy names.
fn class(policy: &PropagationPolicy) -> Option<&str> {
    let named = policy.spec.schedule_priority.as_ref()?;
    (named.priority_class_source == PRIORITY_CLASSES).then_some(named.priority_class_name.as_str())
}
