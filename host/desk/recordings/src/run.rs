//! Decides recorded cases again and compares the results.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use divvy_karmada::detector::Binding;
use divvy_profile::table::{TableSource, TableVersions};
use divvy_scheduler::cycle::{Cycle, CycleError, CycleInput, Skipped, Target};
use divvy_scheduler::decision::{Circumstances, Partial, decide_in_group, guarded};
use divvy_scheduler::fleet::FleetSnapshot;
use divvy_scheduler::placements::Peers;
use divvy_scheduler::plan::{Plan, PlanError, PlanInput};
use divvy_scheduler::profile::{Profile, UnusableTables};

use crate::case::{Case, Expectation};

/// A case with the plan of its binding.
#[derive(Debug)]
pub struct PreparedCase {
    /// The profile with the tables of the case, or the reason why they cannot be used.
    profile: Result<Arc<Profile>, UnusableTables>,
    binding: Binding,
    /// Time of the recorded decision.
    time: Option<i64>,
    /// Placements of other bindings; `None` if the recording does not have them.
    peers: Option<Peers>,
    /// Plugins that the recorded decision went on without.
    without: Vec<Skipped>,
    /// Plan and index of the affinity group to use.
    plan: Result<(Plan, usize), CycleError>,
}

/// Decides cases under one profile and reuses its memory.
#[derive(Debug)]
pub struct CaseRunner {
    profile: Arc<Profile>,
    /// Tables of the recording, by their version.
    tables: BTreeMap<String, TableSource>,
    /// The profile with the tables of the cases so far: most recordings have one version of each.
    profiles: Vec<(TableVersions, Arc<Profile>)>,
    cycle: Cycle,
    /// Result of the latest case.
    latest: Vec<Target>,
}

/// A decision that differs from the recorded one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mismatch {
    /// First stage at which the two differ, as far as the results show.
    pub stage: &'static str,
    /// The recorded decision.
    pub expected: Expectation,
    /// The new decision.
    pub actual: Expectation,
    /// Clusters that the two decisions give different counts, by name. Empty if one of them is an error.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<ClusterDifference>,
    /// Message of the new decision's error, or its missing replicas; empty if it has all of them.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
}

/// A cluster that two decisions give different counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ClusterDifference {
    /// Name of the cluster.
    pub name: String,
    /// Replicas in the expected decision; `None` if the cluster is not in it.
    pub expected: Option<i32>,
    /// Replicas in the new decision; `None` if the cluster is not in it.
    pub actual: Option<i32>,
}

impl CaseRunner {
    /// Creates a runner for a profile.
    pub fn new(profile: Arc<Profile>) -> Self {
        Self {
            profile,
            tables: BTreeMap::new(),
            profiles: Vec::new(),
            cycle: Cycle::new(),
            latest: Vec::new(),
        }
    }

    /// Decides with these tables of a recording, by their version.
    #[must_use]
    pub fn with_tables(mut self, tables: &BTreeMap<String, TableSource>) -> Self {
        self.tables.clone_from(tables);
        self
    }

    /// Makes the plan of a case. An invalid binding is reported when the case is decided.
    pub fn prepare(&mut self, case: &Case) -> PreparedCase {
        let binding = case.binding();
        let plan = self.plan(&binding);
        PreparedCase {
            profile: self.profile_of(case),
            peers: Peers::recorded(&binding, case.peers.as_deref()),
            binding,
            time: case.time,
            without: case.skipped.clone(),
            plan,
        }
    }

    /// Rebuilds the plan of a case, as an event of a control plane would.
    pub fn plan_again(&self, case: &mut PreparedCase) {
        case.plan = self.plan(&case.binding);
    }

    /// The profile with the tables of a case.
    fn profile_of(&mut self, case: &Case) -> Result<Arc<Profile>, UnusableTables> {
        if !self.profile.needs_tables() {
            return Ok(Arc::clone(&self.profile));
        }
        if let Some((_, known)) = self.profiles.iter().find(|(versions, _)| *versions == case.tables) {
            return Ok(Arc::clone(known));
        }
        let profile = Arc::new(self.profile.with_tables(&case.tables, &self.tables)?);
        self.profiles.push((case.tables.clone(), Arc::clone(&profile)));
        Ok(profile)
    }

    fn plan(&self, binding: &Binding) -> Result<(Plan, usize), CycleError> {
        let plan = Plan::under(&self.profile, &PlanInput::new(binding));
        let plan = plan.map_err(|error| match error {
            PlanError::Invalid(error) => CycleError::InvalidBinding {
                message: error.to_string(),
                annotation: error.annotation().map(Into::into),
                hint: None,
            },
            PlanError::Defect(defect) => CycleError::Defect(defect),
        })?;
        // A case is one cycle with the group that was used, even if the binding was scheduled from scratch.
        let group = plan.first_group(binding.observed_affinity(), false);
        Ok((plan, group))
    }

