//! Bursts: bindings that are ready at the same time, decided as one plan where the profile says so.
//!
//! All of them are decided in one go. On trial, one after another: if some have no room then, a plan is made ([`divvy_burst`]). Then each is
//! looked at as ever, first those that the plan gives room, and its write waits in the outbox until it is asked for. So no change comes
//! between a plan and its decisions, nothing of it has to be kept, and room that it gives cannot be taken by others: each decision holds what
//! it takes before the next one. From then on, a write of a burst is a write like any other; but one that takes replicas away is not sent
//! once clusters have changed, as it may have waited for others.

use std::collections::{HashMap, VecDeque};
use std::num::NonZeroUsize;
use std::sync::Arc;

use divvy_burst::{Burst, GivenRoom, Jointly, Member, Share, decide_alone};
use divvy_scheduler::cycle::Cycle;
use divvy_scheduler::decision::guarded;
use divvy_scheduler::moves::planned::PLANNED_ANNOTATION;
use divvy_scheduler::placements::Peers;
use divvy_scheduler::plan::{Decidable, Plan, PlanResult};

use super::candidate::Candidate;
use super::effects::{Count, Effects};
use super::life::Life;
use super::{Announcement, Engine, Moment, Task};
use crate::decision::LiveDecision;
use crate::guard::takes_away;
use crate::objects::BindingKey;
use crate::observe::BurstEnd;
use crate::write::{WriteOutcome, Written};

/// Steps for which the prices of room are looked for, at most.
const STEPS: usize = 200;

/// Pairs of a binding and a cluster in one plan at most: about a second of work, in which nothing else is decided.
const PAIRS_MAX: usize = 100_000;

/// What is ready to leave the engine.
#[derive(Default)]
pub(super) struct Outbox {
    /// Events to send.
    pub(super) announcements: Vec<Announcement>,
    /// Writes of a burst.
    pub(super) tasks: VecDeque<Task>,
    /// Number of changes of clusters by which they were decided.
    changes: u64,
    /// Parts of the burst that is being decided.
    parts: HashMap<Arc<BindingKey>, Part>,
}

/// A binding's part of a burst.
#[derive(Clone)]
pub(super) struct Part {
    /// The room that the plan gives it; `None` if it is decided as ever.
    pub(super) room: Option<GivenRoom>,
    share: Share,
    /// Bindings of the burst.
    bindings: usize,
}

/// A binding of a burst, before anything is decided.
struct Draft {
    candidate: Candidate,
    plan: PlanResult,
    peers: Option<Peers>,
}

impl Part {
    /// True if a decision with the room of the plan is the planned one: as that room is all that there is, it can be no other.
    pub(super) fn accepts(decision: &LiveDecision) -> bool {
        decision.result.is_ok() && decision.decision.partial.is_none()
    }

    /// What an event adds to a result.
    pub(super) fn success(&self) -> String {
        let (bindings, share) = (self.bindings, &self.share);
        match self.room {
            Some(_) => format!("; decided as one plan of {bindings} bindings: {share}"),
            None => format!("; one of {bindings} bindings decided at once: {share}"),
        }
    }

    /// What a failure adds to its message.
    pub(super) fn failure(&self) -> Option<String> {
        let (bindings, share) = (self.bindings, &self.share);
        share
            .waits()
            .then(|| format!("one of {bindings} bindings decided at once: {share}"))
    }
}

impl Outbox {
    /// The part of a binding in the burst that is being decided.
    pub(super) fn part(&self, key: &BindingKey) -> Option<&Part> {
        self.parts.get(key)
    }

    /// Has a binding decided as ever.
    pub(super) fn forget_part(&mut self, key: &BindingKey) {
        self.parts.remove(key);
    }
}

impl Engine {
    /// Decides the bindings that are ready as one plan, if they are as many as the profile says. Their writes are in the outbox then.
    pub(super) fn decide_burst(&mut self, moment: &Moment) {
        // What is decided at once must be held at once. And estimators answer for one binding after another.
        let may_plan = self.active.holds() && self.shadow.is_none() && !self.estimators.are_asked;
        let Some(jointly) = self.active.jointly.clone().filter(|_| may_plan) else {
            return;
        };
        if self.lives.queue.depth().active < jointly.waiting() {
            return;
        }
        let most = jointly.at_most().min((PAIRS_MAX / self.clusters.len().max(1)).max(2));
        let mut keys = Vec::new();
        let mut effects = Effects::default();
        while keys.len() < most
            && let Some(taken) = self.lives.queue.take(moment.instant)
        {
            effects.count(Count::QueueWait(taken.waited));
            keys.push(taken.key);
        }
        self.carry_out(effects, moment.instant);
        // Most of them may be satisfied, as after a start.
        let drafts: Vec<Draft> = keys.iter().filter_map(|key| self.draft(key, moment)).collect();
        if drafts.len() >= jointly.waiting().min(most) {
            self.outbox.parts = self.plan_burst(&drafts, moment);
        }
        let is_given = |key: &Arc<BindingKey>| self.outbox.parts.get(key).is_some_and(|part| part.room.is_some());
        self.outbox.changes = self.fleet.changes();
        let (given, rest): (Vec<_>, Vec<_>) = keys.into_iter().partition(is_given);
        for key in given.iter().chain(&rest) {
            // What another decision has woken comes in its own turn.
            if self.lives.queue.is_taken(key)
                && let Some(task) = self.look_at(key, None, moment)
            {
                self.outbox.tasks.push_back(task);
            }
        }
        self.outbox.parts.clear();
    }

