//! Webster's (Sainte-Laguë's) apportionment: seats go one at a time to the highest weight / (2 × seats + 1).
//!
//! Karmada 1.16 and later use this method for static and dynamic weights (`pkg/util/helper/webstermethod.go`). The
//! result here equals that of the one-seat-at-a-time rule, ties included, for any total, at the cost of a few passes.
//! Seat t of a candidate is worth weight / (2t + 1), and the seats given out are simply the most valuable ones. So the
//! code searches for a bound on the value (in fixed point, counting the seats above it with one multiplication per
//! candidate) and compares only the few seats near it one by one. The bound affects only the amount of work, never the
//! result: seats are compared exactly.
//!
//! If quotients are equal, the candidate with fewer seats comes first, then the one with the smaller tie key, as in
//! Karmada.
//!
//! Starting from existing seats is deliberately not supported: Karmada divides its extra replicas from zero seats and
//! then adds the existing ones.

use super::columns::{check_column, check_length, check_replicas};
use super::error::DivisionError;
use super::ranking::first_by_rank;
use super::scratch::Scratch;
use super::seat_bound::{Bracket, FixedPoint, bits_of};
use std::cmp::Ordering;

/// The method of comparing the quotients weight / (2 × seats + 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Quotients {
    /// As exact fractions.
    #[default]
    Exact,
    /// As IEEE doubles, like Karmada: fractions that round to the same double are a tie. Differs from
    /// [`Exact`](Self::Exact) only if weight × seats exceeds 2^50. With totals above `i32::MAX`, which Karmada does not
    /// support, quotients are compared exactly.
    Doubles,
}

/// One seat near the bound. The fields are compared in order, and the smaller seat is given out first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Seat {
    /// The inverted bits of the quotient as a double: positive doubles compare like their bits. The same for all seats
    /// if doubles cannot determine the order.
    inverted_quotient: u64,
    /// 2 × seats + 1.
    divisor: u64,
    tie: u64,
    index: u32,
}

