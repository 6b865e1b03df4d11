//! DynamicWeight's arithmetic: replicas in proportion to what the estimators say fits.
//!
//! The rule is Karmada's (v1.19-rc, `pkg/scheduler/core/division_algorithm.go`). It is shared with the tiers of other strategies and lives in the SDK; this file
//! fixes what the strategy's configuration may choose of it.

use divvy_framework::division::dynamic::divide_by_dynamic_weight;
use divvy_framework::division::{DivisionError, Request, Rounding, Scratch};
use divvy_framework::prelude::Configuration;

/// How proportional shares become whole replicas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Configuration)]
pub enum Method {
    /// Floors, then the remainder one each by weight, last replicas, tie.
    #[default]
    EvenRemainder,
    /// By highest averages, as Karmada. For its tie rule too, pass Karmada's tie order.
    Webster,
}

impl Method {
    /// The rounding of the arithmetic.
    pub fn rounding(self) -> Rounding {
        match self {
            Self::EvenRemainder => Rounding::FloorThenRank,
            Self::Webster => Rounding::Karmada,
        }
    }
}

/// Divides `request` by dynamic weight.
///
/// * `ties`: the tie order, smaller keys first.
/// * `out`: one entry a candidate, overwritten, sums to `request.replicas`.
///
/// # Errors
/// [`Unschedulable`](DivisionError::Unschedulable) if the candidates together hold too little; lengths that differ;
/// negative input.
pub fn divide(
    request: &Request<'_>,
    method: Method,
    ties: impl Fn(usize) -> u64,
    out: &mut [i64],
    scratch: &mut Scratch,
) -> Result<(), DivisionError> {
    divide_by_dynamic_weight(request, method.rounding(), ties, out, scratch)
}
