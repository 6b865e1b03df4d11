//! What can go wrong when replicas are divided.
//!
//! One variant a cause, so that a caller can tell "the fleet is too small" (the scheduler's `Unschedulable`) from
//! "the columns I passed do not belong together" (a fault of the caller). Nothing in [`division`](super) panics: input
//! that makes no sense ends here. What is *not* here: errors about a policy (unknown strategy, overlapping groups),
//! which belong to the strategy that reads it.

/// Why a division has no result. The contents of `out` are unspecified after an error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DivisionError {
    /// The candidates together hold less than what was asked for. The binding keeps its last result.
    #[error("{requested} replicas do not fit: the candidates together hold {available}")]
    Unschedulable {
        /// Replicas that were to be divided.
        requested: i64,
        /// What the candidates hold together, what is already there included; stops at `i64::MAX`.
        available: i64,
    },

    /// Replicas were to be divided in proportion to weights, and no candidate has a positive one (or there is none).
    #[error("{requested} replicas cannot be divided: no candidate has a positive weight")]
    NoWeight {
        /// Replicas that were to be divided.
        requested: i64,
    },

    /// Two columns over the same candidates differ in length.
    #[error("column `{column}` has {actual} entries, expected {expected}")]
    LengthMismatch {
        /// Name of the offending column.
        column: &'static str,
        /// Number of candidates, as the column `out` or the first input column has it.
        expected: usize,
        /// Number of entries found.
        actual: usize,
    },

    /// A count, weight or total below zero.
    #[error("column `{column}` holds {value} at index {index}, expected 0 or more")]
    Negative {
        /// Name of the offending column; `replicas` with index 0 for a total.
        column: &'static str,
        /// Index of the first offending entry.
        index: usize,
        /// The value found.
        value: i64,
    },

    /// The counts of a column add up to more than 64 bits hold, so that no result could be right.
    #[error("the sum of column `{column}` exceeds {}", i64::MAX)]
    SumTooLarge {
        /// Name of the offending column.
        column: &'static str,
    },

    /// A candidate names a tier for which no quota was asked.
    #[error("candidate {index} is in tier {tier}, but there are only {tiers} tiers")]
    TierOutOfRange {
        /// Index of the candidate.
        index: usize,
        /// The tier it names.
        tier: u32,
        /// Number of tiers.
        tiers: usize,
    },

    /// More candidates than a 32-bit index can name.
    #[error("{candidates} candidates are more than the {} that can be divided over", u32::MAX)]
    TooManyCandidates {
        /// Number of candidates passed.
        candidates: usize,
    },
}
