//! All decisions of `divvy schedule`: on all threads, if no result affects another.

use std::convert::Infallible;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use divvy_forecast::plans::PlanSummaries;
use divvy_karmada::detector::Binding;
use divvy_scheduler::decision::{Decision, Scheduler, decide_each};
use divvy_scheduler::fleet::FleetSnapshot;

use super::findings::{Finding, PlanFindings};
use crate::report::clusters::targets::{self, Target};
use crate::report::entry::Decided;

/// All bindings, to be decided against one snapshot.
pub(super) struct Deciding<'a> {
    pub(super) scheduler: Scheduler,
    pub(super) bindings: &'a [Binding],
    pub(super) fleet: &'a FleetSnapshot,
    pub(super) threads: NonZeroUsize,
    /// True if more of the plans is read than the strategy.
    pub(super) keeps_plans: bool,
}

impl Deciding<'_> {
    /// Decides, on all threads if no result affects another, and passes each decision to `each` in the order in which one thread
    /// would make them. Returns them in the order of the bindings, with the findings from their plans.
    pub(super) fn run(self, mut each: impl FnMut(&Binding, &mut Decision)) -> (Vec<Decided>, PlanFindings) {
        let Self {
            mut scheduler,
            bindings,
            fleet,
            threads,
            keeps_plans,
        } = self;
        let (profile, mut findings) = (Arc::clone(scheduler.profile()), PlanFindings::default());
        if scheduler.ledger().is_some() {
            let decided = decide_each(&mut scheduler, bindings, fleet, |index, decision| {
                let targets = targets::take(decision, fleet);
                findings.add(index, Finding::of_decision(decision, &bindings[index], &profile));
                each(&bindings[index], decision);
                targets
            });
            let decided = decided
                .into_iter()
                .map(|(decision, targets)| Decided { decision, targets });
            // In the order of the bindings, whatever the order of the decisions.
            findings.sort();
            return (decided.collect(), findings);
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
        (decided, findings)
    }
}
