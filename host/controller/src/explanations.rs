//! The newest explanation of each binding, bounded in bytes.
//!
//! Explanations are kept as JSON. Once they take more than their limit, the oldest are dropped; a binding that is
//! decided again counts as new.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use divvy_karmada::api::TargetCluster;
use divvy_scheduler::cycle::Explanation;
use serde_json::{Value, json};

use crate::decide::rules::Reason;
use crate::decision::Decision;
use crate::objects::BindingKey;

/// Bytes that all explanations may take.
pub const BYTES_MAX: usize = 16 << 20;

/// Clusters that are listed one by one among those that were rejected, per reason. Of the rest only the number is kept.
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
    pub fn insert(&mut self, key: &Arc<BindingKey>, explanation: &Value) {
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
pub fn describe(decision: &Decision, reason: Reason, last: &[TargetCluster], decided_at: &str) -> Value {
    let outcome = match &decision.result {
        Ok(result) => json!({"clusters": result}),
        Err(failure) => json!({"reason": failure.reason.as_str(), "message": failure.message}),
    };
    let explanation = decision.explanation.as_ref();
    json!({
        "decidedAt": decided_at,
        "because": because(reason),
        "strategy": decision.strategy,
        "affinity": decision.affinity,
        "outcome": outcome,
        "last": last,
        "failedGroups": decision.failed_groups.iter().map(|(group, message)| json!({"affinity": group, "message": message})).collect::<Vec<_>>(),
        "candidates": explanation.map(candidates).unwrap_or_default(),
        "rejected": explanation.map(rejected).unwrap_or_default(),
        "notes": explanation.map(|explanation| json!(explanation.notes)).unwrap_or_default(),
    })
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
    }
}

fn candidates(explanation: &Explanation) -> Value {
    let candidates = explanation
        .clusters
        .iter()
        .filter(|cluster| cluster.candidate || cluster.replicas.is_some());
    candidates.map(|cluster| json!(cluster)).collect()
}

/// Rejected clusters by reason, and feasible ones that were not selected.
fn rejected(explanation: &Explanation) -> Value {
    let mut by_reason: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for cluster in explanation
        .clusters
        .iter()
        .filter(|cluster| !cluster.candidate && cluster.replicas.is_none())
    {
        let reason = match &cluster.rejected {
            Some(note) => (note.plugin.as_str(), note.text.as_str()),
            None => ("", "feasible, but not selected"),
        };
        by_reason.entry(reason).or_default().push(&cluster.name);
    }
    let reasons = by_reason.into_iter().map(|((plugin, reason), clusters)| {
        json!({
            "plugin": plugin,
            "reason": reason,
            "count": clusters.len(),
            "clusters": clusters.iter().take(REJECTED_MAX).collect::<Vec<_>>(),
        })
    });
    reasons.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use divvy_karmada::api::BindingScope;

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
