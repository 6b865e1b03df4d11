//! What is planned after a decision or a look: the write of a result, or of the status of a result that stays.

use std::sync::Arc;

use divvy_karmada::api::{TargetCluster, Timestamp};
use divvy_scheduler::fleet::Footprint;
use divvy_scheduler::fleet::estimate::Demand;

use super::apply::{Next, Outcome};
use super::candidate::{Candidate, is_same_result, moved};
use super::effects::{Count, Effects, Turn};
use super::jointly::Part;
use super::life::{InFlight, Life};
use super::partials::{missing_demand, repaired_message, success_message};
use super::{Engine, Moment, News};
use crate::condition::{Retry, ScheduledReason};
use crate::decision::LiveDecision;
use crate::objects::BindingKey;
use crate::observe::{ScheduleResult, ScheduleType};
use crate::store::{Divided, Record};
use crate::write::execute::described;
use crate::write::patch::status_patch;
use crate::write::{SpecificationPatch, StatusWanted, WriteJob};
use divvy_scheduler::decide::policy::is_lazy;
use divvy_scheduler::decide::rules::Reason;

/// A result that is to be written.
pub(super) struct Chosen<'a> {
    /// The clusters with their replicas.
    pub(super) result: &'a [TargetCluster],
    /// The affinity group that fitted; empty if there are none.
    pub(super) affinity: &'a str,
    /// Time until which it holds, in milliseconds since 1970.
    pub(super) valid_until: Option<i64>,
    /// Replicas that were requested, if it has fewer and is no step to a result with all of them.
    pub(super) partial_of: Option<i64>,
    /// Demand of one of the replicas that are missing.
    pub(super) missing: Option<Demand>,
    /// Message of the condition.
    pub(super) message: String,
    /// Pod templates of the binding.
    pub(super) footprint: &'a Footprint,
    /// The rule by which it was decided; `None` for a further step of a move.
    pub(super) reason: Option<Reason>,
    /// The mark of a move; the annotation is removed if there is none.
    pub(super) mark: Option<String>,
    /// True for a step of a move, which a quota may refuse without any harm.
    pub(super) is_step: bool,
    /// True if the generation is recorded as observed.
    pub(super) observes: bool,
}

impl Engine {
    /// Plans the write of a result as a whole.
    pub(super) fn scheduled(
        &mut self,
        candidate: &Candidate,
        decision: &LiveDecision,
        result: &[TargetCluster],
        reason: Reason,
        moment: &Moment,
    ) -> Outcome {
        let partial = decision.decision.partial.as_ref();
        let chosen = Chosen {
            result,
            affinity: decision.affinity(),
            valid_until: decision.decision.valid_until,
            partial_of: partial.map(|partial| partial.requested),
            missing: missing_demand(decision),
            message: success_message(partial),
            footprint: &decision.footprint,
            reason: Some(reason),
            mark: None,
            is_step: false,
            observes: true,
        };
        self.chosen(candidate, &chosen, moment)
    }

