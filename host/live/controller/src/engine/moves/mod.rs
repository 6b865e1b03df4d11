//! Moves: results that take replicas from one cluster and give them to another, written in steps.
//!
//! The rules are pure functions in `divvy_scheduler::moves`. Here they get what is observed, and their verdicts are carried out. Where a
//! move stands is on its binding; what is kept here is found again by looking at the bindings that have a mark.
//!
//! - `look`: what is seen of a binding, and the one pass over it, its terms and the world.
//! - `surroundings`: the world around it.
//! - `carry`: the writes and waits that follow.
//! - `known`: a move as it was seen last: its claim, and what it waits for.
//! - `claims`: what the moves use of the budgets, and the bindings that wait for them.
//! - `failback`: what left clusters against the policy's wish, and goes back.
//! - `planned`: what a plan for the whole fleet gives a target.

mod carry;
mod claims;
mod failback;
mod known;
mod look;
mod planned;
mod surroundings;

use std::sync::Arc;
use std::time::{Duration, Instant};

use divvy_scheduler::decide::rules::Reason;
use divvy_scheduler::moves::mark::{MOVE_ANNOTATION, Marked, ReadMark, read_mark};
use divvy_scheduler::moves::step::Reason as Wait;

use super::candidate::Candidate;
use super::effects::{Effects, Wake};
use super::life::Life;
use super::lives::Group;
use super::{Engine, Moment};
use crate::objects::BindingKey;
use crate::observe::{Metrics, MoveCounts};
use crate::store::Record;

pub(super) use self::carry::milliseconds;
pub(super) use self::known::Known;
pub(super) use self::look::reports;
pub(super) use self::planned::Planned;

/// Time after which a report of a Ready cluster describes what is there: longer than Karmada takes to notice that it cannot reach one
/// (40 s by default), so that a cluster without reports for this time is not Ready.
pub(super) const REPORT_TIME: Duration = Duration::from_secs(60);

impl Engine {
    /// Notes that the state of a binding's resource has changed. Returns true if that may permit the next step of its move.
    pub(super) fn move_follows(&mut self, key: &Arc<BindingKey>) -> bool {
        self.claim_may_change(key);
        let known = self.lives.get(key).and_then(|life| life.moving.as_ref());
        known.is_some_and(|known| known.follows_reports())
    }

    /// Notes that what the move of a binding uses may have changed, so that it is found out again.
    pub(super) fn claim_may_change(&mut self, key: &Arc<BindingKey>) {
        self.lives.update(key, |life| life.is_stale |= life.moving.is_some());
    }

    /// Notes that a quota has refused a step. Returns false if the surge was refused already.
    pub(super) fn refuse_surge(&mut self, key: &Arc<BindingKey>) -> bool {
        self.lives
            .change(key, |life| !std::mem::replace(&mut life.is_surge_refused, true))
    }

    /// Lets a surge be tried again that a quota has refused.
    pub(super) fn permit_surge(&mut self, key: &Arc<BindingKey>) {
        self.lives.update(key, |life| life.is_surge_refused = false);
    }

    /// The moves that are under way or wait, in the order of the bindings' keys.
    pub(super) fn known_moves(&self) -> impl Iterator<Item = (&Arc<BindingKey>, &Known)> {
        let moving = self.lives.of(Group::Moving);
        moving.filter_map(|(key, life)| Some((key, life.moving.as_deref()?)))
    }

    /// The move of a binding, as it was seen last.
    pub(super) fn known_move(&self, key: &BindingKey) -> Option<&Known> {
        self.lives.get(key)?.moving.as_deref()
    }

    /// Moves by state, and by what they wait for with the longest wait.
    fn count_moves(&self, now: Instant) -> MoveCounts {
        let mut counts = MoveCounts::default();
        for (_, known) in self.known_moves() {
            match known.claim.is_under_way {
                true => counts.under_way += 1,
                false => counts.waiting += 1,
            }
            if let Some((wait, since)) = &known.wait {
                let (bindings, longest) = counts.waits.entry(wait.word()).or_default();
                *bindings += 1;
                *longest = (*longest).max(now.saturating_duration_since(*since));
            }
        }
        counts
    }
}

impl Engine {
    /// The mark of a binding, compared with it; `None` if it has none, and in shadow mode, which takes no steps.
    pub(super) fn read_mark(&self, candidate: &Candidate, moment: &Moment) -> Option<ReadMark> {
        if self.shadow.is_some() {
            return None;
        }
        let text = candidate.record().annotation(MOVE_ANNOTATION)?;
        let marked = Marked {
            generation: candidate.binding.generation(),
            asked: candidate.asked(),
            standard_asked: Some(candidate.standard_asked()),
            result: candidate.last(),
            total: candidate.replicas(),
            now: moment.milliseconds,
        };
        read_mark(Some(text), &marked, |name| self.clusters.contains(name))
    }

    /// Forgets a binding that is gone, at its target, or not decided here, and what is said of its move.
    pub(super) fn forget_move(&mut self, key: &Arc<BindingKey>) -> Effects {
        let mut effects = Effects::default();
        effects.show(key, None);
        effects.append(self.end_move(key));
        effects
    }

