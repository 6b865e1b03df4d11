//! The outcome of a look at a binding, and the one function that carries it out.
//!
//! A look is what a reconciler is in `kube_runtime`, and its outcome what an `Action` is there: what is written, when the binding is looked
//! at again and why, and what is said. A look may change what is known of the binding and book what its result takes up, because that is
//! what it decides by; it starts no write, sets no time, and counts and announces nothing by itself.

use std::sync::Arc;
use std::time::Duration;

use divvy_scheduler::moves::step::Occasion;

use super::life::{InFlight, Stage, Why};
use super::{Announcement, Engine, Moment, Task};
use crate::condition::{Cause, Failure};
use crate::estimates::EstimateJob;
use crate::objects::BindingKey;
use crate::write::WriteJob;

/// The outcome of a look at a binding.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// What is done now.
    pub(super) next: Next,
    /// Times at which it is looked at again, by [`Why`], in milliseconds from now. The outer `None` keeps an earlier one, the inner one
    /// removes it.
    due: [Option<Option<i64>>; Why::ALL.len()],
    /// What is said.
    pub(super) said: Said,
}

/// What is done after a look.
#[derive(Debug, Default)]
pub(super) enum Next {
    /// Nothing, until something changes.
    #[default]
    Rest,
    /// It is looked at again after a wait that counts as no failure.
    Later(Duration),
    /// It is looked at again after a wait, or once what a plugin's worker died on has changed.
    Pause(Duration),
    /// Estimators are asked, and the binding is decided with their answers.
    Ask(Box<EstimateJob>),
    /// It is written.
    Write(Box<WriteJob>, Box<InFlight>),
    /// Nothing has to be written, and the decision ends.
    End(Box<InFlight>),
}

/// What is said after a look.
#[derive(Debug, Default)]
pub(super) struct Said {
    /// Events that do not wait for a write.
    pub(super) events: Vec<Announcement>,
    /// The failure that gets a line in the log.
    pub(super) failure: Option<Failure>,
    /// The text about the move, which the inner `None` removes; the outer one keeps it.
    pub(super) moving: Option<Option<String>>,
    /// What is counted.
    pub(super) counts: Vec<Count>,
}

/// Something that is counted.
#[derive(Debug, Clone, Copy)]
pub(super) enum Count {
    /// A decision was held back, because clusters are missing.
    HeldBack,
    /// Replicas were moved.
    ReplicasMoved(u64),
    /// A result or a mark of a move was planned.
    MoveWrite(Occasion),
    /// A status that was missing is written.
    Repair,
}

impl Outcome {
    /// An outcome that says nothing.
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

    /// Says something of the move.
    pub(super) fn moving(mut self, text: Option<String>) -> Self {
        self.said.moving = Some(text);
        self
    }

    /// This outcome after what was found out before. What both say is said as this does.
    pub(super) fn after(mut self, mut before: Self) -> Self {
        for (due, earlier) in self.due.iter_mut().zip(before.due) {
            *due = due.or(earlier);
        }
        before.said.events.append(&mut self.said.events);
        before.said.counts.append(&mut self.said.counts);
        self.said = Said {
            events: before.said.events,
            counts: before.said.counts,
            failure: self.said.failure.or(before.said.failure),
            moving: self.said.moving.or(before.said.moving),
        };
        self
    }
}

impl Engine {
    /// Carries the outcome of a look out. Returns the task that it gives to others.
    pub(super) fn apply(&mut self, key: &Arc<BindingKey>, outcome: Outcome, moment: &Moment) -> Option<Task> {
        let Outcome { next, due, said } = outcome;
        for (why, milliseconds) in Why::ALL.into_iter().zip(due) {
            if let Some(milliseconds) = milliseconds {
                self.lives.set_due(key, why, milliseconds, moment.instant);
            }
        }
        self.say(key, said, moment);
        match next {
            Next::Rest => self.lives.queue.done(key),
            Next::Later(wait) => self.lives.queue.postpone(key, wait, moment.instant),
            Next::Pause(wait) => self.lives.queue.pause(key, Cause::Deadly, wait, moment.instant),
            Next::Ask(job) => {
                self.lives.change(key, |life| life.stage = Stage::Estimating(false));
                return Some(Task::Estimate(*job));
            }
            Next::Write(job, in_flight) => {
                self.lives.change(key, |life| life.stage = Stage::InFlight(in_flight));
                return Some(Task::Write(job));
            }
            Next::End(in_flight) => self.end(key, *in_flight, moment),
        }
        None
    }

    fn say(&mut self, key: &Arc<BindingKey>, said: Said, moment: &Moment) {
        if let Some(failure) = &said.failure {
            self.report_line(key, failure, moment);
        }
        if let Some(text) = said.moving {
            self.panel.moving(key, text);
        }
        self.announcements.extend(said.events);
        let metrics = self.metrics();
        for count in said.counts {
            match count {
                Count::HeldBack => metrics.held_back(1),
                Count::ReplicasMoved(replicas) => metrics.replicas_moved(replicas),
                Count::MoveWrite(occasion) => metrics.move_write(occasion),
                Count::Repair => metrics.repairs(1),
            }
        }
    }
}
