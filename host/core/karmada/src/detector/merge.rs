//! Precedence among a binding, its policy and its workload, and the binding of a workload that has none.

use std::sync::Arc;

use super::groups::affinity_groups;
use super::{Pending, WorkloadFacts};
use crate::api::{
    BindingScope, ObjectMeta, ObjectReference, PropagationPolicy, ReplicaRequirements, Resource, ResourceBinding,
    ResourceBindingSpec, SchedulePriority, TypeMeta,
};
use crate::policy::binding_name;
use crate::workloads::{Demand, WorkloadResource};

/// The activation preference of a policy whose changes wait for the workload's next change.
const LAZY: &str = "Lazy";

/// The binding to schedule: the one in the input, with all that Karmada's detector would write into it next.
///
/// - The last result, the status and the metadata are the binding's own.
/// - The placement is the policy's, unless the policy waits for a change of the workload (`activationPreference: Lazy`). A
///   binding that follows others does not get one. `priority` is that of the policy's priority class, if it names a known one.
/// - Replicas and requirements are the workload's, by the table of kinds. A binding that was made from exactly this
///   version of its workload keeps its own, because Karmada's interpreters know more kinds than the table. So does a binding
///   with components, and one whose workload is of a kind that the table lacks.
/// - Workload affinity groups follow from the placement and the workload's labels, if the detector would write either of
///   these next.
pub(super) fn merge(
    mut merged: Box<ResourceBinding>,
    policy: Option<&PropagationPolicy>,
    priority: Option<SchedulePriority>,
    workload: Option<(&Resource, Option<&Demand>)>,
) -> (Box<ResourceBinding>, Vec<Pending>) {
    let mut pending = Vec::new();
    let is_namespaced = merged.scope() == BindingScope::Namespaced;
    let spec = &mut merged.spec;
    if spec.resource.namespace.is_empty() && is_namespaced {
        spec.resource.namespace.clone_from(&merged.metadata.namespace);
    }
    // A workload that is not in the input did not change.
    let is_changed = workload.is_some_and(|(resource, _)| !spec.resource.is_in_step(&resource.metadata));
    if let Some(policy) = policy {
        let had_placement = spec.placement.is_some();
        // A status or another writer raises the version of a workload, too. Karmada's detector ignores those.
        let is_written = is_changed && workload.is_some_and(|workload| is_specified_anew(spec, workload));
        let is_due = is_written || policy.spec.activation_preference != LAZY;
        apply_policy(policy, is_due, spec, &mut pending);
        if is_due && priority.is_some() {
            spec.schedule_priority = priority;
        }
        let is_moved = !had_placement || pending.contains(&Pending::Placement);
        if let Some((resource, _)) = workload.filter(|_| is_changed || is_moved) {
            apply_groups(resource, had_placement, spec, &mut pending);
        }
    }
    if let Some((_, Some(demand))) = workload
        && is_changed
    {
        if !demand.components.is_empty() {
            apply_components(demand, spec, &mut pending);
        } else if spec.components.is_empty() {
            apply_demand(demand, spec, &mut pending);
        }
    }
    spec.replicas.get_or_insert(0);
    (merged, pending)
}

/// True if a workload of another version has other replicas or requirements than its binding, or has no version: it then comes from
/// a file or an overlay, which a user applies. Generations cannot be compared, because a binding does not record any.
fn is_specified_anew(spec: &ResourceBindingSpec, (resource, demand): (&Resource, Option<&Demand>)) -> bool {
    if resource.metadata.resource_version.is_empty() || spec.resource.uid != resource.metadata.uid {
        return true;
    }
    demand.is_some_and(|demand| {
        if !spec.components.is_empty() || !demand.components.is_empty() {
            return !demand.components.is_empty() && spec.components != demand.components;
        }
        spec.replicas != Some(demand.replicas)
            || !is_same_demand(spec.replica_requirements.as_deref(), demand.requirements.as_deref())
    })
}

fn apply_policy(policy: &PropagationPolicy, is_due: bool, spec: &mut ResourceBindingSpec, pending: &mut Vec<Pending>) {
    let placement = &policy.spec.placement;
    match &spec.placement {
        None if spec.required_by.is_empty() => spec.placement = Some(Arc::clone(placement)),
        Some(own) if own != placement && is_due => {
            spec.placement = Some(Arc::clone(placement));
            pending.push(Pending::Placement);
        }
        Some(own) if own != placement => pending.push(Pending::Lazy),
        _ => {}
    }
    if spec.scheduler_name.is_empty() {
        spec.scheduler_name.clone_from(&policy.spec.scheduler_name);
    }
}

