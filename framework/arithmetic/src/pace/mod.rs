//! The arithmetic of moves: from one result of a binding to another, in steps that keep its allowances.
//!
//! A [`Situation`] has the columns of a move, and [`step`] the next result on its way. Which of the replicas are ready, and when a
//! step is made, is the caller's to know: nothing here remembers an earlier step. A move ends because each step brings every cluster
//! nearer to its target, or leaves it where it is.

mod plan;

pub use plan::step;

use divvy_framework_abi::call::wait;

/// A binding on its way from its present result to a target. The columns have one element per cluster: those of the result, of the
/// target, and those in which replicas are still there. All counts are replicas.
#[derive(Debug, Clone, Copy)]
pub struct Situation<'a> {
    /// Replicas that the present result gives.
    pub current: &'a [i64],
    /// Replicas that are there, which may be more or fewer than the result gives.
    pub present: &'a [i64],
    /// Replicas that are known to be ready: a lower bound.
    pub ready: &'a [i64],
    /// Replicas in the target.
    pub target: &'a [i64],
    /// Further replicas that fit, beyond `current`; `i64::MAX` if room does not limit them.
    pub room: &'a [i64],
    /// Replicas that the binding asks for.
    pub total: i64,
    /// Replicas that a result may have beyond `total`.
    pub max_surge: i64,
    /// Replicas by which the ready ones may fall below `total`.
    pub max_unavailable: i64,
    /// The greatest number of clusters that a result may have; `None` without a limit.
    pub max_clusters: Option<u32>,
}

impl Situation<'_> {
    /// Number of clusters.
    pub fn len(&self) -> usize {
        self.current.len()
    }

    /// True if there are no clusters.
    pub fn is_empty(&self) -> bool {
        self.current.is_empty()
    }

    /// True if the present result is the target.
    pub fn is_at_target(&self) -> bool {
        self.current == self.target
    }

    /// Ready replicas that a result keeps: of `c` replicas of which `r` are ready, a cluster with `n` keeps `min(r, n)`, because those
    /// that are not ready go first.
    pub fn kept_ready(&self, result: &[i64]) -> i128 {
        let columns = result.iter().zip(self.ready).zip(self.current);
        let kept = columns.map(|((next, ready), current)| i128::from(*next.min(ready).min(current)).max(0));
        kept.sum()
    }

    /// The least number of ready replicas that a step keeps: `total − max_unavailable`, or those that the present result has if there
    /// are fewer.
    pub fn least_ready(&self) -> i128 {
        let allowed = i128::from(self.total) - i128::from(self.max_unavailable);
        allowed.clamp(0, self.kept_ready(self.current).max(0))
    }

    /// The greatest number of replicas that a step gives: `total + max_surge`, or those of the present result if it has more.
    pub fn most_replicas(&self) -> i128 {
        let allowed = i128::from(self.total) + i128::from(self.max_surge);
        allowed.max(sum(self.current))
    }

    /// The greatest number of clusters that a step gives replicas: `max_clusters`, or those of the present result if it has more.
    /// `None` without a limit.
    pub fn most_clusters(&self) -> Option<usize> {
        let allowed = usize::try_from(self.max_clusters?).unwrap_or(usize::MAX);
        Some(allowed.max(clusters(self.current)))
    }
}

/// Replicas of a result.
pub fn sum(result: &[i64]) -> i128 {
    result.iter().copied().map(i128::from).sum()
}

/// Clusters with replicas in a result.
pub fn clusters(result: &[i64]) -> usize {
    result.iter().filter(|replicas| **replicas > 0).count()
}

/// Reason for which a move takes no step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wait {
    /// For replicas to become ready.
    Readiness,
    /// For replicas that no result gives any more to be gone.
    Removal,
    /// For room in the clusters that are to get replicas.
    Room,
    /// A further cluster would exceed the greatest number of clusters.
    Clusters,
    /// The allowances permit no step.
    Allowance,
    /// Something else, which the plugin explains by a remark.
    Other,
}

impl Wait {
    /// All reasons.
    pub const ALL: [Self; 6] = [
        Self::Readiness,
        Self::Removal,
        Self::Room,
        Self::Clusters,
        Self::Allowance,
        Self::Other,
    ];

    /// The number that crosses the boundary: a value of [`wait`].
    pub const fn number(self) -> u32 {
        match self {
            Self::Readiness => wait::READINESS,
            Self::Removal => wait::REMOVAL,
            Self::Room => wait::ROOM,
            Self::Clusters => wait::CLUSTERS,
            Self::Allowance => wait::ALLOWANCE,
            Self::Other => wait::OTHER,
        }
    }

    /// The reason with a number; `None` for [`wait::NONE`]. An unknown number, of a newer minor version, is [`Self::Other`].
    pub const fn from_number(number: u32) -> Option<Self> {
        match number {
            wait::NONE => None,
            wait::READINESS => Some(Self::Readiness),
            wait::REMOVAL => Some(Self::Removal),
            wait::ROOM => Some(Self::Room),
            wait::CLUSTERS => Some(Self::Clusters),
            wait::ALLOWANCE => Some(Self::Allowance),
            _ => Some(Self::Other),
        }
    }

    /// The reason in words, after "waits for".
    pub const fn word(self) -> &'static str {
        match self {
            Self::Readiness => "replicas to become ready",
            Self::Removal => "replicas to be removed",
            Self::Room => "room",
            Self::Clusters => "a cluster to become empty, because maxGroups permits no further one",
            Self::Allowance => "an allowance that permits a step",
            Self::Other => "a reason of its own",
        }
    }
}

impl std::fmt::Display for Wait {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.word())
    }
}

#[cfg(test)]
mod tests;
