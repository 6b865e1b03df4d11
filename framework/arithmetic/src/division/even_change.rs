//! Moves a group from its last result to a new total by an evenly spread change.
//!
//! This is Specified's rule inside one group (`proposals/specified-replicas.md`, stories 2 and 3; README of the plugin
//! `specified`). The *change* is even, not the result: 4 and 1 growing by 2 become 5 and 2. Capacity is ignored,
//! because the user has stated the number.
//!
//! When a cluster reaches zero, "the others share what is left by the same rule". Divvy takes this to mean that the
//! loss which the emptied clusters could not bear is spread evenly, once, over the clusters that keep replicas. So
//! there is only one remainder, and no cluster loses two more replicas than a peer that still has some.

use super::columns::{check_column, check_length, check_replicas};
use super::error::DivisionError;
use super::level_fill::water_level;
use super::ranking::first_by_rank;
use super::scratch::Scratch;

/// Writes to `out` counts that add up to `replicas`, reached from `last` by an evenly spread change.
///
/// When growing, all candidates gain the same number, and the remainder goes one each to those with the fewest last
/// replicas. When shrinking, all lose the same number, and the remainder is taken one each from those with the most; a
/// candidate that reaches zero stops, and the others share its unmet loss. Among equals, the one with the smaller
/// `ties` key gains or loses first.
///
/// * `last`: the current replicas per candidate, 0 or more, with a sum of at most 64 bits. `out` has the same length.
///
/// # Errors
/// [`NoWeight`](DivisionError::NoWeight) if `replicas` is positive and the call has no candidate. Other errors for columns
/// of different lengths, negative input and a sum that exceeds 64 bits.
///
/// ```
/// use divvy_framework::division::{even_change::change_evenly, Scratch};
///
/// let mut scratch = Scratch::default();
/// let mut change = |last: [i64; 3], replicas| {
///     let mut out = [0; 3];
///     change_evenly(replicas, &last, |i| i as u64, &mut out, &mut scratch).map(|()| out)
/// };
/// assert_eq!(change([2, 1, 4], 11)?, [3, 3, 5]); // story 3, growing
/// assert_eq!(change([2, 1, 4], 3)?, [1, 0, 2]); // story 3, shrinking
/// assert_eq!(change([0, 1, 5], 2)?, [0, 0, 2]); // a candidate that reaches zero stops
/// # Ok::<(), divvy_framework::division::DivisionError>(())
/// ```
pub fn change_evenly(
    replicas: i64,
    last: &[i64],
    ties: impl Fn(usize) -> u64,
    out: &mut [i64],
    scratch: &mut Scratch,
) -> Result<(), DivisionError> {
    check_replicas(replicas)?;
    check_length("out", out.len(), last.len())?;
    let present = check_column("last", last, last.len())?.exact_sum("last")?;
    if last.is_empty() {
        return if replicas == 0 {
            Ok(())
        } else {
            Err(DivisionError::NoWeight { requested: replicas })
        };
    }
    if replicas >= present {
        let (growth, candidates) = (replicas - present, last.len() as i64);
        let (gain, left) = (growth / candidates, growth % candidates);
        for (count, &last) in out.iter_mut().zip(last) {
            *count = last + gain;
        }
        first_by_rank(
            left as usize,
            0..last.len(),
            |index| [u64::MAX - last[index].cast_unsigned(), 0, 0],
            ties,
            &mut scratch.ranking,
            |index| out[index] += 1,
        );
    } else {
        // A candidate can lose at most its last count, so the losses are like water filled into the last counts.
        let (loss, left) = water_level(last, present - replicas, scratch);
        for (count, &last) in out.iter_mut().zip(last) {
            *count = (last - loss).max(0);
        }
        first_by_rank(
            left as usize,
            (0..last.len()).filter(|&index| last[index] > loss),
            |index| [last[index].cast_unsigned(), 0, 0],
            ties,
            &mut scratch.ranking,
            |index| out[index] -= 1,
        );
    }
    Ok(())
}