/// Puts the binding into the groups that its placement and its workload's labels give it.
fn apply_groups(workload: &Resource, had_placement: bool, spec: &mut ResourceBindingSpec, pending: &mut Vec<Pending>) {
    let groups = spec.placement.as_deref();
    let groups = groups.and_then(|placement| affinity_groups(placement, &workload.metadata.labels));
    if spec.workload_affinity_groups == groups {
        return;
    }
    spec.workload_affinity_groups = groups;
    // The cause may be another placement, which is reported separately.
    if had_placement && !pending.contains(&Pending::Placement) {
        pending.push(Pending::WorkloadAffinityGroups);
    }
}

/// A workload with components has neither replicas nor requirements of its own.
fn apply_components(demand: &Demand, spec: &mut ResourceBindingSpec, pending: &mut Vec<Pending>) {
    let has_own = spec.replicas.is_some() || !spec.components.is_empty();
    if has_own && spec.components != demand.components {
        pending.push(Pending::Requirements);
    }
    spec.components.clone_from(&demand.components);
    spec.replicas = None;
    spec.replica_requirements = None;
}

fn apply_demand(demand: &Demand, spec: &mut ResourceBindingSpec, pending: &mut Vec<Pending>) {
    let own = spec.replicas.replace(demand.replicas);
    if let Some(binding) = own.filter(|own| *own != demand.replicas) {
        let workload = demand.replicas;
        pending.push(Pending::Replicas { binding, workload });
    }
    // A binding that has neither says nothing about its workload.
    let has_own = own.is_some() || spec.replica_requirements.is_some();
    if has_own && !is_same_demand(spec.replica_requirements.as_deref(), demand.requirements.as_deref()) {
        pending.push(Pending::Requirements);
    }
    spec.replica_requirements.clone_from(&demand.requirements);
}

/// True if two requirements demand the same from a cluster. The namespace is not compared: a hand-written binding lacks it.
fn is_same_demand(one: Option<&ReplicaRequirements>, other: Option<&ReplicaRequirements>) -> bool {
    let (Some(one), Some(other)) = (one, other) else {
        return one.is_none() && other.is_none();
    };
    one.node_claim == other.node_claim
        && one.resource_request == other.resource_request
        && one.priority_class_name == other.priority_class_name
}

/// The binding that Karmada's detector creates for a workload that has none and that this policy matches. If the workload is
/// being deleted, so is its binding. The texts of the workload are moved: a dump has hundreds of thousands.
pub(super) fn create(
    workload: WorkloadResource,
    policy: &PropagationPolicy,
    priority: Option<SchedulePriority>,
) -> (Box<ResourceBinding>, WorkloadFacts) {
    let WorkloadResource { resource, demand } = workload;
    let Resource {
        type_meta: TypeMeta { api_version, kind },
        metadata,
        ..
    } = resource;
    let placement = &policy.spec.placement;
    let groups = affinity_groups(placement, &metadata.labels);
    let scope = if metadata.namespace.is_empty() {
        BindingScope::Cluster
    } else {
        BindingScope::Namespaced
    };
    let demand = demand.unwrap_or_default();
    let binding = ResourceBinding {
        api_version: ResourceBinding::API_VERSION.to_owned(),
        kind: scope.kind().to_owned(),
        metadata: ObjectMeta {
            name: binding_name(&kind, &metadata.name),
            namespace: metadata.namespace.clone(),
            deletion_timestamp: metadata.deletion_timestamp,
            ..ObjectMeta::default()
        },
        spec: ResourceBindingSpec {
            resource: ObjectReference {
                api_version,
                kind,
                namespace: metadata.namespace,
                name: metadata.name,
                uid: metadata.uid,
                resource_version: metadata.resource_version,
            },
            replicas: Some(demand.replicas),
            replica_requirements: demand.requirements,
            components: demand.components,
            placement: Some(Arc::clone(placement)),
            scheduler_name: policy.spec.scheduler_name.clone(),
            schedule_priority: priority,
            workload_affinity_groups: groups,
            ..ResourceBindingSpec::default()
        },
        ..ResourceBinding::default()
    };
    let facts = WorkloadFacts {
        labels: metadata.labels,
        annotations: metadata.annotations,
    };
    (Box::new(binding), facts)
}
