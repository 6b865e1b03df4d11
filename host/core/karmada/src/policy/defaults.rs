//! The API server's defaults, applied offline.
//!
//! Sources: the `+kubebuilder:default` markers on Karmada's types, and its mutating webhooks. On a live control plane
//! they are already applied, and applying them again changes nothing. The default for a placement without
//! `replicaScheduling` is chosen together with its strategy, in `divvy_scheduler`.

use crate::api::{
    Cluster, PolicyScope, PropagationPolicy, Quantity, ResourceModel, ResourceModelRange, SpreadConstraint, SpreadField,
};

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

/// Least CPUs and gibibytes of memory of a node of each class, by grade. The next grade begins where one ends.
const RESOURCE_MODELS: [(i64, i64); 9] = [
    (0, 0),
    (1, 4),
    (2, 16),
    (4, 32),
    (8, 64),
    (16, 128),
    (32, 256),
    (64, 512),
    (128, 1024),
];

/// Adds the resource models that Karmada's API server gives to a cluster without any (`SetDefaultClusterResourceModels`), if the
/// cluster reports nodes by model. Without such a report, models have no effect.
pub fn default_resource_models(cluster: &mut Cluster) {
    let summary = cluster.status.resource_summary.as_ref();
    let reports_nodes = summary.is_some_and(|summary| !summary.allocatable_modelings.is_empty());
    if !cluster.spec.resource_models.is_empty() || !reports_nodes {
        return;
    }
    let next = |grade: usize| RESOURCE_MODELS.get(grade + 1).copied();
    cluster.spec.resource_models = (0..)
        .zip(RESOURCE_MODELS.iter().enumerate())
        .map(|(grade, (index, &(cpu, memory)))| ResourceModel {
            grade,
            ranges: vec![
                range("cpu", cpu, next(index).map(|(cpu, _)| cpu), 1),
                range("memory", memory, next(index).map(|(_, memory)| memory), 1 << 30),
            ],
        })
        .collect();
}

/// The last class has no upper limit.
fn range(name: &str, minimum: i64, maximum: Option<i64>, unit: i64) -> ResourceModelRange {
    ResourceModelRange {
        name: name.to_owned(),
        min: Quantity::from_units(minimum * unit),
        max: Quantity::from_units(maximum.map_or(i64::MAX, |maximum| maximum * unit)),
    }
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
