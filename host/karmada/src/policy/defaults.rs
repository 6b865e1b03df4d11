//! The API server's defaults, applied offline.
//!
//! Sources: the `+kubebuilder:default` markers on Karmada's types, and its mutating webhooks. On a live control plane
//! they are already applied, and applying them again changes nothing. The default for a placement without
//! `replicaScheduling` is chosen together with its strategy, in `divvy_scheduler`.

use crate::api::{PolicyScope, PropagationPolicy, SpreadConstraint, SpreadField};

/// A spread constraint with the API server's defaults: group by cluster if it names no field or label, and require at
/// least one group.
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

/// Applies a policy's defaults: selectors of a namespaced policy get the policy's namespace.
pub(super) fn apply_policy_defaults(policy: &mut PropagationPolicy) {
    if policy.scope() == PolicyScope::Namespaced {
        for selector in &mut policy.spec.resource_selectors {
            if selector.namespace.is_empty() {
                selector.namespace.clone_from(&policy.metadata.namespace);
            }
        }
    }
}
