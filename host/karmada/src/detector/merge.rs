//! Precedence among a binding, its policy and its workload.

use crate::api::{BindingScope, ObjectMeta, ObjectReference, PropagationPolicy, Resource, ResourceBinding};
use crate::policy::binding_name;
use crate::workloads::Demand;

/// The binding to schedule, merged from all known objects.
///
/// - The binding's own fields win. Its policy supplies a missing placement and scheduler name, its workload supplies
///   missing replicas and requirements, unless the binding has components or is in step with its workload: Karmada's
///   detector has then read this very version, and found that nothing is missing.
/// - A workload without a binding gets the binding that Karmada's detector would create.
/// - A binding that follows others does not get a placement.
pub(super) fn merge(
    binding: Option<&ResourceBinding>,
    policy: Option<&PropagationPolicy>,
    workload: Option<(&Resource, Option<&Demand>)>,
) -> ResourceBinding {
    let mut merged = match (binding, workload) {
        (Some(binding), _) => binding.clone(),
        (None, Some((resource, _))) => binding_from_workload(resource),
        (None, None) => ResourceBinding::default(),
    };
    let is_namespaced = merged.scope() == BindingScope::Namespaced;
    let spec = &mut merged.spec;
    if spec.resource.namespace.is_empty() && is_namespaced {
        spec.resource.namespace.clone_from(&merged.metadata.namespace);
    }
    if let Some(policy) = policy {
        if spec.placement.is_none() && spec.required_by.is_empty() {
            spec.placement = Some(policy.spec.placement.clone());
        }
        if spec.scheduler_name.is_empty() {
            spec.scheduler_name.clone_from(&policy.spec.scheduler_name);
        }
    }
    if let Some((resource, Some(demand))) = workload
        && spec.components.is_empty()
        && (binding.is_none() || !is_in_step(&spec.resource, &resource.metadata))
    {
        spec.replicas.get_or_insert(demand.replicas);
        if spec.replica_requirements.is_none() {
            spec.replica_requirements.clone_from(&demand.requirements);
        }
    }
    spec.replicas.get_or_insert(0);
    merged
}

/// True if a binding was made from this version of its workload.
fn is_in_step(reference: &ObjectReference, workload: &ObjectMeta) -> bool {
    !reference.resource_version.is_empty()
        && reference.resource_version == workload.resource_version
        && reference.uid == workload.uid
}

/// The binding that Karmada's detector creates for a workload, before its policy is applied. If the workload is being
/// deleted, so is its binding.
fn binding_from_workload(resource: &Resource) -> ResourceBinding {
    let Resource {
        type_meta, metadata, ..
    } = resource;
    let scope = if metadata.namespace.is_empty() {
        BindingScope::Cluster
    } else {
        BindingScope::Namespaced
    };
    let mut binding = ResourceBinding {
        api_version: ResourceBinding::API_VERSION.to_owned(),
        kind: scope.kind().to_owned(),
        metadata: ObjectMeta {
            name: binding_name(&type_meta.kind, &metadata.name),
            namespace: metadata.namespace.clone(),
            deletion_timestamp: metadata.deletion_timestamp,
            ..ObjectMeta::default()
        },
        ..ResourceBinding::default()
    };
    binding.spec.resource = ObjectReference {
        api_version: type_meta.api_version.clone(),
        kind: type_meta.kind.clone(),
        namespace: metadata.namespace.clone(),
        name: metadata.name.clone(),
        uid: metadata.uid.clone(),
        resource_version: metadata.resource_version.clone(),
    };
    binding
}
