//! The one form in which the cycle sees every way of asking for a strategy.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use divvy_documents::Warning;
use divvy_karmada::api::ClusterAffinity;

/// The origin of a strategy's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StrategySource {
    /// The caller asked for it, whatever the manifests say (`--strategy`).
    Override,
    /// `divvy.io/strategy` on the binding.
    BindingAnnotation,
    /// `divvy.io/strategy` on the policy.
    PolicyAnnotation,
    /// Preferences that make sense for `Specified` alone; the field names the key.
    ImpliedByPreferences(String),
    /// `replicas` in the policy's specification and nothing about their scheduling.
    ImpliedByTotal,
    /// `replicaSchedulingType: Duplicated`, written or by default.
    ReplicaSchedulingType,
    /// `extendReplicaDivisionPreference`.
    ExtendReplicaDivisionPreference,
    /// `replicaDivisionPreference`, written or by default.
    ReplicaDivisionPreference,
}

impl fmt::Display for StrategySource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Override => formatter.write_str("asked for by the caller"),
            Self::BindingAnnotation => formatter.write_str("the binding's annotation `divvy.io/strategy`"),
            Self::PolicyAnnotation => formatter.write_str("the policy's annotation `divvy.io/strategy`"),
            Self::ImpliedByPreferences(key) => write!(formatter, "implied by `{key}`"),
            Self::ImpliedByTotal => formatter.write_str("implied by the policy's `spec.replicas`"),
            Self::ReplicaSchedulingType => formatter.write_str("`replicaSchedulingType`"),
            Self::ExtendReplicaDivisionPreference => formatter.write_str("`extendReplicaDivisionPreference`"),
            Self::ReplicaDivisionPreference => formatter.write_str("`replicaDivisionPreference`"),
        }
    }
}

/// A preference for a group of clusters.
#[derive(Debug, Clone, PartialEq)]
pub struct PreferenceRule {
    /// The group. Empty is every cluster.
    pub target: ClusterAffinity,
    /// The preference: the fields of the list, such as `weight`.
    pub fields: BTreeMap<String, i64>,
    /// The rule's place, for messages.
    pub origin: String,
}

/// A strategy with its preferences.
#[derive(Debug, Clone, PartialEq)]
pub struct StrategyRequest {
    /// The strategy's name, one of those that a loaded plugin serves.
    pub strategy: String,
    /// Where the name comes from.
    pub source: StrategySource,
    /// Preferences by group of clusters, in the order of the manifest.
    pub rules: Vec<PreferenceRule>,
    /// The rest of `divvy.io/preferences`, which the plugin judges: without the keys that the host acts on.
    pub preferences: Option<Value>,
    /// Priorities of groups of clusters, larger first, by which the strategy runs tier by tier.
    pub priorities: Vec<(ClusterAffinity, i64)>,
    /// True if affinity groups are tiers instead of fallbacks.
    pub affinity_groups_as_tiers: bool,
    /// Mistakes that were read as well as possible.
    pub warnings: Vec<Warning>,
}
