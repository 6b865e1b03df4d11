//! The outcome of a look at a binding, and what carries out outcomes and effects.
//!
//! A look is what a reconciler is in `kube_runtime`, and its outcome what an `Action` is there: what is written, when the binding is looked
//! at again and why, and what follows beside it. Changes and answers have [`Effects`] alone.
//!
//! Nothing else in the engine starts a write, fills the queue, sets a time, counts or announces. What is known of a binding ends together
//! with its times, though: that is in [`Life`](super::life::Life).

use std::sync::Arc;
use std::time::Instant;

use super::effects::{Count, Effect, Effects, Turn, Wake};
use super::life::{InFlight, Stage, Why};
use super::{Engine, Moment, Task};
use crate::condition::{Cause, Failure};
use crate::estimates::EstimateJob;
use crate::objects::BindingKey;
use crate::observe::IncomingEvent;
use crate::write::WriteJob;

/// The outcome of a look at a binding.
#[derive(Debug, Default)]
#[must_use]
pub(super) struct Outcome {
    /// What happens before the turn ends: what is said, and which other bindings are looked at.
    pub(super) effects: Effects,
    /// Times at which it is looked at again, by [`Why`], in milliseconds from now. The outer `None` keeps an earlier one, the inner one
    /// removes it.
    due: [Option<Option<i64>>; Why::ALL.len()],
    /// What is done then.
    pub(super) next: Next,
}

/// What is done after a look.
#[derive(Debug)]
pub(super) enum Next {
    /// Nothing outside this process.
    Turn(Turn),
    /// Estimators are asked, and the binding is decided with their answers.
    Ask(Box<EstimateJob>),
    /// It is written.
    Write(Box<WriteJob>, Box<InFlight>),
}

impl Default for Next {
    fn default() -> Self {
        Self::Turn(Turn::Rest)
    }
}

impl From<Effects> for Outcome {
    fn from(effects: Effects) -> Self {
        Self {
            effects,
            ..Self::default()
        }
    }
}

impl Outcome {
    /// An outcome without further effects.
    pub(super) fn new(next: Next) -> Self {
        Self {
            next,
            ..Self::default()
        }
    }

    /// Has the binding looked at again after some milliseconds; `None` removes an earlier time.
    pub(super) fn look_after(&mut self, why: Why, milliseconds: Option<i64>) {
        if let Some(due) = self.due.get_mut(why as usize) {
            *due = Some(milliseconds);
        }
    }

    /// Has the binding decided again at a time, in milliseconds since 1970; `None` for no such time.
    pub(super) fn holds_until(&mut self, valid_until: Option<i64>, moment: &Moment) {
        let wait = valid_until.map(|until| until.saturating_sub(moment.milliseconds));
        self.look_after(Why::Expiry, wait);
    }

    /// This outcome after what was found out before, whose times it replaces.
    pub(super) fn after(mut self, before: impl Into<Self>) -> Self {
        let mut before = before.into();
        for (due, earlier) in self.due.iter_mut().zip(before.due) {
            *due = due.or(earlier);
        }
        before.effects.append(self.effects);
        self.effects = before.effects;
        self
    }
}

impl Engine {
    /// Carries the outcome of a look out. Returns the task that it gives to others.
    pub(super) fn apply(&mut self, key: &Arc<BindingKey>, outcome: Outcome, moment: &Moment) -> Option<Task> {
        let Outcome { effects, due, next } = outcome;
        self.carry_out(effects, moment.instant);
        for (why, milliseconds) in Why::ALL.into_iter().zip(due) {
            if let Some(milliseconds) = milliseconds {
                self.lives.set_due(key, why, milliseconds, moment.instant);
            }
        }
        match next {
            Next::Turn(turn) => self.end_turn(key, turn, moment.instant),
            Next::Ask(job) => {
                self.lives.change(key, |life| life.stage = Stage::Estimating(false));
                return Some(Task::Estimate(*job));
            }
            Next::Write(job, in_flight) => {
                self.lives.change(key, |life| life.stage = Stage::InFlight(in_flight));
                return Some(Task::Write(job));
            }
        }
        None
    }

