//! Consequences of the outcome of a write.

use std::sync::Arc;

use divvy_karmada::api::TargetCluster;

use super::life::{InFlight, Life, Missing};
use super::observe::Source;
use super::{Engine, Moment, News};
use crate::condition::{Failure, Retry, ScheduledReason};
use crate::decision::replicas_on;
use crate::objects::{BindingKey, Kind, Object};
use crate::observe::IncomingEvent;
use crate::store::Divided;
use crate::write::{WriteOutcome, Written};

impl Engine {
    /// Handles the outcome of a write.
    pub fn complete(&mut self, key: &Arc<BindingKey>, written: Written, moment: &Moment) {
        let Some(mut in_flight) = self.lives.take_in_flight(key) else {
            return;
        };
        let is_outdated = in_flight.is_outdated;
        self.metrics().conflicts(written.conflicts.into());
        // The watch may have shown a result whose answer was lost.
        let is_written = written.wrote_specification || self.has_result(key, in_flight.placed.as_deref());
        if in_flight.reason.is_some()
            && in_flight.failure.is_none()
            && let Some(divided) = &in_flight.divided
            && let Some(record) = self.bindings.get_mut(key)
            && record.requested == divided.request
        {
            // Without its status, the next decision would divide from scratch once more, or from the previous group, and move replicas
            // again.
            if is_written {
                record.is_reschedule_pending = false;
                record.divided_into(divided.clone());
            } else if matches!(written.outcome, WriteOutcome::Failed(_)) && record.is_reschedule_pending {
                // The request may have been carried out; a version that has not arrived yet will show that.
                record.divided_into(Divided {
                    awaited: in_flight.placed.as_deref().map(Into::into),
                    ..divided.clone()
                });
            }
        }
        let Written {
            latest,
            outcome,
            generation,
            ..
        } = written;
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
                self.room_grew(&clusters, moment.instant);
            }
            None => {}
        }
        let before = match (is_shown, in_flight.placed.clone()) {
            (true, Some(placed)) => placed,
            _ => std::mem::take(&mut in_flight.last),
        };
        self.change_placements(moment.instant, |placements| match is_written {
            true => placements.keep(key),
            false => placements.take_back(key),
        });
        let announcements = std::mem::take(&mut in_flight.announcements);
        if is_written && in_flight.placed.is_some() {
            self.lives.update(key, |life| life.result_written(moment));
        }
        if is_written && in_flight.ends_move {
            self.end_move(key, moment.instant);
        }
        let mut looks_again = is_outdated || is_written && in_flight.looks_again;
        // Without an answer, it may be written.
        if !matches!(outcome, WriteOutcome::Failed(_)) {
            self.claim_may_change(key);
        }
        match outcome {
            WriteOutcome::Done => {
                if written.wrote_specification || written.wrote_status {
                    if in_flight.failure.is_none() {
                        tracing::debug!(binding = %key, "scheduled");
                    }
                    self.announcements.extend(announcements);
                }
                self.end(key, in_flight, moment);
            }
            WriteOutcome::HalfWritten(message) => {
                tracing::debug!(binding = %key, cause = message, "the result is written, its status is not; trying again");
                self.retry(key, in_flight, moment);
            }
            WriteOutcome::Failed(message) => {
                self.report_line(key, &Failure::unwritten(message), moment);
                self.retry(key, in_flight, moment);
            }
            WriteOutcome::Refused(ScheduledReason::QuotaExceeded, message) if in_flight.is_step => {
                if let Some(in_flight) = self.surge_refused(key, in_flight, moment) {
                    self.refused(key, in_flight, ScheduledReason::QuotaExceeded, message, moment);
                }
            }
            WriteOutcome::Refused(reason, message) => self.refused(key, in_flight, reason, message, moment),
            WriteOutcome::Superseded => {
                self.metrics().superseded(1);
                self.retry(key, in_flight, moment);
            }
            WriteOutcome::Fenced => self.retry(key, in_flight, moment),
            WriteOutcome::Gone => self.lives.queue.done(key),
        }
        if let Some(latest) = latest {
            self.store(key, latest, moment);
        }
        // Versions that arrived meanwhile were not compared, because the write itself may have been one of them.
        self.targets_changed(key, &before, moment);
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
            self.add(key, IncomingEvent::BindingUpdate, moment.instant);
        } else {
            self.refresh_claims(moment);
            // The reports may have arrived during the write.
            self.confirm(key, moment);
        }
        // Meanwhile, the binding or the lease may have gone to another scheduler, which decides the binding from now on.
        if !self.decides(key) {
            self.forget_decisions(key, moment.instant);
        }
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
    fn store(&mut self, key: &Arc<BindingKey>, latest: crate::objects::Fetched, moment: &Moment) {
        let record = self.bindings.get(key);
        if record.is_none_or(|record| *record.uid != latest.metadata.uid) {
            return;
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
                self.binding_applied(*document, Source::Answer, moment);
            }
            Ok(_) => {}
            Err(error) => tracing::error!(%error, "the answer to a write is ignored"),
        }
    }

    fn retry(&mut self, key: &Arc<BindingKey>, in_flight: InFlight, moment: &Moment) {
        let failure = Failure {
            reason: ScheduledReason::SchedulerError,
            message: String::new(),
            retry: Retry::Backoff,
        };
        let in_flight = InFlight {
            failure: Some(failure),
            ..in_flight
        };
        self.end(key, in_flight, moment);
    }

    fn refused(
        &mut self,
        key: &Arc<BindingKey>,
        in_flight: InFlight,
        reason: ScheduledReason,
        message: String,
        moment: &Moment,
    ) {
        let failure = Failure {
            reason,
            ..Failure::unwritten(format!("the API server refuses the result: {message}"))
        };
        self.report_line(key, &failure, moment);
        if reason == ScheduledReason::QuotaExceeded {
            self.note_refused(key);
        }
        if let Some(record) = self.bindings.get(key) {
            self.announcements.push(super::Announcement {
                key: Arc::clone(key),
                uid: (*record.uid).to_owned(),
                resource: record.resource(),
                news: News::Failed,
                message,
            });
        }
        self.retry(key, in_flight, moment);
    }

    /// Notes that a quota has refused a binding, so that it is tried again once the quota changes.
    pub(super) fn note_refused(&mut self, key: &Arc<BindingKey>) {
        // It may be gone by the time of the answer.
        if self.bindings.get(key).is_some() {
            self.lives.change(key, |life| life.is_refused_by_quota = true);
        }
    }
}
