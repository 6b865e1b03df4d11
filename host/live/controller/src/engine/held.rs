//! Capacity that results hold: changes of results that take or release it, and its effect on decisions.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use divvy_karmada::api::{Placement, TargetCluster};
use divvy_scheduler::fleet::Footprint;

use super::effects::{Count, Effects};
use super::{Engine, Moment};
use crate::condition::{Cause, Failure, Retry, ScheduledReason};
use crate::decision::{LiveDecision, replicas_on};
use crate::holdings::{DecisionNumber, HeldPart, NewResult, described};
use crate::objects::BindingKey;
use divvy_client::explanation::{HeldByResult, HeldCapacity};
use divvy_scheduler::decide::affinity::selects;

/// Held parts that an explanation lists.
const LISTED_MAX: usize = 20;

/// Held parts that a line of the log lists.
const LOGGED_MAX: usize = 3;

/// Capacity that is held on the clusters of a placement.
#[derive(Debug, Default)]
pub(super) struct HeldThere<'a> {
    /// The first parts, by cluster and in the order of the decisions.
    parts: Vec<HeldPart<'a>>,
    /// Parts that are not listed.
    further: usize,
    /// Sum of each resource.
    sums: BTreeMap<&'a str, i64>,
}

impl Engine {
    /// Holds the capacity that a result takes, `is_written` or not yet, and remembers it for last answers of estimators; `None` if the
    /// profile does not hold and no estimator is asked.
    pub(super) fn hold(
        &mut self,
        key: &Arc<BindingKey>,
        targets: &[TargetCluster],
        last: &[TargetCluster],
        footprint: &Footprint,
        is_written: bool,
        moment: &Moment,
    ) -> Option<DecisionNumber> {
        let record = self.bindings.get(key);
        let aggregated = record.map(|record| &*record.aggregated).unwrap_or_default();
        if self.estimators.know_assumed {
            self.capacity
                .assumed
                .assume(key, targets, aggregated, footprint, moment.instant);
        }
        // A last answer lacks what was assigned since it was given, whether the profile holds capacity for reports or not.
        if self.estimators.are_asked {
            self.capacity
                .takings
                .push(key, targets, last, footprint, moment.instant);
        }
        if !self.active.holds() {
            return self.estimators.are_asked.then(|| self.capacity.holdings.number());
        }
        let result = NewResult {
            targets,
            last,
            aggregated,
            footprint,
            is_written,
            since: moment.instant,
            began: moment.wall,
        };
        Some(self.capacity.holdings.take(key, &result))
    }

    /// Updates holdings to a result that may differ from the one before, whichever scheduler wrote it: its growth is held, and its
    /// shrinkage released.
    pub(super) fn targets_changed(
        &mut self,
        key: &Arc<BindingKey>,
        before: &[TargetCluster],
        moment: &Moment,
    ) -> Effects {
        let mut effects = Effects::default();
        let Some(record) = self.bindings.get(key) else {
            return effects;
        };
        let is_same = record.clusters.are(before);
        if is_same && !self.capacity.holdings.holds(key) {
            return effects;
        }
        let (targets, footprint) = (record.clusters.targets(), record.footprint());
        if !is_same {
            self.forget_guess(key);
            self.hold(key, &targets, before, &footprint, true, moment);
        }
        if self.capacity.holdings.shrink(key, &targets, &footprint) {
            effects.append(self.wake_for(Cause::Capacity));
            let clusters: Vec<&str> = before.iter().map(|target| target.name.as_str()).collect();
            effects.append(self.room_grew(&clusters));
        }
        effects
    }

    /// Holds the part of a listed binding's result that its clusters cannot have reported yet.
    pub(super) fn targets_found(&mut self, key: &Arc<BindingKey>, moment: &Moment) {
        self.capacity.holdings.remove(key);
        if !self.active.holds() {
            return;
        }
        let Some(record) = self.bindings.get(key) else { return };
        let scheduled = record.answered.map(|at| moment.wall.seconds() - at.seconds());
        // A time in the future comes from another clock and counts as now.
        let Some(age) = scheduled.map(|seconds| Duration::from_secs(u64::try_from(seconds).unwrap_or(0))) else {
            return;
        };
        let result = NewResult {
            targets: &record.clusters.targets(),
            last: &[],
            aggregated: &record.aggregated,
            footprint: &record.footprint(),
            is_written: true,
            since: moment.instant.checked_sub(age).unwrap_or(moment.instant),
            began: record.answered.unwrap_or(moment.wall),
        };
        self.capacity.holdings.restore(key, &result, age);
    }

    /// Records the state of a binding's resource. What has ended holds nothing any more, so that others may have its room.
    pub(super) fn state_changed(&mut self, key: &Arc<BindingKey>, now: Instant) -> Effects {
        let Some(record) = self.bindings.get(key) else {
            return Effects::default();
        };
        let ended = self.capacity.holdings.observe(key, &record.aggregated, now);
        self.capacity.assumed.observe(key, &record.aggregated);
        self.holding_ended(ended.iter().map(|cluster| &**cluster).collect())
    }

