//! Consequences of the outcome of a write.

use std::sync::Arc;

use divvy_karmada::api::TargetCluster;
use divvy_scheduler::decide::rules::Reason;

use super::effects::{Count, Effects, Turn, Wake};
use super::life::{InFlight, Life, Missing};
use super::observe::Source;
use super::{Announcement, Engine, Moment, News};
use crate::condition::{Failure, Retry, ScheduledReason};
use crate::decision::replicas_on;
use crate::objects::{BindingKey, Fetched, Kind, Object};
use crate::observe::IncomingEvent;
use crate::store::Divided;
use crate::write::{WriteOutcome, Written};

impl Engine {
    /// Handles the outcome of a write.
    pub fn complete(&mut self, key: &Arc<BindingKey>, written: Written, moment: &Moment) {
        let Some(mut in_flight) = self.lives.take_in_flight(key) else {
            return;
        };
        // The watch may have shown a result whose answer was lost.
        let is_written = written.wrote_specification || self.has_result(key, in_flight.placed.as_deref());
        self.note_division(key, &in_flight, &written.outcome, is_written);
        let (before, mut effects) = self.settle_capacity(key, &mut in_flight, is_written);
        effects.count(Count::Conflicts(written.conflicts.into()));
        effects.append(self.change_placements(|placements| match is_written {
            true => placements.keep(key),
            false => placements.take_back(key),
        }));
        if is_written && in_flight.placed.is_some() {
            self.lives.update(key, |life| life.result_written(moment));
        }
        if is_written && in_flight.ends_move {
            effects.append(self.end_move(key));
        }
        // Without an answer, it may be written.
        if !matches!(written.outcome, WriteOutcome::Failed(_)) {
            self.claim_may_change(key);
        }
        // Nothing but this says that clusters have changed.
        if in_flight.reason == Some(Reason::ClustersChanged)
            && !is_written
            && let Some(record) = self.bindings.get_mut(key)
        {
            record.is_moved_by_clusters = true;
        }
        let is_outdated = in_flight.is_outdated;
        let mut looks_again = is_outdated || is_written && in_flight.looks_again;
        let has_written = written.wrote_specification || written.wrote_status;
        effects.append(self.answered(key, in_flight, written.outcome, has_written, moment));
        // The turn has ended before the answer itself is looked at, which may begin another one.
        self.carry_out(effects, moment.instant);

        let mut effects = Effects::default();
        let generation = written.generation;
        if let Some(latest) = written.latest {
            effects.append(self.store(key, latest, moment));
        }
        // Versions that arrived meanwhile were not compared, because the write itself may have been one of them.
        effects.append(self.targets_changed(key, &before, moment));
        // A newer specification than the decided one arrived meanwhile, possibly with the answer.
        if let (Some(record), Some(generation)) = (self.bindings.get(key), generation) {
            looks_again |= record.generation > generation;
        }
        if is_outdated {
            self.lives.update(key, |life| {
                life.missing.take_if(|missing| matches!(missing, Missing::Settled(_)))
            });
        }
        if looks_again {
            effects.look(key, Wake::Changed(IncomingEvent::BindingUpdate));
        } else {
            effects.append(self.refresh_claims(moment));
            // The reports may have arrived during the write.
            effects.append(self.confirm(key, moment));
        }
        self.carry_out(effects, moment.instant);
        // Meanwhile, the binding or the lease may have gone to another scheduler, which decides the binding from now on.
        if !self.decides(key) {
            let effects = self.forget_decisions(key);
            self.carry_out(effects, moment.instant);
        }
    }

    /// Notes how a binding was divided. Without its status, the next decision would divide from scratch once more, or from the previous group,
    /// and move replicas again.
    fn note_division(&mut self, key: &Arc<BindingKey>, in_flight: &InFlight, outcome: &WriteOutcome, is_written: bool) {
        if in_flight.reason.is_none() || in_flight.failure.is_some() {
            return;
        }
        let (Some(divided), Some(record)) = (&in_flight.divided, self.bindings.get_mut(key)) else {
            return;
        };
        if record.requested != divided.request {
            return;
        }
        if is_written {
            record.is_reschedule_pending = false;
            record.divided_into(divided.clone());
        } else if matches!(outcome, WriteOutcome::Failed(_)) && record.is_reschedule_pending {
            // The request may have been carried out; a version that has not arrived yet will show that.
            record.divided_into(Divided {
                awaited: in_flight.placed.as_deref().map(Into::into),
                ..divided.clone()
            });
        }
    }

    /// Keeps the capacity that a decision took if its result is there, and releases it otherwise. Returns the result that the binding has, as
    /// far as the answer says.
    fn settle_capacity(
        &mut self,
        key: &Arc<BindingKey>,
        in_flight: &mut InFlight,
        is_written: bool,
    ) -> (Vec<TargetCluster>, Effects) {
        let mut effects = Effects::default();
        // Or what is left of it, because clusters were evicted since.
        let is_shown = is_written || self.has_growth(key, in_flight.placed.as_deref(), &in_flight.last);
        match in_flight.taken.take() {
            Some(number) if is_shown => self.capacity.holdings.confirm(key, number),
            Some(number) => {
                // Nothing was written, so nothing was taken.
                self.capacity.holdings.retract(key, number);
                self.capacity.takings.retract(key);
                let placed = in_flight.placed.as_deref().unwrap_or_default();
                let clusters: Vec<&str> = placed.iter().map(|target| target.name.as_str()).collect();
                effects = self.room_grew(&clusters);
            }
            None => {}
        }
        let result = match (is_shown, in_flight.placed.clone()) {
            (true, Some(placed)) => placed,
            _ => std::mem::take(&mut in_flight.last),
        };
        (result, effects)
    }

