//! The estimate for one cluster.

use std::sync::Arc;
use std::time::Duration;

use crate::error::CallError;

/// The estimate for one cluster, or the reason why there is none.
#[derive(Debug, Clone)]
pub enum Estimate {
    /// The estimator answered this request.
    Answered(i64),
    /// The estimator's last answer to the same request, in place of the missing one.
    LastKnown {
        /// The last answer.
        count: i64,
        /// Time since the request that it answers.
        age: Duration,
        /// Reason for the missing answer.
        cause: Unanswered,
    },
    /// No figure: the general estimate alone counts.
    Absent(Unanswered),
}

/// Reason for a missing answer.
#[derive(Debug, Clone)]
pub enum Unanswered {
    /// The options exclude clusters of sync mode `Pull`.
    Excluded,
    /// The estimator answered that it has no figure (-1).
    Declined,
    /// The breaker is open after repeated failures.
    BreakerOpen,
    /// The call failed.
    Failed(Arc<CallError>),
}

impl Estimate {
    /// Replicas (or sets) that fit, if known.
    pub fn count(&self) -> Option<i64> {
        match self {
            Self::Answered(count) | Self::LastKnown { count, .. } => Some(*count),
            Self::Absent(_) => None,
        }
    }

    /// The smaller of the general estimate and this one. As in Karmada, an absent estimate bounds nothing.
    pub fn bound(&self, general: i64) -> i64 {
        self.count().map_or(general, |count| general.min(count))
    }

    /// Age of the figure: zero for a new answer, `None` if there is no figure.
    pub fn age(&self) -> Option<Duration> {
        match self {
            Self::Answered(_) => Some(Duration::ZERO),
            Self::LastKnown { age, .. } => Some(*age),
            Self::Absent(_) => None,
        }
    }
}
