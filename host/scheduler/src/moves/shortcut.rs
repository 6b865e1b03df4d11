//! What is changed at once, before any step: replicas beyond the total, and replicas that are missing from it.

use crate::cycle::MovingCluster;

/// The result without the replicas beyond the total. Those that are not ready go first, and of the ready ones at most `unavailable`
/// below `min(ready, total)`. If `to_target`, no cluster falls below its target; otherwise those that are above it are only the first.
pub(super) fn shed(clusters: &[MovingCluster<'_>], total: i64, unavailable: i64, to_target: bool) -> Vec<i64> {
    let mut result: Vec<i64> = clusters.iter().map(|cluster| cluster.current).collect();
    let sum: i64 = result.iter().sum();
    let mut excess = sum.saturating_sub(total.max(0)).max(0);
    let ready_of = |index: usize| clusters[index].ready.clamp(0, clusters[index].current.max(0));
    let all_ready: i64 = (0..clusters.len()).map(ready_of).sum();
    let least = total.saturating_sub(unavailable).clamp(0, all_ready);
    let mut spare = all_ready - least;
    let floors = |is_bound: bool| {
        clusters
            .iter()
            .map(move |cluster| if is_bound { cluster.target } else { 0 })
    };
    let passes = [(true, false), (false, false), (true, true), (false, true)];
    for (is_bound, takes_ready) in passes {
        if !is_bound && to_target {
            continue;
        }
        for (index, floor) in floors(is_bound).enumerate() {
            let (own, ready) = (result[index], ready_of(index));
            let least = if takes_ready { floor } else { floor.max(ready) };
            let most = own.saturating_sub(least.max(0)).max(0).min(excess);
            // The ready ones among them: all below `ready`.
            let unready = own.saturating_sub(ready).max(0);
            let taken = most.min(unready.saturating_add(spare));
            spare -= taken.saturating_sub(unready).max(0);
            result[index] = own - taken;
            excess -= taken;
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

    #[test]
    fn replicas_that_are_not_ready_are_shed_first_and_ready_ones_only_beyond_the_total() {
        let shed = |columns: &[[i64; 3]], total| shed(&clusters(columns), total, 0, false);
        assert_eq!(shed(&[[6, 6, 2], [4, 0, 4]], 6), [6, 0]);
        assert_eq!(shed(&[[6, 6, 2], [4, 4, 4]], 6), [2, 4]);
        assert_eq!(shed(&[[6, 3, 6], [4, 4, 0]], 5), [3, 2]);
        assert_eq!(shed(&[[3, 3, 3]], 5), [3]);
        assert_eq!(shed(&[[3, 3, 3]], 0), [0]);
    }

    #[test]
    fn shedding_to_a_target_stops_where_ready_replicas_would_be_missing() {
        let of = |unavailable| shed(&clusters(&[[10, 10, 2], [2, 0, 4]]), 6, unavailable, true);
        assert_eq!(of(0), [6, 2]);
        assert_eq!(of(2), [4, 2]);
        assert_eq!(shed(&clusters(&[[8, 8, 0], [4, 0, 6]]), 6, 0, true), [6, 4]);
        assert_eq!(shed(&clusters(&[[8, 8, 0], [4, 0, 6]]), 6, 1, true), [5, 4]);
    }

    #[test]
    fn missing_replicas_are_replaced_within_room_where_the_target_has_them() {
        let replace = |total| replace(&clusters(&[[2, 2, 9], [4, 4, 1], [0, 0, 2]]), total);
        assert_eq!(replace(6), [2, 4, 0]);
        assert_eq!(replace(8), [4, 4, 0]);
        assert_eq!(replace(20), [5, 4, 2]);
    }
}
