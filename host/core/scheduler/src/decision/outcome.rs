//! The decision on a binding, and how it is made.

use std::sync::Arc;

use super::groups::{Attempt, Circumstances, planless, try_groups};
use super::quorum::Partial;
use crate::cycle::{Cycle, CycleError, Explanation, Skipped, Target};
use crate::fleet::FleetSnapshot;
use crate::fleet::estimate::Demand;
use crate::placements::Peers;
use crate::plan::{Decidable, Plan, PlanResult};
use crate::profile::ProvidedTables;

/// The decision on a binding.
#[derive(Debug, Clone)]
pub struct Decision {
    /// Key of the binding, `<namespace>/<name>`.
    pub binding: String,
    /// Plan of the binding, or the reason why it has none.
    pub plan: PlanResult,
    /// Replicas requested.
    pub replicas: i64,
    /// Outcome of the binding.
    pub outcome: Outcome,
    /// The missing replicas, if the result has fewer than requested; `None` for any other outcome.
    pub partial: Option<Partial>,
    /// Affinity group that was used, or the first that was tried if none fits; empty if the placement has no groups.
    pub affinity: String,
    /// The other affinity groups that were tried, in order, each with its error.
    pub failed_groups: Vec<(String, CycleError)>,
    /// Time of the decision, in milliseconds since 1970; `None` if it is not known.
    pub time: Option<i64>,
    /// Tables that plugins could read; `None` if they read none.
    pub tables: Option<Arc<ProvidedTables>>,
    /// Time until which the decision holds, in milliseconds since 1970: the earliest that any plugin named. After it, a live
    /// scheduler decides again. `None` if the passing of time does not change it.
    pub valid_until: Option<i64>,
    /// Placements of other bindings that plugins saw; `None` if no plugin needed them or they are not known.
    pub peers: Option<Peers>,
    /// Score and estimate of each cluster in a scheduled result, in the order of the result.
    pub figures: Vec<TargetFigures>,
    /// Explanation of the decision, if requested.
    pub explanation: Option<Explanation>,
    /// Plugins that failed, and that the decision went on without.
    pub without: Vec<Skipped>,
}

impl Decision {
    /// Decides a binding: the only way from a binding with its plan to a result, offline and live. Estimates, ledger, time and
    /// peers are those of `circumstances`.
    ///
    /// Leaves the figures of the last group that was tried in `cycle`, and the clusters of the result in `targets`; the decision
    /// itself does not name them until [`Self::name_targets`].
    pub fn make(
        cycle: &mut Cycle,
        targets: &mut Vec<Target>,
        binding: &dyn Decidable,
        plan: &PlanResult,
        circumstances: &Circumstances<'_>,
    ) -> Self {
        let input = binding.input();
        let mut decision = Self {
            binding: input.full_name(),
            plan: Arc::clone(plan),
            replicas: input.replicas,
            outcome: Outcome::Scheduled(Vec::new()),
            partial: None,
            affinity: String::new(),
            failed_groups: Vec::new(),
            time: circumstances.time,
            tables: circumstances.profile.shared_tables(),
            valid_until: None,
            peers: None,
            figures: Vec::new(),
            explanation: None,
            without: Vec::new(),
        };
        targets.clear();
        match plan.as_ref() {
            Ok(plan) => {
                decision.peers = circumstances.peers.cloned();
                let attempt = try_groups(cycle, binding, plan, circumstances, targets);
                decision.take_in(attempt);
            }
            Err(error) => decision.outcome = Outcome::Failed(planless(error, circumstances.profile)),
        }
        decision
    }

    fn take_in(&mut self, attempt: Attempt<'_>) {
        let Attempt {
            fitting,
            failed,
            partial,
            explanation,
            valid_until,
            defect,
            without,
        } = attempt;
        self.partial = partial;
        self.without = without;
        self.explanation = explanation;
        self.valid_until = valid_until;
        let mut failed = failed.into_iter();
        match fitting {
            Some(group) => self.affinity.clone_from(&group.name),
            // The first group is the preferred one, so its error is the most useful.
            None => {
                if let Some(first) = failed.next() {
                    self.affinity.clone_from(&first.group.name);
                    self.outcome = Outcome::Failed(first.error);
                }
            }
        }
        if let Some(defect) = defect {
            self.outcome = Outcome::Failed(defect);
        }
        self.failed_groups = failed.map(|failed| (failed.group.name.clone(), failed.error)).collect();
    }

