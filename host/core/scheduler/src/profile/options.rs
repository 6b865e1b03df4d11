//! Settings of a profile that plans depend on.

use crate::placements::Enforced;

/// Settings from the profile and the caller that affect plans.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlanOptions {
    /// Seed of the profile.
    pub seed: u64,
    /// True if bindings with several components and a spread constraint of exactly one cluster are estimated as
    /// complete sets: Karmada's feature gate `MultiplePodTemplatesScheduling`.
    pub component_sets: bool,
    /// True if affinity groups are tiers unless an annotation says otherwise.
    pub affinity_groups_as_tiers: bool,
    /// Strategy for every binding, regardless of the manifests.
    pub strategy_override: Option<String>,
    /// True if a plugin needs the priority, or the metadata of policy and workload.
    pub metadata: bool,
    /// Workload affinity that the profile's filters promise to enforce.
    pub enforced_affinity: Enforced,
}
