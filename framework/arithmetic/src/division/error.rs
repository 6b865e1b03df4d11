//! Errors of dividing replicas.
//!
//! There is one variant per cause, so that a caller can distinguish "the fleet is too small" (the scheduler's
//! `Unschedulable`) from "the columns are inconsistent" (a fault of the caller). Nothing in [`division`](super) panics:
//! invalid input ends here. Errors in a policy (unknown strategy, overlapping groups) belong to the strategy that reads
//! the policy, not to this type.

/// Why a division has no result. The contents of `out` are unspecified after an error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DivisionError {
    /// The candidates together have room for fewer replicas than requested. The SDK's `Failure` turns this error into
    /// `Unschedulable`, and the binding keeps its last result; every other error becomes `Internal`.
    #[error("{requested} replicas do not fit: the candidates together hold {available}")]
    Unschedulable {
        /// Replicas to divide.
        requested: i64,
        /// Total room of the candidates, existing replicas included; saturates at `i64::MAX`.
        available: i64,
    },

    /// The replicas cannot be divided in proportion to weights: no candidate has a positive weight, or there is no
    /// candidate.
    #[error("{requested} replicas cannot be divided: no candidate has a positive weight")]
    NoWeight {
        /// Replicas to divide.
        requested: i64,
    },

    /// Two columns over the same candidates have different lengths.
    #[error("column `{column}` has {actual} entries, expected {expected}")]
    LengthMismatch {
        /// Name of the offending column.
        column: &'static str,
        /// Number of candidates, which is the length of `out` or of the first input column.
        expected: usize,
        /// Length of the offending column.
        actual: usize,
    },

    /// A count, weight or total is negative.
    #[error("column `{column}` holds {value} at index {index}, expected 0 or more")]
    Negative {
        /// Name of the offending column; `replicas` with index 0 for a total.
        column: &'static str,
        /// Index of the first offending entry.
        index: usize,
        /// The negative value.
        value: i64,
    },

    /// The counts of a column add up to more than 64 bits can hold, so no correct result exists.
    #[error("the sum of column `{column}` exceeds {}", i64::MAX)]
    SumTooLarge {
        /// Name of the offending column.
        column: &'static str,
    },

    /// A candidate is in a tier for which no quota was requested.
    #[error("candidate {index} is in tier {tier}, but there are only {tiers} tiers")]
    TierOutOfRange {
        /// Index of the candidate.
        index: usize,
        /// Its tier.
        tier: u32,
        /// Number of tiers.
        tiers: usize,
    },

    /// There are more candidates than a 32-bit index can address.
    #[error("{candidates} candidates are more than the {} that can be divided over", u32::MAX)]
    TooManyCandidates {
        /// Number of candidates passed.
        candidates: usize,
    },
}
