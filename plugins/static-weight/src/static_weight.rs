//! StaticWeight's arithmetic: replicas in proportion to the weights of the policy.
//!
//! The rule is `proposals/static-weight-evenly.md`, "Proposal" (README, "Rule"); the alternative is
//! Karmada's, 1.16 and later. Capacity plays no part: the user said how to divide. Which rule of the policy matches which
//! cluster is resolved before: a candidate's weight is the largest among the rules that match it, 0 if none does.

use divvy_framework::division::apportionment::equal_shares;
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

/// Memory reused from call to call.
#[derive(Debug, Default)]
pub struct StaticWeightScratch {
    division: Scratch,
    equal_weights: Vec<i64>,
}

/// Divides `replicas` in proportion to `weights`; if none is positive, all weigh 1.
///
/// * `weights`: 0 or more, one a candidate, a candidate with 0 gets nothing. `last`: what each has now.
/// * `ties`: the tie order, smaller keys first. `out` is overwritten and sums to `replicas`.
///
/// # Errors
/// [`NoWeight`](DivisionError::NoWeight) if there is no candidate for a positive number of replicas; lengths that
/// differ; negative input.
pub fn divide(
    replicas: i64,
    weights: &[i64],
    last: &[i64],
    method: Method,
    ties: impl Fn(usize) -> u64,
    out: &mut [i64],
    scratch: &mut StaticWeightScratch,
) -> Result<(), DivisionError> {
    let StaticWeightScratch {
        division,
        equal_weights,
    } = scratch;
    let nobody_weighs = weights.iter().all(|&weight| weight == 0) && weights.len() == out.len();
    match method {
        Method::EvenRemainder if nobody_weighs => equal_shares(replicas, last, ties, out, division),
        Method::EvenRemainder => Rounding::FloorThenRank.divide(replicas, weights, last, ties, out, division),
        Method::Webster => {
            let weights = if nobody_weighs {
                equal_weights.clear();
                equal_weights.resize(weights.len(), 1);
                equal_weights
            } else {
                weights
            };
            Rounding::Karmada.divide(replicas, weights, last, ties, out, division)
        }
    }
}
