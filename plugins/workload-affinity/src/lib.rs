//! The Filter plugin `workload-affinity`: rejects clusters that lack a workload of the binding's affinity group.
//!
//! This file connects the SDK to the rule in [`workload_affinity`]. A binding without an affinity group costs nothing.

#![forbid(unsafe_code)]

#[cfg(test)]
mod tests;
mod workload_affinity;

use divvy_framework::binding::{Peer, Placements};
use divvy_framework::prelude::*;

use workload_affinity::PeerCounts;

/// Rejects clusters that lack a workload of the binding's affinity group.
#[derive(Default)]
struct WorkloadAffinity;

impl Plugin for WorkloadAffinity {
    const NAME: &'static str = "workload-affinity";
    const DESCRIPTION: &'static str = "rejects clusters that lack a workload of the same affinity group";
}

impl FilterPlugin for WorkloadAffinity {
    const NEEDS: Needs = Needs::NONE.placements();
    const PROMISES: Promises = Promises::NONE.enforces_workload_affinity().each_alone();
    const ACTS_ON: BindingParts = BindingParts::AFFINITY_GROUP;

    fn filter(&self, context: &FilterContext<'_, Self>, result: &mut FilterResult<'_>) -> Result<(), Failure> {
        let placements = context.placements()?;
        let Some(group) = placements.affinity_group() else {
            return Ok(());
        };
        let clusters = context.clusters();
        with_scratch(|counts: &mut PeerCounts| {
            let rows = placed(&placements).map(|peer| peer.targets().filter_map(|target| target.row));
            counts.count(clusters.len(), rows);
            if counts.is_empty() {
                return;
            }
            result.retain_newcomers(|row| counts.has_every(row), |row| reason(&placements, group, row));
        });
        Ok(())
    }
}

/// The peers that have clusters, in the binding's affinity group.
fn placed<'a>(placements: &Placements<'a>) -> impl Iterator<Item = Peer<'a>> + use<'a> {
    let peers = placements.peers();
    peers.filter(|peer| peer.shares_affinity_group() && peer.is_placed())
}

/// Reason for rejecting the cluster in a row: the first peer, by name, that is not on it.
fn reason(placements: &Placements<'_>, group: &str, row: Row) -> String {
    let is_there = |peer: &Peer<'_>| peer.targets().any(|target| target.row == Some(row));
    let missing = placed(placements).find(|peer| !is_there(peer));
    let name = missing.map_or("", |peer| peer.name());
    format!("cluster(s) did not have `{name}` of the affinity group `{group}`")
}

divvy_framework::export_plugin!(WorkloadAffinity: Filter);