    /// Decides a case in one cycle, with one affinity group, and returns the number of clusters in the result.
    ///
    /// # Errors
    ///
    /// The cycle's error, or [`CycleError::InvalidBinding`] if the case has no plan.
    pub fn run(&mut self, case: &PreparedCase, fleet: &FleetSnapshot) -> Result<usize, CycleError> {
        self.targets(case, fleet)?;
        Ok(self.latest.len())
    }

    /// Decides a case. Returns the result in the form of a recording, and the message if it is an error.
    pub fn decide(&mut self, case: &PreparedCase, fleet: &FleetSnapshot) -> (Expectation, String) {
        let decided = self.try_decide(case, fleet);
        decided.unwrap_or_else(|error| (Expectation::Error(karmada_kind(&error).to_owned()), error.to_string()))
    }

    /// Decides a case as [`Self::decide`] does.
    ///
    /// # Errors
    ///
    /// [`CycleError::TimeUnknown`], [`CycleError::UnusableTables`] or [`CycleError::PlacementsUnknown`] if a plugin needs what
    /// the recording does not have, [`CycleError::Defect`] if Divvy panics. Such a decision cannot be compared with the recorded one.
    pub fn try_decide(
        &mut self,
        case: &PreparedCase,
        fleet: &FleetSnapshot,
    ) -> Result<(Expectation, String), CycleError> {
        match self.targets(case, fleet) {
            Ok(partial) => {
                let targets = self.latest.iter();
                let counts = targets.map(|target| (fleet.name(target.row), target.replicas));
                let message = partial.map(|partial| partial.to_string()).unwrap_or_default();
                Ok((Expectation::from_counts(counts), message))
            }
            Err(
                error @ (CycleError::TimeUnknown { .. }
                | CycleError::UnusableTables(_)
                | CycleError::PlacementsUnknown { .. }
                | CycleError::Defect(_)),
            ) => Err(error),
            Err(error) => Ok((Expectation::Error(karmada_kind(&error).to_owned()), error.to_string())),
        }
    }

    /// Decides a case, leaves the clusters of the result in `latest`, and returns the missing replicas.
    fn targets(&mut self, case: &PreparedCase, fleet: &FleetSnapshot) -> Result<Option<Partial>, CycleError> {
        let (plan, group) = case.plan.as_ref().map_err(CycleError::clone)?;
        let profile = case
            .profile
            .as_ref()
            .map_err(|error| CycleError::UnusableTables(error.clone()))?;
        if plan.quorum.is_some() {
            let circumstances = Circumstances {
                profile,
                fleet,
                ledger: None,
                estimates: None,
                fresh: case.binding.is_fresh(),
                time: case.time,
                peers: case.peers.as_ref(),
                detail: None,
                without: &case.without,
            };
            let (cycle, latest) = (&mut self.cycle, &mut self.latest);
            return decide_in_group(cycle, &case.binding, (plan, *group), &circumstances, latest);
        }
        let input = CycleInput {
            fresh: case.binding.is_fresh(),
            time: case.time,
            peers: case.peers.as_ref(),
            without: &case.without,
            ..CycleInput::new(profile, fleet, plan, &plan.groups[*group])
        };
        self.latest.clear();
        let (cycle, latest) = (&mut self.cycle, &mut self.latest);
        let result = guarded(|| cycle.run(&input, None).map(|targets| latest.extend_from_slice(targets)));
        result.inspect_err(|_| self.cycle = Cycle::new())??;
        Ok(None)
    }
}

/// Kind of the error in Karmada's scheduler, where a failed selection is a `SchedulerError`.
pub fn karmada_kind(error: &CycleError) -> &'static str {
    match error {
        CycleError::NoClusterFit { .. } => "NoClusterFit",
        CycleError::Unschedulable { .. } => "Unschedulable",
        _ => "SchedulerError",
    }
}

/// Compares a decision with the recorded one, regardless of the order of clusters.
///
/// # Errors
///
/// A [`Mismatch`] if they differ.
pub fn compare(expected: &Expectation, actual: (Expectation, String)) -> Result<(), Box<Mismatch>> {
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
    Err(Box::new(Mismatch {
        differences: differences(&expected, &actual),
        expected,
        actual,
        stage: stage.name(),
        message,
    }))
}

/// The clusters with different counts in two decisions that succeeded.
fn differences(expected: &Expectation, actual: &Expectation) -> Vec<ClusterDifference> {
    let (Expectation::Clusters(expected), Expectation::Clusters(actual)) = (expected, actual) else {
        return Vec::new();
    };
    let mut counts: BTreeMap<&str, (Option<i32>, Option<i32>)> = BTreeMap::new();
    for target in expected {
        counts.entry(&target.name).or_default().0 = Some(target.replicas);
    }
    for target in actual {
        counts.entry(&target.name).or_default().1 = Some(target.replicas);
    }
    let different = counts.into_iter().filter(|(_, (expected, actual))| expected != actual);
    let different = different.map(|(name, (expected, actual))| ClusterDifference {
        name: name.to_owned(),
        expected,
        actual,
    });
    different.collect()
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

/// Stage that produces this kind of error.
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