    /// Plans the write of a result.
    pub(super) fn chosen(&mut self, candidate: &Candidate, chosen: &Chosen<'_>, moment: &Moment) -> Outcome {
        let mut outcome = Outcome::default();
        let (last, result, affinity) = (candidate.last(), chosen.result, chosen.affinity);
        let is_same = is_same_result(last, result);
        let kept = (chosen.valid_until, chosen.partial_of);
        let specification = candidate.specification(result, is_same, affinity, kept);
        let is_decided = chosen.reason.is_some();
        // Changes of the mark alone are no scheduling.
        let is_scheduling = is_decided || specification.is_some();
        let specification = candidate.with_mark(specification, chosen.mark.as_deref());
        let departures = self.departures(candidate, result, chosen.reason, moment);
        let notes_departures = departures.is_some();
        let specification = Candidate::with_departures(specification, departures);
        let specification = self.with_pause(candidate, specification);
        let confirms = self.confirms(candidate, if is_same { last } else { result }, &mut outcome, moment);
        let record = candidate.record();
        let start = moment.wall;
        let wanted = StatusWanted {
            condition: Some((ScheduledReason::Success, chosen.message.clone())),
            observes: chosen.observes && confirms,
            notes_generation: !confirms,
            scheduled_at: is_scheduling.then(|| scheduled_at(candidate, start)),
            stamps: is_scheduling && (specification.is_some() || record.is_reschedule_pending),
            affinity: (!affinity.is_empty()).then(|| affinity.to_owned()),
            now: start,
        };
        let taken = match is_same {
            true => None,
            false => {
                outcome.effects.count(Count::ReplicasMoved(moved(last, result)));
                outcome.effects.append(self.assume_placement(&candidate.key, result));
                self.hold(&candidate.key, result, last, chosen.footprint, false, moment)
            }
        };
        let part = self.outbox.part(&candidate.key).map(Part::success).unwrap_or_default();
        let message = format!("{} Result: {}{part}", chosen.message, described(result));
        let in_flight = InFlight {
            taken,
            last: last.to_vec(),
            divided: is_decided.then(|| Divided {
                awaited: None,
                request: record.requested,
                group: (record.is_reschedule_pending && !affinity.is_empty()).then(|| affinity.into()),
                before: record.answered,
            }),
            placed: (!is_same).then(|| result.to_vec()),
            partial: chosen.missing.clone(),
            announcements: vec![candidate.announcement(News::Scheduled, message)],
            is_step: chosen.is_step,
            looks_again: chosen.mark.is_some() || notes_departures || record.has_planned_target(),
            ends_move: chosen.mark.is_none() && record.has_mark(),
            ..InFlight::new(chosen.reason, moment)
        };
        let written = self.dispatch(candidate, specification, wanted, in_flight, moment);
        written.after(outcome)
    }

    /// Updates the status of a satisfied binding: the observed generation, and the status that is missing if a write ended
    /// between its two patches.
    pub(super) fn satisfied(&mut self, candidate: &Candidate, moment: &Moment) -> Outcome {
        self.stays(candidate, true, moment)
    }

    /// Updates the status of a binding whose result stays. The generation is recorded as observed if it `observes`.
    pub(super) fn stays(&mut self, candidate: &Candidate, observes: bool, moment: &Moment) -> Outcome {
        let mut outcome = Outcome::default();
        let valid_until = candidate.applied.as_ref().and_then(|applied| applied.valid_until);
        // Nothing is written in shadow mode, so the annotation's time is not from a decision of this scheduler.
        outcome.holds_until(valid_until.filter(|_| self.shadow.is_none()), moment);
        let observes = self.confirms(candidate, candidate.last(), &mut outcome, moment) && observes;
        let record = candidate.record();
        let is_scheduled = record.scheduled().is_some_and(|known| known.status() == "True");
        let request = record.requested;
        // The result that answers a reschedule is written, its time is not.
        let is_unanswered = request > record.answered;
        let is_repair = !is_scheduled || record.answered.is_none() || is_unanswered;
        let now = moment.wall;
        let applied = candidate.applied.as_ref();
        let partial_of = candidate.partial_of();
        let scheduled = candidate.last().iter().map(|target| i64::from(target.replicas)).sum();
        let wanted = StatusWanted {
            condition: is_repair.then(|| (ScheduledReason::Success, repaired_message(scheduled, partial_of))),
            observes,
            notes_generation: false,
            scheduled_at: is_repair.then(|| request.map_or(now, |request| request.max(now))),
            stamps: is_unanswered,
            affinity: applied.and_then(|applied| applied.affinity.clone()),
            now,
        };
        // A lazy policy waits for the next version of the workload, so a record must keep the one that it has seen.
        let affinity = applied.and_then(|applied| applied.affinity.clone()).unwrap_or_default();
        let specification = match applied.is_some() && is_lazy(candidate.policy.as_deref()) {
            true => candidate.specification(candidate.last(), true, &affinity, (valid_until, partial_of)),
            false => None,
        };
        self.lives.update(&candidate.key, |life| {
            life.plugin_failure = None;
            life.incomplete = None;
            // A write whose answer was lost was reported as failed.
            life.failure = None;
        });
        let specification = self.with_pause(candidate, specification);
        let in_flight = InFlight {
            // The result stays, so nothing is held a second time after the write.
            last: candidate.last().to_vec(),
            partial: self
                .lives
                .get(&candidate.key)
                .and_then(Life::settled)
                .cloned()
                .filter(|_| partial_of.is_some()),
            ..InFlight::new(None, moment)
        };
        let mut written = self.dispatch(candidate, specification, wanted, in_flight, moment);
        if is_repair && matches!(written.next, Next::Write(..)) {
            written.effects.count(Count::Repair);
        }
        written.after(outcome)
    }