    /// Forgets what a binding claims, because it has no mark any more.
    pub(super) fn end_move(&mut self, key: &Arc<BindingKey>) -> Effects {
        let was_moving = self.lives.keys(Group::Moving).contains(key);
        self.lives.update(key, Life::end_move);
        if was_moving {
            return self.wake_admitted();
        }
        Effects::default()
    }

    /// Forgets a binding that has no mark, and nothing to move any more.
    pub(super) fn forget_waiting(&mut self, key: &Arc<BindingKey>) -> Effects {
        let has_mark = self.bindings.get(key).is_some_and(Record::has_mark);
        if has_mark || !self.lives.keys(Group::Moving).contains(key) {
            return Effects::default();
        }
        match self.lives.keys(Group::Departed).contains(key) {
            true => self.end_move(key),
            false => self.forget_move(key),
        }
    }

    /// Forgets all moves, because another profile may judge them otherwise. The bindings with a mark are looked for before the next
    /// decision, and those that wait to begin are looked at.
    pub(super) fn reset_moves(&mut self) -> Effects {
        let mut effects = Effects::default();
        self.lives.knows_moves = false;
        let [moving, departed] = [Group::Moving, Group::Departed].map(|group| self.lives.keys(group).clone());
        for key in moving.iter().chain(&departed) {
            self.lives.update(key, |life| {
                life.end_move();
                life.end_departures();
            });
        }
        for key in moving.iter().chain(&departed) {
            effects.show(key, None);
            effects.look(key, Wake::Around);
        }
        effects
    }

    /// Looks for the bindings with a mark, once: what they claim of the budgets must be known before any other move begins.
    pub(super) fn load_moves(&mut self, moment: &Moment) -> Effects {
        let mut effects = Effects::default();
        if std::mem::replace(&mut self.lives.knows_moves, true) || self.shadow.is_some() {
            return effects;
        }
        let marked = self
            .bindings
            .iter()
            .filter(|(_, record)| record.is_ours && record.has_mark());
        let marked: Vec<Arc<BindingKey>> = marked.map(|(key, _)| Arc::clone(key)).collect();
        for key in marked {
            self.load_claim(&key, moment);
            effects.look(&key, Wake::Around);
        }
        effects.append(self.load_departed());
        effects
    }

    /// Publishes the figures of moves, unless those under way have not been looked for since another profile or term began: none would be
    /// taken for all settled.
    pub(super) fn publish_moves(&self, metrics: &Metrics, now: Instant) {
        if self.is_deciding() && !self.lives.knows_moves {
            return;
        }
        let moving = self.lives.keys(Group::Moving).iter();
        let records = moving.filter_map(|key| self.bindings.get(key));
        let counts = MoveCounts {
            unsettled: records
                .filter(|record| record.has_mark() && record.is_off_sum())
                .count(),
            ..self.count_moves(now)
        };
        metrics.moves(&counts);
    }

    /// Looks again at moves of which a cluster has changed: one that may be judged differently, or only has more room.
    pub(super) fn wake_moves_on(&mut self, cluster: &str, only_room: bool) -> Effects {
        let depends = |known: &Known| known.depends_on(cluster) && (known.claim.lacks_room || !only_room);
        let concerned = self.lives.on(cluster);
        let concerned = concerned.filter(|(_, life)| life.moving.as_deref().is_some_and(depends));
        let concerned: Vec<Arc<BindingKey>> = concerned.map(|(key, _)| Arc::clone(key)).collect();
        for key in &concerned {
            self.claim_may_change(key);
        }
        Effects::around(concerned)
    }

    /// Looks again at the moves that wait because clusters are missing.
    pub(super) fn wake_moves_of_missing(&self) -> Effects {
        let waits = |known: &Known| matches!(&known.wait, Some((Wait::MissingClusters, _)));
        let waiting = self.known_moves().filter(|(_, known)| waits(known));
        Effects::around(waiting.map(|(key, _)| Arc::clone(key)))
    }
}

/// The rule by which a binding with a mark is decided. A move goes on although a cluster that it leaves is being deleted; one whose mark is
/// void is decided anew.
pub(super) fn reason_to_interrupt(
    reason: Option<Reason>,
    mark: Option<&ReadMark>,
    candidate: &Candidate,
    is_deleting: impl Fn(&str) -> bool,
) -> Option<Reason> {
    let Some(read) = mark else { return reason };
    match (reason, read.valid()) {
        (Some(Reason::ClusterDeleting), Some(mark)) => {
            let target = mark.target(candidate.last());
            let mut clusters = target.iter().filter(|(_, replicas)| **replicas > 0);
            let has_deleting = clusters.any(|(name, _)| is_deleting(name));
            has_deleting.then_some(Reason::ClusterDeleting)
        }
        (None, None) => {
            if let Some(void) = &read.void {
                tracing::info!(binding = %candidate.key, cause = %void, "the move is decided anew");
            }
            Some(Reason::MoveInterrupted)
        }
        (reason, _) => reason,
    }
}

/// True for waits that a person can end, which are worth an event.
fn is_news(wait: &Wait) -> bool {
    matches!(
        wait.word(),
        "room" | "clusters" | "allowance" | "pace" | "dispatching" | "quota" | "autoscaler"
    )
}
