//! The observed generation of bindings that Karmada evicts: it is brought up to date once reports show the result.
//!
//! Until then, it lags behind the generation: another process sees that it does, and brings it up to date by the same rule. Whether the time
//! of the last scheduling is that of the result is said by the generation in the condition `Scheduled`. What is remembered here makes the rule
//! exact, because it has the reports from before a result. The rule is in `divvy_scheduler::moves::replacement`.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use divvy_karmada::api::TargetCluster;
use divvy_scheduler::decide::rules::Reason;
use divvy_scheduler::moves::readiness::Reporting;
use divvy_scheduler::moves::replacement::{Replacement, Reported, awaiting};

use super::candidate::{Candidate, is_same_result};
use super::moves::{REPORT_TIME, milliseconds, reports};
use super::{Engine, Moment};
use crate::condition::scheduled_condition;
use crate::objects::BindingKey;
use crate::queue::Expiries;

/// Bindings that Karmada evicts.
#[derive(Debug, Default)]
pub(super) struct Confirmations {
    known: HashMap<Arc<BindingKey>, Known>,
    /// Times at which the observed generation may be brought up to date without a report.
    due: Expiries<Arc<BindingKey>>,
}

#[derive(Debug)]
struct Known {
    /// Generation of the binding with its last result.
    generation: i64,
    /// What its results gave.
    replacement: Replacement,
    /// True if the observed generation lags behind for want of reports.
    lags: bool,
    /// True if the binding is in the queue for no other reason.
    is_confirmed: bool,
}

impl Confirmations {
    /// True if this generation of a binding has been decided, although it may not be recorded as observed.
    pub(super) fn is_decided(&self, key: &BindingKey, generation: i64) -> bool {
        self.known.get(key).is_some_and(|known| known.generation == generation)
    }

    /// Forgets a binding that is gone, not decided here, or not evicted any more.
    pub(super) fn forget(&mut self, key: &Arc<BindingKey>) {
        if self.known.remove(key).is_some() {
            self.due.forget(key);
        }
    }

    /// Notes that the result of a binding was written.
    pub(super) fn written(&mut self, key: &BindingKey, moment: &Moment) {
        if let Some(known) = self.known.get_mut(key) {
            known.replacement.written(moment.milliseconds);
        }
    }

    /// Notes that a binding is looked at for another reason, too.
    pub(super) fn woken(&mut self, key: &BindingKey) {
        if let Some(known) = self.known.get_mut(key) {
            known.is_confirmed = false;
        }
    }

    /// Notes that a binding has failed: nothing of it is confirmed before another decision.
    pub(super) fn failed(&mut self, key: &Arc<BindingKey>) {
        if let Some(known) = self.known.get_mut(key) {
            known.lags = false;
            self.due.forget(key);
        }
    }

    /// The next time at which something may be brought up to date.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.due.next_due()
    }
}

impl Engine {
    /// True if the generation of a binding with this result may be recorded as observed.
    pub(super) fn confirms(&mut self, candidate: &Candidate, result: &[TargetCluster], moment: &Moment) -> bool {
        let key = &candidate.key;
        let object = candidate.object();
        let tasks = &object.spec.graceful_eviction_tasks;
        // In shadow mode, the other scheduler records it.
        if self.shadow.is_some() || awaiting(tasks).next().is_none() {
            self.confirmations.forget(key);
            return true;
        }
        let Some(record) = self.bindings.get(key) else {
            return true;
        };
        let entries = reports(&record.aggregated);
        let reported = Reported {
            entries: &entries,
            reporting: Reporting::new(object, &entries),
            report_time: milliseconds(REPORT_TIME),
            now: moment.milliseconds,
        };
        let last = candidate.last();
        let changes = !is_same_result(last, result);
        let known = self.confirmations.known.remove(key).map(|known| known.replacement);
        let mut replacement = known.unwrap_or_else(|| first_seen(candidate, changes, moment));
        if changes {
            replacement.give(last, result, &reported);
        }
        let awaited = replacement.awaited(result, tasks, &reported);
        let wait = awaited.map(|at| at.saturating_sub(moment.milliseconds));
        self.confirmations.due.set(key, wait, moment.instant);
        let known = Known {
            generation: object.metadata.generation.saturating_add(i64::from(changes)),
            replacement,
            lags: awaited.is_some(),
            is_confirmed: false,
        };
        self.confirmations.known.insert(Arc::clone(key), known);
        awaited.is_none()
    }

