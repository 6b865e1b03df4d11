//! Bindings that are decided repeatedly, against one fleet after another.

use divvy_karmada::detector::Binding;
use divvy_profile::WhenNoClusterFits;

use crate::cycle::{CycleError, Target};
use crate::fleet::{FleetSnapshot, Footprint};
use crate::placements::Peers;
use crate::plan::PlanResult;

use super::scheduler::{Scheduler, each_growth};

/// Everything about a binding that is the same each time it is decided. It can be shared between threads.
#[derive(Debug, Clone)]
pub struct Recurring {
    plan: PlanResult,
    footprint: Footprint,
    is_fresh: bool,
}

/// The outcome of a binding, without the details that only a reader needs.
#[derive(Debug)]
pub enum BriefOutcome {
    /// Its targets are [`Scheduler::latest_targets`].
    Scheduled,
    /// It could not be scheduled.
    Failed(BriefFailure),
}

/// The reason why a binding could not be scheduled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BriefFailure {
    /// No cluster fits in any affinity group: [`CycleError::NoClusterFit`].
    FitsNowhere,
    /// No cluster fits in the first affinity group, and the others fail for another reason.
    NoClusterFit,
    /// The clusters have too little room or cannot be selected: [`CycleError::Unschedulable`],
    /// [`CycleError::NotSelectable`].
    Unschedulable,
    /// Any other error, including that the binding has no plan.
    Other,
}

impl BriefFailure {
    fn new(error: &CycleError, fits_nowhere: bool) -> Self {
        match error {
            _ if fits_nowhere => Self::FitsNowhere,
            CycleError::NoClusterFit { .. } => Self::NoClusterFit,
            CycleError::NotSelectable { .. } | CycleError::Unschedulable { .. } => Self::Unschedulable,
            _ => Self::Other,
        }
    }
}

impl BriefFailure {
    /// True if the failure removes the previous result, by the rule of [`clears`](crate::decide::clearing::clears).
    pub fn clears(self, rule: WhenNoClusterFits) -> bool {
        match rule {
            WhenNoClusterFits::Clear => self == Self::FitsNowhere,
            WhenNoClusterFits::ClearByFirstGroup => matches!(self, Self::FitsNowhere | Self::NoClusterFit),
            WhenNoClusterFits::Keep => false,
        }
    }
}

impl Scheduler {
    /// The parts of a decision that are the same each time a binding is decided. This makes its plan.
    pub fn recurring(&mut self, binding: &Binding) -> Recurring {
        Recurring {
            plan: self.plan(binding),
            footprint: Footprint::new(&binding.object.spec),
            is_fresh: binding.is_fresh(),
        }
    }

    /// Schedules a binding as [`Self::schedule`] does, and also returns its peers. `recurring` must be made from this binding
    /// under the same profile. The binding must not be one that is skipped.
    pub fn schedule_again(
        &mut self,
        binding: &Binding,
        recurring: &Recurring,
        fleet: &FleetSnapshot,
    ) -> (BriefOutcome, Option<Peers>) {
        let peers = self.peers(binding);
        let Ok(plan) = recurring.plan.as_ref() else {
            return (BriefOutcome::Failed(BriefFailure::Other), peers);
        };
        let attempt = self.try_groups(binding, plan, fleet, recurring.is_fresh, peers.as_ref());
        if let Some(error) = attempt.error() {
            return (
                BriefOutcome::Failed(BriefFailure::new(error, attempt.fits_nowhere())),
                peers,
            );
        }
        self.book(binding, &recurring.footprint, fleet);
        if self.tracks(binding) {
            let named = self.named_targets(fleet);
            self.placed(binding, &named);
        }
        (BriefOutcome::Scheduled, peers)
    }

    /// True if the removal of clusters from the fleet changes a result of the binding only by these clusters, as long as one is
    /// left, however full the others are.
    ///
    /// This follows from promises of all plugins that take part. `recurring` must be made from this binding under the same
    /// profile.
    pub fn keeps_the_rest(&self, binding: &Binding, recurring: &Recurring) -> bool {
        let profile = self.profile();
        let Ok(plan) = recurring.plan.as_ref() else {
            return false;
        };
        // With several groups or tiers, the loss of a cluster can admit others. With peers, so can the loss of a peer's cluster.
        let [group] = plan.groups.as_slice() else {
            return false;
        };
        let has_peers = profile.needs_placements() && binding.object.spec.workload_affinity_groups.is_some();
        let Ok(strategy) = profile.strategy(&plan.strategy) else {
            return false;
        };
        let promises = profile.judges_each_alone() && strategy.judges_each_alone();
        promises && plan.leaves_clusters_alone(strategy, group) && !has_peers
    }

    /// Passes on the row, the resource and the quantity of everything that the latest result has taken from the ledger.
    /// `binding` must be that of the latest result.
    pub fn latest_growth(
        &self,
        binding: &Binding,
        recurring: &Recurring,
        fleet: &FleetSnapshot,
        each: impl FnMut(u32, &str, i64),
    ) {
        if self.ledger().is_some() {
            each_growth(self.targets(), binding, &recurring.footprint, fleet, each);
        }
    }

    /// Targets of the latest binding that was scheduled, sorted by the names of their clusters.
    pub fn latest_targets(&self) -> &[Target] {
        self.targets()
    }
}
