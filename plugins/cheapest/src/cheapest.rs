//! The rule: the share of the smallest cost in the cost of each cluster, in percent.
//!
//! A ratio rather than a position between the cheapest and the most expensive cluster: the score of a cluster does not
//! change when a more expensive one joins the fleet, and a difference of a tenth of a percent does not become the whole range.

use divvy_framework::cost::Cost;

/// Scores of clusters with these costs of a replica. A cluster without a known cost scores 0, like one that costs more than a
/// hundred times as much as the cheapest.
pub(crate) fn score_all(costs: &[Option<Cost>], mut set: impl FnMut(usize, i64)) {
    let Some(cheapest) = costs.iter().flatten().min() else {
        return;
    };
    for (index, cost) in costs.iter().enumerate() {
        set(index, cost.map_or(0, |cost| cheapest.percent_of(cost)));
    }
}
