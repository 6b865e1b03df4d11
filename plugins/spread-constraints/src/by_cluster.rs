//! A constraint by cluster: at least so many clusters, at most so many, together large enough.
//!
//! Karmada's rule (`select_clusters_by_cluster.go`): the first `maximum` of the order; while they are too small together,
//! from the last kept to the first, each is exchanged for the largest of the others if that one is larger. No search is
//! needed: gone through to its end, the exchange has kept the largest clusters there are, so where it does not suffice no
//! choice of that many does.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::constraints::Limits;
use crate::order::{Columns, Order};
use crate::refusal::Refusal;

/// Which of the others a kept cluster may be exchanged for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exchange {
    /// Any, as Karmada does: its overflow affinities are tiers that a larger cluster may jump.
    AcrossTiers,
    /// Only those of its own tier: a maximum of clusters never cuts off a preferred one.
    WithinTier,
}

/// Available replicas and, for the largest, the foremost position.
pub(crate) type Largest = BinaryHeap<(i64, Reverse<usize>)>;

/// The candidates, in order of preference. `needed` is what they must hold together; none: it does not matter.
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
    let sum = |places: &[u32]| -> i128 { places.iter().map(|&place| i128::from(columns.available(place))).sum() };
    let mut held = sum(&order.sort(columns, count)[..count]);
    if held < needed {
        // Which of the others comes first matters only now.
        let places = order.sort(columns, feasible);
        held = enlarge(places, largest, columns, count, needed - held, exchange) + held;
    }
    if held < needed || count == 0 {
        return Err(Refusal::TooSmall {
            clusters: count,
            needed,
            held,
        });
    }
    Ok(&order.places()[..count])
}

/// Exchanges kept clusters, the first `count` of `places`, for larger ones until they hold `missing` more; how many more
/// they hold then.
fn enlarge(
    places: &mut [u32],
    largest: &mut Largest,
    columns: Columns<'_>,
    count: usize,
    missing: i128,
    exchange: Exchange,
) -> i128 {
    let last_tier = count.checked_sub(1).map(|last| columns.tier(places[last]));
    let exchangeable = |place: u32| exchange == Exchange::AcrossTiers || Some(columns.tier(place)) == last_tier;
    largest.clear();
    largest.extend(
        (count..places.len())
            .take_while(|&position| exchangeable(places[position]))
            .map(|position| (columns.available(places[position]), Reverse(position))),
    );
    let mut gained = 0;
    for kept in (0..count).rev() {
        if gained >= missing || !exchangeable(places[kept]) {
            break;
        }
        let available = columns.available(places[kept]);
        let Some(mut top) = largest.peek_mut() else {
            break;
        };
        let (larger, Reverse(position)) = *top;
        if larger > available {
            places.swap(kept, position);
            *top = (available, Reverse(position));
            gained += i128::from(larger) - i128::from(available);
        }
    }
    gained
}
