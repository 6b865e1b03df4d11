//! Deciding recorded cases again.

use crate::api::TargetCluster;
use crate::cycle::{BindingPlan, Cycle, CycleError, CycleInput};
use crate::fleet::FleetSnapshot;
use crate::inputs::{BindingInput, ResolveOptions, resolve};
use crate::manifests::{Located, Manifests, Source};
use crate::scheduler::Profile;

use super::case::{Case, Expectation};

/// A case brought into the form in which the cycle takes it.
#[derive(Debug)]
pub struct PreparedCase {
    input: BindingInput,
    /// The plan and the number of the affinity group to use; or why there is none.
    plan: Result<(BindingPlan, usize), String>,
}

/// Decides cases by a profile, over memory that it keeps.
#[derive(Debug)]
pub struct CaseRunner<'a> {
    profile: &'a Profile,
    options: ResolveOptions,
    cycle: Cycle,
}

/// A case that was decided otherwise than recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// What was recorded.
    pub expected: Expectation,
    /// What was decided now.
    pub actual: Expectation,
    /// The first stage at which the two differ, as far as the result tells.
    pub stage: &'static str,
    /// More on the actual result, if it is an error.
    pub message: String,
}

impl<'a> CaseRunner<'a> {
    /// A runner for a profile.
    pub fn new(profile: &'a Profile, options: ResolveOptions) -> Self {
        Self {
            profile,
            options: ResolveOptions {
                known_strategies: profile.strategy_names(),
                rule_lists: profile.rule_lists(),
                ..options
            },
            cycle: Cycle::new(),
        }
    }

    /// Reads what a case asks for.
    pub fn prepare(&self, case: &Case) -> Option<PreparedCase> {
        let located = Located {
            object: case.binding.clone(),
            source: Source {
                file: std::path::Path::new("recording").into(),
                document: 1,
                line: case.line,
            },
            json: None,
        };
        let manifests = Manifests {
            bindings: vec![located],
            ..Manifests::default()
        };
        let input = resolve(manifests, &self.options).bindings.pop()?;
        let plan = match &input.strategy {
            Err(error) => Err(error.to_string()),
            Ok(request) => BindingPlan::new(&input, request, self.profile.plan_options())
                .map_err(|error| error.to_string())
                .map(|plan| {
                    let group = plan
                        .groups
                        .iter()
                        .position(|group| group.name == input.observed_affinity);
                    (plan, group.unwrap_or(0))
                }),
        };
        Some(PreparedCase { input, plan })
    }

    /// Decides a case: one cycle, one affinity group.
    pub fn decide(&mut self, case: &PreparedCase, fleet: &FleetSnapshot) -> (Expectation, String) {
        let (plan, group) = match &case.plan {
            Ok((plan, group)) => (plan, &plan.groups[*group]),
            Err(message) => return (Expectation::Error("SchedulerError".to_owned()), message.clone()),
        };
        let input = CycleInput {
            profile: self.profile,
            fleet,
            plan,
            group,
            ledger: None,
        };
        match self.cycle.run(&input) {
            Ok(targets) => {
                let clusters = targets
                    .iter()
                    .map(|target| TargetCluster {
                        name: fleet.name(target.row).to_owned(),
                        replicas: i32::try_from(target.replicas).unwrap_or(i32::MAX),
                    })
                    .collect();
                (Expectation::Clusters(clusters), String::new())
            }
            Err(error) => (Expectation::Error(karmada_kind(&error).to_owned()), error.to_string()),
        }
    }

    /// Runs a case for its time alone; the number of clusters in the result.
    ///
    /// # Errors
    ///
    /// The cycle's error.
    pub fn run(&mut self, case: &PreparedCase, fleet: &FleetSnapshot) -> Result<usize, CycleError> {
        let (plan, group) = match &case.plan {
            Ok((plan, group)) => (plan, &plan.groups[*group]),
            Err(message) => {
                return Err(CycleError::Meaning {
                    message: message.clone(),
                    hint: None,
                });
            }
        };
        let input = CycleInput {
            profile: self.profile,
            fleet,
            plan,
            group,
            ledger: None,
        };
        self.cycle.run(&input).map(<[_]>::len)
    }
}

impl PreparedCase {
    /// The binding.
    pub fn input(&self) -> &BindingInput {
        &self.input
    }
}

/// The kind that Karmada's scheduler gives an error: what Select refuses is a `SchedulerError` there.
pub fn karmada_kind(error: &CycleError) -> &'static str {
    match error {
        CycleError::NoClusterFit { .. } => "NoClusterFit",
        CycleError::Unschedulable { .. } => "Unschedulable",
        _ => "SchedulerError",
    }
}

/// Compares a decision with what was recorded.
pub fn compare(expected: &Expectation, actual: (Expectation, String)) -> Result<(), Mismatch> {
    let (actual, message) = actual;
    let expected = sorted(expected.clone());
    let actual = sorted(actual);
    if expected == actual {
        return Ok(());
    }
    let stage = match (&expected, &actual) {
        (Expectation::Error(left), Expectation::Error(right)) => first_stage(left).min(first_stage(right)),
        (Expectation::Error(kind), _) | (_, Expectation::Error(kind)) => first_stage(kind),
        (Expectation::Clusters(left), Expectation::Clusters(right)) => {
            let same = left.len() == right.len() && left.iter().zip(right).all(|(left, right)| left.name == right.name);
            if same { Stage::Assign } else { Stage::Select }
        }
    };
    Err(Mismatch {
        expected,
        actual,
        stage: stage.name(),
        message,
    })
}

/// Stages of a cycle, in order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Filter,
    Select,
    Assign,
}

impl Stage {
    fn name(self) -> &'static str {
        match self {
            Self::Filter => "Filter",
            Self::Select => "Select",
            Self::Assign => "Assign",
        }
    }
}

/// The stage that gives an error of a kind.
fn first_stage(kind: &str) -> Stage {
    match kind {
        "NoClusterFit" => Stage::Filter,
        "Unschedulable" => Stage::Assign,
        _ => Stage::Select,
    }
}

fn sorted(expectation: Expectation) -> Expectation {
    match expectation {
        Expectation::Clusters(mut clusters) => {
            clusters.sort();
            Expectation::Clusters(clusters)
        }
        error => error,
    }
}
