//! Whole replicas in proportion to weights: floors first, then the remainder.
//!
//! This module has two rules for the remainder; Webster's method is in [`webster`](super::webster):
//! * [`floor_and_rank`]: one each by weight, then last replicas, then tie. The rule of
//!   `proposals/static-weight-evenly.md` ("Proposal"), and Divvy's default. It favours large weights, but keeps
//!   replicas where they are, which the proposal calls inertia.
//! * [`largest_remainder`]: one each by fractional part (Hamilton). Fairer to small weights.
//!
//! The rules consider weights only, not capacities. (If the weights *are* the capacities and the total is at most their
//! sum, no share exceeds its weight under any of these rules.)

use super::columns::{check_column, check_length, check_replicas};
use super::error::DivisionError;
use super::quotient::write_floors;
use super::ranking::first_by_rank;
use super::scratch::Scratch;

/// Divides `replicas` in proportion to `weights`: floor(replicas × weight / sum), the remainder one each to the first
/// by weight (larger first), then `last` (larger first), then `ties` (smaller first).
///
/// Source: `proposals/static-weight-evenly.md`, "Proposal", points 1 to 3.
///
/// * `weights`: 0 or more; a candidate with 0 gets nothing. The sum may exceed 64 bits.
/// * `last`: the current replicas per candidate. Both columns and `out` have one entry per candidate.
/// * `out` is overwritten, and adds up to `replicas`.
///
/// # Errors
/// [`NoWeight`](DivisionError::NoWeight) if `replicas` is positive but no weight is. Other errors, as for every
/// function here, for columns of different lengths and negative input.
///
/// ```
/// use divvy_framework::division::{apportionment::floor_and_rank, Scratch};
///
/// let (mut out, mut scratch) = ([0; 4], Scratch::default());
/// // Story 1 of the proposal: 7 over 2:1:1:1 gave (3, 2, 1, 1); growing to 8 keeps the second replica of member2.
/// floor_and_rank(8, &[2, 1, 1, 1], &[3, 2, 1, 1], |i| i as u64, &mut out, &mut scratch)?;
/// assert_eq!(out, [4, 2, 1, 1]);
/// # Ok::<(), divvy_framework::division::DivisionError>(())
/// ```
pub fn floor_and_rank(
    replicas: i64,
    weights: &[i64],
    last: &[i64],
    ties: impl Fn(usize) -> u64,
    out: &mut [i64],
    scratch: &mut Scratch,
) -> Result<(), DivisionError> {
    let Some(left) = divide_floors(replicas, weights, last, out)? else {
        return Ok(());
    };
    // The floors leave less than one replica per positive weight, so no candidate without weight is among the first.
    first_by_rank(
        left,
        0..weights.len(),
        |index| [weights[index].cast_unsigned(), last[index].cast_unsigned(), 0],
        ties,
        &mut scratch.ranking,
        |index| out[index] += 1,
    );
    Ok(())
}

/// Divides `replicas` in proportion to `weights`: floor(replicas × weight / sum), the remainder one each to the largest
/// fractional parts (exactly compared), then by `last` (larger first), then `ties` (smaller first).
///
/// Source: Hamilton's method. Columns and errors are those of [`floor_and_rank`].
///
/// ```
/// use divvy_framework::division::{apportionment::largest_remainder, Scratch};
///
/// let (mut out, mut scratch) = ([0; 3], Scratch::default());
/// // 10 over 5:3:3 is 4.55, 2.73, 2.73: the two smaller have the larger fractions.
/// largest_remainder(10, &[5, 3, 3], &[0; 3], |i| i as u64, &mut out, &mut scratch)?;
/// assert_eq!(out, [4, 3, 3]);
/// # Ok::<(), divvy_framework::division::DivisionError>(())
/// ```
pub fn largest_remainder(
    replicas: i64,
    weights: &[i64],
    last: &[i64],
    ties: impl Fn(usize) -> u64,
    out: &mut [i64],
    scratch: &mut Scratch,
) -> Result<(), DivisionError> {
    let Some(left) = divide_floors(replicas, weights, last, out)? else {
        return Ok(());
    };
    let total = u128::from(replicas.cast_unsigned());
    let sum: u128 = weights.iter().map(|&weight| u128::from(weight.cast_unsigned())).sum();
    // The ranking reads the floors, so the extra replicas are kept in a separate column until it is done.
    let floors = &*out;
    let extra = &mut scratch.gathered.out;
    extra.clear();
    extra.resize(weights.len(), 0);
    first_by_rank(
        left,
        0..weights.len(),
        |index| {
            let product = total * u128::from(weights[index].cast_unsigned());
            let fraction = product - sum * u128::from(floors[index].cast_unsigned());
            [(fraction >> 64) as u64, fraction as u64, last[index].cast_unsigned()]
        },
        ties,
        &mut scratch.ranking,
        |index| extra[index] = 1,
    );
    for (share, &extra) in out.iter_mut().zip(extra.iter()) {
        *share += extra;
    }
    Ok(())
}

/// Divides `replicas` evenly: [`floor_and_rank`] with equal weights, without a column of them.
///
/// Source: `proposals/static-weight-evenly.md`. StaticWeight and Specified also use it if the policy has no preference.
///
/// # Errors
/// [`NoWeight`](DivisionError::NoWeight) if `replicas` is positive and the call has no candidate; otherwise those of
/// [`floor_and_rank`].
///
/// ```
/// use divvy_framework::division::{apportionment::equal_shares, Scratch};
///
/// let (mut out, mut scratch) = ([0; 3], Scratch::default());
/// // The surplus replica stays where it is.
/// equal_shares(7, &[2, 2, 3], |i| i as u64, &mut out, &mut scratch)?;
/// assert_eq!(out, [2, 2, 3]);
/// # Ok::<(), divvy_framework::division::DivisionError>(())
/// ```
pub fn equal_shares(
    replicas: i64,
    last: &[i64],
    ties: impl Fn(usize) -> u64,
    out: &mut [i64],
    scratch: &mut Scratch,
) -> Result<(), DivisionError> {
    check_replicas(replicas)?;
    check_column("last", last, out.len())?;
    if last.is_empty() {
        return if replicas == 0 {
            Ok(())
        } else {
            Err(DivisionError::NoWeight { requested: replicas })
        };
    }
    let candidates = last.len() as i64;
    out.fill(replicas / candidates);
    first_by_rank(
        (replicas % candidates) as usize,
        0..last.len(),
        |index| [last[index].cast_unsigned(), 0, 0],
        ties,
        &mut scratch.ranking,
        |index| out[index] += 1,
    );
    Ok(())
}

/// Checks the columns, writes the floors and returns the number of replicas that they leave; `None` if `replicas` is 0,
/// in which case `out` is complete.
fn divide_floors(
    replicas: i64,
    weights: &[i64],
    last: &[i64],
    out: &mut [i64],
) -> Result<Option<usize>, DivisionError> {
    let total = check_replicas(replicas)?;
    check_length("out", out.len(), weights.len())?;
    let summary = check_column("weights", weights, weights.len())?;
    check_column("last", last, weights.len())?;
    if total == 0 {
        out.fill(0);
        return Ok(None);
    }
    if summary.sum == 0 {
        return Err(DivisionError::NoWeight { requested: replicas });
    }
    // Less than one replica per candidate is left, so the count fits into an index.
    Ok(Some(write_floors(total, weights, summary, out) as usize))
}
