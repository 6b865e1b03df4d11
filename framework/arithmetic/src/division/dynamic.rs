//! DynamicWeight's rule: shares in proportion to the room that the estimators report.
//!
//! In a steady cycle, growth divides only the extra replicas, in proportion to what fits now, and adds them to the last
//! result; shrinkage divides the new total in proportion to the last result; equal totals change nothing. In a fresh
//! cycle, the total is divided in proportion to capacity, which is what fits now plus the last result (Karmada
//! v1.19-rc, `pkg/scheduler/core/division_algorithm.go`).
//!
//! No share exceeds the number that it is proportional to, because the total is at most the sum of these numbers.

use super::columns::check_length;
use super::error::DivisionError;
use super::request::{Change, Request};
use super::rounding::Rounding;
use super::scratch::Scratch;

/// Divides by dynamic weight; see the [module](self). `out` has one entry per candidate, is overwritten and adds up to
/// `request.replicas`.
///
/// # Errors
/// [`Unschedulable`](DivisionError::Unschedulable) if the candidates together have room for fewer than
/// `request.replicas`. Other errors for columns of different lengths, negative input and a sum of `last` that exceeds
/// 64 bits.
///
/// ```
/// use divvy_framework::division::{dynamic::divide_by_dynamic_weight, Cycle, Request, Rounding, Scratch};
///
/// let (mut out, mut scratch) = ([0; 3], Scratch::default());
/// let request = Request::new(12, &[12, 6, 0], &[1, 1, 1], Cycle::Steady);
/// divide_by_dynamic_weight(&request, Rounding::FloorThenRank, |i| i as u64, &mut out, &mut scratch)?;
/// assert_eq!(out, [7, 4, 1]); // nine more, 6 and 3
/// # Ok::<(), divvy_framework::division::DivisionError>(())
/// ```
pub fn divide_by_dynamic_weight(
    request: &Request<'_>,
    rounding: Rounding,
    ties: impl Fn(usize) -> u64,
    out: &mut [i64],
    scratch: &mut Scratch,
) -> Result<(), DivisionError> {
    check_length("out", out.len(), request.fits_now.len())?;
    let Request { replicas, last, .. } = *request;
    match request.change(rounding == Rounding::Karmada)? {
        Change::Nothing => out.copy_from_slice(last),
        Change::Growth(extra) => {
            rounding.divide(extra, request.fits_now, last, ties, out, scratch)?;
            for (share, &last) in out.iter_mut().zip(last) {
                *share += last;
            }
        }
        Change::Shrinkage => rounding.divide(replicas, last, last, ties, out, scratch)?,
        Change::Anew => {
            let mut capacities = std::mem::take(&mut scratch.gathered.weights);
            capacities.clear();
            capacities.extend((0..last.len()).map(|index| request.capacity(index)));
            let divided = rounding.divide(replicas, &capacities, last, ties, out, scratch);
            scratch.gathered.weights = capacities;
            divided?;
        }
    }
    Ok(())
}