    /// Names the clusters of a result, with the figures of each in the cycle that made it.
    pub fn name_targets(&mut self, cycle: &Cycle, targets: &[Target], fleet: &FleetSnapshot) {
        if let (Outcome::Scheduled(named), Ok(plan)) = (&mut self.outcome, self.plan.as_ref()) {
            self.figures = target_figures(cycle, targets, plan)
                .map(|(_, figures)| figures)
                .collect();
            *named = targets_with_names(targets, fleet);
        }
    }

    /// Each affinity group that failed, in the order in which they were tried, with its error.
    pub fn failures(&self) -> impl Iterator<Item = (&str, &CycleError)> {
        let first = match &self.outcome {
            Outcome::Failed(error) => Some((self.affinity.as_str(), error)),
            Outcome::Scheduled(_) | Outcome::Skipped(_) => None,
        };
        let others = self.failed_groups.iter().map(|(group, error)| (group.as_str(), error));
        first.into_iter().chain(others)
    }

    /// True if the filters of every affinity group that was tried reject all clusters.
    pub fn fits_nowhere(&self) -> bool {
        matches!(self.outcome, Outcome::Failed(_))
            && self
                .failures()
                .all(|(_, error)| matches!(error, CycleError::NoClusterFit { .. }))
    }

    /// Reason why the binding was skipped or failed, or has fewer replicas than requested; empty otherwise.
    pub fn message(&self) -> String {
        match (&self.outcome, &self.partial) {
            (Outcome::Scheduled(_), Some(partial)) => partial.to_string(),
            (Outcome::Scheduled(_), None) => String::new(),
            (Outcome::Skipped(reason), _) => reason.clone(),
            (Outcome::Failed(error), _) => error.to_string(),
        }
    }

    /// Name of the strategy; empty if the binding has no plan.
    pub fn strategy(&self) -> &str {
        self.plan.as_ref().as_ref().map_or("", |plan| plan.strategy.as_str())
    }
}

/// Score and estimate of a cluster in the result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TargetFigures {
    /// Weighted sum of its scores.
    pub score: i64,
    /// Replicas that fit before this decision; `None` for a resource without replicas.
    pub fits_now: Option<i64>,
}

/// The outcome of a binding.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// Clusters, sorted by name, with their replicas. They replace the previous result.
    Scheduled(Vec<(String, i64)>),
    /// The binding is deliberately not scheduled, for this reason.
    Skipped(String),
    /// The binding could not be scheduled and keeps its previous result.
    Failed(CycleError),
}

impl Outcome {
    /// Name of this outcome in results: `Scheduled`, `NoClusterFit`, `Unschedulable`, `Skipped` or `Error`.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Scheduled(_) => "Scheduled",
            Self::Skipped(_) => "Skipped",
            Self::Failed(error) => error.kind(),
        }
    }
}

/// Targets with the names of their clusters.
pub(super) fn targets_with_names(targets: &[Target], fleet: &FleetSnapshot) -> Vec<(String, i64)> {
    let targets = targets.iter();
    let named = targets.map(|target| (fleet.name(target.row).to_owned(), target.replicas));
    named.collect()
}

/// Targets of the latest cycle, with score and estimate of each in that cycle.
pub(super) fn target_figures(
    cycle: &Cycle,
    targets: &[Target],
    plan: &Plan,
) -> impl ExactSizeIterator<Item = (Target, TargetFigures)> {
    let has_capacity = plan.demand != Demand::Nothing;
    let mut guess = 0;
    targets.iter().map(move |target| {
        let found = cycle.figures(target.row, &mut guess);
        debug_assert!(
            found.is_some(),
            "a target is not among the feasible clusters of its cycle"
        );
        let (score, fits_now) = found.unwrap_or_default();
        let figures = TargetFigures {
            score,
            fits_now: has_capacity.then_some(fits_now),
        };
        (*target, figures)
    })
}
