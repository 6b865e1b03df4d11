//! The newest explanation of each binding, bounded in bytes.
//!
//! Explanations are kept as JSON. Once they take more than their limit, the oldest are dropped; a binding that is
//! decided again counts as new.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use divvy_karmada::api::{TargetCluster, Timestamp};
use divvy_scheduler::cycle::explanation::Fate;
use divvy_scheduler::cycle::{ClusterExplanation, Explanation, LeftOut, Note};
use serde::Serialize;
use serde_json::Value;

use crate::decide::rules::Reason;
use crate::decision::Decision;
use crate::engine::HeldThere;
use crate::holdings::described;
use crate::objects::BindingKey;

/// Bytes that all explanations may take.
pub const BYTES_MAX: usize = 16 << 20;

/// Clusters that are listed one by one among those that were rejected, per reason, beside those of the last result. Of the
/// rest only the number is kept.
const REJECTED_MAX: usize = 20;

/// The newest explanation of each binding.
#[derive(Debug, Default)]
pub struct Explanations {
    entries: HashMap<Arc<BindingKey>, (u64, Box<[u8]>)>,
    order: BTreeMap<u64, Arc<BindingKey>>,
    bytes: usize,
    limit: usize,
    count: u64,
}

impl Explanations {
    /// An empty collection that takes at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }

    /// Keeps an explanation, in place of an older one of the same binding.
    pub fn insert(&mut self, key: &Arc<BindingKey>, explanation: &impl Serialize) {
        self.remove(key);
        let Ok(text) = serde_json::to_vec(explanation) else {
            return;
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
    pub fn remove(&mut self, key: &BindingKey) {
        if let Some((number, text)) = self.entries.remove(key) {
            self.order.remove(&number);
            self.bytes -= text.len();
        }
    }

    /// The explanation of a binding.
    pub fn get(&self, key: &BindingKey) -> Option<Value> {
        let (_, text) = self.entries.get(key)?;
        serde_json::from_slice(text).ok()
    }

    /// Bytes that all explanations take.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

/// A decision as it is kept: the outcome, the rule by which it was made, each candidate, and the other clusters by the
/// reason of their rejection.
///
/// It borrows from the decision and is written as text at once: a tree of values for every cluster costs several times the
/// decision itself.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Description<'a> {
    decided_at: &'a str,
    because: &'static str,
    strategy: &'a str,
    affinity: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    valid_until: Option<String>,
    outcome: Outcome<'a>,
    /// True if the previous result is removed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    clears: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    held: Option<Held<'a>>,
    last: &'a [TargetCluster],
    failed_groups: Vec<FailedGroup<'a>>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: &'a [String],
    candidates: Option<Vec<&'a ClusterExplanation>>,
    /// Number of candidates without replicas that are not listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    further_candidates: Option<usize>,
    rejected: Option<Vec<Rejected<'a>>>,
    notes: Option<&'a [Note]>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Outcome<'a> {
    Scheduled { clusters: &'a [TargetCluster] },
    Failed { reason: &'static str, message: &'a str },
}

/// Capacity that results hold on the clusters of the placement.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Held<'a> {
    /// True if the result waits for it.
    waits: bool,
    parts: Vec<HeldEntry<'a>>,
    /// Parts that are not listed.
    #[serde(skip_serializing_if = "is_zero")]
    further: usize,
}

/// Capacity that one result holds on one cluster.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct HeldEntry<'a> {
    cluster: &'a str,
    binding: String,
    since: String,
    resources: Vec<String>,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl<'a> Description<'a> {
    /// Notes whether the previous result is removed.
    #[must_use]
    pub(crate) fn clearing(self, clears: bool) -> Self {
        Self { clears, ..self }
    }

    /// Lists held capacity, if there is any. `waits` is true if the result waits for it.
    #[must_use]
    pub(crate) fn holding(self, waits: bool, there: &HeldThere<'a>) -> Self {
        let parts = there.parts.iter().map(|part| HeldEntry {
            cluster: part.cluster,
            binding: part.binding.to_string(),
            since: part.began.to_string(),
            resources: part
                .resources
                .iter()
                .map(|(resource, quantity)| described(resource, *quantity))
                .collect(),
        });
        let parts: Vec<HeldEntry<'a>> = parts.collect();
        let held = (!parts.is_empty()).then_some(Held {
            waits,
            parts,
            further: there.further,
        });
        Self { held, ..self }
    }
}

#[derive(Debug, Serialize)]
struct FailedGroup<'a> {
    affinity: &'a str,
    message: &'a str,
}

/// Clusters that were rejected for one reason.
#[derive(Debug, Serialize)]
struct Rejected<'a> {
    plugin: &'a str,
    reason: &'a str,
    count: usize,
    clusters: Vec<&'a str>,
}

/// Describes a decision.
pub fn describe<'a>(
    decision: &'a Decision,
    reason: Reason,
    last: &'a [TargetCluster],
    decided_at: &'a str,
) -> Description<'a> {
    let explanation = decision.explanation.as_ref();
    let failed_groups = decision.failed_groups.iter();
    Description {
        decided_at,
        because: because(reason),
        strategy: &decision.strategy,
        affinity: &decision.affinity,
        valid_until: decision
            .valid_until
            .map(|milliseconds| Timestamp::from_milliseconds(milliseconds).to_string()),
        outcome: match &decision.result {
            Ok(clusters) => Outcome::Scheduled { clusters },
            Err(failure) => Outcome::Failed {
                reason: failure.reason.as_str(),
                message: &failure.message,
            },
        },
        clears: false,
        held: None,
        last,
        failed_groups: failed_groups
            .map(|(affinity, message)| FailedGroup { affinity, message })
            .collect(),
        warnings: &decision.warnings,
        candidates: explanation.map(candidates),
        further_candidates: explanation.and_then(further_candidates),
        rejected: explanation.map(|explanation| rejected(explanation, last)),
        notes: explanation.map(|explanation| explanation.notes.as_slice()),
    }
}

/// The rule by which a binding was decided, in words.
pub fn because(reason: Reason) -> &'static str {
    match reason {
        Reason::PlacementChanged => "its placement changed",
        Reason::PolicyChanged => "its strategy or preferences changed",
        Reason::ReplicasChanged => "its replicas did not add up",
        Reason::RescheduleRequested => "a reschedule was requested",
        Reason::GoesEverywhere => "it goes to every candidate, and something changed",
        Reason::ClusterDeleting => "one of its clusters is being deleted",
        Reason::ClustersChanged => "a cluster changed, and the profile then reschedules",
        Reason::ResultExpired => "its result held until now",
    }
}

fn candidates(explanation: &Explanation) -> Vec<&ClusterExplanation> {
    let clusters = explanation.clusters.iter();
    clusters
        .filter(|cluster| cluster.candidate || cluster.replicas.is_some())
        .collect()
}

/// Number of candidates that the explanation does not list; `None` if it lists all.
fn further_candidates(explanation: &Explanation) -> Option<usize> {
    let mut unlisted = explanation.unlisted.iter();
    unlisted
        .find(|unlisted| unlisted.fate == Fate::Candidate)
        .map(|unlisted| unlisted.count)
}

/// Text for a feasible cluster whose selector says no more.
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
        plugin,
        reason,
        count: names.count,
        clusters: names.listed,
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
