//! What an API server fills in, applied offline.
//!
//! Sources: the `+kubebuilder:default` marks of Karmada's types and its mutating webhooks. On a live control
//! plane they have been applied already, and applying them again changes nothing. What a placement without
//! `replicaScheduling` means is decided where its strategy is found (`crate::strategy`).

use crate::api::{PolicyScope, PropagationPolicy, SpreadConstraint, SpreadField};

/// A spread constraint as the API server completes it: by cluster if no field is named, at least one group.
pub fn default_spread_constraint(constraint: &SpreadConstraint) -> SpreadConstraint {
    let mut constraint = constraint.clone();
    let field = constraint.spread_by_field.as_ref();
    let has_field = field.is_some_and(|field| !field.as_str().is_empty());
    if !has_field && constraint.spread_by_label.is_empty() {
        constraint.spread_by_field = Some(SpreadField::Cluster.into());
    }
    if constraint.min_groups == 0 {
        constraint.min_groups = 1;
    }
    constraint
}

/// Fills in a policy: a selector of a namespaced policy means the policy's namespace.
pub(super) fn apply_policy_defaults(policy: &mut PropagationPolicy) {
    if policy.scope() == PolicyScope::Namespaced {
        for selector in &mut policy.spec.resource_selectors {
            if selector.namespace.is_empty() {
                selector.namespace.clone_from(&policy.metadata.namespace);
            }
        }
    }
}
