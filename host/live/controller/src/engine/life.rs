//! The life of one binding: everything that deciding it has left behind, in one value.
//!
//! The stores have what the control plane says of a binding, whoever decides it. A life has what this process has found out and plans, and
//! only a binding of which there is anything to know has one. To forget a binding is to remove its life.

use std::time::{Duration, Instant};

use divvy_karmada::api::TargetCluster;
use divvy_scheduler::decide::failure::PluginFailure;
use divvy_scheduler::decide::rules::Reason;
use divvy_scheduler::fleet::estimate::Demand;

use super::confirmations::Confirmation;
use super::moves::Known;
use super::pauses::Incomplete;
use super::shadow::Waiting;
use super::{Announcement, Moment};
use crate::condition::{Failure, ScheduledReason};
use crate::holdings::DecisionNumber;
use crate::store::Divided;

/// Minimum wait for a time, so that a plugin that names a time in the past does not keep the scheduler busy.
const WAIT_MIN: Duration = Duration::from_secs(1);
/// Maximum wait. What is due later is then found not to be due yet.
const WAIT_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// What is under way for a binding outside this process. Its turn to be looked at is the queue's.
#[derive(Debug, Default)]
pub(super) enum Stage {
    /// Nothing.
    #[default]
    Idle,
    /// Estimators are asked. True if something changed meanwhile.
    Estimating(bool),
    /// A write is sent.
    InFlight(Box<InFlight>),
}

/// The reason for which a binding is looked at when a time comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Why {
    /// Its result holds until then, according to plugins.
    Expiry,
    /// Its move may go on.
    Step,
    /// What left its clusters may go back.
    Return,
    /// Its generation may be recorded as observed.
    Confirmation,
    /// Its planned target counts no more.
    Plan,
}

impl Why {
    /// All reasons, in the order in which [`Life::due`] has their times.
    pub(super) const ALL: [Self; 5] = [Self::Expiry, Self::Step, Self::Return, Self::Confirmation, Self::Plan];
}

/// The demand of one replica of a result with fewer replicas than requested.
#[derive(Debug)]
pub(super) enum Missing {
    /// Settled until a cluster may have room.
    Settled(Demand),
    /// Being decided again, because a cluster may have room.
    Unsettled(Demand),
}

/// The last failure that was reported in the log: its reason, and a hash of its cause.
pub(super) type Reported = (ScheduledReason, u64);

/// What deciding a binding has left behind.
#[derive(Debug, Default)]
pub(super) struct Life {
    /// What is under way.
    pub(super) stage: Stage,
    /// Times at which it is looked at again, by [`Why`].
    pub(super) due: [Option<Instant>; Why::ALL.len()],
    /// True if its decision was put off once because its policy was not known.
    pub(super) has_awaited_policy: bool,
    /// True if a quota has refused it, until the quota changes.
    pub(super) is_refused_by_quota: bool,
    /// Replicas that its result lacks.
    pub(super) missing: Option<Missing>,
    /// Its message while it waits for held capacity. It keeps the message until it waits for something else, because each new one is a
    /// write.
    pub(super) held_message: Option<String>,
    /// Warnings that were reported.
    pub(super) warned: Vec<String>,
    /// The failure that was reported last; `None` once it is scheduled.
    pub(super) failure: Option<Reported>,
    /// The wait after a plugin's worker died on it.
    pub(super) plugin_failure: Option<Box<PluginFailure>>,
    /// The plugins that had no part in its result.
    pub(super) incomplete: Option<Box<Incomplete>>,
    /// Its move, as it was seen last.
    pub(super) moving: Option<Box<Known>>,
    /// True if its replicas may be ready or not by now, so that what its move uses of the budgets is found out again.
    pub(super) is_stale: bool,
    /// True if a quota has refused the surge of its move.
    pub(super) is_surge_refused: bool,
    /// Clusters that its replicas left against its policy's wish.
    pub(super) departed: Option<Box<[String]>>,
    /// Its result among Karmada's evictions.
    pub(super) confirmation: Option<Box<Confirmation>>,
    /// A decision that waits for that of another scheduler.
    pub(super) compared: Option<Box<Waiting>>,
}

impl Life {
    /// The write under way.
    pub(super) fn in_flight(&self) -> Option<&InFlight> {
        match &self.stage {
            Stage::InFlight(in_flight) => Some(in_flight),
            Stage::Idle | Stage::Estimating(_) => None,
        }
    }

    /// The clusters of the result that is being written; `None` if the binding stays where it is.
    pub(super) fn placed(&self) -> Option<&[TargetCluster]> {
        self.in_flight()?.placed.as_deref()
    }

    /// True if the result that is being written has a cluster.
    pub(super) fn is_placed_on(&self, cluster: &str) -> bool {
        let mut placed = self.placed().into_iter().flatten();
        placed.any(|target| target.name == cluster)
    }

    /// Names of the clusters that concern it, with repetitions: those of its move, those that its replicas left, and those of the result
    /// that is being written. Its placement may select others.
    pub(super) fn clusters(&self) -> impl Iterator<Item = &str> {
        let moving = self.moving.iter().flat_map(|known| known.cluster_names());
        let departed = self.departed.iter().flatten().map(String::as_str);
        let placed = self.placed().into_iter().flatten().map(|target| target.name.as_str());
        moving.chain(departed).chain(placed)
    }

