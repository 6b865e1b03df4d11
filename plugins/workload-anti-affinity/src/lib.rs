//! The Filter plugin `workload-anti-affinity`: rejects clusters that have a workload of the binding's anti-affinity group.
//!
//! This file connects the SDK to the rule in [`workload_anti_affinity`]. A binding without an anti-affinity group costs
//! nothing.

#![forbid(unsafe_code)]

#[cfg(test)]
mod tests;
mod workload_anti_affinity;

use divvy_framework::binding::{Peer, Placements};
use divvy_framework::clusters::RowSet;
use divvy_framework::prelude::*;

use workload_anti_affinity::collect_taken;

/// Rejects clusters that have a workload of the binding's anti-affinity group.
#[derive(Default)]
struct WorkloadAntiAffinity;

impl Plugin for WorkloadAntiAffinity {
    const NAME: &'static str = "workload-anti-affinity";
    const DESCRIPTION: &'static str = "rejects clusters that have a workload of the same anti-affinity group";
}

impl FilterPlugin for WorkloadAntiAffinity {
    const NEEDS: Needs = Needs::NONE.placements();
    const PROMISES: Promises = Promises::NONE.enforces_workload_anti_affinity().each_alone();
    const ACTS_ON: BindingParts = BindingParts::ANTI_AFFINITY_GROUP;

    fn filter(&self, context: &FilterContext<'_, Self>, result: &mut FilterResult<'_>) -> Result<(), Failure> {
        let placements = context.placements()?;
        let Some(group) = placements.anti_affinity_group() else {
            return Ok(());
        };
        let clusters = context.clusters();
        with_scratch(|taken: &mut RowSet| {
            let rows = peers(&placements).flat_map(|peer| peer.targets().filter_map(|target| target.row));
            if !collect_taken(clusters.len(), rows, taken) {
                return;
            }
            result.retain_newcomers(|row| !taken.contains(row), |row| reason(&placements, group, row));
        });
        Ok(())
    }
}

/// The peers in the binding's anti-affinity group.
fn peers<'a>(placements: &Placements<'a>) -> impl Iterator<Item = Peer<'a>> + use<'a> {
    placements.peers().filter(Peer::shares_anti_affinity_group)
}

/// Reason for rejecting the cluster in a row: the first peer, by name, that is on it.
fn reason(placements: &Placements<'_>, group: &str, row: Row) -> String {
    let is_there = |peer: &Peer<'_>| peer.targets().any(|target| target.row == Some(row));
    let name = peers(placements).find(is_there).map_or("", |peer| peer.name());
    format!("cluster(s) had `{name}` of the anti-affinity group `{group}`")
}

divvy_framework::export_plugin!(WorkloadAntiAffinity: Filter);
