//! Explanations: why each cluster got its replicas. Built only if requested.
//!
//! `host/desk/cli/schema/schedule.json` describes their form in JSON.

use std::borrow::Cow;
use std::collections::BTreeMap;

use divvy_framework_view::reason::{Bound, Cause};
use serde::{Deserialize, Serialize};

use super::skipped::Skipped;

/// Clusters that an explanation lists one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Every cluster.
    Full,
    /// The clusters of the result and of the last result, and at most this many others per plugin and reason, the first by
    /// name. [`Explanation::unlisted`] counts the rest. In a large fleet, this takes a fraction of the time.
    Short(usize),
    /// The clusters of the result and of the last result. The others are not even counted.
    Assigned,
}

/// Explanation of one cycle.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// Clusters of the snapshot, sorted by name: all of them, or those that [`Detail`] chooses.
    pub clusters: Vec<ClusterExplanation>,
    /// Clusters that are not listed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unlisted: Vec<Unlisted>,
    /// Plugins' remarks about the decision as a whole.
    pub notes: Vec<Note>,
    /// Plugins that failed, and that the decision went on without.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Skipped>,
}

/// Number of clusters that are not listed, for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Unlisted {
    /// Outcome for these clusters.
    pub fate: Fate,
    /// Name of the plugin that rejected them or left them out; empty for candidates, for clusters that are being deleted or
    /// were rejected without a reason, and for those that Select did not see.
    pub plugin: String,
    /// Reason of their rejection; empty for the others.
    pub text: String,
    /// Number of clusters.
    pub count: usize,
}

/// Outcome for a cluster that is not in the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Fate {
    /// A candidate that got no replicas.
    Candidate,
    /// Feasible, but not selected.
    LeftOut,
    /// Rejected by a filter, or being deleted.
    Rejected,
}

/// A plugin's remark.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Note {
    /// Name of the plugin.
    pub plugin: String,
    /// Text of the remark.
    pub text: String,
}

impl Note {
    /// The rejection of a cluster that is being deleted. No plugin decides it.
    pub(super) fn deleting() -> Self {
        Self {
            plugin: String::new(),
            text: "cluster is being deleted".to_owned(),
        }
    }

    /// The rejection of a cluster for which the filter gave no reason, so that it is not known which filter it was.
    pub(super) fn unexplained() -> Self {
        Self {
            plugin: String::new(),
            text: "cluster was rejected without a reason".to_owned(),
        }
    }
}

/// Explanation for one cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterExplanation {
    /// Name of the cluster.
    pub name: String,
    /// The filter that rejected it, with the reason. The plugin's name is empty if the cluster is being deleted, or if the filter
    /// gave no reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejected: Option<Note>,
    /// Score from each Score plugin, before the profile's weights.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scores: Vec<PluginScore>,
    /// Weighted sum of all scores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<i64>,
    /// Estimate of the replicas that fit now; absent if the cluster was not estimated or nothing limits them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fits_now: Option<i64>,
    /// Replicas in the last result; absent if it does not list the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<i64>,
    /// Tier of the cluster, 1 being the best; absent if the binding has no tiers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<u32>,
    /// True if Select made it a candidate.
    pub candidate: bool,
    /// The selector that left it out; absent for a candidate, and for a cluster that Select did not see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<LeftOut>,
    /// Replicas assigned; absent if the cluster is not in the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i64>,
    /// Reasons for its replicas, and other remarks of plugins on it, in the order of their calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Reason>,
}

/// A selector that left a cluster out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LeftOut {
    /// Name of the plugin.
    pub plugin: String,
    /// Its reason, if it gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
}

/// A plugin's reason for its decision on a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reason {
    /// Name of the plugin.
    pub plugin: String,
    /// The rule: a word of [`Cause`].
    pub cause: Cow<'static, str>,
    /// Limit that prevents a larger share, or the choice of the cluster: a word of [`Bound`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound_by: Option<Cow<'static, str>>,
    /// Distribution of the replicas that rounding leaves over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remainder: Option<Remainder>,
    /// Figures by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub figures: BTreeMap<String, i64>,
    /// All of it in one line.
    pub text: String,
}

/// Distribution of the replicas that rounding leaves over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Remainder {
    /// True if the cluster got one of them.
    pub served: bool,
    /// Rule that decided it: a word of [`Decider`](divvy_framework_view::reason::Decider).
    pub decided_by: Cow<'static, str>,
}

impl Reason {
    /// The reason of a plugin.
    pub fn of(plugin: &str, given: &divvy_framework_view::reason::Reason) -> Self {
        let remainder = given.remainder_by().map(|(served, decider)| Remainder {
            served,
            decided_by: decider.word().into(),
        });
        Self {
            plugin: plugin.to_owned(),
            cause: given.cause().word().into(),
            bound_by: given.bound_by().map(|bound| Bound::word(bound).into()),
            remainder,
            figures: given.figures().map(|(name, value)| (name.to_owned(), value)).collect(),
            text: given.to_string(),
        }
    }

    /// True if it consists of its text alone, in the plugin's own words.
    pub fn is_plain(&self) -> bool {
        self.cause == Cause::Other.word()
    }
}

/// A Score plugin's score for a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PluginScore {
    /// Name of the plugin.
    pub plugin: String,
    /// Score before the profile's weight.
    pub score: i64,
    /// The plugin's reason for it, if it gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
}
