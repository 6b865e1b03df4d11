//! Even division under capacities: water rising in vessels of different height.
//!
//! [`fill_evenly`] is Average's rule. Every candidate gets the same, except that a full one stops and the others share
//! what it could not take. The proposal (`proposals/average-replicas.md`, "Assign") hands out pending replicas one a
//! step; here the final level is computed, and only the last, incomplete round is ranked. The result is the same to
//! the replica, and max-min fair: no replica can move from a candidate to one that has at least two fewer and room.
//!
//! [`water_level`] also serves [`even_change`](super::even_change), where the vessels are what a cluster can lose.

use super::columns::{check_column, check_length, check_replicas};
use super::cut::find_cut;
use super::error::DivisionError;
use super::ranking::first_by_rank;
use super::scratch::{RankingScratch, Scratch};

/// The highest level at which vessels of these `capacities` hold at most `replicas`, and what is then left over.
///
/// With level L, candidate i holds min(capacities\[i\], L). What is left is fewer than the vessels above L, unless all
/// are full.
///
/// * `capacities`: 0 or more; a negative one counts as full. `replicas`: 0 or more, a negative one as 0.
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
    // Up to which capacity are vessels full? As long as water as high as that vessel needs no more than there is.
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
/// * `capacities`: what each candidate can hold in all, 0 or more; `scores` may be negative.
/// * All columns and `out` have one entry a candidate. `out` is overwritten, sums to `replicas` and stays within capacity.
///
/// # Errors
/// [`Unschedulable`](DivisionError::Unschedulable) if the capacities together are below `replicas`; lengths that differ,
/// negative input.
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

/// The unsigned number that compares with others as `value` does with theirs.
#[inline]
fn order_preserving(value: i64) -> u64 {
    value.cast_unsigned() ^ (1 << 63)
}
