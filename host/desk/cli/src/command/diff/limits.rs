//! The limits of `divvy diff`, and the exit code of a difference.

use divvy_command::console::Console;
use divvy_command::errors::headline;
use divvy_command::exit::Exit;
use divvy_command::style;
use divvy_command::text::{counted, listed, plural};
use divvy_forecast::capacity::{TooFull, too_full};
use divvy_forecast::document::{Document, Totals};

use super::arguments::{DiffArguments, FullLimit, MovedLimit};

/// Maximum number of clusters that an error names.
const NAMED_MAX: usize = 5;

impl DiffArguments {
    /// Exit code of a difference. Prints the limits that it exceeds.
    pub(super) fn exit(&self, document: &Document, console: &Console) -> Exit {
        let totals = &document.totals;
        let moves_too_much = self
            .max_moved
            .is_some_and(|limit| exceeds_moved(limit, totals, console));
        let is_too_full = self
            .max_full
            .is_some_and(|limit| exceeds_full(limit, document, console));
        let is_harmful = totals.newly_unschedulable > 0
            || totals.newly_in_error > 0
            || totals.down > 0
            || totals.movement.lost > 0
            || totals.movement.stranded > 0;
        match is_harmful || moves_too_much || is_too_full || self.exit_code && totals.changed > 0 {
            true => Exit::Unschedulable,
            false => Exit::Success,
        }
    }
}

/// True if more replicas move than `--max-moved` allows, which is printed.
fn exceeds_moved(limit: MovedLimit, totals: &Totals, console: &Console) -> bool {
    let moved = totals.movement.moved;
    if !limit.is_exceeded(moved, totals.replicas) {
        return false;
    }
    let limit = match limit {
        MovedLimit::Replicas(most) => most.to_string(),
        MovedLimit::Percent(most) => format!("{most}% of {}", totals.replicas),
    };
    let moved = usize::try_from(moved).unwrap_or(usize::MAX);
    let message = format!(
        "{} {}, more than `--max-moved` allows ({limit})",
        counted(moved, "replica"),
        plural(moved, "moves", "move")
    );
    console.message(|out| headline(out, "error", style::ERROR, &message));
    true
}

/// True if a cluster gains and is then fuller than `--max-full` allows, which is printed.
fn exceeds_full(FullLimit(percent): FullLimit, document: &Document, console: &Console) -> bool {
    let found = too_full(&document.clusters, percent);
    if found.is_empty() {
        return false;
    }
    let names = found.iter().map(|found| {
        let TooFull {
            cluster,
            resource,
            percent,
        } = found;
        format!("{cluster} ({resource} {percent}%)")
    });
    let names: Vec<String> = names.collect();
    let message = format!(
        "{} {} fuller than `--max-full` allows ({percent}%): {}",
        counted(found.len(), "cluster"),
        plural(found.len(), "is", "are"),
        listed(names.iter().map(String::as_str), NAMED_MAX)
    );
    console.message(|out| headline(out, "error", style::ERROR, &message));
    true
}