    /// Releases capacity that reports must contain by now, and what was held for too long.
    pub(super) fn give_up_holdings(&mut self, now: Instant) -> Effects {
        let mut effects = Effects::default();
        let ended = self.capacity.holdings.expire(now);
        for (key, cluster) in &ended.given_up {
            tracing::debug!(binding = %key, %cluster, "capacity is no longer held: no report has shown its pods");
        }
        if !ended.given_up.is_empty() {
            effects.count(Count::GivenUp(ended.given_up.len()));
        }
        effects.append(self.holding_ended(ended.clusters.iter().map(|cluster| &**cluster).collect()));
        effects
    }

    /// Less is held on these clusters.
    fn holding_ended(&mut self, clusters: Vec<&str>) -> Effects {
        if clusters.is_empty() {
            return Effects::default();
        }
        let mut effects = self.wake_for(Cause::Capacity);
        effects.append(self.room_grew(&clusters));
        effects
    }

    /// Capacity that is held on the clusters that a placement selects.
    pub(super) fn held_there(&self, placement: &Placement) -> HeldThere<'_> {
        let mut there = HeldThere::default();
        if self.capacity.holdings.is_empty() {
            return there;
        }
        let clusters = self
            .clusters
            .present()
            .filter(|(cluster, _)| selects(placement, cluster));
        for part in clusters.flat_map(|(cluster, _)| self.capacity.holdings.parts_on(&cluster.name)) {
            for (resource, quantity) in &part.resources {
                let sum = there.sums.entry(*resource).or_default();
                *sum = sum.saturating_add(*quantity);
            }
            match there.parts.len() < LISTED_MAX {
                true => there.parts.push(part),
                false => there.further += 1,
            }
        }
        there
    }

    /// The failure of a binding whose result waits for held capacity. It keeps its last result, and its reschedule request stays
    /// pending.
    pub(super) fn waits_for_reports(
        &mut self,
        key: &Arc<BindingKey>,
        decision: &LiveDecision,
        placement: &Placement,
    ) -> Failure {
        let there = self.held_there(placement);
        let held = there.text();
        let message = match &decision.result {
            Err(failure) => format!("{}; {held}", failure.message),
            Ok(_) => format!("a result that moves replicas waits; {held}"),
        };
        let known = self.lives.get(key).and_then(|life| life.held_message.as_deref());
        if known.is_none() {
            let by: Vec<String> = there.parts.iter().take(LOGGED_MAX).map(HeldPart::to_string).collect();
            let further = there.parts.len() - by.len() + there.further;
            tracing::info!(binding = %key, by = by.join(", "), further, "waiting for clusters to report their pods");
        }
        let message = known.map_or(message, str::to_owned);
        self.lives.change(key, |life| life.held_message = Some(message.clone()));
        Failure {
            reason: ScheduledReason::Unschedulable,
            message,
            retry: Retry::After(Cause::Capacity),
        }
    }
}

impl<'a> HeldThere<'a> {
    /// The held capacity for an explanation; `None` if nothing is held. `waits` is true if the result waits for it.
    pub(super) fn described(&self, waits: bool) -> Option<HeldCapacity<'a>> {
        let parts = self.parts.iter().map(|part| HeldByResult {
            cluster: part.cluster.into(),
            binding: part.binding.to_string(),
            since: part.began.to_string(),
            resources: part
                .resources
                .iter()
                .map(|(resource, quantity)| described(resource, *quantity))
                .collect(),
        });
        let parts: Vec<HeldByResult<'a>> = parts.collect();
        (!parts.is_empty()).then_some(HeldCapacity {
            waits,
            parts,
            further: self.further,
        })
    }

    /// The sums, in words.
    fn text(&self) -> String {
        let sums: Vec<String> = self
            .sums
            .iter()
            .map(|(resource, sum)| described(resource, *sum))
            .collect();
        format!("held for results that clusters do not report yet: {}", sums.join(", "))
    }
}

/// True if held capacity may be the reason for a decision: it failed, or it takes replicas away.
pub(super) fn may_depend_on_holding(decision: &LiveDecision, last: &[TargetCluster]) -> bool {
    match &decision.result {
        // What a worker died on would be as deadly with nothing held.
        Err(failure) => !matches!(failure.retry, Retry::Pause | Retry::After(Cause::Suspended)),
        Ok(result) => crate::guard::takes_away(last, result),
    }
}

/// True if a decision must wait because of held capacity: without it, there would be a result, and this decision has none, or leaves
/// fewer replicas on a cluster than both that result and the last one.
pub(super) fn must_wait(decision: &LiveDecision, unheld: &LiveDecision, last: &[TargetCluster]) -> bool {
    match (&decision.result, &unheld.result) {
        (Err(_), Ok(_)) => true,
        (Ok(result), Ok(unheld)) => last.iter().any(|before| {
            let kept = replicas_on(unheld, &before.name).min(Some(before.replicas));
            replicas_on(result, &before.name) < kept
        }),
        (_, Err(_)) => false,
    }
}
