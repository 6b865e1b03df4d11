//! The rule: ordinary functions, which know neither clusters nor Divvy.

use std::cmp::Reverse;

/// Reason why a cluster was left out.
pub(crate) const REASON: &str = "others have a better score or more room";

/// Refuses a number with which nothing could be scheduled.
pub(crate) fn check(clusters: u32) -> Result<(), &'static str> {
    match clusters {
        0 => Err("`clusters` is 0: expected at least 1"),
        _ => Ok(()),
    }
}

/// Keeps the best clusters, the best first. `offer` is the score of a cluster, its room, and its tie key, of which the
/// smaller one comes first.
pub(crate) fn best<C>(clusters: &mut Vec<C>, most: u32, offer: impl Fn(&C) -> (i64, i64, u64)) {
    clusters.sort_unstable_by_key(|cluster| {
        let (score, room, tie_key) = offer(cluster);
        (Reverse(score), Reverse(room), tie_key)
    });
    clusters.truncate(most as usize);
}
