//! Clusters that are full by their resource models, although their summary has room.
//!
//! If a cluster reports its nodes by resource model, Karmada's estimate counts replicas per node and does not look at the summed
//! resources (`pkg/estimator/client/general.go`). The estimate itself says which: with the models, and without them.

use std::collections::BTreeMap;
use std::sync::Arc;

use divvy_karmada::api::{Cluster, ReplicaRequirements, ReplicaSchedulingType};
use divvy_karmada::detector::Binding;
use divvy_scheduler::decide::affinity::{ClusterProperties, selects};
use divvy_scheduler::fleet::estimate::{Demand, UNBOUNDED, estimate};
use divvy_scheduler::fleet::{Fleet, FleetSnapshot, requests};
use divvy_spanned::ObjectName;

use super::{Surroundings, finding};
use crate::notes::counted;
use crate::policies::document::{Code, Finding};

/// One finding per cluster whose models leave no room for a binding that its summary has room for.
pub(super) fn findings(surroundings: &Surroundings<'_, '_>) -> Vec<Finding> {
    let reports_nodes = |cluster: &&Cluster| {
        let summary = cluster.status.resource_summary.as_ref();
        summary.is_some_and(|summary| !summary.allocatable_modelings.is_empty())
    };
    let known = surroundings.beside.clusters.iter();
    let clusters: Vec<&Cluster> = known.map(|(cluster, _)| *cluster).filter(reports_nodes).collect();
    if clusters.is_empty() {
        return Vec::new();
    }
    let (with, without) = (fleet(&clusters, true), fleet(&clusters, false));
    let mut by_requirements: BTreeMap<Vec<(String, i64)>, Vec<&Binding>> = BTreeMap::new();
    for binding in surroundings.bindings.iter().filter(|binding| counts_room(binding)) {
        let own = binding.object.spec.replica_requirements.as_ref();
        if let Some(own) = own {
            by_requirements.entry(needed(own)).or_default().push(binding);
        }
    }
    let properties: BTreeMap<&str, ClusterProperties> = clusters
        .iter()
        .map(|cluster| (cluster.metadata.name.as_str(), ClusterProperties::from(*cluster)))
        .collect();
    let mut full: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (needed, bindings) in by_requirements {
        let demand = Demand::Requests(needed);
        let room = fits(&without, &demand);
        for (name, _) in fits(&with, &demand).into_iter().filter(|(_, fit)| *fit == 0) {
            let Some((&name, own)) = properties.get_key_value(name.as_str()) else {
                continue;
            };
            if room.get(name).is_none_or(|fit| *fit == 0) {
                continue;
            }
            let candidates = bindings.iter().filter(|binding| {
                let placement = binding.object.spec.placement.as_deref();
                placement.is_none_or(|placement| selects(placement, own))
            });
            let names: Vec<String> = candidates.map(|binding| binding.key()).collect();
            if !names.is_empty() {
                full.entry(name).or_default().extend(names);
            }
        }
    }
    let findings = full.into_iter().map(|(name, mut names)| {
        names.sort_unstable();
        let message = format!(
            "is full for {} by its resource models: `status.resourceSummary.allocatableModelings` counts no node that is large enough, \
             though the summary has room",
            counted(names.len(), "binding")
        );
        let known = surroundings.beside.clusters.iter();
        let source = known.into_iter().find(|(cluster, _)| cluster.metadata.name == name);
        let source = source.map(|(_, source)| source.as_str());
        let object = ObjectName::new(Cluster::KIND, "", name).to_string();
        finding(Code::FullByModels, object, source, message, names)
    });
    findings.collect()
}

/// True if the division of a binding looks at the room of clusters.
fn counts_room(binding: &Binding) -> bool {
    let placement = binding.object.spec.placement.as_deref();
    let scheduling = placement.and_then(|placement| placement.replica_scheduling.as_ref());
    scheduling.is_some_and(|scheduling| {
        let kind = scheduling
            .replica_scheduling_type
            .as_ref()
            .and_then(|kind| kind.known());
        let weights = scheduling.weight_preference.as_ref();
        let is_static =
            scheduling.replica_division_preference == "Weighted" && weights.is_none_or(|weights| !weights.is_dynamic());
        kind != Some(ReplicaSchedulingType::Duplicated) && !is_static
    })
}

fn needed(requirements: &Arc<ReplicaRequirements>) -> Vec<(String, i64)> {
    let requests = requests(Some(&requirements.resource_request));
    requests.map(|(name, amount)| (name.to_owned(), amount)).collect()
}

/// The clusters with their models, or with the summed resources alone.
fn fleet(clusters: &[&Cluster], has_models: bool) -> FleetSnapshot {
    let mut fleet = Fleet::new(false);
    for cluster in clusters {
        let mut cluster = (*cluster).clone();
        if let (false, Some(summary)) = (has_models, &mut cluster.status.resource_summary) {
            summary.allocatable_modelings.clear();
        }
        fleet.upsert(&cluster);
    }
    fleet.snapshot()
}

/// Replicas that fit in each cluster.
fn fits(fleet: &FleetSnapshot, demand: &Demand) -> BTreeMap<String, i64> {
    let rows: Vec<u32> = (0..).take(fleet.len()).collect();
    let mut fits = vec![0; rows.len()];
    estimate(&fleet.snapshot().clusters(), &rows, demand, UNBOUNDED, None, &mut fits);
    rows.iter().map(|&row| fleet.name(row).to_owned()).zip(fits).collect()
}
