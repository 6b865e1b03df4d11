//! Checks the columns that callers pass, once, before any arithmetic relies on them.
//!
//! Every later step may then assume equal lengths, no negative entries and indices of 32 bits. The same pass computes a
//! summary (sum, union of bits) that decides whether 64-bit arithmetic is enough. Nothing is clamped: a negative count
//! is an error that names column and index, never silently a zero.

use super::error::DivisionError;

/// The summary of one pass over a column.
#[derive(Debug, Clone, Copy)]
pub(super) struct ColumnSummary {
    /// Exact sum of all entries.
    pub(super) sum: u128,
    /// Bitwise union of all entries: at least the largest entry, and less than twice as large.
    pub(super) bits: u64,
}

impl ColumnSummary {
    /// The sum, saturating at `i64::MAX`: enough if it is only compared with a 64-bit total.
    #[inline]
    pub(super) fn saturating_sum(self) -> i64 {
        i64::try_from(self.sum).unwrap_or(i64::MAX)
    }

    /// The sum, or an error if it exceeds 64 bits: for uses where a saturated sum would give wrong counts.
    #[inline]
    pub(super) fn exact_sum(self, column: &'static str) -> Result<i64, DivisionError> {
        i64::try_from(self.sum).map_err(|_| DivisionError::SumTooLarge { column })
    }
}

/// Rejects a negative total.
#[inline]
pub(super) fn check_replicas(replicas: i64) -> Result<u64, DivisionError> {
    u64::try_from(replicas).map_err(|_| DivisionError::Negative {
        column: "replicas",
        index: 0,
        value: replicas,
    })
}

/// Rejects a column whose length is not `expected`.
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

/// Rejects a column of the wrong length or with a negative entry, and sums it up.
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
