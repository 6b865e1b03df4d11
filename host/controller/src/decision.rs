//! One decision: a binding with its policy against a snapshot, one affinity group after another.
//!
//! This is the live counterpart of `divvy_scheduler::scheduler::Scheduler`. It differs in three things: estimates may
//! come from estimators, the failure of each group is reported, and the plan is not kept, because a live binding is
//! rarely decided twice with the same input.

use divvy_karmada::api::{TargetCluster, TargetComponent};
use divvy_karmada::detector::Binding;
use divvy_scheduler::cycle::{Cycle, CycleError, CycleInput, Detail, Explanation};
use divvy_scheduler::fleet::estimate::Demand;
use divvy_scheduler::fleet::{FleetSnapshot, Footprint, Ledger, estimate};
use divvy_scheduler::placements::Peers;
use divvy_scheduler::plan::{AffinityGroup, Plan, PlanInput};
use divvy_scheduler::scheduler::Profile;

use crate::condition::{Failure, ScheduledReason};

/// Accurate estimates for one binding.
pub trait Estimates {
    /// Replicas, or sets of components, of this demand that fit now in a cluster; `None` if no estimator answered for it.
    fn fits(&self, cluster: &str, demand: &Demand) -> Option<i64>;
}

/// No accurate estimates: the general estimate decides.
#[derive(Debug, Clone, Copy, Default)]
pub struct GeneralOnly;

impl Estimates for GeneralOnly {
    fn fits(&self, _cluster: &str, _demand: &Demand) -> Option<i64> {
        None
    }
}

/// Everything that a decision reads.
#[derive(Clone, Copy)]
pub struct DecisionInput<'a> {
    /// Profile whose plugins decide.
    pub profile: &'a Profile,
    /// The binding with its placement and policy, without the annotations of applied decisions.
    pub binding: &'a Binding,
    /// The clusters.
    pub fleet: &'a FleetSnapshot,
    /// Capacity that results have taken which the clusters do not report yet.
    pub ledger: &'a Ledger,
    /// Accurate estimates.
    pub estimates: &'a dyn Estimates,
    /// True if the replicas are divided from scratch.
    pub fresh: bool,
    /// Time of the decision, in milliseconds since 1970.
    pub time: i64,
    /// The binding's workload affinity groups and the other bindings in them; `None` if no plugin needs them.
    pub peers: Option<&'a Peers>,
    /// Clusters that an explanation of the result lists; `None` for no explanation.
    pub detail: Option<Detail>,
}

/// The result of a decision.
#[derive(Debug)]
pub struct Decision {
    /// The clusters with their replicas, sorted by name.
    pub result: Result<Vec<TargetCluster>, Failure>,
    /// Name of the group that fitted; empty if none did or the placement has none.
    pub affinity: String,
    /// Time until which the decision holds, in milliseconds since 1970; `None` if no plugin named one.
    pub valid_until: Option<i64>,
    /// Each group that failed before, with the message.
    pub failed_groups: Vec<(String, String)>,
    /// True if no group has a cluster that passes the filters.
    pub fits_nowhere: bool,
    /// Pod templates of the binding, which say how much room the result takes.
    pub footprint: Footprint,
    /// Mistakes in the binding or its policy that were tolerated.
    pub warnings: Vec<String>,
    /// Name of the strategy; empty if the binding has no plan.
    pub strategy: String,
    /// The explanation, if requested: of the group that fitted, or of the first.
    pub explanation: Option<Explanation>,
}

impl Decision {
    /// A decision that failed before any cluster was considered.
    pub fn failed(failure: Failure) -> Self {
        Self {
            result: Err(failure),
            affinity: String::new(),
            valid_until: None,
            failed_groups: Vec::new(),
            fits_nowhere: false,
            footprint: Footprint::default(),
            warnings: Vec::new(),
            strategy: String::new(),
            explanation: None,
        }
    }
}

/// The warnings of a plan, each with its hint, as it is shown to people.
fn warnings(plan: &Plan) -> Vec<String> {
    let warnings = plan.warnings.iter().map(|warning| match &warning.hint {
        Some(hint) => format!("{} (hint: {hint})", warning.message),
        None => warning.message.clone(),
    });
    warnings.collect()
}