    /// Ends the decision that was written: what is said of it, and what becomes of the binding's turn.
    fn answered(
        &mut self,
        key: &Arc<BindingKey>,
        mut in_flight: InFlight,
        outcome: WriteOutcome,
        has_written: bool,
        moment: &Moment,
    ) -> Effects {
        let mut effects = Effects::default();
        let comes_again = match outcome {
            WriteOutcome::Done => {
                if has_written {
                    if in_flight.failure.is_none() {
                        tracing::debug!(binding = %key, "scheduled");
                    }
                    effects.announce(std::mem::take(&mut in_flight.announcements));
                }
                false
            }
            WriteOutcome::HalfWritten(message) => {
                tracing::debug!(binding = %key, cause = message, "the result is written, its status is not; trying again");
                true
            }
            WriteOutcome::Failed(message) => {
                effects.report(key, Failure::unwritten(message));
                true
            }
            WriteOutcome::Refused(reason, message) => {
                if reason == ScheduledReason::QuotaExceeded
                    && in_flight.is_step
                    && let Some(turn) = self.surge_refused(key)
                {
                    effects.turn(key, turn);
                    return effects;
                }
                effects.append(self.refused(key, reason, message));
                true
            }
            WriteOutcome::Superseded => {
                effects.count(Count::Superseded);
                true
            }
            WriteOutcome::Fenced => true,
            WriteOutcome::Gone => {
                effects.turn(key, Turn::Rest);
                return effects;
            }
        };
        if comes_again {
            in_flight.failure = Some(Failure {
                reason: ScheduledReason::SchedulerError,
                message: String::new(),
                retry: Retry::Backoff,
            });
        }
        let (turn, ended) = self.ended(key, &in_flight, moment);
        effects.append(ended);
        effects.turn(key, turn);
        effects
    }

    /// Confirms a result that the watch shows before the answer to its write arrives.
    pub(super) fn confirm_result(&mut self, key: &BindingKey) {
        let Some(in_flight) = self.lives.get(key).and_then(Life::in_flight) else {
            return;
        };
        if let Some(number) = in_flight.taken
            && self.has_result(key, in_flight.placed.as_deref())
        {
            self.capacity.holdings.confirm(key, number);
        }
    }

    /// True if the newest version of a binding that is known has this result.
    fn has_result(&self, key: &BindingKey, placed: Option<&[TargetCluster]>) -> bool {
        let record = self.bindings.get(key);
        placed.is_some_and(|placed| record.is_some_and(|record| record.clusters.are(placed)))
    }

    /// True if the newest version of a binding that is known has what a result gave its clusters, as far as they are still named.
    fn has_growth(&self, key: &BindingKey, placed: Option<&[TargetCluster]>, last: &[TargetCluster]) -> bool {
        let (Some(placed), Some(record)) = (placed, self.bindings.get(key)) else {
            return false;
        };
        let found = record.clusters.targets();
        let grown = placed
            .iter()
            .filter(|target| replicas_on(last, &target.name) != Some(target.replicas));
        let mut left = grown
            .filter_map(|target| Some((target, replicas_on(&found, &target.name)?)))
            .peekable();
        left.peek().is_some() && left.all(|(target, found)| found == target.replicas)
    }

    /// Stores the binding from the API server's answer, before the watch repeats it. A binding that was deleted meanwhile stays
    /// deleted.
    fn store(&mut self, key: &Arc<BindingKey>, latest: Fetched, moment: &Moment) -> Effects {
        let record = self.bindings.get(key);
        if record.is_none_or(|record| *record.uid != latest.metadata.uid) {
            return Effects::default();
        }
        let kind = Kind::binding(key.scope);
        // The entry must no longer look in flight, but its own generation must not wake it either, because it is known.
        match Object::read(kind, latest) {
            Ok(Object::Binding(document)) => {
                let generation = document.object.metadata.generation;
                if let Some(record) = self.bindings.get_mut(key)
                    && record.generation < generation
                {
                    record.generation = generation;
                }
                return self.binding_applied(*document, Source::Answer, moment);
            }
            Ok(_) => {}
            Err(error) => tracing::error!(%error, "the answer to a write is ignored"),
        }
        Effects::default()
    }

    /// The API server refuses a result.
    fn refused(&mut self, key: &Arc<BindingKey>, reason: ScheduledReason, message: String) -> Effects {
        let mut effects = Effects::default();
        let failure = Failure {
            reason,
            ..Failure::unwritten(format!("the API server refuses the result: {message}"))
        };
        effects.report(key, failure);
        if reason == ScheduledReason::QuotaExceeded {
            self.note_refused(key);
        }
        if let Some(record) = self.bindings.get(key) {
            effects.announce([Announcement {
                key: Arc::clone(key),
                uid: (*record.uid).to_owned(),
                resource: record.resource(),
                news: News::Failed,
                message,
            }]);
        }
        effects
    }

    /// Notes that a quota has refused a binding, so that it is tried again once the quota changes.
    pub(super) fn note_refused(&mut self, key: &Arc<BindingKey>) {
        // It may be gone by the time of the answer.
        if self.bindings.get(key).is_some() {
            self.lives.change(key, |life| life.is_refused_by_quota = true);
        }
    }
}