    /// Has effects happen, in their order.
    pub(super) fn carry_out(&mut self, effects: Effects, now: Instant) {
        for effect in effects {
            match effect {
                Effect::Look(key, wake) => self.wake(&key, wake, now),
                Effect::Turn(key, turn) => self.end_turn(&key, turn, now),
                Effect::Announce(announcement) => self.outbox.announcements.push(*announcement),
                Effect::Report(key, failure) => self.report_line(&key, &failure, now),
                Effect::Show(key, text) => self.panel.moving(&key, text.map(String::from)),
                Effect::ShowNoMoves => self.panel.nothing_moves(),
                Effect::ShowComparison(page) => self.panel.shadowed(*page),
                Effect::Count(count) => self.count(count),
            }
        }
    }

    /// Puts a binding into the queue, or has it looked at once what is under way for it has ended.
    fn wake(&mut self, key: &Arc<BindingKey>, wake: Wake, now: Instant) {
        let Some(record) = self.bindings.get(key) else { return };
        let priority = record.priority;
        match wake {
            Wake::Parked => self.lives.queue.wake_if_parked(key, now),
            Wake::Confirmation => self.look_to_confirm(key, priority, now),
            Wake::Changed(_) | Wake::Around if !record.is_ours || self.lives.woken(key) => {}
            Wake::Changed(event) => {
                self.lives.queue.add(key, priority, now);
                self.metrics().incoming(event);
            }
            Wake::Around => {
                self.lives.queue.wake(key, priority, now);
                self.metrics().incoming(IncomingEvent::ClusterChanged);
            }
        }
    }

    /// Puts a binding into the queue for nothing but its observed generation, unless it is looked at anyway.
    fn look_to_confirm(&mut self, key: &Arc<BindingKey>, priority: i32, now: Instant) {
        let life = self.lives.get(key);
        let is_busy = life.is_some_and(|life| !matches!(life.stage, Stage::Idle)) || self.lives.queue.contains(key);
        if is_busy {
            return;
        }
        self.lives.queue.add(key, priority, now);
        self.lives.update(key, |life| {
            if let Some(known) = &mut life.confirmation {
                known.is_alone = true;
            }
        });
    }

    fn end_turn(&mut self, key: &Arc<BindingKey>, turn: Turn, now: Instant) {
        let priority = self.bindings.get(key).map_or(0, |record| record.priority);
        let queue = &mut self.lives.queue;
        match turn {
            Turn::Rest => queue.done(key),
            Turn::Later(wait) => queue.postpone(key, wait, now),
            Turn::Pause(wait) => queue.pause(key, Cause::Deadly, wait, now),
            Turn::Retry => _ = queue.retry(key, priority, now),
            Turn::Park(cause) => queue.park(key, priority, cause, now),
            Turn::Again(event) => {
                queue.done(key);
                self.wake(key, Wake::Changed(event), now);
            }
        }
    }

    /// Writes a line about a failure to the log, unless the failure was reported before or there are too many lines.
    fn report_line(&mut self, key: &Arc<BindingKey>, failure: &Failure, now: Instant) {
        let lines = &mut self.lines.failures;
        let is_due = self
            .lives
            .change(key, |life| lines.is_due(&mut life.failure, failure, now));
        if is_due {
            let (reason, cause) = (failure.reason.as_str(), failure.message.as_str());
            tracing::warn!(binding = %key, reason, cause, "not scheduled");
        }
    }

    fn count(&self, count: Count) {
        let metrics = self.metrics();
        match count {
            Count::QueueWait(wait) => metrics.queue_wait(wait),
            Count::HeldBack => metrics.held_back(1),
            Count::ReplicasMoved(replicas) => metrics.replicas_moved(replicas),
            Count::MoveWrite(occasion) => metrics.move_write(occasion),
            Count::Repair => metrics.repairs(1),
            Count::PlanEnd(end) => metrics.plan_end(end),
            Count::Burst(end) => metrics.burst(end),
            Count::Attempt(kind, result, duration) => metrics.attempt(kind, result, duration),
            Count::AttemptFailed => metrics.incoming(IncomingEvent::AttemptFailed),
            Count::Conflicts(conflicts) => metrics.conflicts(conflicts),
            Count::Superseded => metrics.superseded(1),
            Count::GivenUp(results) => metrics.holdings_given_up(results),
            Count::Leads(term) => metrics.leader(term),
            Count::Compared(strategy, agreement) => metrics.shadow(&strategy, agreement),
        }
    }
}
