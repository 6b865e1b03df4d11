//! The one form in which the cycle sees every way of asking for a strategy.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use crate::api::ClusterAffinity;
use crate::manifests::Warning;

/// Where a strategy's name comes from.
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

/// What is preferred for a group of clusters.
#[derive(Debug, Clone, PartialEq)]
pub struct PreferenceRule {
    /// The group. Empty is every cluster.
    pub target: ClusterAffinity,
    /// What is preferred: `weight`, `replicas`, `priority`, or any field of `extendFields`.
    pub fields: BTreeMap<String, i64>,
    /// Where the rule stands, for messages.
    pub origin: String,
}

/// A list by which a strategy from outside is told what each group of clusters is to get: what its plugin declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleListName {
    /// The key of the list in `divvy.io/preferences`.
    pub list: String,
    /// The key of the number in each entry, beside `targetCluster`.
    pub field: String,
}

/// The lists that each strategy's plugin declares, by strategy.
pub type RuleLists = BTreeMap<String, Vec<RuleListName>>;

/// A strategy with its preferences.
#[derive(Debug, Clone, PartialEq)]
pub struct StrategyRequest {
    /// The strategy's name, one of those that a loaded plugin serves.
    pub strategy: String,
    /// Where the name comes from.
    pub source: StrategySource,
    /// Preferences by group of clusters, in the order of the manifest.
    pub rules: Vec<PreferenceRule>,
    /// The key under which a plugin expects the rules: `staticWeightList`, `staticSpecifyList`,
    /// `preferredPriorityList`; for a strategy from outside the list that its plugin declares, or `extendStaticList`.
    pub rules_key: Cow<'static, str>,
    /// What of the JSON of `divvy.io/preferences` the plugin is given: without the keys that the host acts on.
    pub preferences: Option<Value>,
    /// Priorities of clusters beside the strategy, by which it runs tier by tier.
    pub cluster_priority: Option<Vec<PreferenceRule>>,
    /// Whether weights follow what is available (`dynamicWeight: AvailableReplicas`).
    pub dynamic_weight: bool,
    /// Whether affinity groups are tiers instead of fallbacks.
    pub affinity_groups_as_tiers: bool,
    /// The total that the binding must have (`replicas` in the policy's specification).
    pub total: Option<i64>,
    /// Whether all clusters that the rules mean share one count (`idcs`, `Regions`).
    pub one_group: bool,
    /// What was read as best it could be.
    pub warnings: Vec<Warning>,
}
