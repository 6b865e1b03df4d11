//! The effects of a change, a look or an answer: which bindings are looked at again, what becomes of a turn, and what is said.
//!
//! Everything that handles a change returns them; only [`Engine::carry_out`](super::Engine) has them happen, in their order. What handles
//! a change does update the stores, lives and capacity, because what follows reads them.

use std::sync::Arc;
use std::time::Duration;

use divvy_scheduler::moves::step::Occasion;
use serde_json::Value;

use super::Announcement;
use crate::condition::{Cause, Failure};
use crate::objects::BindingKey;
use crate::observe::{Agreement, BurstEnd, IncomingEvent, PlanEnd, ScheduleResult, ScheduleType};

/// Effects, in their order.
#[derive(Debug, Default)]
#[must_use]
pub(super) struct Effects(Vec<Effect>);

/// One effect.
#[derive(Debug)]
pub(super) enum Effect {
    /// A binding is looked at again.
    Look(Arc<BindingKey>, Wake),
    /// The turn of a binding ends that was taken out of the queue.
    Turn(Arc<BindingKey>, Turn),
    /// An event is sent.
    Announce(Box<Announcement>),
    /// A failure of a binding gets a line in the log, unless it was reported before.
    Report(Arc<BindingKey>, Box<Failure>),
    /// The text about a binding's move is replaced; `None` removes it.
    Show(Arc<BindingKey>, Option<Box<str>>),
    /// The texts about all moves are removed.
    ShowNoMoves,
    /// The comparison with another scheduler is published.
    ShowComparison(Box<Value>),
    /// Something is counted.
    Count(Count),
}

/// The way in which a binding is looked at again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wake {
    /// Something around it has changed: after a failure, it waits for the rest of its time.
    Around,
    /// It has changed itself, or what it is decided by: it is looked at without waiting, and its failures are forgotten.
    Changed(IncomingEvent),
    /// The cause of its failure may be over. Only if it waits for that.
    Parked,
    /// Its generation may be recorded as observed. Only if it is not looked at anyway.
    Confirmation,
}

/// What becomes of the turn of a binding.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Turn {
    /// It leaves the queue, until something changes.
    #[default]
    Rest,
    /// It comes again after a wait that counts as no failure.
    Later(Duration),
    /// It comes again after a wait, or once what a plugin's worker died on has changed.
    Pause(Duration),
    /// It comes again after a wait that grows with each failure.
    Retry,
    /// It comes again once the cause of the failure may be over.
    Park(Cause),
    /// It comes again at once.
    Again(IncomingEvent),
}

/// Something that is counted.
#[derive(Debug)]
pub(super) enum Count {
    /// A binding was taken out of the queue after this time.
    QueueWait(Duration),
    /// A decision was held back, because clusters are missing.
    HeldBack,
    /// Replicas were moved.
    ReplicasMoved(u64),
    /// A result or a mark of a move was planned.
    MoveWrite(Occasion),
    /// A status that was missing is written.
    Repair,
    /// A binding has reached the target of a plan, or leaves the plan.
    PlanEnd(PlanEnd),
    /// Bindings were decided at once.
    Burst(BurstEnd),
    /// A decision has ended, this long after its beginning.
    Attempt(ScheduleType, ScheduleResult, Duration),
    /// A decision comes again, because it failed.
    AttemptFailed,
    /// Requests of a write met another version.
    Conflicts(u64),
    /// A decision was dropped, because its binding had changed, or for one of a burst the clusters.
    Superseded,
    /// Results whose capacity is no longer held, although no report has shown it.
    GivenUp(usize),
    /// This process leads in a term, or leads no more.
    Leads(Option<u64>),
    /// A decision under this strategy was compared with that of another scheduler.
    Compared(Box<str>, Agreement),
}

impl Effects {
    /// Bindings that are looked at, because something around them has changed.
    pub(super) fn around(keys: impl IntoIterator<Item = Arc<BindingKey>>) -> Self {
        Self::looks(keys, Wake::Around)
    }

    /// Bindings that are looked at in this way.
    pub(super) fn looks(keys: impl IntoIterator<Item = Arc<BindingKey>>, wake: Wake) -> Self {
        Self(keys.into_iter().map(|key| Effect::Look(key, wake)).collect())
    }

    /// Adds an effect.
    pub(super) fn push(&mut self, effect: Effect) {
        self.0.push(effect);
    }

    /// Adds the effects of what happened next.
    pub(super) fn append(&mut self, mut next: Self) {
        self.0.append(&mut next.0);
    }

    /// Has a binding looked at.
    pub(super) fn look(&mut self, key: &Arc<BindingKey>, wake: Wake) {
        self.push(Effect::Look(Arc::clone(key), wake));
    }

    /// Ends a binding's turn.
    pub(super) fn turn(&mut self, key: &Arc<BindingKey>, turn: Turn) {
        self.push(Effect::Turn(Arc::clone(key), turn));
    }

    /// Sends events.
    pub(super) fn announce(&mut self, announcements: impl IntoIterator<Item = Announcement>) {
        let announcements = announcements.into_iter().map(Box::new);
        self.0.extend(announcements.map(Effect::Announce));
    }

    /// Reports a failure in the log.
    pub(super) fn report(&mut self, key: &Arc<BindingKey>, failure: Failure) {
        self.push(Effect::Report(Arc::clone(key), Box::new(failure)));
    }

    /// Says something of a binding's move, or nothing any more.
    pub(super) fn show(&mut self, key: &Arc<BindingKey>, text: Option<String>) {
        self.push(Effect::Show(Arc::clone(key), text.map(String::into_boxed_str)));
    }

    /// Counts something.
    pub(super) fn count(&mut self, count: Count) {
        self.push(Effect::Count(count));
    }
}

impl IntoIterator for Effects {
    type Item = Effect;
    type IntoIter = std::vec::IntoIter<Effect>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A process that begins to lead has one for every binding.
    #[test]
    fn an_effect_is_small() {
        assert!(size_of::<Effect>() <= 32, "{}", size_of::<Effect>());
    }
}
