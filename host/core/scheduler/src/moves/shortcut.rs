//! What is changed at once, before any step: replicas beyond the total, and replicas that are missing from it.

use crate::cycle::MovingCluster;

/// Ready replicas that must be left, if there are so many.
pub(super) fn least(total: i64, unavailable: i64) -> i64 {
    total.saturating_sub(unavailable).max(0)
}

/// The replicas of each cluster that stay before all others: those that are known to be ready, and of those that a report shows as ready
/// besides, as `shown` has them, as many as the known ones lack of `least`. Such a report may be of before a step, so they are not counted
/// on, and neither are they taken as if they were not ready.
///
/// If one cluster loses a replica that is ready nevertheless, it still has enough, together with the known ones of the others.
pub(super) fn held(clusters: &[MovingCluster<'_>], shown: &[i64], least: i64) -> Vec<i64> {
    let missing = least.saturating_sub(known(clusters)).max(0);
    let held = clusters
        .iter()
        .zip(shown)
        .map(|(cluster, shown)| cluster.ready + shown.saturating_sub(cluster.ready).clamp(0, missing));
    held.collect()
}

/// Replicas that are known to be ready, in all clusters.
fn known(clusters: &[MovingCluster<'_>]) -> i64 {
    clusters.iter().map(|cluster| cluster.ready).sum()
}

/// How far replicas beyond the total go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// No cluster falls below its target, and what is [held] stays.
    Target,
    /// From anywhere, and what is [held] stays.
    Held,
    /// From anywhere, as long as enough are known to be ready: what is held besides goes after the others.
    Known,
}

/// The result without the replicas beyond the total. Those that are not known to be ready go first, and of the others at most `unavailable`
/// below `min(ready, total)`. In clusters that are above their targets, they go before those in others.
pub(super) fn shed(
    clusters: &[MovingCluster<'_>],
    shown: &[i64],
    (total, unavailable): (i64, i64),
    reach: Reach,
) -> Vec<i64> {
    let mut result: Vec<i64> = clusters.iter().map(|cluster| cluster.current).collect();
    let sum: i64 = result.iter().sum();
    let mut excess = sum.saturating_sub(total.max(0)).max(0);
    if excess == 0 {
        return result;
    }
    let least = least(total, unavailable);
    let mut spare = known(clusters).saturating_sub(least).max(0);
    let targets: Vec<i64> = clusters.iter().map(|cluster| cluster.target.max(0)).collect();
    let nothing = vec![0; clusters.len()];
    let floors = match reach {
        Reach::Target => vec![&targets],
        Reach::Held | Reach::Known => vec![&targets, &nothing],
    };
    let held = held(clusters, shown, least);
    let kept = match reach {
        Reach::Target | Reach::Held => held.clone(),
        Reach::Known => clusters.iter().map(|cluster| cluster.ready).collect(),
    };
    let by_name: Vec<usize> = (0..clusters.len()).collect();
    // The cluster in which the most may be ready is the last that is doubted.
    let mut by_doubt = by_name.clone();
    by_doubt.sort_by_key(|&index| held[index].saturating_sub(clusters[index].ready));
    for (order, kept, takes_kept) in [
        (&by_name, &held, false),
        (&by_doubt, &kept, false),
        (&by_name, &kept, true),
    ] {
        for floor in &floors {
            for &index in order {
                let (own, floor, kept) = (result[index], floor[index], kept[index]);
                let least = if takes_kept { floor } else { floor.max(kept) };
                let most = own.saturating_sub(least).max(0).min(excess);
                let free = own.saturating_sub(kept).max(0);
                let taken = most.min(free.saturating_add(spare));
                spare -= taken.saturating_sub(free).max(0);
                result[index] = own - taken;
                excess -= taken;
            }
        }
    }
    result
}

/// The result with the replicas that are missing from the total, within room, in the clusters whose targets are higher.
pub(super) fn replace(clusters: &[MovingCluster<'_>], total: i64) -> Vec<i64> {
    let mut result: Vec<i64> = clusters.iter().map(|cluster| cluster.current).collect();
    let mut missing = total.saturating_sub(result.iter().sum()).max(0);
    for (own, cluster) in result.iter_mut().zip(clusters) {
        let given = cluster
            .target
            .saturating_sub(cluster.current)
            .min(cluster.room)
            .clamp(0, missing);
        *own = own.saturating_add(given);
        missing -= given;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clusters(columns: &[[i64; 3]]) -> Vec<MovingCluster<'static>> {
        let of = |[current, ready, target]: &[i64; 3]| MovingCluster {
            name: "",
            current: *current,
            present: *current,
            ready: *ready,
            target: *target,
            room: 3,
        };
        columns.iter().map(of).collect()
    }

    /// The reports show what is known.
    fn settled(clusters: &[MovingCluster<'_>]) -> Vec<i64> {
        clusters.iter().map(|cluster| cluster.ready).collect()
    }

    #[test]
    fn replicas_that_are_not_ready_are_shed_first_and_ready_ones_only_beyond_the_total() {
        let shed = |columns: &[[i64; 3]], total| {
            let clusters = clusters(columns);
            shed(&clusters, &settled(&clusters), (total, 0), Reach::Held)
        };
        assert_eq!(shed(&[[6, 6, 2], [4, 0, 4]], 6), [6, 0]);
        assert_eq!(shed(&[[6, 6, 2], [4, 4, 4]], 6), [2, 4]);
        assert_eq!(shed(&[[6, 3, 6], [4, 4, 0]], 5), [3, 2]);
        assert_eq!(shed(&[[3, 3, 3]], 5), [3]);
        assert_eq!(shed(&[[3, 3, 3]], 0), [0]);
    }

    #[test]
    fn shedding_to_a_target_stops_where_ready_replicas_would_be_missing() {
        let of = |columns: &[[i64; 3]], unavailable| {
            let clusters = clusters(columns);
            shed(&clusters, &settled(&clusters), (6, unavailable), Reach::Target)
        };
        assert_eq!(of(&[[10, 10, 2], [2, 0, 4]], 0), [6, 2]);
        assert_eq!(of(&[[10, 10, 2], [2, 0, 4]], 2), [4, 2]);
        assert_eq!(of(&[[8, 8, 0], [4, 0, 6]], 0), [6, 4]);
        assert_eq!(of(&[[8, 8, 0], [4, 0, 6]], 1), [5, 4]);
    }

    #[test]
    fn replicas_that_may_be_ready_stay_where_too_few_are_known_to_be() {
        let of = |total, unavailable, reach| {
            let clusters = clusters(&[[4, 4, 0], [8, 1, 0]]);
            shed(&clusters, &[4, 5], (total, unavailable), reach)
        };
        // Five are known to be ready, and nine may be.
        assert_eq!(of(8, 0, Reach::Held), [4, 4]);
        assert_eq!(of(7, 0, Reach::Held), [4, 3]);
        assert_eq!(of(7, 1, Reach::Held), [4, 3]);
        assert_eq!(of(4, 0, Reach::Held), [3, 1]);
    }

    #[test]
    fn where_too_many_mislead_an_autoscaler_only_what_is_known_to_be_ready_stays() {
        let of = |reach, second| {
            let clusters = clusters(&[[6, 1, 0], [6, 1, 0]]);
            shed(&clusters, &[6, second], (6, 0), reach)
        };
        // Two are known to be ready, and each cluster may have the four that are missing.
        assert_eq!(of(Reach::Held, 6), [5, 5]);
        assert_eq!(of(Reach::Known, 6), [1, 5]);
        assert_eq!(of(Reach::Known, 3), [5, 1]);
    }

    #[test]
    fn missing_replicas_are_replaced_within_room_where_the_target_has_them() {
        let replace = |total| replace(&clusters(&[[2, 2, 9], [4, 4, 1], [0, 0, 2]]), total);
        assert_eq!(replace(6), [2, 4, 0]);
        assert_eq!(replace(8), [4, 4, 0]);
        assert_eq!(replace(20), [5, 4, 2]);
    }
}
