//! The arithmetic of StaticWeight: replicas in proportion to the weights in the policy.
//!
//! The rule is `proposals/static-weight-evenly.md`, "Proposal" (README, "Rule"); the alternative is that of Karmada
//! 1.16 and later. Capacity is not considered, because the user has specified the proportions. The weights are resolved
//! beforehand: a candidate's weight is the largest among the rules that match it, or 0 if none does.

use divvy_framework::division::{DivisionError, Rounding, Scratch};
use divvy_framework::prelude::Configuration;

/// Method of distributing the remainder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Configuration)]
pub enum Method {
    /// One each by weight, then last replicas, then tie: keeps existing replicas, and distributes the rest fairly.
    #[default]
    EvenRemainder,
    /// Highest averages (Sainte-Laguë), as in Karmada 1.16 and later. To follow its tie rule too, pass Karmada's tie
    /// order.
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

/// Sets all weights to 1 if none is positive.
pub fn weigh_alike_unless_weighted(weights: &mut [i64]) {
    if weights.iter().all(|&weight| weight <= 0) {
        weights.fill(1);
    }
}

/// Divides `replicas` in proportion to `weights`.
///
/// * `weights`: one per candidate, 0 or more; a candidate with weight 0 gets nothing.
/// * `last`: last replicas of each candidate.
/// * `ties`: tie order, smaller keys first.
/// * `out`: one entry per candidate, overwritten; sums to `replicas` on success.
///
/// # Errors
/// Returns [`NoWeight`](DivisionError::NoWeight) if `replicas` is positive and no weight is. Other errors report
/// columns of different lengths or negative input, which are bugs of the caller.
pub fn divide(
    replicas: i64,
    weights: &[i64],
    last: &[i64],
    method: Method,
    ties: impl Fn(usize) -> u64,
    out: &mut [i64],
    scratch: &mut Scratch,
) -> Result<(), DivisionError> {
    method.rounding().divide(replicas, weights, last, ties, out, scratch)
}
