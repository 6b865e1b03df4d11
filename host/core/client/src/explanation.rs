//! What a scheduler answers about a binding, at `/explain`: written by the scheduler, read by `divvy explain`.

use std::borrow::Cow;

use divvy_karmada::api::TargetCluster;
use divvy_scheduler::cycle::{ClusterExplanation, Note};
use serde::{Deserialize, Serialize};

/// A decision in the form in which it is kept and shown: the outcome, the rule by which it was made, each candidate, and the other
/// clusters by the reason of their rejection.
///
/// When written, it borrows from the decision and is serialised directly, because a tree of values for every cluster would cost several
/// times the decision itself. When read, it owns its contents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Description<'a> {
    /// Time of the decision.
    pub decided_at: Cow<'a, str>,
    /// The rule by which it was made, in words.
    pub because: Cow<'a, str>,
    /// Name of the strategy; empty if the binding has no plan.
    pub strategy: Cow<'a, str>,
    /// The affinity group that fitted; empty if none did or there are none.
    pub affinity: Cow<'a, str>,
    /// Time until which the decision holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<Cow<'a, str>>,
    /// The result or the failure.
    pub outcome: Outcome<'a>,
    /// The replicas that are missing, in words; absent if the result has all that were requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<Cow<'a, str>>,
    /// True if the previous result is removed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub clears: bool,
    /// Capacity that results hold on the clusters of the placement; `None` if there is none, or it was not determined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<HeldCapacity<'a>>,
    /// The state of its move, or the reason why it is not moved in steps, as of now.
    #[serde(default, rename = "move", skip_serializing_if = "Option::is_none")]
    pub moving: Option<Cow<'a, str>>,
    /// The clusters before the decision.
    pub last: Cow<'a, [TargetCluster]>,
    /// Each affinity group that failed.
    pub failed_groups: Vec<FailedGroup<'a>>,
    /// Mistakes in the binding or its policy that were tolerated.
    #[serde(default, skip_serializing_if = "<[String]>::is_empty")]
    pub warnings: Cow<'a, [String]>,
    /// The candidates; `None` if the decision was not explained.
    pub candidates: Option<Vec<Cow<'a, ClusterExplanation>>>,
    /// Number of candidates without replicas that are not listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub further_candidates: Option<usize>,
    /// The other clusters, by the reason of their rejection.
    pub rejected: Option<Vec<Rejected<'a>>>,
    /// Remarks of plugins on the decision as a whole.
    pub notes: Option<Cow<'a, [Note]>>,
}

/// What `/explain` answers about a binding.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer<'a> {
    /// Its newest decision.
    Decided(Box<Description<'a>>),
    /// Its decision is not remembered, but it is on the way to its result: the scheduler has started since, or a profile was loaded.
    Moving(Moving<'a>),
}

impl<'a> Answer<'a> {
    /// Reads an answer, which is JSON.
    ///
    /// # Errors
    ///
    /// The text is neither; the error is that of a decision.
    pub fn read(text: &'a [u8]) -> Result<Self, serde_json::Error> {
        let decision = serde_json::from_slice(text).map(|decision| Self::Decided(Box::new(decision)));
        decision.or_else(|error| serde_json::from_slice(text).map(Self::Moving).map_err(|_| error))
    }
}

/// A binding of which only the move is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Moving<'a> {
    /// The state of its move, as of now.
    #[serde(rename = "move")]
    pub moving: Cow<'a, str>,
}

/// The result or the failure of a decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Outcome<'a> {
    /// It has a result.
    Scheduled {
        /// The clusters.
        clusters: Cow<'a, [TargetCluster]>,
    },
    /// It has none.
    Failed {
        /// Reason of the condition.
        reason: Cow<'a, str>,
        /// Message of the condition.
        message: Cow<'a, str>,
    },
}

/// Capacity that results hold on the clusters of a placement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HeldCapacity<'a> {
    /// True if the result waits for it.
    pub waits: bool,
    /// The first parts, by cluster and in the order of the decisions.
    pub parts: Vec<HeldByResult<'a>>,
    /// Number of parts that are not listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub further: usize,
}

/// Capacity that one result holds on one cluster.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HeldByResult<'a> {
    /// Name of the cluster.
    pub cluster: Cow<'a, str>,
    /// Namespace and name of the binding.
    pub binding: String,
    /// Time of its decision.
    pub since: String,
    /// Each resource with the quantity that is not reported yet.
    pub resources: Vec<String>,
}

/// An affinity group that failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FailedGroup<'a> {
    /// Name of the group; empty if the placement has none.
    pub affinity: Cow<'a, str>,
    /// Error of the group.
    pub message: Cow<'a, str>,
}

/// Clusters that were rejected for one reason.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rejected<'a> {
    /// Name of the plugin; empty if no plugin rejected them.
    pub plugin: Cow<'a, str>,
    /// The reason.
    pub reason: Cow<'a, str>,
    /// Number of clusters.
    pub count: usize,
    /// The clusters that are listed.
    pub clusters: Vec<Cow<'a, str>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl<'a> Description<'a> {
    /// Sets [`Self::clears`].
    #[must_use]
    pub fn clearing(self, clears: bool) -> Self {
        Self { clears, ..self }
    }

    /// Sets [`Self::held`].
    #[must_use]
    pub fn holding(self, held: Option<HeldCapacity<'a>>) -> Self {
        Self { held, ..self }
    }
}
