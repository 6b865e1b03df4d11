//! Bindings of workloads that have none, on all cores.

use std::num::NonZeroUsize;
use std::sync::Arc;

use super::claims::is_managed_by_another;
use super::followers::Followers;
use super::order::Order;
use super::priorities::Priorities;
use super::warnings::Warnings;
use super::{Binding, Entry, is_reserved, merge, resource_name};
use crate::api::StringMap;
use crate::policy::Policies;
use crate::workloads::{WorkloadKinds, WorkloadResource};
use divvy_parallel::collect;
use divvy_spanned::ObjectName;

/// Workloads for which starting another thread pays.
const WORKLOADS_PER_THREAD: usize = 4_000;

/// The outcome of consecutive workloads.
#[derive(Debug, Default)]
pub(super) struct Part {
    /// The bindings, in the order of arrival.
    pub(super) found: Vec<Binding>,
    /// Their order by namespace, name and scope.
    pub(super) order: Order,
    /// Resources that no policy matches, sorted.
    pub(super) unmatched: Vec<ObjectName>,
    /// What follows the workloads.
    pub(super) followers: Followers,
    /// Resources in reserved namespaces.
    pub(super) reserved: Vec<ObjectName>,
    /// Warnings in the order of arrival, one per kind.
    pub(super) warnings: Warnings,
}

/// Makes the bindings of workloads, which are in the order of arrival. The parts are in that order, too.
pub(super) fn detect(
    mut workloads: Vec<Entry<WorkloadResource>>,
    policies: &Policies,
    kinds: &WorkloadKinds,
    priorities: &Priorities,
    threads: NonZeroUsize,
) -> Vec<Part> {
    let shares = threads.get().min(workloads.len().div_ceil(WORKLOADS_PER_THREAD)).max(1);
    let length = workloads.len().div_ceil(shares);
    let mut shares: Vec<Vec<Entry<WorkloadResource>>> = (1..shares)
        .rev()
        .map(|number| workloads.split_off((number * length).min(workloads.len())))
        .collect();
    shares.push(workloads);
    let shares = shares.into_iter().rev();
    collect(shares, threads, || |share| part(share, policies, kinds, priorities))
}

fn part(
    workloads: Vec<Entry<WorkloadResource>>,
    policies: &Policies,
    kinds: &WorkloadKinds,
    priorities: &Priorities,
) -> Part {
    let mut part = Part::default();
    // In a dump, nearly every workload gets a binding. Reserved memory costs nothing until it is used.
    part.found.reserve_exact(workloads.len());
    for entry in workloads {
        let resource = &entry.object.resource;
        let metadata = &resource.metadata;
        if is_reserved(&metadata.namespace) {
            part.reserved.push(resource_name(resource));
            continue;
        }
        if is_managed_by_another(&StringMap::new(), Some(&metadata.labels)) || priorities.is_named(resource) {
            continue;
        }
        let Some(known) = policies.policy_for(&resource.type_meta, &resource.metadata) else {
            part.followers.may_be(resource);
            part.unmatched.push(resource_name(resource));
            continue;
        };
        part.followers.add(&known.policy, resource);
        part.warnings.warn_of_kind(&entry, kinds, "propagated whole");
        let priority = priorities.of(&known.policy);
        let (object, workload) = merge::create(*entry.object, &known.policy, priority);
        part.found.push(Binding {
            object,
            policy: Some(Arc::clone(&known.facts)),
            workload: Some(workload),
            source: entry.source,
            pending: Vec::new(),
        });
    }
    part.order = Order::of(&part.found);
    part.unmatched.sort();
    part
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::api::{ObjectMeta, PropagationPolicy, Resource, ResourceBinding, TypeMeta};
    use crate::detector::{Detected, Detector};

    use super::*;

    /// Workloads of several kinds in several namespaces, more than one thread takes. Two of them share the name of their binding,
    /// and some have a binding already.
    fn detector() -> Detector {
        let mut detector = Detector::new(WorkloadKinds::default());
        let policy: PropagationPolicy = serde_json::from_value(json!({
            "kind": "ClusterPropagationPolicy",
            "metadata": {"name": "all"},
            "spec": {"resourceSelectors": [
                {"apiVersion": "apps/v1", "kind": "Deployment"}, {"apiVersion": "example.io/v1", "kind": "Scaled"}]},
        }))
        .expect("a policy");
        detector.apply_policy(policy, None);
        let names = (0..3 * WORKLOADS_PER_THREAD).map(|number| format!("web-{:05}", number * 7_919 % 20_000));
        for (number, name) in names.chain(["a:b".to_owned(), "a.b".to_owned()]).enumerate() {
            let (api_version, kind) = match number % 10 {
                3 => ("v1", "ConfigMap"),
                7 => ("example.io/v1", "Scaled"),
                _ => ("apps/v1", "Deployment"),
            };
            let namespace = match number % 13 {
                5 => "kube-system".to_owned(),
                _ => format!("team-{}", name.len() + number / 2 % 3),
            };
            let metadata = ObjectMeta {
                name,
                namespace,
                ..ObjectMeta::default()
            };
            let type_meta = TypeMeta {
                api_version: api_version.to_owned(),
                kind: kind.to_owned(),
            };
            if number % 100 == 2 {
                let resource = json!({"apiVersion": api_version, "kind": kind, "name": metadata.name});
                let binding: ResourceBinding = serde_json::from_value(json!({
                    "kind": "ResourceBinding",
                    "metadata": {"name": format!("of-{}", metadata.name), "namespace": metadata.namespace},
                    "spec": {"replicas": 3, "resource": resource, "placement": {}},
                }))
                .expect("a binding");
                detector.apply_binding(binding, None);
            }
            let resource = WorkloadResource {
                resource: Resource::new(type_meta, metadata, &json!({"spec": {"replicas": 1}})),
                demand: None,
            };
            detector.apply_resource(resource, None);
        }
        detector
    }

    fn on(threads: usize) -> Detected {
        detector().detect_on(NonZeroUsize::new(threads).expect("a positive number"))
    }

    #[test]
    fn the_number_of_threads_does_not_affect_what_is_detected() {
        let one = on(1);
        assert!(one.bindings.is_sorted_by_key(Binding::key), "sorted by name");
        assert!(one.bindings.len() > 2 * WORKLOADS_PER_THREAD && one.unmatched.len() > 500);
        let messages: Vec<&str> = one.warnings.iter().map(|warning| warning.message.as_str()).collect();
        assert_eq!(messages.len(), 2, "{messages:?}");
        for threads in [2, 3, 64] {
            let several = on(threads);
            assert!(several.bindings == one.bindings, "{threads} threads");
            assert_eq!(several.unmatched, one.unmatched, "{threads} threads");
            assert_eq!(several.warnings, one.warnings, "{threads} threads");
        }
    }
}
