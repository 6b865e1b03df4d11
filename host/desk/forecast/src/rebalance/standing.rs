//! Which bindings a plan may move, which it is for, and which stay.

use divvy_karmada::detector::Binding;
use divvy_scheduler::decide::rules::Sum;
use divvy_scheduler::decision::Outcome;
use divvy_scheduler::moves::mark::is_on_its_way;
use divvy_scheduler::profile::Profile;

use crate::future::{Entry, Fate};

/// What a plan may do with a binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// It runs with all its replicas, which may move.
    Runs,
    /// Some of its replicas are not placed.
    Waits,
    /// It stays as it is.
    Stays(Stay),
}

/// Why a binding stays as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stay {
    /// It is not scheduled at all, or deleted.
    Skipped,
    /// Nothing of it is divided.
    NotDivided,
    /// Its strategy does not divide by room.
    Strategy,
    /// It runs to an end, and would begin anew.
    RunsToAnEnd,
    /// It is being moved or evicted.
    UnderWay,
    /// It failed for another reason than a lack of room.
    Invalid,
    /// It runs where its filters would not place it any more.
    Elsewhere,
    /// Its own plugins refused its part of the plan.
    Refused,
}

impl Stay {
    /// The reason, to follow "stays:" or "waits:".
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Skipped => "not scheduled",
            Self::NotDivided => "its replicas are not divided",
            Self::Strategy => "its strategy does not divide by room",
            Self::RunsToAnEnd => "it runs to an end, and would begin anew elsewhere",
            Self::UnderWay => "it is being moved or evicted",
            Self::Invalid => "its decision fails for another reason than room",
            Self::Elsewhere => "it runs where its filters would not place it any more",
            Self::Refused => "its own plugins decide otherwise than the plan",
        }
    }
}

impl Standing {
    /// What a plan may do with an entry. `strategy` is that of its plan; empty if it has none.
    pub(super) fn of(entry: &Entry, strategy: &str, profile: &Profile) -> Self {
        match stay(entry, strategy, profile) {
            Some(stay) => Self::Stays(stay),
            None if waits(entry) => Self::Waits,
            None => Self::Runs,
        }
    }
}

/// Whether some replicas of a binding are not placed. If a decision fails, what ran before still does.
pub(super) fn waits(entry: &Entry) -> bool {
    let is_failed = matches!(&entry.fate, Fate::Decided(_, decision) if matches!(decision.outcome, Outcome::Failed(_)));
    is_failed || entry.partial().is_some()
}

fn stay(entry: &Entry, strategy: &str, profile: &Profile) -> Option<Stay> {
    let binding = &entry.binding;
    if let Fate::Skipped(_) = entry.fate {
        return Some(Stay::Skipped);
    }
    if entry.sum != Sum::Divided
        || !binding.is_workload()
        || binding.object.spec.components.len() > 1
        || binding.replicas() == 0
    {
        return Some(Stay::NotDivided);
    }
    if entry.error().is_some_and(|error| error.kind() == "Error") {
        return Some(Stay::Invalid);
    }
    if !profile
        .strategy(strategy)
        .is_ok_and(|strategy| strategy.respects_capacity())
    {
        return Some(Stay::Strategy);
    }
    let placed: i64 = entry.targets.values().sum();
    if placed > 0 && runs_to_an_end(binding) {
        return Some(Stay::RunsToAnEnd);
    }
    let object = &binding.object;
    // What was evicted and waits has to be placed all the same.
    let is_evicted = !object.spec.graceful_eviction_tasks.is_empty() && !waits(entry);
    let is_under_way = is_evicted || is_on_its_way(object);
    // A result with another sum is about to change: a smaller one is pending, or the workload was scaled down.
    let is_uneven = if waits(entry) {
        placed > binding.replicas()
    } else {
        placed != binding.replicas()
    };
    (is_under_way || is_uneven).then_some(Stay::UnderWay)
}

/// Whether a workload's pods end by themselves, so that a move would begin their work anew.
fn runs_to_an_end(binding: &Binding) -> bool {
    let resource = &binding.object.spec.resource;
    matches!(
        (resource.api_version.split('/').next(), resource.kind.as_str()),
        (Some("batch"), "Job") | (Some("batch.volcano.sh"), "Job") | (Some("v1"), "Pod")
    )
}
