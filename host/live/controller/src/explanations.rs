//! The newest explanation of each binding, bounded in bytes.
//!
//! Explanations are kept as JSON. Once they take more than their limit, the oldest are dropped; a binding that is
//! decided again counts as new.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use divvy_karmada::api::{TargetCluster, Timestamp};
use divvy_scheduler::cycle::explanation::Fate;
use divvy_scheduler::cycle::{ClusterExplanation, Explanation, LeftOut, Note};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::decision::LiveDecision;
use crate::objects::BindingKey;
use divvy_scheduler::decide::rules::Reason;

/// Bytes that all explanations may take.
pub(crate) const BYTES_MAX: usize = 16 << 20;

/// Rejected clusters that are listed per reason, in addition to those of the last result. The rest are only counted.
const REJECTED_MAX: usize = 20;

/// The newest explanation of each binding.
#[derive(Debug, Default)]
pub(crate) struct Explanations {
    entries: HashMap<Arc<BindingKey>, (u64, Box<[u8]>)>,
    order: BTreeMap<u64, Arc<BindingKey>>,
    bytes: usize,
    limit: usize,
    count: u64,
}

impl Explanations {
    /// An empty collection that takes at most `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }

    /// Keeps an explanation, replacing an older one of the same binding.
    pub(crate) fn insert(&mut self, key: &Arc<BindingKey>, explanation: &impl Serialize) {
        self.remove(key);
        let text = match serde_json::to_vec(explanation) {
            Ok(text) => text,
            Err(error) => {
                debug_assert!(false, "an explanation cannot be written as JSON: {error}");
                tracing::error!(binding = %key, %error, "the explanation is not kept");
                return;
            }
        };
        if text.len() > self.limit {
            return;
        }
        self.count += 1;
        self.bytes += text.len();
        self.entries.insert(Arc::clone(key), (self.count, text.into()));
        self.order.insert(self.count, Arc::clone(key));
        while self.bytes > self.limit
            && let Some((_, oldest)) = self.order.pop_first()
        {
            if let Some((_, text)) = self.entries.remove(&oldest) {
                self.bytes -= text.len();
            }
        }
    }

    /// Forgets a binding.
    pub(crate) fn remove(&mut self, key: &BindingKey) {
        if let Some((number, text)) = self.entries.remove(key) {
            self.order.remove(&number);
            self.bytes -= text.len();
        }
    }

    /// The explanation of a binding.
    pub(crate) fn get(&self, key: &BindingKey) -> Option<Value> {
        let (_, text) = self.entries.get(key)?;
        serde_json::from_slice(text).ok()
    }

    /// Bytes that all explanations take.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

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
    pub(crate) valid_until: Option<Cow<'a, str>>,
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
    pub(crate) fn clearing(self, clears: bool) -> Self {
        Self { clears, ..self }
    }

    /// Sets [`Self::held`].
    #[must_use]
    pub(crate) fn holding(self, held: Option<HeldCapacity<'a>>) -> Self {
        Self { held, ..self }
    }
}

/// Describes a decision. `warnings` are its own; `was_scheduled` is true if a placement was applied before.
pub(crate) fn describe<'a>(
    live: &'a LiveDecision,
    warnings: &'a [String],
    reason: Reason,
    last: &'a [TargetCluster],
    was_scheduled: bool,
    decided_at: &'a str,
) -> Description<'a> {
    let decision = &live.decision;
    let explanation = decision.explanation.as_ref();
    let failed_groups = decision.failures().map(|(affinity, error)| FailedGroup {
        affinity: affinity.into(),
        message: error.to_string().into(),
    });
    let valid_until = decision.valid_until.map(Timestamp::from_milliseconds);
    Description {
        decided_at: decided_at.into(),
        because: match reason {
            Reason::PlacementChanged if last.is_empty() && !was_scheduled => "it was never scheduled".into(),
            reason => because(reason).into(),
        },
        strategy: decision.strategy().into(),
        affinity: live.affinity().into(),
        valid_until: valid_until.map(|time| time.to_string().into()),
        outcome: match &live.result {
            Ok(clusters) => Outcome::Scheduled {
                clusters: clusters.into(),
            },
            Err(failure) => Outcome::Failed {
                reason: failure.reason.as_str().into(),
                message: failure.message.as_str().into(),
            },
        },
        partial: decision.partial.as_ref().map(|partial| partial.to_string().into()),
        clears: false,
        held: None,
        moving: None,
        last: last.into(),
        failed_groups: failed_groups.collect(),
        warnings: warnings.into(),
        candidates: explanation.map(candidates),
        further_candidates: explanation.and_then(further_candidates),
        rejected: explanation.map(|explanation| rejected(explanation, last)),
        notes: explanation.map(|explanation| explanation.notes.as_slice().into()),
    }
}

