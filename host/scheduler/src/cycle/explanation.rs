//! Why each cluster got what it got. Made only when somebody asks.

use serde::Serialize;

/// The account of one cycle.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// Every cluster of the snapshot, by name.
    pub clusters: Vec<ClusterExplanation>,
    /// Remarks of plugins on the whole decision.
    pub notes: Vec<Note>,
}

/// A remark of a plugin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Note {
    /// The plugin.
    pub plugin: String,
    /// What it says.
    pub text: String,
}

/// The account of one cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterExplanation {
    /// The cluster.
    pub name: String,
    /// The filter that rejected it, and its reason; empty plugin if the cluster is being deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rejected: Option<Note>,
    /// What each Score plugin gave it, before the profile's weight.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scores: Vec<PluginScore>,
    /// All scores, weighted and added up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<i64>,
    /// Replicas that fit now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fits_now: Option<i64>,
    /// Replicas of the last result; absent if it does not list the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<i64>,
    /// Its tier, the best being 0; absent without tiers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<u32>,
    /// Whether Select made it a candidate.
    pub candidate: bool,
    /// Its replicas; absent for a cluster that is not in the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i64>,
    /// What the strategy says of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

/// What a Score plugin gave a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PluginScore {
    /// The plugin.
    pub plugin: String,
    /// Its score.
    pub score: i64,
}
