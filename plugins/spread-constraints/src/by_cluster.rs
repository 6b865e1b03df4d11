//! Selection for a constraint by cluster: a number of clusters within limits, with enough capacity together.
//!
//! Karmada's rule (`select_clusters_by_cluster.go`) keeps the first `maximum` clusters of the order. While they lack
//! capacity, each kept cluster, from the last to the first, is exchanged for the largest of the others if that one is
//! larger. No search is needed: a complete exchange has kept the largest clusters of all, so if they do not suffice, no
//! choice of that size does.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::constraints::Limits;
use crate::order::{Columns, Order};
use crate::refusal::Refusal;

/// Clusters for which a kept cluster may be exchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exchange {
    /// Any, as in Karmada: a larger cluster may replace one in a better tier of overflow affinities.
    AcrossTiers,
    /// Only clusters of the same tier, so that a maximum of clusters never excludes a preferred one.
    WithinTier,
}

/// Clusters by available replicas; among equals the one with the smallest position comes first.
pub(crate) type Largest = BinaryHeap<(i64, Reverse<usize>)>;

/// Returns the candidates in order of preference. Together they hold at least `needed` replicas, if that is given.
///
/// # Errors
/// The binding is unschedulable if there are too few clusters, or if no permitted choice holds `needed` replicas.
pub(crate) fn select<'a>(
    order: &'a mut Order,
    largest: &mut Largest,
    columns: Columns<'_>,
    limits: Limits,
    needed: Option<i64>,
    exchange: Exchange,
) -> Result<&'a [u32], Refusal> {
    let feasible = columns.len();
    if feasible < limits.minimum {
        return Err(Refusal::TooFewClusters {
            feasible,
            minimum: limits.minimum,
        });
    }
    let count = limits.maximum.min(feasible);
    let Some(needed) = needed else {
        return Ok(&order.sort(columns, count)[..count]);
    };
    let needed = i128::from(needed);
    let sum = |indices: &[u32]| -> i128 { indices.iter().map(|&index| i128::from(columns.available(index))).sum() };
    let mut held = sum(&order.sort(columns, count)[..count]);
    if held < needed {
        // Only an exchange depends on the order of the remaining clusters, so they are not sorted before.
        let indices = order.sort(columns, feasible);
        held = enlarge(indices, largest, columns, count, needed - held, exchange) + held;
    }
    if held < needed || count == 0 {
        return Err(Refusal::TooSmall {
            clusters: count,
            needed,
            held,
        });
    }
    Ok(&order.indices()[..count])
}

/// Exchanges kept clusters, the first `count` of `indices`, for larger ones until they hold `missing` more replicas.
/// Returns the number of replicas gained.
fn enlarge(
    indices: &mut [u32],
    largest: &mut Largest,
    columns: Columns<'_>,
    count: usize,
    missing: i128,
    exchange: Exchange,
) -> i128 {
    // Clusters are sorted by tier, so only the tier of the last kept cluster can extend beyond it.
    let last_tier = count.checked_sub(1).map(|last| columns.tier(indices[last]));
    let exchangeable = |index: u32| exchange == Exchange::AcrossTiers || Some(columns.tier(index)) == last_tier;
    largest.clear();
    largest.extend(
        (count..indices.len())
            .take_while(|&position| exchangeable(indices[position]))
            .map(|position| (columns.available(indices[position]), Reverse(position))),
    );
    let mut gained = 0;
    for kept in (0..count).rev() {
        if gained >= missing || !exchangeable(indices[kept]) {
            break;
        }
        let available = columns.available(indices[kept]);
        let Some(mut top) = largest.peek_mut() else {
            break;
        };
        // The exchanged cluster stays available for the clusters before it.
        let (larger, Reverse(position)) = *top;
        if larger > available {
            indices.swap(kept, position);
            *top = (available, Reverse(position));
            gained += i128::from(larger) - i128::from(available);
        }
    }
    gained
}
