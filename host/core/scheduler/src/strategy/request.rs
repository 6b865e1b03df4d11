//! The common form of all the ways to request a strategy.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use divvy_karmada::api::ClusterAffinity;
use divvy_spanned::Warning;

/// Origin of a strategy's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StrategySource {
    /// Requested by the caller, regardless of the manifests (`--strategy`).
    Override,
    /// `divvy.io/strategy` on the binding.
    BindingAnnotation,
    /// `divvy.io/strategy` on the policy.
    PolicyAnnotation,
    /// A key of the preferences that only `Specified` reads; the field holds the key.
    ImpliedByPreferences(String),
    /// `replicas` in the policy's specification, without `replicaScheduling`.
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
            Self::Override => formatter.write_str("request of the caller"),
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
    /// Name of the list that the rule is an entry of; empty for an extension field under a strategy that declares no list.
    pub list: String,
    /// The group. An empty affinity matches every cluster.
    pub target: ClusterAffinity,
    /// Values of the list's fields, such as `weight`.
    pub fields: BTreeMap<String, i64>,
    /// Location of the rule, for messages.
    pub origin: String,
}

/// Preferences for a plugin other than the strategy's.
#[derive(Debug, Clone, PartialEq)]
pub struct PluginPreferences {
    /// Name of the plugin.
    pub plugin: String,
    /// The preferences, a JSON object. The plugin validates it.
    pub preferences: Value,
    /// Name of the annotation that holds them.
    pub annotation: String,
    /// Location of the preferences, for messages.
    pub origin: String,
}

/// A strategy with its preferences.
#[derive(Debug, Clone, PartialEq)]
pub struct StrategyRequest {
    /// Name of the strategy, one that a loaded plugin serves.
    pub strategy: String,
    /// Origin of the name.
    pub source: StrategySource,
    /// Preferences by group of clusters, in the order of the manifest.
    pub rules: Vec<PreferenceRule>,
    /// The rest of `divvy.io/preferences`, without the keys that the host handles. The plugin validates it.
    pub preferences: Option<Value>,
    /// Location of the preferences, for messages; empty if there are none.
    pub preferences_origin: String,
    /// Name of the annotation that holds them; empty if there are none.
    pub preferences_annotation: String,
    /// Name of the plugin that serves the strategy.
    pub plugin: String,
    /// Preferences for other plugins that take part in the decision, by name.
    pub plugin_preferences: Vec<PluginPreferences>,
    /// Priorities of groups of clusters, which make the strategy run tier by tier. The largest priority comes first.
    pub priorities: Vec<(ClusterAffinity, i64)>,
    /// True if the placement contains Karmada's `weightPreference` without any weight. Karmada then divides evenly and, unlike
    /// without `weightPreference`, applies the spread constraints.
    pub has_empty_weights: bool,
    /// True if affinity groups are tiers instead of fallbacks.
    pub affinity_groups_as_tiers: bool,
    /// Replicas from which fewer than requested are divided; `None` if only all of them are.
    pub quorum: Option<i64>,
    /// Mistakes in the manifests that were tolerated.
    pub warnings: Vec<Warning>,
}
