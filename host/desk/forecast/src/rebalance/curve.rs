//! Moves against what they gain.

use super::planning::{Accepted, Planner};
use crate::planned::CurveRow;

/// Numbers of moves between none and all for which a plan is made.
const POINTS: u64 = 16;

/// One row; without a plan, nothing moves and nothing is gained.
pub(super) fn row(accepted: Option<&Accepted>) -> CurveRow {
    let (placed, replicas) = accepted.map(Accepted::gained).unwrap_or_default();
    CurveRow {
        moves: count(accepted.map(Accepted::moves).unwrap_or_default()),
        placed,
        replicas: count(replicas),
        cost: None,
    }
}

fn count(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Plans of at most so many moves, for several numbers up to those of a plan without a limit: the last is that one.
pub(super) fn limited(planner: &Planner<'_>, unlimited: Accepted) -> Vec<Option<Accepted>> {
    let needed = unlimited.moves();
    let points = needed.min(POINTS);
    let limits = (0..points).map(|point| needed / points * point + needed % points * point / points);
    let mut plans: Vec<Option<Accepted>> = limits.map(|limit| planner.at_most(Some(&unlimited), limit)).collect();
    plans.push(Some(unlimited));
    plans
}

/// The rows in the order of their moves, without those that gain nothing over one of fewer moves.
pub(super) fn sorted(mut rows: Vec<CurveRow>) -> Vec<CurveRow> {
    let cost = |row: &CurveRow| row.cost.as_ref().map(|cost| cost.per_hour);
    rows.sort_by(|left, right| {
        let by_moves = left.moves.cmp(&right.moves);
        by_moves
            .then(right.placed.cmp(&left.placed))
            .then(right.replicas.cmp(&left.replicas))
            .then(cost(left).cmp(&cost(right)))
    });
    let mut kept: Vec<CurveRow> = Vec::new();
    for row in rows {
        let gains = kept.last().is_none_or(|last| {
            let is_more = (row.placed, row.replicas) > (last.placed, last.replicas);
            is_more || (row.placed, row.replicas) == (last.placed, last.replicas) && cost(&row) < cost(last)
        });
        if gains {
            kept.push(row);
        }
    }
    kept
}
