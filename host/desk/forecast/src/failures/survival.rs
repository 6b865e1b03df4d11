//! The bindings that a loss leaves with less than their policy asks for.

use divvy_scheduler::decision::BriefFailure;

use super::ground::Placed;
use super::numbers::Share;
use crate::future::Prepared;
use crate::movement::Ending;

/// A binding that does not survive a loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// Its index in the situation.
    pub binding: u32,
    /// What is left of it.
    pub left: Left,
    /// The reason why it is not placed again.
    pub cause: HitCause,
}

/// What is left after a loss.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Survived {
    /// The bindings that do not survive it.
    pub hits: Vec<Hit>,
    /// The bindings that survive it with fewer replicas, as their quorum allows, by index.
    pub in_part: Vec<u32>,
    /// What is left of the watched binding; `None` if the loss does not concern it.
    pub left: Option<Left>,
    /// Replicas that other clusters gain although they do not fit.
    pub beyond_capacity: i64,
}

/// What is left of a binding after a loss.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Left {
    /// Replicas.
    pub replicas: i64,
    /// Clusters.
    pub clusters: u32,
}

/// Reason why a binding does not survive a loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HitCause {
    /// No cluster fits.
    NoClusterFit,
    /// The remaining clusters have too little room or cannot be selected.
    Unschedulable,
    /// The binding becomes invalid, or a plugin fails.
    Error,
    /// Nothing decides the binding: it is suspended, being deleted, or follows others.
    Skipped,
    /// It tolerates the failure of its cluster, and stays.
    Stays,
}

impl HitCause {
    /// The word in tables and JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::NoClusterFit => "NoClusterFit",
            Self::Unschedulable => "Unschedulable",
            Self::Error => "Error",
            Self::Skipped => "Skipped",
            Self::Stays => "Stays",
        }
    }
}

impl Left {
    /// These clusters of a binding.
    pub(super) fn of<'a>(shares: impl IntoIterator<Item = &'a Share>) -> Self {
        let mut left = Self::default();
        for share in shares {
            left.replicas += share.1;
            left.clusters = left.clusters.saturating_add(1);
        }
        left
    }

    /// What a loss leaves of a binding that is not placed again: what it has on the other clusters, also where a pending decision would
    /// have put it.
    pub(super) fn kept(base: &Placed, is_lost: &[bool]) -> Self {
        let is_left = |share: &&Share| !is_lost.get(share.0 as usize).copied().unwrap_or(false);
        Self::of(base.shares.iter().filter(is_left))
    }

    /// True if nothing is left.
    pub fn is_nothing(self) -> bool {
        self.clusters == 0
    }
}

/// What a loss does to a binding.
pub(crate) enum Judged {
    /// It survives with all that it had.
    Survives,
    /// It survives with fewer replicas.
    InPart(u32),
    /// It does not survive.
    Hit(Hit),
}

/// Judges what a loss leaves of a binding.
///
/// A decision that succeeds places all replicas again, or as many as the quorum requires. Without one, a duplicated binding needs one
/// copy, and a divided one everything that it had.
pub(super) fn judge(
    index: usize,
    prepared: &Prepared,
    base: &Placed,
    (left, failure): (Left, Option<BriefFailure>),
    ending: Ending,
) -> Judged {
    let binding = u32::try_from(index).unwrap_or(u32::MAX);
    let had = Left::of(&base.shares);
    let is_kept = match prepared.is_duplicated() {
        true => !left.is_nothing(),
        false => left.replicas >= had.replicas,
    };
    let cause = match (ending, failure) {
        _ if had.is_nothing() || is_kept => return Judged::Survives,
        (Ending::Placed, _) if left.is_nothing() => return Judged::Survives,
        (Ending::Placed, _) => return Judged::InPart(binding),
        (Ending::Skipped, _) => HitCause::Skipped,
        (Ending::Failed, Some(BriefFailure::Unschedulable)) => HitCause::Unschedulable,
        (Ending::Failed, Some(BriefFailure::FitsNowhere | BriefFailure::NoClusterFit)) => HitCause::NoClusterFit,
        (Ending::Failed, _) => HitCause::Error,
    };
    Judged::Hit(Hit { binding, left, cause })
}
