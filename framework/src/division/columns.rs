//! Checks the columns that callers pass, once, before any arithmetic trusts them.
//!
//! Every later step may then assume: equal lengths, nothing negative, indices of 32 bits. The summary that falls out
//! of the same pass (sum, union of bits) decides whether 64-bit arithmetic is enough. It does not clamp: a negative
//! count is an error that names column and index, never silently a zero.

use super::error::DivisionError;

/// What one pass over a column learns.
#[derive(Debug, Clone, Copy)]
pub(super) struct ColumnSummary {
    /// Exact sum of all entries.
    pub(super) sum: u128,
    /// Bitwise union of all entries: at least the largest entry, below twice it.
    pub(super) bits: u64,
}

impl ColumnSummary {
    /// The sum, stopping at `i64::MAX`: enough where it is only compared with a total of 64 bits.
    #[inline]
    pub(super) fn saturating_sum(self) -> i64 {
        i64::try_from(self.sum).unwrap_or(i64::MAX)
    }

    /// The sum where a saturated one would give wrong counts.
    #[inline]
    pub(super) fn exact_sum(self, column: &'static str) -> Result<i64, DivisionError> {
        i64::try_from(self.sum).map_err(|_| DivisionError::SumTooLarge { column })
    }
}

/// Refuses a total below zero.
#[inline]
pub(super) fn check_replicas(replicas: i64) -> Result<u64, DivisionError> {
    u64::try_from(replicas).map_err(|_| DivisionError::Negative {
        column: "replicas",
        index: 0,
        value: replicas,
    })
}

/// Refuses a column of another length than `expected`.
#[inline]
pub(super) fn check_length(column: &'static str, actual: usize, expected: usize) -> Result<(), DivisionError> {
    if actual != expected {
        return Err(DivisionError::LengthMismatch {
            column,
            expected,
            actual,
        });
    }
    if u32::try_from(actual).is_err() {
        return Err(DivisionError::TooManyCandidates { candidates: actual });
    }
    Ok(())
}

/// Refuses a column of another length or with a negative entry, and sums it up.
pub(super) fn check_column(
    column: &'static str,
    values: &[i64],
    expected: usize,
) -> Result<ColumnSummary, DivisionError> {
    check_length(column, values.len(), expected)?;
    // One pass without branches, which the compiler turns into vector code.
    let (mut bits, mut wrapping_sum) = (0_i64, 0_u64);
    for &value in values {
        bits |= value;
        wrapping_sum = wrapping_sum.wrapping_add(value.cast_unsigned());
    }
    if bits < 0 {
        let (index, value) = values
            .iter()
            .copied()
            .enumerate()
            .find(|&(_, value)| value < 0)
            .unwrap_or((0, bits));
        return Err(DivisionError::Negative { column, index, value });
    }
    let bits = bits.cast_unsigned();
    // Fewer than 2^32 entries below 2^32 each cannot have wrapped.
    let sum = if bits <= u64::from(u32::MAX) {
        u128::from(wrapping_sum)
    } else {
        values.iter().map(|&value| u128::from(value.cast_unsigned())).sum()
    };
    Ok(ColumnSummary { sum, bits })
}
