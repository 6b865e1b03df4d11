//! Even division under capacities: water rising in vessels of different heights.
//!
//! [`fill_evenly`] is Average's rule. Every candidate gets the same number, except that a full one stops and the others
//! share the excess. The proposal (`proposals/average-replicas.md`, "Assign") hands out pending replicas one per step;
//! this code computes the final level directly, and ranks only the last, incomplete round. The result is the same to
//! the replica. It is max-min fair: no replica can move from a candidate to one that has room and at least two fewer.
//!
//! [`water_level`] also serves [`even_change`](super::even_change), where a vessel is the number of replicas that a
//! cluster can lose.

use super::columns::{check_column, check_length, check_replicas};
use super::cut::find_cut;
use super::error::DivisionError;
use super::ranking::first_by_rank;
use super::scratch::{RankingScratch, Scratch};

/// The highest level at which vessels of these `capacities` hold at most `replicas`, and the number of replicas left
/// over.
///
/// At level L, candidate i holds min(capacities\[i\], L). Fewer replicas are left than there are vessels above L,
/// unless all vessels are full.
///
/// * `capacities`: 0 or more; a negative capacity counts as full. `replicas`: 0 or more; a negative number counts as 0.
///
/// ```
/// use divvy_framework::division::{Scratch, level_fill::water_level};
///
/// assert_eq!(water_level(&[1, 10, 10], 12, &mut Scratch::default()), (5, 1)); // 1 + 5 + 5, one left
/// ```
#[must_use]
pub fn water_level(capacities: &[i64], replicas: i64, scratch: &mut Scratch) -> (i64, i64) {
    let replicas = replicas.max(0);
    let Ok(candidates @ 1..) = i64::try_from(capacities.len()) else {
        return (0, replicas);
    };
    let share = replicas / candidates;
    if capacities.iter().all(|&capacity| capacity > share) {
        return (share, replicas % candidates);
    }
    // A vessel is full if filling all vessels to its height takes no more than `replicas`: find the first that is not.
    let RankingScratch { packed, cut, .. } = &mut scratch.ranking;
    packed.clear();
    packed.extend(capacities.iter().map(|&capacity| capacity.max(0).cast_unsigned()));
    let overflows = |full: u64, held: u64, level: u64| {
        let open = u128::from(candidates.cast_unsigned() - full);
        u128::from(held) + open * u128::from(level) > u128::from(replicas.cast_unsigned())
    };
    let full = find_cut(packed, |capacity| capacity, overflows, cut);
    let left = replicas - i64::try_from(full.sum_before).unwrap_or(replicas).min(replicas);
    match candidates - full.count_before.cast_signed() {
        0 => (capacities.iter().copied().fold(0, i64::max), left),
        open => (left / open, left % open),
    }
}

/// Divides `replicas` as evenly as `capacities` allow. The last, incomplete round goes one each to the candidates with
/// room by `score` (larger first), then `last` (larger first), then `ties` (smaller first).
///
/// Source: `proposals/average-replicas.md`, "Assign", steps 1 to 3, with replicas mod clusters counted as pending from
/// the start (README of the plugin `average`, "Rule").
///
/// * `capacities`: total capacity per candidate, 0 or more; `scores` may be negative.
/// * All columns and `out` have one entry per candidate. `out` is overwritten, adds up to `replicas` and stays within
///   capacity.
///
/// # Errors
/// [`Unschedulable`](DivisionError::Unschedulable) if the capacities add up to less than `replicas`. Other errors for
/// columns of different lengths and negative input.
///
/// ```
/// use divvy_framework::division::{level_fill::fill_evenly, Scratch};
///
/// let (mut out, mut scratch) = ([0; 3], Scratch::default());
/// fill_evenly(12, &[1, 10, 10], &[0, 50, 80], &[0; 3], |i| i as u64, &mut out, &mut scratch)?;
/// assert_eq!(out, [1, 5, 6]);
/// # Ok::<(), divvy_framework::division::DivisionError>(())
/// ```
pub fn fill_evenly(
    replicas: i64,
    capacities: &[i64],
    scores: &[i64],
    last: &[i64],
    ties: impl Fn(usize) -> u64,
    out: &mut [i64],
    scratch: &mut Scratch,
) -> Result<(), DivisionError> {
    check_replicas(replicas)?;
    check_length("out", out.len(), capacities.len())?;
    check_length("scores", scores.len(), capacities.len())?;
    let available = check_column("capacities", capacities, capacities.len())?.saturating_sum();
    check_column("last", last, capacities.len())?;
    if available < replicas {
        return Err(DivisionError::Unschedulable {
            requested: replicas,
            available,
        });
    }
    let (level, left) = water_level(capacities, replicas, scratch);
    for (share, &capacity) in out.iter_mut().zip(capacities) {
        *share = capacity.min(level);
    }
    first_by_rank(
        left as usize,
        (0..capacities.len()).filter(|&index| capacities[index] > level),
        |index| [order_preserving(scores[index]), last[index].cast_unsigned(), 0],
        ties,
        &mut scratch.ranking,
        |index| out[index] += 1,
    );
    Ok(())
}

/// Maps signed to unsigned numbers, preserving their order.
#[inline]
fn order_preserving(value: i64) -> u64 {
    value.cast_unsigned() ^ (1 << 63)
}
