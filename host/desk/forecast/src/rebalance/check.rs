//! The part of a plan for one binding, decided by its own plugins.
//!
//! A binding is decided as if it had what stays of it, and each cluster of its part had exactly the room that the part takes. A strategy that
//! divides by room can then only return the part; one that returns something else, and a filter or a selection that refuses one of the
//! clusters, refuse it. What is free in truth limits the room as well: it is tracked from binding to binding.

use std::collections::BTreeMap;
use std::sync::Arc;

use divvy_karmada::api::{ClusterAffinity, TargetCluster};
use divvy_karmada::detector::Binding;
use divvy_scheduler::cycle::{Cycle, Target};
use divvy_scheduler::decision::{Circumstances, Decision, Estimates, Outcome, Scheduler};
use divvy_scheduler::fleet::Ledger;
use divvy_scheduler::fleet::estimate::Demand;
use divvy_scheduler::plan::{Plan, PlanInput};
use divvy_scheduler::profile::ConfiguredProfile;

use crate::future::{Entry, Future, Options};
use crate::load::requested;

/// Room that a plan gives one binding: replicas by cluster, beyond what stays.
struct Given<'a>(&'a BTreeMap<&'a str, i64>);

impl Estimates for Given<'_> {
    fn fits(&self, cluster: &str, _: &Demand) -> Option<i64> {
        Some(self.0.get(cluster).copied().unwrap_or(0))
    }
}

/// Decides the parts of a plan, one after another.
pub(super) struct Check<'a> {
    future: &'a Future,
    side: &'a ConfiguredProfile,
    options: Options,
    scheduler: Scheduler,
    ledger: Ledger,
}

/// A binding with its part: replicas by row.
pub(super) type Part<'a> = (&'a Entry, &'a [(u32, u64)]);

impl<'a> Check<'a> {
    /// Everything that leaves a cluster has left.
    pub(super) fn new(future: &'a Future, side: &'a ConfiguredProfile, options: Options, parts: &[Part<'_>]) -> Self {
        let mut ledger = future.ledger.clone().unwrap_or_default();
        let clusters = future.fleet.snapshot().clusters();
        for (entry, part) in parts {
            for (name, before) in entry.targets.iter() {
                let Some(row) = clusters.row(name).map(|row| row.index()) else {
                    continue;
                };
                let after = replicas(part, row);
                if after < *before {
                    ledger.release(row, before - after, requested(&entry.binding));
                }
            }
        }
        let scheduler = Scheduler::new(Arc::clone(&side.profile))
            .deciding_at(options.time)
            .knowing(future.placements.clone());
        Self {
            future,
            side,
            options,
            scheduler,
            ledger,
        }
    }

    /// True if the binding's own plugins decide what the plan says. The part then takes its room.
    pub(super) fn accepts(&mut self, (entry, part): Part<'_>) -> bool {
        let fleet = &self.future.fleet;
        let before = |name: &str| entry.targets.get(name).copied().unwrap_or(0);
        let (mut stays, mut given) = (Vec::new(), BTreeMap::new());
        for (row, replicas) in part {
            let (name, replicas) = (fleet.name(*row), i64::try_from(*replicas).unwrap_or(i64::MAX));
            let kept = before(name).min(replicas);
            if kept > 0 {
                stays.push(TargetCluster {
                    name: name.to_owned(),
                    replicas: i32::try_from(kept).unwrap_or(i32::MAX),
                    ..TargetCluster::default()
                });
            }
            given.insert(name, replicas - kept);
        }
        let binding = within(&entry.binding, given.keys().copied(), stays);
        let plan = Arc::new(Plan::under(&self.side.profile, &PlanInput::new(&binding)));
        let peers = self.scheduler.peers(&binding);
        let circumstances = Circumstances {
            profile: &self.side.profile,
            fleet,
            ledger: Some(&self.ledger),
            estimates: Some(&Given(&given)),
            fresh: false,
            time: self.options.time,
            peers: peers.as_ref(),
            detail: None,
            without: &[],
        };
        let mut targets: Vec<Target> = Vec::new();
        let decision = Decision::make(&mut Cycle::new(), &mut targets, &binding, &plan, &circumstances);
        let decided = targets
            .iter()
            .filter(|target| target.replicas > 0)
            .map(|target| (target.row, target.replicas));
        let planned = part
            .iter()
            .map(|(row, replicas)| (*row, i64::try_from(*replicas).unwrap_or(i64::MAX)));
        let is_accepted =
            matches!(decision.outcome, Outcome::Scheduled(_)) && decision.partial.is_none() && decided.eq(planned);
        if is_accepted {
            let clusters = fleet.snapshot().clusters();
            for (name, more) in &given {
                if let Some(row) = clusters.row(name) {
                    self.ledger.book(row.index(), *more, requested(&entry.binding));
                }
            }
        }
        is_accepted
    }
}

/// Replicas of a part in a row.
fn replicas(part: &[(u32, u64)], row: usize) -> i64 {
    let found = part.iter().find(|(other, _)| *other as usize == row);
    found.map_or(0, |(_, replicas)| i64::try_from(*replicas).unwrap_or(i64::MAX))
}

/// A binding that has these replicas, and may use these clusters alone.
fn within<'a>(binding: &Binding, clusters: impl Iterator<Item = &'a str>, stays: Vec<TargetCluster>) -> Binding {
    let mut binding = binding.clone();
    let names: Vec<String> = clusters.map(str::to_owned).collect();
    let spec = &mut binding.object.spec;
    spec.clusters = stays;
    spec.reschedule_triggered_at = None;
    if let Some(placement) = &mut spec.placement {
        let placement = Arc::make_mut(placement);
        let limit = |affinity: &mut ClusterAffinity| affinity.cluster_names.clone_from(&names);
        for term in &mut placement.cluster_affinities {
            limit(&mut term.affinity);
            term.overflow_affinities
                .iter_mut()
                .for_each(|overflow| limit(&mut overflow.affinity));
        }
        if placement.cluster_affinities.is_empty() {
            limit(placement.cluster_affinity.get_or_insert_default());
        }
    }
    binding
}
