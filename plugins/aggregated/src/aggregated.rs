//! Aggregated's arithmetic: as few clusters as possible.
//!
//! The rule is Karmada's (`pkg/scheduler/core/division_algorithm.go`); it is shared with PriorityAggregated and lives in the
//! SDK. This file fixes what the strategy's configuration may choose of it.

use divvy_framework::division::aggregate::{self, aggregate};
use divvy_framework::division::{DivisionError, Request, Rounding, Scratch};
use divvy_framework::prelude::Configuration;

/// How proportional shares become whole replicas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Configuration)]
pub enum Method {
    /// Floors, then the remainder one each by capacity, last replicas, tie.
    #[default]
    EvenRemainder,
    /// By highest averages, as Karmada 1.16 and later. For its tie rule and its order too, pass Karmada's.
    Webster,
}

/// How the replicas are divided over the clusters that are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Configuration)]
pub enum Fill {
    /// In proportion to their capacities, as Karmada.
    #[default]
    Proportional,
    /// Each is filled before the next is touched.
    Pack,
}

/// Divides `request` over the shortest prefix of the candidates that holds it.
///
/// * `order`: rank of a candidate where capacities are equal; distinct, smaller first.
/// * `ties`: the tie order of the rounding, smaller keys first.
/// * `out`: one entry a candidate, overwritten, sums to `request.replicas`.
///
/// # Errors
/// [`Unschedulable`](DivisionError::Unschedulable) if the candidates together hold too little; lengths that differ;
/// negative input.
pub fn divide(
    request: &Request<'_>,
    (fill, method): (Fill, Method),
    order: impl Fn(usize) -> u64,
    ties: impl Fn(usize) -> u64,
    out: &mut [i64],
    scratch: &mut Scratch,
) -> Result<(), DivisionError> {
    let fill = match (fill, method) {
        (Fill::Pack, _) => aggregate::Fill::Pack,
        (Fill::Proportional, Method::EvenRemainder) => aggregate::Fill::Proportional(Rounding::FloorThenRank),
        (Fill::Proportional, Method::Webster) => aggregate::Fill::Proportional(Rounding::Karmada),
    };
    aggregate(request, fill, order, ties, out, scratch)
}
