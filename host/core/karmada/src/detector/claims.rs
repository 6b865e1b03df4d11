//! The policy that governs a binding of the input, and the bindings that no policy may change.
//!
//! Whenever Karmada's detector sees a policy, it removes the policy's claim from each resource that the selectors no longer match
//! (`cleanPPUnmatchedRBs` and its kin in `pkg/detector/policy.go`). The resource then goes to another policy that selects it; without
//! one, its binding stays as it is. The input is read as the state that the detector leaves behind.

use super::{Detector, ResourceKey};
use crate::api::{BindingScope, ObjectMeta, Resource, ResourceBinding, StringMap, TypeMeta};
use crate::policy::{KnownPolicy, Policies, claimed_by, may_select, release, selects, selects_regardless_of_labels};
use crate::workloads::WorkloadResource;

/// Label of a Service that a MultiClusterService has taken over (`util.ResourceTemplateClaimedByLabel`).
const CLAIMED_BY: &str = "resourcetemplate.karmada.io/claimed-by";
/// Label of a binding that another controller than the detector writes.
const MANAGED_BY: &str = "binding.karmada.io/managed-by";

/// A binding with the policy that governs it.
pub(super) struct Governed<'detector> {
    pub(super) object: Box<ResourceBinding>,
    pub(super) known: Option<&'detector KnownPolicy>,
    /// True if the detector writes nothing into the binding, from the policy or from the workload.
    pub(super) is_left_alone: bool,
}

impl Detector {
    /// The policy behind a binding: the one that the binding names if it still selects the workload, otherwise the one for its
    /// workload.
    pub(super) fn governed(
        &self,
        mut object: Box<ResourceBinding>,
        workload: Option<&WorkloadResource>,
    ) -> Governed<'_> {
        let labels = workload.map(|workload| &workload.resource.metadata.labels);
        if is_managed_by_another(&object.metadata.labels, labels) {
            return Governed {
                object,
                known: None,
                is_left_alone: true,
            };
        }
        if claimed_by(&object.metadata).is_none() {
            let known = workload.and_then(|workload| {
                let resource = &workload.resource;
                self.policies.policy_for(&resource.type_meta, &resource.metadata)
            });
            return Governed {
                object,
                known,
                is_left_alone: false,
            };
        }
        let claimant = self.policies.claimant(&object.metadata);
        let seen = match workload {
            Some(workload) => Seen::Whole(&workload.resource),
            None => reference(&object),
        };
        let has_given_up = claimant.filter(|known| !seen.may_be_selected_by(known));
        if has_given_up.is_none() {
            return Governed {
                object,
                known: claimant,
                is_left_alone: false,
            };
        }
        if workload.is_some_and(|workload| self.relabelled.contains(&resource_key(workload))) {
            return Governed {
                object,
                known: claimant,
                is_left_alone: true,
            };
        }
        release(&mut object.metadata);
        let known = seen.policy(&self.policies);
        Governed {
            object,
            is_left_alone: known.is_none(),
            known,
        }
    }
}

/// The resource of a binding, as far as the input has it.
enum Seen<'a> {
    Whole(&'a Resource),
    /// Type, namespace and name, without labels.
    Named(TypeMeta, Box<ObjectMeta>),
}

impl Seen<'_> {
    /// True unless the policy certainly does not select the resource.
    fn may_be_selected_by(&self, known: &KnownPolicy) -> bool {
        match self {
            Self::Whole(resource) => selects(&known.policy, &resource.type_meta, &resource.metadata),
            Self::Named(type_meta, metadata) => may_select(&known.policy, type_meta, metadata),
        }
    }

    /// The policy that claims the resource next. Labels that are not in the input cannot decide between policies.
    fn policy<'policies>(&self, policies: &'policies Policies) -> Option<&'policies KnownPolicy> {
        match self {
            Self::Whole(resource) => policies.policy_for(&resource.type_meta, &resource.metadata),
            Self::Named(type_meta, metadata) => policies
                .policy_for(type_meta, metadata)
                .filter(|known| selects_regardless_of_labels(&known.policy, type_meta, metadata)),
        }
    }
}

/// True if another controller than the detector owns a binding or its resource.
pub fn is_managed_by_another(binding: &StringMap, resource: Option<&StringMap>) -> bool {
    let has = |labels: &StringMap, key| labels.get(key).is_some_and(|value| !value.is_empty());
    has(binding, MANAGED_BY) || resource.is_some_and(|labels| has(labels, CLAIMED_BY))
}

/// The resource that a binding names.
fn reference(binding: &ResourceBinding) -> Seen<'static> {
    let resource = &binding.spec.resource;
    let type_meta = TypeMeta {
        api_version: resource.api_version.clone(),
        kind: resource.kind.clone(),
    };
    let namespace = match binding.scope() {
        BindingScope::Namespaced if resource.namespace.is_empty() => &binding.metadata.namespace,
        _ => &resource.namespace,
    };
    let metadata = ObjectMeta {
        name: resource.name.clone(),
        namespace: namespace.clone(),
        ..ObjectMeta::default()
    };
    Seen::Named(type_meta, Box::new(metadata))
}

fn resource_key(workload: &WorkloadResource) -> ResourceKey {
    let (type_meta, metadata) = (&workload.resource.type_meta, &workload.resource.metadata);
    let group = type_meta.group().to_owned();
    (
        group,
        type_meta.kind.clone(),
        metadata.namespace.clone(),
        metadata.name.clone(),
    )
}