/// The rule by which a binding was decided, in words.
pub(crate) fn because(reason: Reason) -> &'static str {
    match reason {
        Reason::PlacementChanged => "its placement changed",
        Reason::PolicyChanged => "its strategy or preferences changed",
        Reason::ReplicasChanged => "its replicas did not add up",
        Reason::RescheduleRequested => "a reschedule was requested",
        Reason::RoomGrew => "it has fewer replicas than requested, and a cluster may have room",
        Reason::GoesEverywhere => "it goes to every candidate, and something changed",
        Reason::ClusterDeleting => "one of its clusters is being deleted",
        Reason::ClustersChanged => "a cluster changed, and the profile then reschedules",
        Reason::ResultExpired => "its result held until now",
        Reason::MoveInterrupted => "someone else changed it while it was moved in steps",
        Reason::TakesBack => "a cluster takes back what left it",
    }
}

fn candidates(explanation: &Explanation) -> Vec<Cow<'_, ClusterExplanation>> {
    let clusters = explanation.clusters.iter();
    clusters
        .filter(|cluster| cluster.candidate || cluster.replicas.is_some())
        .map(Cow::Borrowed)
        .collect()
}

/// Number of candidates that the explanation does not list; `None` if it lists all.
fn further_candidates(explanation: &Explanation) -> Option<usize> {
    let mut unlisted = explanation.unlisted.iter();
    unlisted
        .find(|unlisted| unlisted.fate == Fate::Candidate)
        .map(|unlisted| unlisted.count)
}

/// Text for a feasible cluster whose selector gives no reason.
const NOT_SELECTED: &str = "feasible, but not selected";

/// Rejected clusters by reason, and feasible ones that were not selected.
fn rejected<'a>(explanation: &'a Explanation, last: &[TargetCluster]) -> Vec<Rejected<'a>> {
    let mut by_reason: BTreeMap<(&str, &str), Names<'_>> = BTreeMap::new();
    for cluster in explanation
        .clusters
        .iter()
        .filter(|cluster| !cluster.candidate && cluster.replicas.is_none())
    {
        let reason = match (&cluster.rejected, &cluster.left_out) {
            (Some(note), _) => (note.plugin.as_str(), note.text.as_str()),
            (None, Some(LeftOut { plugin, reason })) => {
                let text = reason.as_ref().map_or(NOT_SELECTED, |reason| reason.text.as_str());
                (plugin.as_str(), text)
            }
            (None, None) => ("", NOT_SELECTED),
        };
        let names = by_reason.entry(reason).or_default();
        names.count += 1;
        let is_last = last.iter().any(|target| target.name == cluster.name);
        if is_last || names.others < REJECTED_MAX {
            names.others += usize::from(!is_last);
            names.listed.push(&cluster.name);
        }
    }
    for unlisted in &explanation.unlisted {
        let text = match unlisted.fate {
            Fate::Candidate => continue,
            Fate::LeftOut => NOT_SELECTED,
            Fate::Rejected => &unlisted.text,
        };
        by_reason.entry((&unlisted.plugin, text)).or_default().count += unlisted.count;
    }
    let reasons = by_reason.into_iter().map(|((plugin, reason), names)| Rejected {
        plugin: plugin.into(),
        reason: reason.into(),
        count: names.count,
        clusters: names.listed.into_iter().map(Cow::Borrowed).collect(),
    });
    reasons.collect()
}

/// Clusters with one reason.
#[derive(Default)]
struct Names<'a> {
    count: usize,
    listed: Vec<&'a str>,
    /// Listed ones that are not in the last result.
    others: usize,
}

#[cfg(test)]
mod tests {
    use super::*;
    use divvy_karmada::api::BindingScope;
    use serde_json::json;

    fn key(name: &str) -> Arc<BindingKey> {
        Arc::new(BindingKey {
            scope: BindingScope::Namespaced,
            namespace: "default".to_owned(),
            name: name.to_owned(),
        })
    }

    #[test]
    fn the_oldest_are_dropped_first() {
        let text = json!("12345678");
        let mut kept = Explanations::new(20);
        kept.insert(&key("a"), &text);
        kept.insert(&key("b"), &text);
        assert_eq!(kept.bytes(), 20);
        kept.insert(&key("a"), &text);
        kept.insert(&key("c"), &text);
        assert_eq!(kept.get(&key("b")), None);
        assert_eq!(kept.get(&key("a")), Some(text.clone()));
        assert_eq!(kept.get(&key("c")), Some(text));
        kept.insert(&key("d"), &json!("more than twenty bytes of text"));
        assert_eq!(kept.get(&key("d")), None);
        assert_eq!(kept.bytes(), 20);
    }
}
