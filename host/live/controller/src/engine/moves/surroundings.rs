//! The world around a binding: the clusters with their room, and the other moves.

use divvy_framework_view::clusters::{Clusters, Row};
use divvy_karmada::api::{Placement, SpreadField, TargetCluster};
use divvy_profile::MoveBudgets;
use divvy_scheduler::decide::affinity::selects;
use divvy_scheduler::decision::Estimates;
use divvy_scheduler::fleet::Ledger;
use divvy_scheduler::fleet::estimate::{UNBOUNDED, estimate};
use divvy_scheduler::moves::budgets::{Applicant, ClaimedCluster};
use divvy_scheduler::moves::world::World;
use divvy_scheduler::plan::Plan;
use divvy_scheduler::profile::Profile;

use super::known::Known;
use super::{REPORT_TIME, milliseconds};
use crate::guard::takes_away;
use crate::store::ClusterStore;
use crate::takings::Current;

/// The clusters around a binding.
pub(super) struct Surroundings<'a> {
    /// The snapshot, which may still have clusters that are gone.
    pub(super) columns: Clusters<'a>,
    /// The clusters that are there.
    pub(super) clusters: &'a ClusterStore,
    /// What results hold in them.
    pub(super) held: &'a Ledger,
    /// The answers of estimators, if they were asked.
    pub(super) answers: Option<Current<'a>>,
    /// The profile.
    pub(super) profile: &'a Profile,
    /// The plan of the binding; `None` if it is invalid.
    pub(super) plan: Option<&'a Plan>,
    /// Its placement.
    pub(super) placement: Option<&'a Placement>,
    /// The budgets of the profile.
    pub(super) budgets: MoveBudgets,
    /// The moves of other bindings with the clusters of their claims; none if nothing is limited.
    pub(super) others: Vec<(&'a Known, Vec<ClaimedCluster<'a>>)>,
    /// True if clusters vanished, so that no replicas are taken away.
    pub(super) misses_clusters: bool,
}

impl<'a> Surroundings<'a> {
    /// The row of a cluster that is there.
    fn row(&self, name: &str) -> Option<Row> {
        self.columns.row(name).filter(|_| self.clusters.contains(name))
    }
}

impl World for Surroundings<'_> {
    fn exists(&self, name: &str) -> bool {
        self.clusters.contains(name)
    }

    fn is_ready(&self, name: &str) -> bool {
        self.row(name).is_some_and(|row| self.columns.get(row).is_ready())
    }

    fn region(&self, name: &str) -> &str {
        self.row(name).map_or("", |row| self.columns.get(row).region())
    }

    /// A cluster that is not Ready, or is being deleted, has room for none.
    fn room(&self, name: &str) -> i64 {
        let is_open = self.is_ready(name) && !self.is_deleting(name);
        let Some(row) = self.row(name).filter(|_| is_open) else {
            return 0;
        };
        let Some(plan) = self.plan else { return i64::MAX };
        let strategy = self.profile.strategy(&plan.strategy);
        if strategy.is_ok_and(|strategy| !strategy.respects_capacity()) {
            return i64::MAX;
        }
        let Ok(row) = u32::try_from(row.index()) else { return 0 };
        let mut fits = [0];
        estimate(
            &self.columns,
            &[row],
            &plan.demand,
            UNBOUNDED,
            Some(self.held),
            &mut fits,
        );
        let accurate = self
            .answers
            .as_ref()
            .and_then(|answers| answers.fits(name, &plan.demand));
        accurate.map_or(fits[0], |accurate| accurate.min(fits[0]))
    }

    fn is_deleting(&self, name: &str) -> bool {
        self.clusters.is_deleting(name)
    }

    fn is_excluded(&self, name: &str) -> bool {
        let is_selected = |placement: &Placement| {
            let properties = self.clusters.properties(name);
            properties.is_some_and(|own| selects(placement, own))
        };
        self.placement.is_some_and(|placement| !is_selected(placement))
    }

    fn max_clusters(&self) -> Option<u32> {
        let plan = self.plan?;
        let strategy = self.profile.strategy(&plan.strategy);
        let ignores = strategy.is_ok_and(|strategy| plan.ignores_spread(strategy));
        let constraints = self.placement.filter(|_| !ignores)?.spread_constraints.iter();
        let of_clusters = constraints.filter(|constraint| {
            constraint.spread_by_field == Some(SpreadField::Cluster.into()) && constraint.max_groups > 0
        });
        let least = of_clusters.map(|constraint| constraint.max_groups).min()?;
        Some(u32::try_from(least).unwrap_or(u32::MAX))
    }

    fn report_time(&self) -> i64 {
        milliseconds(REPORT_TIME)
    }

    fn budgets(&self) -> MoveBudgets {
        self.budgets
    }

    fn others(&self) -> Vec<Applicant<'_>> {
        let others = self.others.iter();
        others.map(|(known, clusters)| known.applicant(clusters)).collect()
    }

    fn holds_back(&self, present: &[TargetCluster], result: &[TargetCluster]) -> bool {
        self.misses_clusters && takes_away(present, result)
    }
}
