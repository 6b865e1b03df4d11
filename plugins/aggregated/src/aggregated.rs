//! The arithmetic of Aggregated: as few clusters as possible.
//!
//! The rule is Karmada's (`pkg/scheduler/core/division_algorithm.go`). The SDK implements it, because
//! PriorityAggregated uses it too; this file exposes the parts of it that the strategy's configuration can choose.

use divvy_framework::division::aggregate::{Fill, aggregate};
use divvy_framework::division::{DivisionError, Request, Scratch};

/// Divides `request` over the shortest prefix of the candidates that holds it.
///
/// * `fill`: how the replicas are divided within the prefix.
/// * `order`: rank of a candidate among those of equal capacity; distinct, smaller first.
/// * `ties`: tie order of the rounding, smaller keys first.
/// * `out`: one entry per candidate, overwritten; sums to `request.replicas` on success.
///
/// # Errors
/// Returns [`Unschedulable`](DivisionError::Unschedulable) if the candidates together lack capacity. Other errors
/// report columns of different lengths or negative input, which are bugs of the caller.
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