    /// Brings the observed generation of a binding up to date if the reports show its result by now. Nothing else has to be looked at.
    pub(super) fn confirm(&mut self, key: &Arc<BindingKey>, moment: &Moment) {
        let Some(known) = self.confirmations.known.get(key).filter(|known| known.lags) else {
            return;
        };
        let record = self.bindings.get(key).filter(|record| record.is_ours);
        let Some(record) = record.filter(|record| record.generation == known.generation) else {
            return;
        };
        let object = record.binding(key);
        let entries = reports(&record.aggregated);
        let reported = Reported {
            entries: &entries,
            reporting: Reporting::new(&object, &entries),
            report_time: milliseconds(REPORT_TIME),
            now: moment.milliseconds,
        };
        let awaited = known
            .replacement
            .awaited(&object.spec.clusters, &object.spec.graceful_eviction_tasks, &reported);
        if awaited.is_none() {
            self.look_to_confirm(key, moment.instant);
        }
    }

    /// Looks at the bindings whose time has come.
    pub(super) fn confirm_due(&mut self, now: Instant) {
        while let Some(key) = self.confirmations.due.take(now) {
            self.look_to_confirm(&key, now);
        }
    }

    /// Puts a binding into the queue, unless it is looked at anyway.
    fn look_to_confirm(&mut self, key: &Arc<BindingKey>, now: Instant) {
        let is_busy = self.in_flight.contains_key(key) || self.estimating.contains_key(key) || self.queue.contains(key);
        let Some(record) = self.bindings.get(key).filter(|_| !is_busy) else {
            return;
        };
        self.queue.add(key, record.priority, now);
        if let Some(known) = self.confirmations.known.get_mut(key) {
            known.is_confirmed = true;
        }
    }

    /// While a binding is being written, a version with the previous result has reports from before the result.
    pub(super) fn outdate_reports(&mut self, key: &Arc<BindingKey>) {
        let Some(known) = self.confirmations.known.get_mut(key) else {
            return;
        };
        let placed = self.in_flight.get(key).and_then(|in_flight| in_flight.placed.as_ref());
        if let (Some(placed), Some(record)) = (placed, self.bindings.get(key))
            && !record.clusters.are(placed)
        {
            known.replacement.outdated(&reports(&record.aggregated));
        }
    }

    /// The rule by which a binding is decided, unless it is looked at for nothing but its observed generation: what is decided at each look
    /// would move for no reason.
    pub(super) fn reason_beside_confirmation(&self, candidate: &Candidate, reason: Option<Reason>) -> Option<Reason> {
        let known = self.confirmations.known.get(&candidate.key);
        let generation = candidate.object().metadata.generation;
        let is_confirmed = known.is_some_and(|known| known.is_confirmed && known.generation == generation);
        reason.filter(|reason| !is_confirmed || *reason != Reason::GoesEverywhere)
    }
}

/// What is known of a result that is seen for the first time. Where its generation was not recorded as observed, another process may have
/// ended right after it wrote the result: the time of the last scheduling is that of an earlier one then. What is about to change was not
/// written by another process.
fn first_seen(candidate: &Candidate, changes: bool, moment: &Moment) -> Replacement {
    let object = candidate.object();
    let (status, generation) = (&object.status, object.metadata.generation);
    let scheduled = status.last_scheduled_time;
    let scheduled = scheduled.map_or(moment.milliseconds, |time| time.seconds().saturating_mul(1_000));
    if status.scheduler_observed_generation == generation {
        return Replacement::settled(scheduled);
    }
    let condition = scheduled_condition(&status.conditions);
    let is_noted = condition.is_some_and(|condition| condition.observed_generation == generation);
    let at = if is_noted || changes {
        scheduled
    } else {
        moment.milliseconds
    };
    Replacement::unknown(candidate.last(), at)
}
