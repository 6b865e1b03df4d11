//! StaticWeight's arithmetic: replicas in proportion to the weights of the policy.
//!
//! The rule is `proposals/static-weight-evenly.md`, "Proposal" (README, "Rule"); the alternative is
//! Karmada's, 1.16 and later. Capacity plays no part: the user said how to divide. Which rule of the policy matches which
//! cluster is resolved before: a candidate's weight is the largest among the rules that match it, 0 if none does.

use divvy_framework::division::{DivisionError, Rounding, Scratch};
use divvy_framework::prelude::Configuration;

/// How the remainder is given out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Configuration)]
pub enum Method {
    /// One each by weight, then last replicas, then tie: keeps what is placed, and draws the rest evenly.
    #[default]
    EvenRemainder,
    /// By highest averages (Sainte-Laguë), as Karmada 1.16 and later. For its tie rule too, pass Karmada's tie order.
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

/// If no weight is positive, all become 1.
pub fn weigh_alike_unless_weighted(weights: &mut [i64]) {
    if weights.iter().all(|&weight| weight <= 0) {
        weights.fill(1);
    }
}

/// Divides `replicas` in proportion to `weights`.
///
/// * `weights`: 0 or more, one a candidate, a candidate with 0 gets nothing. `last`: what each has now.
/// * `ties`: the tie order, smaller keys first. `out` is overwritten and sums to `replicas`.
///
/// # Errors
/// [`NoWeight`](DivisionError::NoWeight) if no weight is positive for a positive number of replicas; lengths that differ;
/// negative input.
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