/// Decides a binding.
pub fn decide(cycle: &mut Cycle, input: &DecisionInput<'_>) -> Decision {
    let DecisionInput { profile, binding, .. } = *input;
    let plan = match profile.plan(&PlanInput::new(binding)) {
        Ok(plan) => plan,
        Err(error) => return Decision::failed(Failure::of_binding(error.to_string())),
    };
    let first = plan.first_group(binding.observed_affinity(), input.fresh);
    let mut decision = Decision {
        result: Ok(Vec::new()),
        affinity: String::new(),
        valid_until: None,
        failed_groups: Vec::new(),
        fits_nowhere: false,
        footprint: Footprint::new(&binding.object.spec),
        warnings: warnings(&plan),
        strategy: plan.strategy.clone(),
        explanation: None,
    };
    let mut failure: Option<Failure> = None;
    let mut fits_nowhere = true;
    for group in &plan.groups[first..] {
        let (result, explanation) = try_group(cycle, input, &plan, group);
        // A group that failed may fit later, which makes another decision as well.
        decision.valid_until = decision.valid_until.into_iter().chain(cycle.valid_until()).min();
        match result {
            Ok(targets) => {
                decision.result = Ok(targets);
                decision.affinity.clone_from(&group.name);
                decision.explanation = explanation;
                return decision;
            }
            Err(error) => {
                decision.failed_groups.push((group.name.clone(), error.to_string()));
                let own = Failure::of_cycle(&error);
                fits_nowhere &= own.reason == ScheduledReason::NoClusterFit;
                match &mut failure {
                    // The first group is the preferred one, so its error is the most useful.
                    None => {
                        failure = Some(own);
                        decision.explanation = explanation;
                    }
                    // Whatever helps one of the groups helps the binding.
                    Some(first) => first.retry = first.retry.or(own.retry),
                }
            }
        }
    }
    if let Some(failure) = failure {
        decision.result = Err(failure);
        decision.fits_nowhere = fits_nowhere;
    }
    decision
}

fn try_group(
    cycle: &mut Cycle,
    input: &DecisionInput<'_>,
    plan: &Plan,
    group: &AffinityGroup,
) -> (Result<Vec<TargetCluster>, CycleError>, Option<Explanation>) {
    let fleet = input.fleet;
    let cycle_input = CycleInput {
        profile: input.profile,
        fleet,
        plan,
        group,
        fresh: input.fresh,
        time: Some(input.time),
        peers: input.peers,
    };
    let estimated = |rows: &[u32], fits: &mut Vec<i64>| {
        let clusters = fleet.snapshot().clusters();
        estimate::estimate(&clusters, rows, &plan.demand, plan.replicas, Some(input.ledger), fits);
        // The smaller of both counts, as in Karmada. An estimator does not know a resource without replicas.
        if plan.demand != Demand::Nothing {
            for (fits, &row) in fits.iter_mut().zip(rows) {
                let accurate = input.estimates.fits(fleet.name(row), &plan.demand);
                *fits = accurate.map_or(*fits, |accurate| accurate.min(*fits));
            }
        }
    };
    let (result, explanation) = cycle.run_with_estimates(&cycle_input, input.detail, estimated);
    let components = components(input, plan);
    let result = result.map(|targets| {
        let target = |target: &divvy_scheduler::cycle::Target| TargetCluster {
            name: fleet.name(target.row).to_owned(),
            // The cycle divides at most the binding's replicas, which are 32 bits wide.
            replicas: i32::try_from(target.replicas).unwrap_or(i32::MAX),
            components: components.clone(),
        };
        targets.iter().map(target).collect()
    });
    (result, explanation)
}

/// Components that each target carries: all of them, for a resource with several pod templates, if the profile has
/// Karmada's feature gate on.
fn components(input: &DecisionInput<'_>, plan: &Plan) -> Vec<TargetComponent> {
    let components = &input.binding.object.spec.components;
    if !plan.whole || components.is_empty() || !input.profile.plan_options().component_sets {
        return Vec::new();
    }
    let target = |component: &divvy_karmada::api::Component| TargetComponent {
        name: component.name.clone(),
        replicas: component.replicas,
    };
    components.iter().map(target).collect()
}

/// True if a failure removes the previous result, where the profile does not keep it.
pub fn clears_result(failure: &Failure) -> bool {
    failure.reason == ScheduledReason::NoClusterFit
}
