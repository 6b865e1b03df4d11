//! Shadow mode: deciding beside another scheduler without writing, and comparing.
//!
//! Each decision is made from the state before the other scheduler's write, and waits for that write. The other scheduler
//! has decided once the result, the condition or the observed generation changes. From then on, its result counts and is
//! held like an own one.

use std::collections::VecDeque;
use std::sync::Arc;

use divvy_karmada::api::TargetCluster;
use serde_json::{Value, json};

use super::candidate::Candidate;
use super::effects::{Count, Effect, Effects};
use super::life::Life;
use super::lives::Group;
use super::{Engine, Moment};
use crate::condition::Failure;
use crate::decision::LiveDecision;
use crate::holdings::DecisionNumber;
use crate::objects::BindingKey;
use crate::observe::Agreement;
use crate::store::Record;
use divvy_scheduler::decide::rules::Reason;

/// Maximum number of differences that are kept.
const DIFFERENCES_MAX: usize = 100;

/// Decisions that were compared, and the last differences.
#[derive(Debug, Default)]
pub(super) struct Shadow {
    differences: VecDeque<Value>,
    agreed: u64,
    differed: u64,
    /// Differences that holding capacity explains.
    differed_by_holding: u64,
}

/// A decision that waits for the other scheduler's.
#[derive(Debug)]
pub(super) struct Waiting {
    uid: String,
    /// The state that the decision was made from, to recognise the other scheduler's write.
    before: Mark,
    result: Result<Vec<TargetCluster>, &'static str>,
    /// The result with nothing held, if that may differ.
    unheld: Option<Result<Vec<TargetCluster>, &'static str>>,
    strategy: String,
    explanation: Value,
    /// Number of the decision, as long as its own result is held.
    guess: Option<DecisionNumber>,
}

/// Fields that a scheduler's write changes.
#[derive(Debug, PartialEq)]
struct Mark {
    clusters: Vec<TargetCluster>,
    condition: Option<(String, String, String)>,
    observed_generation: i64,
    scheduled_at: Option<i64>,
    /// Clusters that the resource is evicted from, which also changes the result.
    evicted_from: Vec<String>,
}

impl Mark {
    fn of(record: &Record) -> Self {
        let condition = record.scheduled();
        let condition = condition.map(|known| [known.status(), known.reason(), known.message()].map(str::to_owned));
        Self {
            clusters: record.clusters.targets(),
            condition: condition.map(<(String, String, String)>::from),
            observed_generation: record.observed_generation,
            scheduled_at: record.answered.map(divvy_karmada::api::Timestamp::seconds),
            evicted_from: record
                .evictions()
                .iter()
                .map(|task| task.from_cluster.clone())
                .collect(),
        }
    }

    /// True if the status that a scheduler writes differs.
    fn has_other_status(&self, other: &Self) -> bool {
        self.condition != other.condition
            || self.scheduled_at != other.scheduled_at
            || self.observed_generation != other.observed_generation
    }
}

impl Life {
    /// The result that waits for that of the other scheduler.
    pub(super) fn compared_result(&self) -> Option<&[TargetCluster]> {
        self.compared.as_ref()?.result.as_deref().ok()
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
        candidate: &Candidate,
        decision: &LiveDecision,
        unheld: Option<LiveDecision>,
        explanation: Value,
        moment: &Moment,
    ) -> Effects {
        let key = &candidate.key;
        let effects = match &decision.result {
            Ok(result) => self.assume_placement(key, result),
            Err(_) => Effects::default(),
        };
        // Until the other's result is seen, the own one is the best guess at the capacity that is taken.
        self.forget_guess(key);
        let guess = match &decision.result {
            Ok(result) => self.hold(key, result, candidate.last(), &decision.footprint, false, moment),
            Err(_) => None,
        };
        let waiting = Waiting {
            guess,
            uid: candidate.binding.uid().to_owned(),
            before: Mark::of(candidate.record()),
            result: outcome(&decision.result),
            unheld: unheld.map(|unheld| outcome(&unheld.result)),
            strategy: decision.decision.strategy().to_owned(),
            explanation,
        };
        self.lives.change(key, |life| life.compared = Some(Box::new(waiting)));
        effects
    }

    /// Releases the result of a decision that waits for the other scheduler's, once that is seen or the binding is decided again.
    pub(super) fn forget_guess(&mut self, key: &Arc<BindingKey>) {
        let guess = self.lives.update(key, |life| life.compared.as_mut()?.guess.take());
        if let Some(number) = guess.flatten() {
            self.capacity.holdings.retract(key, number);
            self.capacity.takings.retract(key);
        }
    }

