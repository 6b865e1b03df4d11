//! The arithmetic of DynamicWeight: replicas in proportion to the number that fits according to the estimators.
//!
//! The rule is Karmada's (v1.19-rc, `pkg/scheduler/core/division_algorithm.go`). The SDK implements it, because the
//! tiers of other strategies use it too; this file exposes the parts of it that the strategy's configuration can
//! choose.

use divvy_framework::division::dynamic::divide_by_dynamic_weight;
use divvy_framework::division::{DivisionError, Request, Rounding, Scratch};
use divvy_framework::prelude::Configuration;

/// Method of rounding proportional shares to whole replicas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Configuration)]
pub enum Method {
    /// Rounds down, then gives the remainder one each by weight, last replicas, tie.
    #[default]
    EvenRemainder,
    /// Highest averages, as in Karmada. To follow its tie rule too, pass Karmada's tie order.
    Webster,
}

impl Method {
    /// Rounding that the arithmetic uses for this method.
    pub fn rounding(self) -> Rounding {
        match self {
            Self::EvenRemainder => Rounding::FloorThenRank,
            Self::Webster => Rounding::Karmada,
        }
    }
}

/// Divides `request` by dynamic weight.
///
/// * `ties`: tie order, smaller keys first.
/// * `out`: one entry per candidate, overwritten; sums to `request.replicas` on success.
///
/// # Errors
/// Returns [`Unschedulable`](DivisionError::Unschedulable) if the candidates together lack capacity. Other errors
/// report columns of different lengths or negative input, which are bugs of the caller.
pub fn divide(
    request: &Request<'_>,
    method: Method,
    ties: impl Fn(usize) -> u64,
    out: &mut [i64],
    scratch: &mut Scratch,
) -> Result<(), DivisionError> {
    divide_by_dynamic_weight(request, method.rounding(), ties, out, scratch)
}