    /// Returns the write of a decision, unless the binding already is as wanted. What clusters changed has been answered.
    pub(super) fn dispatch(
        &mut self,
        candidate: &Candidate,
        specification: Option<SpecificationPatch>,
        wanted: StatusWanted,
        in_flight: InFlight,
        moment: &Moment,
    ) -> Outcome {
        let is_moved = |record: &Record| record.is_moved_by_clusters;
        if self.bindings.get(&candidate.key).is_some_and(is_moved)
            && let Some(record) = self.bindings.get_mut(&candidate.key)
        {
            record.is_moved_by_clusters = false;
        }
        self.write(candidate, specification, wanted, in_flight, moment)
    }

    /// Returns a write, or the end of the decision if the binding already is as wanted.
    pub(super) fn write(
        &mut self,
        candidate: &Candidate,
        specification: Option<SpecificationPatch>,
        wanted: StatusWanted,
        in_flight: InFlight,
        moment: &Moment,
    ) -> Outcome {
        if self.shadow.is_some() {
            return Outcome::default();
        }
        let binding = &candidate.binding;
        let (uid, version) = (binding.uid(), binding.resource_version());
        let is_current = specification.is_none()
            && status_patch(uid, &version, binding.generation(), &binding.record().status(), &wanted).is_none();
        if is_current {
            let (turn, effects) = self.ended(&candidate.key, &in_flight, moment);
            return Outcome::new(Next::Turn(turn)).after(effects);
        }
        // Nothing is looked at while another process leads.
        let Some(term) = self.term else {
            return Outcome::default();
        };
        let is_step = in_flight.is_step;
        let job = WriteJob {
            span: tracing::Span::current(),
            term,
            key: Arc::clone(&candidate.key),
            base: Arc::clone(binding),
            specification,
            status: wanted,
            is_step,
        };
        Outcome::new(Next::Write(Box::new(job), Box::new(in_flight)))
    }

    /// Ends a decision that was written, or that had nothing to write. Returns what becomes of its turn, and what is counted.
    pub(super) fn ended(&mut self, key: &Arc<BindingKey>, in_flight: &InFlight, moment: &Moment) -> (Turn, Effects) {
        let mut effects = Effects::default();
        if let Some(record) = self.bindings.get_mut(key)
            && in_flight.failure.is_none()
            && in_flight.reason.is_some()
            && let Some(divided) = &in_flight.divided
            && record.requested == divided.request
        {
            record.is_reschedule_pending = false;
        }
        if let Some(reason) = in_flight.reason {
            let result = match &in_flight.failure {
                None => ScheduleResult::Scheduled,
                Some(_) => ScheduleResult::Error,
            };
            let kind = match reason {
                Reason::ReplicasChanged => ScheduleType::Scale,
                _ => ScheduleType::Reconcile,
            };
            let duration = moment.instant.saturating_duration_since(in_flight.started);
            effects.count(Count::Attempt(kind, result, duration));
        }
        self.settle(key, in_flight);
        match in_flight.failure {
            Some(_) => effects.count(Count::AttemptFailed),
            // A write of a move may have been reported as failed, and no decision follows the one that succeeds.
            None => _ = self.lives.update(key, |life| life.failure = None),
        }
        let turn = match in_flight.failure.as_ref().map(|failure| failure.retry) {
            None => Turn::Rest,
            Some(Retry::Backoff) => Turn::Retry,
            Some(Retry::Pause) => {
                let pause = self.lives.get(key).and_then(|life| life.pause(moment.wall));
                pause.map_or(Turn::Retry, Turn::Pause)
            }
            Some(Retry::After(cause)) => Turn::Park(cause),
        };
        (turn, effects)
    }
}

/// The time of a decision that begins now, for its status.
fn scheduled_at(candidate: &Candidate, start: Timestamp) -> Timestamp {
    let record = candidate.record();
    // A request with a time from another clock may be later than this decision, which still answers it.
    let at = record.requested.map_or(start, |request| request.max(start));
    match record.answered {
        // In whole seconds, the last scheduling may have been at the same time. The next leader sees the request answered only if
        // the time advances.
        Some(last) if record.is_reschedule_pending => at.max(Timestamp::from_seconds(last.seconds().saturating_add(1))),
        _ => at,
    }
}
