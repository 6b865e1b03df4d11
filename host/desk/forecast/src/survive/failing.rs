//! Losses in which clusters fail instead of being gone: each is a complete forecast, because Karmada evicts by tolerations.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use divvy_scheduler::profile::ConfiguredProfile;

use super::Loss;
use crate::change::ResolvedChanges;
use crate::failures::{Hit, HitCause, Judged, Left, Survival, Survived};
use crate::future::{Entry, Explains, Fate, Future, Options};
use crate::situation::{Assignment, Situation};

/// Forecasts every failure, and finds the bindings that do not survive it.
pub(super) fn survival(situation: &Situation, side: &ConfiguredProfile, losses: &[Loss], options: Options) -> Survival {
    let options = Options {
        explains: Explains::Nothing,
        ..options
    };
    let base = Future::decide(situation, side, options);
    let single = Options {
        threads: NonZeroUsize::MIN,
        ..options
    };
    let nothing = BTreeSet::new();
    let had = base
        .entries
        .iter()
        .map(|entry| left_of(&entry.targets, &nothing))
        .collect();
    let losses = divvy_parallel::map(losses, options.threads, || {
        let entries = &base.entries;
        move |loss: &Loss| {
            let changes = ResolvedChanges {
                failed: loss.clusters.clone(),
                ..ResolvedChanges::default()
            };
            let (after, _) = changes.apply(situation);
            let after = Future::decide(&after, side, single);
            let mut survived = Survived::default();
            for ((entry, base), index) in after.entries.iter().zip(entries).zip(0..) {
                match judge(index, entry, base, &loss.clusters) {
                    Judged::Survives => {}
                    Judged::InPart(binding) => survived.in_part.push(binding),
                    Judged::Hit(hit) => survived.hits.push(hit),
                }
            }
            survived
        }
    });
    let is_error = |entry: &Entry| {
        let error = entry.error();
        error.is_some_and(|error| error.is_input_fault() || error.is_plugin_fault())
    };
    Survival {
        losses,
        had,
        in_error: base.entries.iter().map(is_error).collect(),
    }
}

/// What a binding has on clusters that have not failed.
fn left_of(targets: &Assignment, failed: &BTreeSet<String>) -> Left {
    let mut left = Left::default();
    for (_, replicas) in targets.iter().filter(|(cluster, _)| !failed.contains(*cluster)) {
        left.replicas += replicas;
        left.clusters += 1;
    }
    left
}

/// What a failure does to a binding. Replicas that stay on a failed cluster do not run.
fn judge(index: u32, entry: &Entry, base: &Entry, failed: &BTreeSet<String>) -> Judged {
    let had = left_of(&base.targets, &BTreeSet::new());
    // A failed decision keeps what runs, also where a pending one would have put it.
    let left = match entry.error() {
        Some(_) if !entry.is_cleared => left_of(&base.targets, failed),
        _ => left_of(&entry.targets, failed),
    };
    let is_kept = match entry.is_duplicated() {
        true => !left.is_nothing(),
        false => left.replicas >= had.replicas,
    };
    if had.is_nothing() || is_kept {
        return Judged::Survives;
    }
    let stays = entry.targets.keys().any(|cluster| failed.contains(cluster));
    let cause = match (&entry.fate, entry.error()) {
        (Fate::Skipped(_), _) => HitCause::Skipped,
        (_, Some(error)) if error.is_input_fault() || error.is_plugin_fault() || error.is_defect() => HitCause::Error,
        (Fate::Decided(_, decision), Some(_)) => match decision.outcome.word() {
            "NoClusterFit" => HitCause::NoClusterFit,
            _ => HitCause::Unschedulable,
        },
        _ if stays => HitCause::Stays,
        _ if left.is_nothing() => return Judged::Survives,
        // As many as the quorum requires.
        _ => return Judged::InPart(index),
    };
    Judged::Hit(Hit {
        binding: index,
        left,
        cause,
    })
}
