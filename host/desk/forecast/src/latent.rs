//! Satisfied bindings that would be placed differently if they were rescheduled.
//!
//! Each is decided from scratch and on its own, against the capacity that is left after everything else has been decided.
//! These moves do not happen by themselves: they show how far a fleet has drifted from its policies.

use std::sync::Arc;

use divvy_scheduler::decision::{Outcome, Scheduler};
use divvy_scheduler::profile::ConfiguredProfile;

use crate::document::{Latent, LatentRow};
use crate::forecast::counts;
use crate::future::{Entry, Fate, Future, Options};
use crate::movement::{Ending, Movement};
use crate::situation::Assignment;

/// Reschedules every satisfied binding of a future. If `lists` is true, the result has the bindings, not only their number.
pub fn latent(future: &Future, side: &ConfiguredProfile, options: Options, lists: bool) -> Latent {
    let satisfied: Vec<&Entry> = future
        .entries
        .iter()
        .filter(|entry| matches!(entry.fate, Fate::Satisfied))
        .collect();
    let found = divvy_parallel::map(&satisfied, options.threads, || {
        let scheduler = Scheduler::new(Arc::clone(&side.profile)).keeping_no_plans();
        let mut scheduler = scheduler
            .continuing(future.ledger.clone())
            .deciding_at(options.time)
            .knowing(future.placements.clone());
        move |entry: &&Entry| {
            let decision = scheduler.rescheduled(&entry.binding, &future.fleet);
            let (targets, ending, message): (Assignment, Ending, String) = match decision.outcome {
                Outcome::Scheduled(targets) => (targets.into_iter().collect(), Ending::Placed, String::new()),
                Outcome::Failed(error) => (Assignment::clone(&entry.targets), Ending::Failed, error.to_string()),
                Outcome::Skipped(_) => return None,
            };
            if targets == *entry.targets && message.is_empty() {
                return None;
            }
            let movement = Movement::between(&entry.targets, &targets, entry.is_duplicated(), ending);
            let row = LatentRow {
                binding: entry.binding.key(),
                clusters: counts(&entry.targets, None, &targets),
                message,
            };
            Some((movement, row))
        }
    });
    let mut latent = Latent::default();
    let mut rows = Vec::new();
    for (movement, row) in found.into_iter().flatten() {
        latent.count += 1;
        latent.movement += movement;
        rows.push(row);
    }
    latent.bindings = lists.then_some(rows);
    latent
}
