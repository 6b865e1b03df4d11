//! Tests of steps: single cases, and histories of several moves.

mod around;
mod case;
mod cases;
mod histories;

use divvy_framework_arithmetic::pace::{Situation, step};
use divvy_karmada::api::TargetCluster;

use crate::cycle::{Moving, Step};

pub(super) fn targets(result: &[(&str, i32)]) -> Vec<TargetCluster> {
    let of = |(name, replicas): &(&str, i32)| TargetCluster {
        name: (*name).to_owned(),
        replicas: *replicas,
        components: Vec::new(),
    };
    result.iter().map(of).collect()
}

/// The largest step that the allowances permit, as the bundled paces take it.
fn pace(moving: &Moving<'_>) -> Result<Step, std::convert::Infallible> {
    let column = |value: fn(&crate::cycle::MovingCluster<'_>) -> i64| -> Vec<i64> {
        moving.clusters.iter().map(value).collect()
    };
    let situation = Situation {
        current: &column(|cluster| cluster.current),
        present: &column(|cluster| cluster.present),
        ready: &column(|cluster| cluster.ready),
        target: &column(|cluster| cluster.target),
        room: &column(|cluster| cluster.room),
        total: moving.total,
        max_surge: moving.max_surge,
        max_unavailable: moving.max_unavailable,
        max_clusters: moving.max_clusters,
    };
    let mut next = Vec::new();
    Ok(match step(&situation, |index| index as u64, &mut next) {
        Ok(()) => Step::Next(next),
        Err(wait) => Step::Waits(wait),
    })
}
