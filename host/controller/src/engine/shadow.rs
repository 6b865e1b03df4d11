//! Shadow mode: deciding beside another scheduler without writing, and comparing.
//!
//! Each decision is made from the state before the other scheduler's write, and waits for that write. The other one has
//! decided when the result, the condition or the observed generation changes. What it wrote is taken as the truth from
//! then on: its results are held like own ones.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use divvy_karmada::api::{ResourceBinding, TargetCluster};
use divvy_scheduler::fleet::Footprint;
use serde_json::{Value, json};

use super::{Engine, Moment};
use crate::condition::SCHEDULED;
use crate::decision::Decision;
use crate::holdings::Holding;
use crate::objects::BindingKey;
use crate::store::Record;

/// Differences that are kept.
const DIFFERENCES_MAX: usize = 100;

/// Decisions that wait for the other scheduler's, and the last differences.
#[derive(Debug, Default)]
pub(super) struct Shadow {
    waiting: HashMap<Arc<BindingKey>, Waiting>,
    differences: VecDeque<Value>,
    agreed: u64,
    differed: u64,
}

/// A decision that waits for the other scheduler's.
#[derive(Debug)]
struct Waiting {
    uid: String,
    /// The state that the decision was made from, to notice the other's write.
    before: Mark,
    result: Result<Vec<TargetCluster>, &'static str>,
    strategy: String,
    footprint: Footprint,
    explanation: Value,
    /// Holding of the binding before the decision; `None` if the decision failed.
    holding: Option<Option<Holding>>,
}

/// Changes by a scheduler's write.
#[derive(Debug, PartialEq)]
struct Mark {
    clusters: Vec<TargetCluster>,
    condition: Option<(String, String, String)>,
    observed_generation: i64,
    scheduled_at: Option<i64>,
}

impl Mark {
    fn of(binding: &ResourceBinding) -> Self {
        let status = &binding.status;
        let condition = status.conditions.iter().find(|condition| condition.kind == SCHEDULED);
        Self {
            clusters: binding.spec.clusters.clone(),
            condition: condition.map(|known| (known.status.clone(), known.reason.clone(), known.message.clone())),
            observed_generation: status.scheduler_observed_generation,
            scheduled_at: status.last_scheduled_time.map(divvy_karmada::api::Timestamp::seconds),
        }
    }
}

impl Shadow {
    /// Results that wait for those of the other scheduler.
    pub(super) fn results(&self) -> impl Iterator<Item = (&Arc<BindingKey>, &[TargetCluster])> {
        let waiting = self.waiting.iter();
        waiting.filter_map(|(key, waiting)| Some((key, waiting.result.as_deref().ok()?)))
    }
}

impl Engine {
    /// Decides without writing, and compares each decision with that of the scheduler in charge.
    #[must_use]
    pub fn in_shadow(mut self) -> Self {
        self.shadow = Some(Shadow::default());
        self
    }

    /// Keeps a decision until the other scheduler's is seen.
    pub(super) fn wait_for_other(
        &mut self,
        key: &Arc<BindingKey>,
        binding: &ResourceBinding,
        decision: &Decision,
        explanation: Value,
        moment: &Moment,
    ) {
        if let Ok(result) = &decision.result {
            self.assume_placement(key, result, moment.instant);
        }
        let Some(shadow) = &mut self.shadow else { return };
        // Until the other's result is seen, the own one is the best guess at what is taken.
        let aggregated = self.bindings.get(key).map(|record| record.aggregated.clone());
        let holding = decision.result.as_ref().ok().map(|result| {
            let (last, aggregated) = (&binding.spec.clusters, aggregated.unwrap_or_default());
            self.holdings
                .take(key, result, last, &aggregated, &decision.footprint, moment.instant)
        });
        let waiting = Waiting {
            holding,
            uid: binding.metadata.uid.clone(),
            before: Mark::of(binding),
            result: match &decision.result {
                Ok(result) => Ok(result.clone()),
                Err(failure) => Err(failure.reason.as_str()),
            },
            strategy: decision.strategy.clone(),
            footprint: decision.footprint.clone(),
            explanation,
        };
        shadow.waiting.insert(Arc::clone(key), waiting);
    }

    /// Compares a waiting decision with a new version of its binding, if the other scheduler has written that.
    pub(super) fn compare_with_other(&mut self, key: &Arc<BindingKey>, moment: &Moment) {
        let Some(shadow) = &mut self.shadow else { return };
        let Some(record) = self.bindings.get(key) else { return };
        let Some(waiting) = shadow.waiting.get(key) else { return };
        let Some(binding) = record.binding().filter(|binding| binding.metadata.uid == waiting.uid) else {
            shadow.waiting.remove(key);
            return;
        };
        let after = Mark::of(&binding);
        // The result is written first and the status after it. Only with the latter the decision is complete.
        let has_decided = after.condition != waiting.before.condition
            || after.scheduled_at != waiting.before.scheduled_at
            || after.observed_generation != waiting.before.observed_generation;
        if !has_decided {
            return;
        }
        let Some(mut waiting) = shadow.waiting.remove(key) else {
            return;
        };
        let agrees = waiting.agrees(&after);
        self.panel.metrics.shadow(&waiting.strategy, agrees);
        match agrees {
            true => shadow.agreed += 1,
            false => {
                shadow.differed += 1;
                tracing::info!(binding = %key, strategy = waiting.strategy, "the decisions differ");
                shadow.differences.push_back(waiting.difference(key, &after, record));
                if shadow.differences.len() > DIFFERENCES_MAX {
                    shadow.differences.pop_front();
                }
            }
        }
        let page = json!({
            "agreed": shadow.agreed,
            "differed": shadow.differed,
            "waiting": shadow.waiting.len(),
            "differences": shadow.differences,
        });
        self.panel.shadowed(page);
        let (before, footprint) = (&waiting.before.clusters, &waiting.footprint);
        let aggregated = record.aggregated.clone();
        if let Some(holding) = waiting.holding.take() {
            self.holdings.give_back(key, holding);
        }
        self.holdings
            .take(key, &after.clusters, before, &aggregated, footprint, moment.instant);
        self.change_placements(moment.instant, |placements| placements.take_back(key));
    }

    /// Forgets a decision about a binding that is gone.
    pub(super) fn forget_shadow(&mut self, key: &BindingKey) {
        if let Some(shadow) = &mut self.shadow {
            shadow.waiting.remove(key);
        }
    }
}

impl Waiting {
    fn agrees(&self, after: &Mark) -> bool {
        let sorted = |targets: &[TargetCluster]| {
            let mut sorted: Vec<(String, i32)> = targets
                .iter()
                .map(|target| (target.name.clone(), target.replicas))
                .collect();
            sorted.sort();
            sorted
        };
        let has_failed = after.condition.as_ref().filter(|(status, ..)| status != "True");
        match (&self.result, has_failed) {
            (Ok(result), None) => sorted(result) == sorted(&after.clusters),
            (Err(reason), Some((_, other, _))) => reason == other,
            _ => false,
        }
    }

    fn difference(&self, key: &BindingKey, after: &Mark, record: &Record) -> Value {
        json!({
            "binding": key.to_string(),
            "kind": key.scope.kind(),
            "generation": record.generation,
            "strategy": self.strategy,
            "before": self.before.clusters,
            "divvy": self.explanation,
            "other": {
                "clusters": after.clusters,
                "condition": after.condition.as_ref().map(|(status, reason, message)| json!({
                    "status": status,
                    "reason": reason,
                    "message": message,
                })),
            },
        })
    }
}
