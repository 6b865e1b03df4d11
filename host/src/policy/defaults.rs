//! What an API server fills in, applied offline.
//!
//! Sources: the `+kubebuilder:default` marks of Karmada's types and its mutating webhooks. On a live control
//! plane they have been applied already, and applying them again changes nothing.

use crate::api::{
    Placement, PolicyScope, PropagationPolicy, ReplicaSchedulingStrategy, ReplicaSchedulingType, SpreadField,
};

/// Karmada's name for division by weight.
const WEIGHTED: &str = "Weighted";

/// Fills in a placement: duplicated if nothing is said of replicas, divided by weight if little is said, spread
/// by cluster if no field is named, at least one group.
pub fn apply_placement_defaults(placement: &mut Placement) {
    let scheduling = placement
        .replica_scheduling
        .get_or_insert_with(|| ReplicaSchedulingStrategy {
            replica_scheduling_type: Some(ReplicaSchedulingType::Duplicated.into()),
            ..ReplicaSchedulingStrategy::default()
        });
    let kind = &mut scheduling.replica_scheduling_type;
    if kind.as_ref().is_none_or(|kind| kind.as_str().is_empty()) {
        *kind = Some(ReplicaSchedulingType::Divided.into());
    }
    let names_none =
        scheduling.replica_division_preference.is_empty() && scheduling.extend_replica_division_preference.is_empty();
    if *kind == Some(ReplicaSchedulingType::Divided.into()) && names_none {
        scheduling.replica_division_preference = WEIGHTED.to_owned();
    }
    for constraint in &mut placement.spread_constraints {
        let has_field = constraint
            .spread_by_field
            .as_ref()
            .is_some_and(|field| !field.as_str().is_empty());
        if !has_field && constraint.spread_by_label.is_empty() {
            constraint.spread_by_field = Some(SpreadField::Cluster.into());
        }
        if constraint.min_groups == 0 {
            constraint.min_groups = 1;
        }
    }
}

/// Fills in a policy: a selector of a namespaced policy means the policy's namespace.
pub fn apply_policy_defaults(policy: &mut PropagationPolicy) {
    if policy.scope() == PolicyScope::Namespaced {
        for selector in &mut policy.spec.resource_selectors {
            if selector.namespace.is_empty() {
                selector.namespace.clone_from(&policy.metadata.namespace);
            }
        }
    }
}
