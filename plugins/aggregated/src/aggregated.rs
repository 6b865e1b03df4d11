//! Aggregated's arithmetic: as few clusters as possible.
//!
//! The rule is Karmada's (`pkg/scheduler/core/division_algorithm.go`); it is shared with PriorityAggregated and lives in the
//! SDK. This file fixes what the strategy's configuration may choose of it.

use divvy_framework::division::aggregate::{Fill, aggregate};
use divvy_framework::division::{DivisionError, Request, Scratch};

/// Divides `request` over the shortest prefix of the candidates that holds it.
///
/// * `fill`: how the replicas are divided inside the prefix.
/// * `order`: rank of a candidate where capacities are equal; distinct, smaller first.
/// * `ties`: the tie order of the rounding, smaller keys first.
/// * `out`: one entry a candidate, overwritten, sums to `request.replicas`.
///
/// # Errors
/// [`Unschedulable`](DivisionError::Unschedulable) if the candidates together hold too little; lengths that differ;
/// negative input.
pub fn divide(
    request: &Request<'_>,
    fill: Fill,
    order: impl Fn(usize) -> u64,
    ties: impl Fn(usize) -> u64,
    out: &mut [i64],
    scratch: &mut Scratch,
) -> Result<(), DivisionError> {
    aggregate(request, fill, order, ties, out, scratch)
}
