//! Exact floor(total × weight / sum) for many weights with the same total and sum.
//!
//! A 64-bit hardware division costs more than all other work for a cluster's share. If the products fit into 64 bits,
//! it is replaced by a multiplication with a precomputed reciprocal and one correction; otherwise 128-bit arithmetic is
//! used. Both are exact: no floating point is involved.

use super::columns::ColumnSummary;

/// Writes floor(`total` × weight / sum of weights) to `out` and returns the remainder that the floors leave.
///
/// `summary` must be that of `weights`, with a positive sum, and `out` must have the same length.
pub(super) fn write_floors(total: u64, weights: &[i64], summary: ColumnSummary, out: &mut [i64]) -> u64 {
    debug_assert!(summary.sum > 0 && weights.len() == out.len());
    let mut left = total;
    match (u64::try_from(summary.sum), total.checked_mul(summary.bits)) {
        (Ok(sum), Some(_)) => {
            let reciprocal = Reciprocal::new(sum);
            for (share, &weight) in out.iter_mut().zip(weights) {
                let quotient = reciprocal.divide(total * weight.cast_unsigned());
                *share = quotient.cast_signed();
                left -= quotient;
            }
        }
        _ => {
            for (share, &weight) in out.iter_mut().zip(weights) {
                // Total and weight have at most 63 bits each, and the quotient is at most the total.
                let quotient = (u128::from(total) * u128::from(weight.cast_unsigned()) / summary.sum) as u64;
                *share = quotient.cast_signed();
                left -= quotient;
            }
        }
    }
    left
}

/// A divisor prepared for exact division by multiplication (Barrett).
#[derive(Debug, Clone, Copy)]
pub(super) struct Reciprocal {
    divisor: u64,
    /// floor((2^64 - 1) / divisor).
    multiplier: u64,
}

impl Reciprocal {
    #[inline]
    pub(super) fn new(divisor: u64) -> Self {
        debug_assert!(divisor > 0);
        Self {
            divisor,
            multiplier: u64::MAX / divisor.max(1),
        }
    }

    /// floor(`dividend` / divisor).
    #[inline]
    pub(super) fn divide(self, dividend: u64) -> u64 {
        // The multiplier is too small by less than one part in 2^64 / divisor, so the estimate is exact or one too
        // small.
        let estimate = ((u128::from(dividend) * u128::from(self.multiplier)) >> 64) as u64;
        let remainder = dividend - estimate * self.divisor;
        estimate + u64::from(remainder >= self.divisor)
    }
}
