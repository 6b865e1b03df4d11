//! The observed generation of bindings that Karmada evicts: it is brought up to date once reports show the result.
//!
//! Until then, it lags behind the generation: another process sees that it does, and brings it up to date by the same rule. Whether the time
//! of the last scheduling is that of the result is said by the generation in the condition `Scheduled`. What is remembered here makes the rule
//! exact, because it has the reports from before a result. The rule is in `divvy_scheduler::moves::replacement`.

use std::sync::Arc;

use divvy_karmada::api::{TargetCluster, Timestamp};
use divvy_scheduler::decide::rules::Reason;
use divvy_scheduler::moves::readiness::Reporting;
use divvy_scheduler::moves::replacement::{Replacement, Reported, awaiting};

use super::apply::Outcome;
use super::candidate::{Candidate, is_same_result};
use super::effects::{Effects, Wake};
use super::life::{Life, Why};
use super::moves::{REPORT_TIME, milliseconds, reports};
use super::{Engine, Moment};
use crate::objects::BindingKey;

/// The result of a binding that Karmada evicts.
#[derive(Debug)]
pub(super) struct Confirmation {
    /// Generation of the binding with its last result.
    generation: i64,
    /// What its results gave.
    replacement: Replacement,
    /// True if the observed generation lags behind for want of reports.
    lags: bool,
    /// True if the binding is in the queue for no other reason.
    pub(super) is_alone: bool,
}

impl Life {
    /// True if this generation has been decided, although it may not be recorded as observed.
    pub(super) fn is_decided(&self, generation: i64) -> bool {
        let known = self.confirmation.as_ref();
        known.is_some_and(|known| known.generation == generation)
    }

    /// Forgets the result of a binding that is not evicted any more.
    fn end_confirmation(&mut self) {
        self.confirmation = None;
        self.set_due(Why::Confirmation, None);
    }

    /// Notes that the result was written.
    pub(super) fn result_written(&mut self, moment: &Moment) {
        if let Some(known) = &mut self.confirmation {
            known.replacement.written(moment.milliseconds);
        }
    }

    /// Notes that the binding has failed: nothing of it is confirmed before another decision.
    pub(super) fn fail_confirmation(&mut self) {
        if let Some(known) = &mut self.confirmation {
            known.lags = false;
            self.set_due(Why::Confirmation, None);
        }
    }
}

impl Engine {
    /// True if the generation of a binding with this result may be recorded as observed. Otherwise, the outcome has the time at which it may
    /// be without a report.
    pub(super) fn confirms(
        &mut self,
        candidate: &Candidate,
        result: &[TargetCluster],
        outcome: &mut Outcome,
        moment: &Moment,
    ) -> bool {
        let key = &candidate.key;
        let tasks = candidate.record().evictions();
        // In shadow mode, the other scheduler records it.
        if self.shadow.is_some() || awaiting(tasks).next().is_none() {
            self.lives.update(key, Life::end_confirmation);
            return true;
        }
        let Some(record) = self.bindings.get(key) else {
            return true;
        };
        let entries = reports(&record.aggregated);
        let reported = Reported {
            entries: &entries,
            reporting: Reporting::new(record.kind(), &entries),
            report_time: milliseconds(REPORT_TIME),
            now: moment.milliseconds,
        };
        let last = candidate.last();
        let changes = !is_same_result(last, result);
        let known = self.lives.update(key, |life| life.confirmation.take()).flatten();
        let known = known.map(|known| known.replacement);
        let mut replacement = known.unwrap_or_else(|| first_seen(candidate, changes, moment));
        if changes {
            replacement.give(last, result, &reported);
        }
        let awaited = replacement.awaited(result, tasks, &reported);
        let wait = awaited.map(|at| at.saturating_sub(moment.milliseconds));
        outcome.look_after(Why::Confirmation, wait);
        let known = Confirmation {
            generation: candidate.binding.generation().saturating_add(i64::from(changes)),
            replacement,
            lags: awaited.is_some(),
            is_alone: false,
        };
        self.lives.change(key, |life| life.confirmation = Some(Box::new(known)));
        awaited.is_none()
    }

    /// Brings the observed generation of a binding up to date if the reports show its result by now. Nothing else has to be looked at.
    pub(super) fn confirm(&self, key: &Arc<BindingKey>, moment: &Moment) -> Effects {
        let mut effects = Effects::default();
        let known = self.lives.get(key).and_then(|life| life.confirmation.as_deref());
        let Some(known) = known.filter(|known| known.lags) else {
            return effects;
        };
        let record = self.bindings.get(key).filter(|record| record.is_ours);
        let Some(record) = record.filter(|record| record.generation == known.generation) else {
            return effects;
        };
        let entries = reports(&record.aggregated);
        let reported = Reported {
            entries: &entries,
            reporting: Reporting::new(record.kind(), &entries),
            report_time: milliseconds(REPORT_TIME),
            now: moment.milliseconds,
        };
        let awaited = known
            .replacement
            .awaited(&record.clusters.targets(), record.evictions(), &reported);
        if awaited.is_none() {
            effects.look(key, Wake::Confirmation);
        }
        effects
    }

    /// While a binding is being written, a version with the previous result has reports from before the result.
    pub(super) fn outdate_reports(&mut self, key: &Arc<BindingKey>) {
        let Some(record) = self.bindings.get(key) else { return };
        self.lives.update(key, |life| {
            let is_previous = life.placed().is_some_and(|placed| !record.clusters.are(placed));
            if let Some(known) = life.confirmation.as_mut().filter(|_| is_previous) {
                known.replacement.outdated(&reports(&record.aggregated));
            }
        });
    }

    /// The rule by which a binding is decided, unless it is looked at for nothing but its observed generation: what is decided at each look
    /// would move for no reason.
    pub(super) fn reason_beside_confirmation(&self, candidate: &Candidate, reason: Option<Reason>) -> Option<Reason> {
        let life = self.lives.get(&candidate.key);
        let known = life.and_then(|life| life.confirmation.as_ref());
        let generation = candidate.binding.generation();
        let is_alone = known.is_some_and(|known| known.is_alone && known.generation == generation);
        reason.filter(|reason| !is_alone || *reason != Reason::GoesEverywhere)
    }
}

/// What is known of a result that is seen for the first time. Where its generation was not recorded as observed, another process may have
/// ended right after it wrote the result: the time of the last scheduling is that of an earlier one then. What is about to change was not
/// written by another process.
fn first_seen(candidate: &Candidate, changes: bool, moment: &Moment) -> Replacement {
    let record = candidate.record();
    let generation = record.generation;
    // In whole seconds: it may have been at the end of its second.
    let end = |time: Timestamp| time.seconds().saturating_mul(1_000).saturating_add(999);
    let scheduled = record
        .answered
        .map_or(moment.milliseconds, |time| end(time).min(moment.milliseconds));
    if record.observed_generation == generation {
        return Replacement::settled(scheduled);
    }
    let condition = record.scheduled();
    let is_noted = condition.is_some_and(|condition| condition.observed_generation() == generation);
    let at = if is_noted || changes {
        scheduled
    } else {
        moment.milliseconds
    };
    Replacement::unknown(candidate.last(), at)
}