    /// The parts of bindings, given in the order of their turns. Those that no plan may place have none.
    fn plan_burst(&mut self, drafts: &[Draft], moment: &Moment) -> HashMap<Arc<BindingKey>, Part> {
        let jointly = match guarded(|| self.plan_drafts(drafts, moment)) {
            Ok(jointly) => jointly,
            Err(defect) => {
                tracing::error!(%defect, "no plan for a burst: it is decided one after another");
                self.cycle = Cycle::new();
                return HashMap::new();
            }
        };
        let Jointly {
            waiting,
            placed,
            changes,
            shares,
            ..
        } = jointly;
        self.panel.watchdog.decided();
        let mut effects = Effects::default();
        let end = match changes.is_empty() {
            true => BurstEnd::OneByOne,
            false => BurstEnd::Planned,
        };
        effects.count(Count::Burst(end));
        self.carry_out(effects, moment.instant);
        let bindings = drafts.len();
        tracing::info!(bindings, waiting, placed, "a burst is decided at once");
        let mut parts: HashMap<Arc<BindingKey>, Part> = HashMap::new();
        for (draft, share) in drafts.iter().zip(shares) {
            if let Some(share) = share {
                let part = Part {
                    room: None,
                    share,
                    bindings,
                };
                parts.insert(Arc::clone(&draft.candidate.key), part);
            }
        }
        for change in changes {
            if let Some(part) = parts.get_mut(&drafts[change.member].candidate.key) {
                part.room = change.room;
            }
        }
        parts
    }

    /// A plan for these bindings, once they are decided one after another on trial.
    fn plan_drafts(&mut self, drafts: &[Draft], moment: &Moment) -> Jointly {
        let (snapshot, set) = self.fleet.snapshot();
        let mut ledger = self.capacity.holdings.ledger(&snapshot, set).clone();
        let nothing = divvy_scheduler::fleet::Ledger::default();
        let burst = Burst {
            profile: &self.active.profile,
            fleet: &snapshot,
            ledger: &nothing,
            time: Some(moment.milliseconds),
            steps: STEPS,
            // The engine's own: decisions of others wait meanwhile anyway.
            threads: NonZeroUsize::MIN,
        };
        let members = drafts.iter().map(|draft| {
            let binding = &*draft.candidate.binding;
            let is_fresh = draft.candidate.record().is_reschedule_pending;
            let peers = draft.peers.as_ref();
            Member {
                alone: decide_alone(
                    &burst,
                    (binding, &draft.plan),
                    (is_fresh, peers),
                    &mut self.cycle,
                    &mut ledger,
                ),
                plan: Arc::clone(&draft.plan),
                binding,
                is_fresh,
            }
        });
        let members: Vec<Member<'_>> = members.collect();
        Burst {
            ledger: &ledger,
            ..burst
        }
        .plan(&members)
    }

    /// A binding as a plan may place it; `None` if it is not to be decided, or not by what is free alone.
    fn draft(&self, key: &Arc<BindingKey>, moment: &Moment) -> Option<Draft> {
        let record = self.bindings.shared(key).filter(|record| record.is_ours)?;
        let candidate = Candidate::new(key, record, self)?;
        let placement = candidate.placement.placement.as_ref().ok()?;
        let life = self.lives.get(key);
        let waits_for_policy = self.awaits_policy(&candidate) && !life.is_some_and(|life| life.has_awaited_policy);
        let is_paused = life.is_some_and(|life| life.plugin_failure.is_some());
        let mark = self.read_mark(&candidate, moment);
        let is_planned = candidate.record().annotation(PLANNED_ANNOTATION).is_some();
        if waits_for_policy
            || is_paused
            || mark.is_some()
            || is_planned
            || self.unenforced(&candidate, placement).is_some()
        {
            return None;
        }
        self.reason_to_decide(&candidate, placement, None, moment)?;
        let plan = Arc::new(Plan::under(&self.active.profile, &candidate.binding.input()));
        Some(Draft {
            peers: self.peers(&candidate.binding),
            candidate,
            plan,
        })
    }

    /// Gives up the writes of a burst that nobody has asked for yet, because another term begins.
    pub(super) fn drop_burst(&mut self, moment: &Moment) {
        for task in std::mem::take(&mut self.outbox.tasks) {
            if let Task::Write(job) = task {
                self.give_up(&job.key, WriteOutcome::Fenced, moment);
            }
        }
    }

    /// The next write of a burst. One that takes replicas away, and that was decided by clusters as they are no more, is looked at again
    /// instead: they may be back, or missing.
    pub(super) fn next_of_burst(&mut self, moment: &Moment) -> Option<Task> {
        while let Some(task) = self.outbox.tasks.pop_front() {
            match &task {
                Task::Write(job) if self.fleet.changes() != self.outbox.changes && self.is_taking(&job.key) => {
                    self.lives.woken(&job.key);
                    self.give_up(&job.key, WriteOutcome::Superseded, moment);
                }
                _ => return Some(task),
            }
        }
        None
    }

    /// True if the result that is being written takes replicas away from a cluster.
    fn is_taking(&self, key: &BindingKey) -> bool {
        let in_flight = self.lives.get(key).and_then(Life::in_flight);
        in_flight.is_some_and(|in_flight| {
            let placed = in_flight.placed.as_deref();
            placed.is_some_and(|placed| takes_away(&in_flight.last, placed))
        })
    }

    /// Ends a write that was never sent.
    fn give_up(&mut self, key: &Arc<BindingKey>, outcome: WriteOutcome, moment: &Moment) {
        let written = Written {
            outcome,
            ..Written::default()
        };
        self.complete(key, written, moment);
    }
}
