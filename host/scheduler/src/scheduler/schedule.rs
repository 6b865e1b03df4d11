//! Bindings scheduled by a profile: group after group of clusters, with the outcome in Karmada's words.

use std::sync::Arc;

use crate::cycle::{Cycle, CycleError, CycleInput, Explanation, Target};
use crate::fleet::estimate::Demand;
use crate::fleet::{FleetSnapshot, Ledger};
use crate::plan::{Plan, PlanResult, Plans};
use divvy_karmada::detector::Binding;

use super::Profile;

/// The decision on a binding.
#[derive(Debug, Clone)]
pub struct Decision {
    /// `<namespace>/<name>`.
    pub binding: String,
    /// The binding's plan, or why there is none.
    pub plan: PlanResult,
    /// Replicas that were asked for.
    pub replicas: i64,
    /// The outcome.
    pub outcome: Outcome,
    /// The affinity group that was used; empty if there are none.
    pub affinity: String,
    /// What the cycle knew of each cluster of a scheduled result, in the order of the result.
    pub figures: Vec<TargetFigures>,
    /// The reasons, if requested.
    pub explanation: Option<Explanation>,
}

impl Decision {
    /// The strategy; empty if the binding names none that can be followed.
    pub fn strategy(&self) -> &str {
        self.plan.as_ref().as_ref().map_or("", |plan| plan.strategy.as_str())
    }
}

/// What the cycle knew of a cluster of the result, beside its replicas.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TargetFigures {
    /// All its scores, weighted and added up.
    pub score: i64,
    /// Replicas that fit there, before this decision; `None` for a resource without replicas.
    pub fits_now: Option<i64>,
}

/// The outcome of a binding.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// The clusters, by name, with their replicas.
    Scheduled(Vec<(String, i64)>),
    /// The reason why it was not scheduled.
    Skipped(String),
    /// Why it could not be scheduled.
    Failed(CycleError),
}

impl Outcome {
    /// The word for it in results: `Scheduled`, `NoClusterFit`, `Unschedulable`, `Skipped`, `Error`.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Scheduled(_) => "Scheduled",
            Self::Skipped(_) => "Skipped",
            Self::Failed(error) => error.kind(),
        }
    }
}

/// Schedules bindings by a profile, over memory that it keeps.
#[derive(Debug)]
pub struct Scheduler {
    profile: Arc<Profile>,
    plans: Plans,
    cycle: Cycle,
    explains: bool,
    ledger: Option<Ledger>,
}

impl Scheduler {
    /// A scheduler that decides each binding on its own.
    pub fn new(profile: Arc<Profile>) -> Self {
        Self {
            profile,
            plans: Plans::default(),
            cycle: Cycle::new(),
            explains: false,
            ledger: None,
        }
    }

    /// Asks for explanations.
    #[must_use]
    pub fn explaining(mut self, explains: bool) -> Self {
        self.explains = explains;
        self
    }

    /// Keeps a ledger: what a result takes is not there for those after it.
    #[must_use]
    pub fn assuming(mut self, assumes: bool) -> Self {
        self.ledger = assumes.then(Ledger::default);
        self
    }

    /// The plan of a binding, made anew only if something that it reads has changed.
    pub fn plan(&mut self, binding: &Binding) -> PlanResult {
        self.plans.plan(&self.profile, binding)
    }

    /// Decides a binding.
    pub fn schedule(&mut self, binding: &Binding, fleet: &FleetSnapshot) -> Decision {
        let plan = self.plan(binding);
        let mut decision = Decision {
            binding: binding.key(),
            plan: Arc::clone(&plan),
            replicas: binding.replicas(),
            outcome: Outcome::Scheduled(Vec::new()),
            affinity: String::new(),
            figures: Vec::new(),
            explanation: None,
        };
        match (binding.skip_reason(), plan.as_ref()) {
            (Some(reason), _) => decision.outcome = Outcome::Skipped(reason.to_string()),
            (None, Ok(plan)) => self.try_groups(binding, plan, fleet, &mut decision),
            (None, Err(error)) => {
                decision.outcome = Outcome::Failed(CycleError::InvalidBinding {
                    message: error.to_string(),
                    hint: None,
                });
            }
        }
        decision
    }

    /// Tries the groups of clusters in order, from the one that was used last. If none fits, the first error is reported.
    fn try_groups(&mut self, binding: &Binding, plan: &Plan, fleet: &FleetSnapshot, decision: &mut Decision) {
        let fresh = binding.is_fresh();
        let first = plan.first_group(binding.observed_affinity(), fresh);
        let mut failure = None;
        for group in &plan.groups[first..] {
            let input = CycleInput {
                profile: &self.profile,
                fleet,
                plan,
                group,
                fresh,
            };
            let ledger = self.ledger.as_ref();
            let (result, explanation) = if self.explains {
                let (result, explanation) = self.cycle.run_explained(&input, ledger);
                (result, Some(explanation))
            } else {
                (self.cycle.run(&input, ledger), None)
            };
            match result {
                Ok(targets) => {
                    if let Some(ledger) = &mut self.ledger {
                        book(ledger, plan, binding, fleet, targets);
                    }
                    let named = targets
                        .iter()
                        .map(|target| (fleet.name(target.row).to_owned(), target.replicas))
                        .collect();
                    let rows: Vec<u32> = targets.iter().map(|target| target.row).collect();
                    decision.figures = rows.iter().map(|&row| self.figures(plan, row)).collect();
                    decision.outcome = Outcome::Scheduled(named);
                    decision.affinity.clone_from(&group.name);
                    decision.explanation = explanation;
                    return;
                }
                Err(error) if failure.is_none() => {
                    decision.explanation = explanation;
                    decision.affinity.clone_from(&group.name);
                    failure = Some(error);
                }
                Err(_) => {}
            }
        }
        if let Some(error) = failure {
            decision.outcome = Outcome::Failed(error);
        }
    }

    /// What the cycle that has just run knew of a feasible cluster.
    fn figures(&self, plan: &Plan, row: u32) -> TargetFigures {
        let (score, fits_now) = self.cycle.figures(row).unwrap_or_default();
        TargetFigures {
            score,
            fits_now: (plan.demand != Demand::Nothing).then_some(fits_now),
        }
    }
}

/// Books what a result takes beyond the last one.
fn book(ledger: &mut Ledger, plan: &Plan, binding: &Binding, fleet: &FleetSnapshot, targets: &[Target]) {
    for target in targets {
        let name = fleet.name(target.row);
        let last = binding.last().find(|(cluster, _)| *cluster == name);
        let last = last.map_or(0, |(_, replicas)| replicas);
        let requests = plan
            .requests
            .iter()
            .map(|(resource, quantity)| (resource.as_str(), *quantity));
        ledger.book(target.row as usize, target.replicas - last, requests);
    }
}

/// Decides many bindings; the decisions are in the order of the bindings. With a ledger the bindings are decided in the
/// order of priority, then name.
pub fn decide(scheduler: &mut Scheduler, bindings: &[Binding], fleet: &FleetSnapshot) -> Vec<Decision> {
    let mut order: Vec<usize> = (0..bindings.len()).collect();
    if scheduler.ledger.is_some() {
        order.sort_by_cached_key(|&index| (std::cmp::Reverse(bindings[index].priority()), bindings[index].key()));
    }
    let mut decisions: Vec<(usize, Decision)> = order
        .into_iter()
        .map(|index| (index, scheduler.schedule(&bindings[index], fleet)))
        .collect();
    decisions.sort_by_key(|(index, _)| *index);
    decisions.into_iter().map(|(_, decision)| decision).collect()
}