    /// Has the binding looked at again once what is under way has ended. Returns false if nothing is; it then belongs into the queue.
    pub(super) fn outdate(&mut self) -> bool {
        match &mut self.stage {
            Stage::Idle => false,
            Stage::InFlight(in_flight) => {
                in_flight.is_outdated = true;
                true
            }
            // The decision reads the newest state anyway.
            Stage::Estimating(is_outdated) => {
                *is_outdated = true;
                true
            }
        }
    }

    /// The demand of a settled binding with missing replicas.
    pub(super) fn settled(&self) -> Option<&Demand> {
        match &self.missing {
            Some(Missing::Settled(demand)) => Some(demand),
            Some(Missing::Unsettled(_)) | None => None,
        }
    }

    /// Sets or removes a time, in place of an earlier one.
    pub(super) fn set_due(&mut self, why: Why, due: Option<Instant>) {
        if let Some(time) = self.due.get_mut(why as usize) {
            *time = due;
        }
    }

    /// True if it is looked at for this reason when a time comes.
    pub(super) fn is_due(&self, why: Why) -> bool {
        self.due.get(why as usize).is_some_and(Option::is_some)
    }

    /// Forgets everything but what is under way, which ends by its answer.
    pub(super) fn forget(&mut self) {
        *self = Self {
            stage: std::mem::take(&mut self.stage),
            ..Self::default()
        };
    }

    /// Forgets its move.
    pub(super) fn end_move(&mut self) {
        self.set_due(Why::Step, None);
        self.moving = None;
        self.is_stale = false;
        self.is_surge_refused = false;
    }

    /// True if nothing is known.
    pub(super) fn is_empty(&self) -> bool {
        self.traces().next().is_none() && matches!(self.stage, Stage::Idle)
    }

    /// Names of what is known beside what is under way.
    pub(super) fn traces(&self) -> impl Iterator<Item = &'static str> {
        // Every field is named, so that none is left out here.
        let Self {
            stage: _,
            due,
            has_awaited_policy,
            is_refused_by_quota,
            missing,
            held_message,
            warned,
            failure,
            plugin_failure,
            incomplete,
            moving,
            is_stale,
            is_surge_refused,
            departed,
            confirmation,
            compared,
        } = self;
        let known = [
            ("due", due.iter().any(Option::is_some)),
            ("awaited policy", *has_awaited_policy),
            ("refusal by quota", *is_refused_by_quota),
            ("missing replicas", missing.is_some()),
            ("held message", held_message.is_some()),
            ("warnings", !warned.is_empty()),
            ("failure", failure.is_some()),
            ("plugin failure", plugin_failure.is_some()),
            ("incomplete result", incomplete.is_some()),
            ("move", moving.is_some()),
            ("stale claim", *is_stale),
            ("refused surge", *is_surge_refused),
            ("departures", departed.is_some()),
            ("confirmation", confirmation.is_some()),
            ("comparison", compared.is_some()),
        ];
        known
            .into_iter()
            .filter_map(|(name, is_known)| is_known.then_some(name))
    }
}

/// The time that is some milliseconds from now, within bounds.
pub(super) fn due_in(milliseconds: i64, now: Instant) -> Instant {
    let wait = Duration::from_millis(u64::try_from(milliseconds).unwrap_or(0));
    now + wait.clamp(WAIT_MIN, WAIT_MAX)
}

/// A write that is under way.
#[derive(Debug)]
pub(super) struct InFlight {
    /// Number of the decision, if it holds capacity, which is released if the write fails.
    pub(super) taken: Option<DecisionNumber>,
    /// Clusters before the decision.
    pub(super) last: Vec<TargetCluster>,
    /// Status that the result will get; `None` for a decision without one.
    pub(super) divided: Option<Divided>,
    /// The failure that the decision ended with.
    pub(super) failure: Option<Failure>,
    /// True for a step of a move.
    pub(super) is_step: bool,
    /// True if the binding is looked at again once it is written: the next step of a move may be possible at once.
    pub(super) looks_again: bool,
    /// True if the mark of a move is removed.
    pub(super) ends_move: bool,
    /// Clusters of the decision; `None` if the binding stays where it is.
    pub(super) placed: Option<Vec<TargetCluster>>,
    /// Demand of one replica, if the binding has fewer than requested and is then settled.
    pub(super) partial: Option<Demand>,
    /// True if something changed meanwhile, so that the binding has to be looked at again.
    pub(super) is_outdated: bool,
    /// Events to send once it is written.
    pub(super) announcements: Vec<Announcement>,
    /// The rule by which it was decided; `None` if it was not.
    pub(super) reason: Option<Reason>,
    /// Time at which the decision began.
    pub(super) started: Instant,
}

impl InFlight {
    /// A write of a decision that took no capacity and announces nothing.
    pub(super) fn new(reason: Option<Reason>, moment: &Moment) -> Self {
        Self {
            taken: None,
            last: Vec::new(),
            divided: None,
            failure: None,
            is_step: false,
            looks_again: false,
            ends_move: false,
            placed: None,
            partial: None,
            is_outdated: false,
            announcements: Vec::new(),
            reason,
            started: moment.instant,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_bounded() {
        let now = Instant::now();
        for (milliseconds, expected) in [(i64::MIN, WAIT_MIN), (0, WAIT_MIN), (i64::MAX, WAIT_MAX)] {
            assert_eq!(due_in(milliseconds, now), now + expected, "{milliseconds}");
        }
    }

    /// In a burst, every binding has one.
    #[test]
    fn a_life_does_not_grow_unnoticed() {
        assert!(size_of::<Life>() <= 304, "{}", size_of::<Life>());
    }
}