    /// True if the other scheduler has written its result, but not the status that completes it. A decision made now would start from
    /// that result and differ.
    ///
    /// Only a rule that would apply without the result as well is a further change.
    pub(super) fn is_half_written(&self, candidate: &Candidate, reason: Reason) -> bool {
        let life = self.lives.get(&candidate.key);
        let Some(waiting) = life.and_then(|life| life.compared.as_ref()) else {
            return false;
        };
        let now = Mark::of(candidate.record());
        matches!(reason, Reason::RescheduleRequested | Reason::GoesEverywhere)
            && candidate.binding.uid() == waiting.uid
            && now.clusters != waiting.before.clusters
            && now.evicted_from == waiting.before.evicted_from
            && !now.has_other_status(&waiting.before)
    }

    /// Compares a waiting decision with a new version of its binding, if the other scheduler has written that.
    pub(super) fn compare_with_other(&mut self, key: &Arc<BindingKey>) -> Effects {
        let mut effects = Effects::default();
        let (Some(shadow), Some(record)) = (&mut self.shadow, self.bindings.get(key)) else {
            return effects;
        };
        let life = self.lives.get(key);
        let Some(waiting) = life.and_then(|life| life.compared.as_ref()) else {
            return effects;
        };
        if *record.uid != *waiting.uid {
            self.lives.update(key, |life| life.compared = None);
            return effects;
        }
        let after = Mark::of(record);
        // The result is written first, then the status, which completes the decision.
        if !after.has_other_status(&waiting.before) {
            return effects;
        }
        let Some(waiting) = self.lives.update(key, |life| life.compared.take()).flatten() else {
            return effects;
        };
        let agreement = waiting.agreement(&after);
        effects.count(Count::Compared(waiting.strategy.as_str().into(), agreement));
        if agreement == Agreement::Same {
            shadow.agreed += 1;
        } else {
            let is_held = agreement == Agreement::Held;
            shadow.differed += 1;
            shadow.differed_by_holding += u64::from(is_held);
            tracing::info!(binding = %key, strategy = waiting.strategy, by_holding = is_held, "the decisions differ");
            shadow
                .differences
                .push_back(waiting.difference(key, &after, record, is_held));
            if shadow.differences.len() > DIFFERENCES_MAX {
                shadow.differences.pop_front();
            }
        }
        let page = json!({
            "agreed": shadow.agreed,
            "differed": shadow.differed,
            "differedByHolding": shadow.differed_by_holding,
            "waiting": self.lives.keys(Group::Compared).len(),
            "differences": shadow.differences,
        });
        effects.push(Effect::ShowComparison(Box::new(page)));
        // The other's result is held since it was seen, so the own one is not.
        if let Some(number) = waiting.guess {
            self.capacity.holdings.retract(key, number);
            self.capacity.takings.retract(key);
        }
        effects.append(self.change_placements(|placements| placements.take_back(key)));
        effects
    }
}

impl Waiting {
    fn agreement(&self, after: &Mark) -> Agreement {
        match &self.unheld {
            _ if agrees(&self.result, after) => Agreement::Same,
            Some(unheld) if agrees(unheld, after) => Agreement::Held,
            _ => Agreement::Different,
        }
    }

    fn difference(&self, key: &BindingKey, after: &Mark, record: &Record, is_held: bool) -> Value {
        json!({
            "binding": key.to_string(),
            "kind": key.scope.kind(),
            "generation": record.generation,
            "strategy": self.strategy,
            "cause": is_held.then_some("capacity is held here until clusters report it"),
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

/// The part of a decision's outcome that is compared.
fn outcome(result: &Result<Vec<TargetCluster>, Failure>) -> Result<Vec<TargetCluster>, &'static str> {
    match result {
        Ok(result) => Ok(result.clone()),
        Err(failure) => Err(failure.reason.as_str()),
    }
}

/// True if an outcome is what the other scheduler wrote.
fn agrees(outcome: &Result<Vec<TargetCluster>, &'static str>, after: &Mark) -> bool {
    let sorted = |targets: &[TargetCluster]| {
        let mut sorted: Vec<(String, i32)> = targets
            .iter()
            .map(|target| (target.name.clone(), target.replicas))
            .collect();
        sorted.sort();
        sorted
    };
    let has_failed = after.condition.as_ref().filter(|(status, ..)| status != "True");
    match (outcome, has_failed) {
        (Ok(result), None) => sorted(result) == sorted(&after.clusters),
        (Err(reason), Some((_, other, _))) => reason == other,
        _ => false,
    }
}
