//! Explanations: why each cluster got its replicas. Built only if requested.

use serde::Serialize;

/// Explanation of one cycle.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// Every cluster of the snapshot, sorted by name.
    pub clusters: Vec<ClusterExplanation>,
    /// Plugins' remarks about the decision as a whole.
    pub notes: Vec<Note>,
}

/// A plugin's remark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Note {
    /// Name of the plugin.
    pub plugin: String,
    /// Text of the remark.
    pub text: String,
}

/// Explanation for one cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterExplanation {
    /// Name of the cluster.
    pub name: String,
    /// The filter that rejected it, with the reason. The plugin's name is empty if the cluster is being deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rejected: Option<Note>,
    /// Score from each Score plugin, before the profile's weights.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scores: Vec<PluginScore>,
    /// Weighted sum of all scores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<i64>,
    /// Estimate of the replicas that fit now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fits_now: Option<i64>,
    /// Replicas in the last result; absent if it does not list the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<i64>,
    /// Tier of the cluster, 0 being the best; absent if the binding has no tiers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<u32>,
    /// True if Select made it a candidate.
    pub candidate: bool,
    /// Replicas assigned; absent if the cluster is not in the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i64>,
    /// The plugins' remarks about this cluster, in the order of their calls.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

/// A Score plugin's score for a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PluginScore {
    /// Name of the plugin.
    pub plugin: String,
    /// Score before the profile's weight.
    pub score: i64,
}
