//! Reasons that stop a number of replicas.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use divvy_karmada::detector::Binding;
use divvy_scheduler::cycle::CycleError;
use divvy_scheduler::cycle::explanation::{ClusterExplanation, Explanation};
use divvy_scheduler::decision::{Decision, Outcome};
use divvy_scheduler::fleet::{FleetSnapshot, Ledger, bottlenecks};
use divvy_scheduler::plan::Plan;

use super::document::{HeadroomStop, RejectedClusters, ScarceResource, TargetCount};

/// Reads the explained decision on a count that is refused, or that exceeds what fits. `accepted` is the result of the count before.
pub(super) fn read(
    count: i32,
    decision: &Decision,
    accepted: &[TargetCount],
    binding: &Binding,
    fleet: &FleetSnapshot,
    ledger: Option<&Ledger>,
) -> HeadroomStop {
    let nothing = Explanation::default();
    let explanation = decision.explanation.as_ref().unwrap_or(&nothing);
    let feasible = || explanation.clusters.iter().filter(|cluster| cluster.rejected.is_none());
    // If none was selected, all feasible clusters count.
    let has_candidates = explanation.clusters.iter().any(|cluster| cluster.candidate);
    let candidates = || feasible().filter(|cluster| cluster.candidate || !has_candidates);
    let mut stop = HeadroomStop {
        replicas: i64::from(count),
        result: decision.outcome.word().to_owned(),
        message: match &decision.outcome {
            Outcome::Failed(error) => error.to_string(),
            _ => String::new(),
        },
        candidates: candidates().count(),
        rejected: rejected(explanation),
        ..HeadroomStop::default()
    };
    stop.not_selected = feasible().count() - stop.candidates;
    let Ok(plan) = decision.plan.as_ref() else { return stop };
    stop.resources = match &decision.outcome {
        Outcome::Failed(CycleError::Unschedulable { figures: Some(_), .. }) => {
            // A cluster that could take more is not short of anything: a bound of the policy stops the replica there.
            let is_full = |cluster: &&ClusterExplanation| {
                let taken = accepted.iter().find(|target| target.name == cluster.name);
                let growth = taken.map_or(0, |target| target.replicas - super::last(binding, &cluster.name));
                cluster.fits_now.is_none_or(|fits_now| growth >= fits_now.max(0))
            };
            scarce(candidates().filter(is_full), plan, fleet, ledger)
        }
        Outcome::Scheduled(_) => {
            let is_over = |cluster: &&ClusterExplanation| {
                let growth = cluster.replicas.unwrap_or(0) - super::last(binding, &cluster.name);
                cluster.fits_now.is_some_and(|fits_now| growth > fits_now.max(0))
            };
            scarce(candidates().filter(is_over), plan, fleet, ledger)
        }
        _ => Vec::new(),
    };
    stop
}

/// The scarcest resource of each cluster, counted, the most frequent first.
fn scarce<'a>(
    clusters: impl Iterator<Item = &'a ClusterExplanation>,
    plan: &Plan,
    fleet: &FleetSnapshot,
    ledger: Option<&Ledger>,
) -> Vec<ScarceResource> {
    let columns = fleet.snapshot().clusters();
    let (rows, names): (Vec<u32>, Vec<&str>) = clusters
        .filter_map(|cluster| {
            let row = u32::try_from(columns.row(&cluster.name)?.index()).ok()?;
            Some((row, cluster.name.as_str()))
        })
        .unzip();
    let mut by_resource: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let found = bottlenecks(&columns, &rows, &plan.demand, ledger);
    for (resource, name) in found.into_iter().zip(names) {
        if let Some(resource) = resource {
            by_resource.entry(resource).or_default().push(name.to_owned());
        }
    }
    let mut resources: Vec<ScarceResource> = by_resource
        .into_iter()
        .map(|(resource, clusters)| ScarceResource {
            resource: resource.to_owned(),
            clusters,
        })
        .collect();
    resources.sort_by_key(|resource| Reverse(resource.clusters.len()));
    resources
}

/// Clusters that filters rejected, by plugin and reason, the most frequent first.
fn rejected(explanation: &Explanation) -> Vec<RejectedClusters> {
    let mut by_reason: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for note in explanation
        .clusters
        .iter()
        .filter_map(|cluster| cluster.rejected.as_ref())
    {
        *by_reason.entry((&note.plugin, &note.text)).or_default() += 1;
    }
    let rows = by_reason
        .into_iter()
        .map(|((plugin, reason), clusters)| RejectedClusters {
            plugin: plugin.to_owned(),
            reason: reason.to_owned(),
            clusters,
        });
    let mut rows: Vec<RejectedClusters> = rows.collect();
    rows.sort_by_key(|row| Reverse(row.clusters));
    rows
}