/// Divides `replicas` in proportion to `weights` by Webster's method, from zero seats.
///
/// Source: Karmada v1.19-rc, `pkg/util/helper/webstermethod.go`. Of equal quotients, the candidate with fewer seats
/// comes first, then the one with the smaller `ties` key (for Karmada's own order see [`ties`](super::ties)).
///
/// * `weights`: 0 or more; a candidate with 0 gets nothing. `out` has the same length, is overwritten and adds up to
///   `replicas`.
/// * If `replicas` is at most the sum of the weights, no share exceeds its weight.
///
/// # Errors
/// [`NoWeight`](DivisionError::NoWeight) if `replicas` is positive but no weight is. Other errors for columns of
/// different lengths and negative input.
///
/// ```
/// use divvy_framework::division::{webster::{divide_by_webster, Quotients}, Scratch};
///
/// let (mut out, mut scratch) = ([0; 3], Scratch::default());
/// divide_by_webster(7, &[5, 3, 1], Quotients::Exact, |i| i as u64, &mut out, &mut scratch)?;
/// assert_eq!(out, [4, 2, 1]);
/// # Ok::<(), divvy_framework::division::DivisionError>(())
/// ```
pub fn divide_by_webster(
    replicas: i64,
    weights: &[i64],
    quotients: Quotients,
    ties: impl Fn(usize) -> u64,
    out: &mut [i64],
    scratch: &mut Scratch,
) -> Result<(), DivisionError> {
    let total = check_replicas(replicas)?;
    check_length("out", out.len(), weights.len())?;
    let summary = check_column("weights", weights, weights.len())?;
    if total == 0 {
        out.fill(0);
        return Ok(());
    }
    if summary.sum == 0 {
        return Err(DivisionError::NoWeight { requested: replicas });
    }
    // Equal weights make every quotient a tie, for which no bound could narrow the choice: a case of its own.
    if weights
        .iter()
        .all(|&weight| weight == 0 || weight.cast_unsigned() == summary.bits)
    {
        divide_among_equals(total, weights, ties, out, scratch);
        return Ok(());
    }
    let seats_by_doubles = quotients == Quotients::Doubles && replicas <= i64::from(i32::MAX);
    let weight_bits = bits_of(summary.bits.into());
    let divisor_bits = bits_of(2 * u128::from(total) + 1);
    // Different fractions a/b and c/d differ by at least 1/(ad) of themselves, so below 2^50 doubles distinguish them.
    let doubles_are_exact = weight_bits + divisor_bits <= 50;
    let doubles_decide = seats_by_doubles || doubles_are_exact;
    // Operands of more than 53 bits are rounded before the division, which can reverse the order of two fractions.
    let doubles_help = doubles_decide || weight_bits.max(divisor_bits) <= f64::MANTISSA_DIGITS;

    // Bracket the value of the last seat. Seats outside the bracket are settled by counting alone.
    let scale = FixedPoint::fitting(total, weights.len(), summary);
    let mut bracket = Bracket::around(total, weights, summary, &scale);
    bracket.narrow(total, weights, &scale);
    // Seats whose quotients round to the same double are ties, so the bracket must hold either all of them or none.
    if seats_by_doubles && !doubles_are_exact {
        bracket.widen_by_rounding();
    }

    let seats = &mut scratch.seats;
    seats.clear();
    let (below_low, below_high) = (scale.counter(bracket.low), scale.counter(bracket.high));
    // The lower end of the bracket gives out at most `total` seats, the upper end at least as many. Seats below the
    // lower end are certain; those in between compete for the rest.
    let mut missing = total;
    for (index, (&weight, share)) in weights.iter().zip(out.iter_mut()).enumerate() {
        let weight = weight.cast_unsigned();
        let (certain, possible) = (below_low.seats(weight), below_high.seats(weight));
        missing = missing.saturating_sub(certain);
        *share = certain.cast_signed();
        if certain < possible {
            let tie = ties(index);
            seats.extend((certain..possible).map(|seat| {
                let divisor = 2 * seat + 1;
                let quotient = if doubles_help {
                    weight as f64 / divisor as f64
                } else {
                    0.0
                };
                Seat {
                    inverted_quotient: !quotient.to_bits(),
                    divisor,
                    tie,
                    index: index as u32,
                }
            }));
        }
    }
    let missing = missing as usize;
    if missing == 0 {
        return Ok(());
    }
    // Only the set of winners matters, so a selection is enough and no sort is needed.
    if missing < seats.len() {
        if doubles_decide {
            seats.select_nth_unstable(missing - 1);
        } else {
            seats.select_nth_unstable_by(missing - 1, |left, right| compare_exactly(left, right, weights));
        }
    }
    for seat in seats.iter().take(missing) {
        out[seat.index as usize] += 1;
    }
    Ok(())
}

/// Webster's result for equal positive weights, a frequent case in which every quotient is a tie.
fn divide_among_equals(
    total: u64,
    weights: &[i64],
    ties: impl Fn(usize) -> u64,
    out: &mut [i64],
    scratch: &mut Scratch,
) {
    let sharers = weights.iter().filter(|&&weight| weight > 0).count().max(1) as u64;
    let (share, left) = (total / sharers, total % sharers);
    for (count, &weight) in out.iter_mut().zip(weights) {
        *count = if weight > 0 { share.cast_signed() } else { 0 };
    }
    first_by_rank(
        left as usize,
        (0..weights.len()).filter(|&index| weights[index] > 0),
        |_| [0; 3],
        ties,
        &mut scratch.ranking,
        |index| out[index] += 1,
    );
}

/// The order of two seats. Seats with equal doubles are compared as fractions.
#[inline]
fn compare_exactly(left: &Seat, right: &Seat, weights: &[i64]) -> Ordering {
    left.inverted_quotient.cmp(&right.inverted_quotient).then_with(|| {
        let weight_of = |seat: &Seat| u128::from(weights[seat.index as usize].cast_unsigned());
        let left_cross = weight_of(left) * u128::from(right.divisor);
        let right_cross = weight_of(right) * u128::from(left.divisor);
        right_cross.cmp(&left_cross).then_with(|| left.cmp(right))
    })
}
