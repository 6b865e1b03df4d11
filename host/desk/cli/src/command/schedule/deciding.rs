//! All decisions of `divvy schedule`: on all threads, if no result affects another; as one plan, if that is asked for.

use std::convert::Infallible;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use divvy_burst::{Alone, Earlier, plan_bindings};
use divvy_forecast::plans::PlanSummaries;
use divvy_karmada::detector::Binding;
use divvy_scheduler::decision::{Decision, Scheduler, decide_each};
use divvy_scheduler::fleet::FleetSnapshot;

use super::findings::{Finding, PlanFindings};
use crate::report::clusters::targets::{self, Target};
use crate::report::entry::{Decided, Jointly};

/// All bindings, to be decided against one snapshot.
pub(super) struct Deciding<'a> {
    pub(super) scheduler: Scheduler,
    pub(super) bindings: &'a [Binding],
    pub(super) fleet: &'a FleetSnapshot,
    pub(super) threads: NonZeroUsize,
    /// True if more of the plans is read than the strategy.
    pub(super) keeps_plans: bool,
    /// True if all are decided as one plan. The scheduler then has a ledger.
    pub(super) is_joint: bool,
}

/// All decisions, in the order of the bindings.
pub(super) struct AllDecided {
    pub(super) decisions: Vec<Decided>,
    /// Findings from the plans of the bindings.
    pub(super) findings: PlanFindings,
    /// What one plan for all has placed; `None` if there is none.
    pub(super) jointly: Option<Jointly>,
}

impl Deciding<'_> {
    /// Decides, on all threads if no result affects another, and passes each decision to `each` in the order in which one thread
    /// would make them. One that a plan for all changes is passed on again.
    pub(super) fn run(self, mut each: impl FnMut(&Binding, &mut Decision)) -> AllDecided {
        let Self {
            mut scheduler,
            bindings,
            fleet,
            threads,
            keeps_plans,
            is_joint,
        } = self;
        let (profile, mut findings) = (Arc::clone(scheduler.profile()), PlanFindings::default());
        if scheduler.ledger().is_some() {
            let decided = decide_each(&mut scheduler, bindings, fleet, |index, decision| {
                let targets = targets::take(decision, fleet);
                findings.add(index, Finding::of_decision(decision, &bindings[index], &profile));
                each(&bindings[index], decision);
                targets
            });
            let decided = decided.into_iter().map(|(decision, targets)| Decided {
                decision,
                targets,
                share: None,
            });
            // In the order of the bindings, whatever the order of the decisions.
            findings.sort();
            let mut decisions: Vec<Decided> = decided.collect();
            let jointly = is_joint.then(|| plan_all(scheduler, (bindings, fleet), &mut decisions, threads, each));
            return AllDecided {
                decisions,
                findings,
                jointly,
            };
        }
        let scheduler = Mutex::new(scheduler.knowing_placements_of(bindings));
        let mut decided = Vec::with_capacity(bindings.len());
        let worker = || {
            // No thread panics while it holds the lock.
            let mut scheduler = scheduler.lock().unwrap_or_else(PoisonError::into_inner).another();
            let (profile, mut summaries) = (&profile, PlanSummaries::default());
            let mut targets: Vec<Target> = Vec::new();
            move |binding: &Binding| {
                let mut decision = scheduler.schedule_rows(binding, fleet, &mut |row, replicas, figures| {
                    targets.push(Target { row, replicas, figures });
                });
                // The copy has no spare capacity, and the buffer keeps its own for the next result.
                let taken = targets.as_slice().into();
                targets.clear();
                let finding = Finding::of_decision(&decision, binding, profile);
                if !keeps_plans {
                    summaries.put_into(&mut decision);
                }
                (
                    Decided {
                        decision,
                        targets: taken,
                        share: None,
                    },
                    finding,
                )
            }
        };
        let Ok(()) = divvy_parallel::each(bindings, threads, worker, |(mut one, finding): (Decided, Finding)| {
            findings.add(decided.len(), finding);
            each(&bindings[decided.len()], &mut one.decision);
            decided.push(one);
            Ok::<(), Infallible>(())
        });
        AllDecided {
            decisions: decided,
            findings,
            jointly: None,
        }
    }
}

/// Decides all bindings as one plan, once the scheduler has decided them one after another. What changes is passed to `each`.
fn plan_all(
    scheduler: Scheduler,
    (bindings, fleet): (&[Binding], &FleetSnapshot),
    decided: &mut [Decided],
    threads: NonZeroUsize,
    mut each: impl FnMut(&Binding, &mut Decision),
) -> Jointly {
    let earlier = decided.iter().map(|decided| {
        let targets = decided.targets.iter().map(|target| (target.row, target.replicas));
        let alone = Alone::of(&decided.decision.outcome, targets);
        (Arc::clone(&decided.decision.plan), alone)
    });
    let earlier: Vec<Earlier> = earlier.collect();
    let outlook = plan_bindings(scheduler, (bindings, fleet), earlier, threads, |index, mut decision| {
        decided[index].targets = targets::take(&mut decision, fleet);
        each(&bindings[index], &mut decision);
        decided[index].decision = decision;
    });
    for (decided, share) in decided.iter_mut().zip(outlook.shares) {
        decided.share = share;
    }
    Jointly {
        waiting: outlook.waiting,
        placed: outlook.placed,
        giving_way: outlook.giving_way,
        is_changed: outlook.is_changed,
    }
}
