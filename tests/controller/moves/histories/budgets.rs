//! The budgets of moves, and what moves use of them by the marks that are stored and by the pods that members really run.

use divvy_judge::steps::Allowances;
use divvy_scheduler::moves::mark::{MOVE_ANNOTATION, Mark};
use serde_json::Value;

use super::World;
use super::checks::index;

/// What moves use of the budgets: the bindings under way, also in each cluster and region, and the replicas that are not ready by cluster.
#[derive(Debug, Default)]
pub(super) struct Used {
    pub(super) bindings: i64,
    pub(super) bindings_in: [i64; 4],
    pub(super) bindings_in_regions: [i64; 2],
    pub(super) unready: [i64; 4],
}

/// The region of a cluster: `a` and `b` are in one, `c` and `d` in the other.
pub(super) const fn region(cluster: usize) -> usize {
    cluster / 2
}

impl Used {
    /// What the move of a binding uses whose result is `result`. Replicas that a report shows as ready do not count, either: a cluster may have
    /// lost them since.
    pub(super) fn in_members(world: &World, key: &str, result: [i64; 4], mark: Option<&Mark>) -> Self {
        let mut used = Self::default();
        let Some(mark) = mark else { return used };
        let mut has_rest = false;
        // A plan may turn a move round. What it takes away then is not given any more.
        let planned = world.planned_in_force(key);
        for (name, waypoint) in &mark.clusters {
            let cluster = index(name);
            let copy = &world.copies[key][cluster];
            let target = planned.map_or(waypoint.target, |planned| planned[cluster]);
            let is_given = waypoint.bound.is_some() && target.min(waypoint.target) >= result[cluster];
            if is_given {
                used.unready[cluster] = (result[cluster] - copy.ready.max(copy.reported())).max(0);
            }
            has_rest |= target != result[cluster];
            used.claim(cluster, target != result[cluster] || used.unready[cluster] > 0);
        }
        for (cluster, target) in planned.into_iter().flatten().enumerate() {
            has_rest |= target != result[cluster];
            used.claim(cluster, target != result[cluster]);
        }
        if !has_rest || mark.is_released {
            (used.bindings_in, used.bindings_in_regions) = ([0; 4], [0; 2]);
        } else {
            used.bindings = 1;
        }
        used
    }

    /// The binding is under way in a cluster, or not.
    pub(super) fn claim(&mut self, cluster: usize, is_claimed: bool) {
        if is_claimed {
            self.bindings_in[cluster] = 1;
            self.bindings_in_regions[region(cluster)] = 1;
        }
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.bindings += other.bindings;
        for cluster in 0..4 {
            self.bindings_in[cluster] += other.bindings_in[cluster];
            self.unready[cluster] += other.unready[cluster];
        }
        for region in 0..2 {
            self.bindings_in_regions[region] += other.bindings_in_regions[region];
        }
    }
}

/// The budget of bindings that keeps a move from beginning beside others, if one does.
pub(super) fn full(limits: &Allowances, others: &Used, own: &Used) -> Option<&'static str> {
    if limits.bindings.is_some_and(|limit| others.bindings >= limit) {
        return Some("bindings");
    }
    let is_full = |cluster: usize| {
        let limit = limits.bindings_per_cluster;
        own.bindings_in[cluster] > 0 && limit.is_some_and(|limit| others.bindings_in[cluster] >= limit)
    };
    if (0..4).any(is_full) {
        return Some("bindings-per-cluster");
    }
    let is_full = |region: usize| {
        let limit = limits.bindings_per_region;
        own.bindings_in_regions[region] > 0 && limit.is_some_and(|limit| others.bindings_in_regions[region] >= limit)
    };
    (0..2).any(is_full).then_some("bindings-per-region")
}

/// Replicas that may still be given to a cluster; negative if too many are.
pub(super) fn spare(limits: &Allowances, used: &Used, cluster: usize) -> i64 {
    let left = |limit: Option<i64>, used: &[i64]| limit.map_or(i64::MAX, |limit| limit - used.iter().sum::<i64>());
    let own = &used.unready[cluster..=cluster];
    let near = &used.unready[2 * region(cluster)..][..2];
    let in_all = left(limits.replicas, &used.unready);
    in_all
        .min(left(limits.replicas_per_cluster, own))
        .min(left(limits.replicas_per_region, near))
}

/// The mark of a binding, if it is of its present version.
pub(super) fn mark_of(binding: &Value) -> Option<Mark> {
    let mark = Mark::parse(binding["metadata"]["annotations"][MOVE_ANNOTATION].as_str()?).ok()?;
    (binding["metadata"]["generation"] == mark.generation).then_some(mark)
}
