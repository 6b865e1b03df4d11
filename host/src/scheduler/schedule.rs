//! Bindings scheduled by a profile: group after group of clusters, with the outcome in Karmada's words.

use crate::cycle::{BindingPlan, Cycle, CycleError, CycleInput, Explanation, PlanError};
use crate::fleet::estimate::Demand;
use crate::fleet::{FleetSnapshot, Ledger};
use crate::inputs::BindingInput;

use super::Profile;

/// What became of a binding.
#[derive(Debug, Clone)]
pub struct Decision {
    /// `<namespace>/<name>`.
    pub binding: String,
    /// The strategy; empty if the binding names none that makes sense.
    pub strategy: String,
    /// Replicas that were asked for.
    pub replicas: i64,
    /// The outcome.
    pub outcome: Outcome,
    /// The affinity group that was used; empty if there are none.
    pub affinity: String,
    /// What the cycle knew of each cluster of a scheduled result, in the order of the result.
    pub figures: Vec<TargetFigures>,
    /// Why, if somebody asked.
    pub explanation: Option<Explanation>,
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
pub struct Scheduler<'a> {
    profile: &'a Profile,
    cycle: Cycle,
    explains: bool,
    ledger: Option<Ledger>,
}

impl<'a> Scheduler<'a> {
    /// A scheduler that decides each binding on its own.
    pub fn new(profile: &'a Profile) -> Self {
        Self {
            profile,
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

    /// Decides a binding.
    pub fn schedule(&mut self, input: &BindingInput, fleet: &FleetSnapshot) -> Decision {
        let mut decision = Decision {
            binding: input.key(),
            strategy: String::new(),
            replicas: input.replicas,
            outcome: Outcome::Scheduled(Vec::new()),
            affinity: String::new(),
            figures: Vec::new(),
            explanation: None,
        };
        if let Some(reason) = &input.skip {
            if let Ok(request) = &input.strategy {
                decision.strategy.clone_from(&request.strategy);
            }
            decision.outcome = Outcome::Skipped(reason.to_string());
            return decision;
        }
        let request = match &input.strategy {
            Ok(request) => request,
            Err(error) => {
                decision.outcome = Outcome::Failed(CycleError::Meaning {
                    message: error.to_string(),
                    hint: None,
                });
                return decision;
            }
        };
        decision.strategy.clone_from(&request.strategy);
        let plan = match BindingPlan::new(input, request, self.profile.plan_options()) {
            Ok(plan) => plan,
            Err(error) => {
                decision.outcome = Outcome::Failed(meaning(&error));
                return decision;
            }
        };
        self.try_groups(input, &plan, fleet, &mut decision);
        decision
    }

    /// Tries the groups of clusters in order, from the one that was used last; the first error is the one that is told.
    fn try_groups(&mut self, input: &BindingInput, plan: &BindingPlan, fleet: &FleetSnapshot, decision: &mut Decision) {
        let first = plan.first_group(&input.observed_affinity, input.fresh);
        let mut failure = None;
        for group in &plan.groups[first..] {
            let cycle_input = CycleInput {
                profile: self.profile,
                fleet,
                plan,
                group,
                ledger: self.ledger.as_ref(),
            };
            let (result, explanation) = if self.explains {
                let (result, explanation) = self.cycle.run_explained(&cycle_input);
                (result, Some(explanation))
            } else {
                (self.cycle.run(&cycle_input), None)
            };
            match result {
                Ok(targets) => {
                    if let Some(ledger) = &mut self.ledger {
                        book(ledger, plan, input, fleet, targets);
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
                Err(error) => {
                    if failure.is_none() {
                        decision.explanation = explanation;
                        decision.affinity.clone_from(&group.name);
                        failure = Some(error);
                    }
                }
            }
        }
        if let Some(error) = failure {
            decision.outcome = Outcome::Failed(error);
        }
    }
}

impl Scheduler<'_> {
    /// What the cycle that has just run knew of a feasible cluster.
    fn figures(&self, plan: &BindingPlan, row: u32) -> TargetFigures {
        let (score, fits_now) = self.cycle.figures(row).unwrap_or_default();
        TargetFigures {
            score,
            fits_now: (plan.demand != Demand::Nothing).then_some(fits_now),
        }
    }
}

/// What a plan's error is in results.
fn meaning(error: &PlanError) -> CycleError {
    CycleError::Meaning {
        message: error.to_string(),
        hint: None,
    }
}

/// Books what a result takes beyond the last one.
fn book(
    ledger: &mut Ledger,
    plan: &BindingPlan,
    input: &BindingInput,
    fleet: &FleetSnapshot,
    targets: &[crate::cycle::Target],
) {
    for target in targets {
        let name = fleet.name(target.row);
        let last = input
            .last
            .iter()
            .find(|(cluster, _)| cluster == name)
            .map_or(0, |(_, replicas)| *replicas);
        let requests = plan
            .requests
            .iter()
            .map(|(resource, quantity)| (resource.as_str(), *quantity));
        ledger.book(target.row as usize, target.replicas - last, requests);
    }
}

/// Decides many bindings, each in its own entry, sorted by key as they came. With a ledger they are decided in the order
/// of priority, then name.
pub fn decide(scheduler: &mut Scheduler<'_>, inputs: &[BindingInput], fleet: &FleetSnapshot) -> Vec<Decision> {
    let mut order: Vec<usize> = (0..inputs.len()).collect();
    if scheduler.ledger.is_some() {
        order.sort_by(|&left, &right| {
            let (left, right) = (&inputs[left], &inputs[right]);
            right
                .priority
                .cmp(&left.priority)
                .then_with(|| left.key().cmp(&right.key()))
        });
    }
    let mut decisions: Vec<(usize, Decision)> = order
        .into_iter()
        .map(|place| (place, scheduler.schedule(&inputs[place], fleet)))
        .collect();
    decisions.sort_by_key(|(place, _)| *place);
    decisions.into_iter().map(|(_, decision)| decision).collect()
}
