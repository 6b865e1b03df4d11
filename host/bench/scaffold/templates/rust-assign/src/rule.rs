//! The rule: ordinary functions of numbers, which know neither clusters nor Divvy.

use std::cmp::Reverse;

/// Replicas that each cluster may get.
pub(crate) fn room<C>(capacity: impl Iterator<Item = (C, i64)>, keep_free: u32) -> Vec<i64> {
    capacity
        .map(|(_, capacity)| (capacity - i64::from(keep_free)).max(0))
        .collect()
}

/// Fills the cluster with the most room first, then the next. Between equals, the smaller tie key comes first, so that
/// the order of the clusters does not matter.
///
/// Returns the replicas of each cluster, or how many fit in all if they are too few.
pub(crate) fn divide(
    replicas: i64,
    room: &[i64],
    tie_key: impl Fn(usize) -> u64,
) -> Result<Vec<i64>, i64> {
    let mut order: Vec<(i64, usize)> = room.iter().copied().zip(0..).collect();
    order.sort_unstable_by_key(|&(room, cluster)| (Reverse(room), tie_key(cluster)));
    let mut shares = vec![0; room.len()];
    let mut left = replicas;
    for (room, cluster) in order {
        let share = left.min(room);
        shares[cluster] = share;
        left -= share;
    }
    if left > 0 {
        return Err(replicas - left);
    }
    Ok(shares)
}
