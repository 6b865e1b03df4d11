//! Bindings of manifests as one plan, once they are decided one after another.

use std::cmp::Reverse;
use std::num::NonZeroUsize;

use divvy_karmada::detector::Binding;
use divvy_scheduler::cycle::CycleError;
use divvy_scheduler::decision::{Decision, Outcome, Scheduler};
use divvy_scheduler::fleet::{FleetSnapshot, Ledger};
use divvy_scheduler::plan::PlanResult;

use crate::{Alone, Burst, Member, Share};

/// Steps for which the prices of room are looked for, at most.
const STEPS: usize = 350;

/// A binding's plan, and its result if bindings are decided one after another.
pub type Earlier = (PlanResult, Alone);

/// What a plan has changed.
#[derive(Debug)]
pub struct Outlook {
    /// Bindings that wait for room if all are decided one after another, and that a plan may place.
    pub waiting: usize,
    /// Of these, the bindings that the plan places.
    pub placed: usize,
    /// Bindings that have all their replicas one after another, and wait so that others need not.
    pub giving_way: usize,
    /// True if any result is another than one after another.
    pub is_changed: bool,
    /// The share of each binding; `None` if no plan may place it.
    pub shares: Vec<Option<Share>>,
}

impl Alone {
    /// The result of a decision, with the rows and replicas of its clusters.
    pub fn of(outcome: &Outcome, targets: impl IntoIterator<Item = (u32, i64)>) -> Self {
        match outcome {
            Outcome::Scheduled(_) => Self::Placed(targets.into_iter().collect()),
            Outcome::Failed(CycleError::Unschedulable { .. } | CycleError::NotSelectable { .. }) => Self::Waits,
            Outcome::Failed(_) | Outcome::Skipped(_) => Self::Settled,
        }
    }
}

/// Makes the decisions again that a plan for all bindings changes, and passes each to `again` with the index of its binding.
///
/// The scheduler has decided all of them with a ledger, the highest priority first, then by name; `earlier` has what came of it, in the
/// order of the bindings.
pub fn plan_bindings(
    scheduler: Scheduler,
    (bindings, fleet): (&[Binding], &FleetSnapshot),
    earlier: Vec<Earlier>,
    threads: NonZeroUsize,
    mut again: impl FnMut(usize, Decision),
) -> Outlook {
    let mut numbered: Vec<(usize, Earlier)> = earlier.into_iter().enumerate().collect();
    numbered.sort_by_cached_key(|(index, _)| (Reverse(bindings[*index].priority()), bindings[*index].key()));
    let mut order = Vec::with_capacity(numbered.len());
    let members = numbered.into_iter().map(|(index, (plan, alone))| {
        order.push(index);
        Member {
            binding: &bindings[index],
            plan,
            is_fresh: bindings[index].is_fresh(),
            alone,
        }
    });
    let members: Vec<Member<'_>> = members.collect();
    let nothing = Ledger::default();
    let burst = Burst {
        profile: scheduler.profile(),
        fleet,
        ledger: scheduler.ledger().unwrap_or(&nothing),
        time: scheduler.time(),
        steps: STEPS,
        threads,
    };
    let jointly = burst.plan(&members);
    let mut shares = vec![None; bindings.len()];
    for (index, share) in order.iter().zip(jointly.shares) {
        shares[*index] = share;
    }
    let is_changed = !jointly.changes.is_empty();
    let mut scheduler = scheduler.continuing(Some(jointly.ledger));
    for change in jointly.changes {
        let index = order[change.member];
        let decision = match &change.room {
            Some(room) => scheduler.schedule_within(&bindings[index], fleet, room),
            None => scheduler.schedule(&bindings[index], fleet),
        };
        again(index, decision);
    }
    Outlook {
        waiting: jointly.waiting,
        placed: jointly.placed,
        giving_way: jointly.giving_way,
        is_changed,
        shares,
    }
}
