//! Rollouts that use the pod template of another workload (`workloadRef` of Argo Rollouts).
//!
//! A reader sees one object at a time, so that the requirements are added when all objects are known, overlays included.

use std::collections::HashMap;
use std::sync::Arc;

use divvy_karmada::api::{ReplicaRequirements, Resource, TypeMeta};
use divvy_karmada::workloads::WorkloadResource;
use divvy_spanned::{ObjectName, Warning};

use super::Located;

/// Type, namespace and name of a workload.
type Key = (TypeMeta, String, String);

/// Gives workloads that refer to another one its requirements. Returns a warning for each whose requirements are not known.
pub(super) fn resolve(resources: &mut [Located<Box<WorkloadResource>>]) -> Vec<Warning> {
    if !resources
        .iter()
        .any(|located| reads_template_of(&located.object).is_some())
    {
        return Vec::new();
    }
    let wanted = resources.iter().filter_map(|located| {
        let resource = reads_template_of(&located.object)?;
        let reference = resource.template_of.as_deref()?;
        let namespace = resource.metadata.namespace.clone();
        Some((reference.type_meta.clone(), namespace, reference.name.clone()))
    });
    // Few workloads are referred to, and an input has hundreds of thousands.
    let mut known: HashMap<Key, Option<Option<Arc<ReplicaRequirements>>>> = wanted.map(|key| (key, None)).collect();
    for located in resources.iter() {
        let WorkloadResource { resource, demand } = &*located.object;
        let metadata = &resource.metadata;
        let key = (
            resource.type_meta.clone(),
            metadata.namespace.clone(),
            metadata.name.clone(),
        );
        if let (Some(found), Some(demand)) = (known.get_mut(&key), demand) {
            *found = Some(demand.requirements.clone());
        }
    }
    let mut warnings = Vec::new();
    for located in resources {
        let Some(resource) = reads_template_of(&located.object) else {
            continue;
        };
        let Some(reference) = resource.template_of.as_deref() else {
            continue;
        };
        let metadata = &resource.metadata;
        let key = (
            reference.type_meta.clone(),
            metadata.namespace.clone(),
            reference.name.clone(),
        );
        match known.get(&key).cloned().flatten() {
            Some(requirements) => {
                if let Some(demand) = &mut located.object.demand {
                    demand.requirements = requirements;
                }
            }
            None => {
                let kind = &reference.type_meta.kind;
                let referred = ObjectName::new(kind, &metadata.namespace, &reference.name);
                let message = format!(
                    "the requests of its replicas are not known: `workloadRef` names {referred}, which is no workload of the input"
                );
                warnings.push(Warning {
                    source_of: Some(located.source.clone()),
                    object: Some(ObjectName::new(
                        &resource.type_meta.kind,
                        &metadata.namespace,
                        &metadata.name,
                    )),
                    ..Warning::new(message).with_hint(format!("add the {kind} to the input"))
                });
            }
        }
    }
    warnings
}

/// The resource, if its demand is read and uses another workload's template.
fn reads_template_of(workload: &WorkloadResource) -> Option<&Resource> {
    let has_reference = workload.demand.is_some() && workload.resource.template_of.is_some();
    has_reference.then_some(&workload.resource)
}
