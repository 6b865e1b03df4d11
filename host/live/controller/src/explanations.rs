//! The newest explanation of each binding, bounded in bytes.
//!
//! Explanations are kept as JSON. Once they take more than their limit, the oldest are dropped; a binding that is
//! decided again counts as new.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use divvy_client::explanation::{Description, FailedGroup, Outcome, Rejected};
use divvy_karmada::api::{TargetCluster, Timestamp};
use divvy_scheduler::cycle::explanation::Fate;
use divvy_scheduler::cycle::{ClusterExplanation, Explanation, LeftOut};
use serde::Serialize;
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

    /// The bindings that are explained, in no order.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &Arc<BindingKey>> {
        self.entries.keys()
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
