//! The limits of `divvy diff`, and the exit code of a difference.

use divvy_command::console::Console;
use divvy_command::errors::headline;
use divvy_command::exit::Exit;
use divvy_command::style;
use divvy_command::text::{counted, listed, plural};
use divvy_forecast::capacity::{TooFull, too_full};
use divvy_forecast::document::{Document, Totals};

use super::arguments::{DiffArguments, FullLimit, ReplicaLimit};

/// Maximum number of clusters that an error names.
const NAMED_MAX: usize = 5;

impl DiffArguments {
    /// Exit code of a difference. Prints the limits that it exceeds.
    pub(super) fn exit(&self, document: &Document, console: &Console) -> Exit {
        let totals = &document.totals;
        let limits = [
            ("max-moved", self.max_moved, totals.movement.moved, "moves", "move"),
            (
                "max-removed",
                self.max_removed,
                totals.movement.removed,
                "is removed",
                "are removed",
            ),
            (
                "max-missing",
                self.max_missing,
                totals.newly_missing,
                "is newly missing",
                "are newly missing",
            ),
        ];
        let exceeded = limits.into_iter().filter(|(name, limit, count, one, several)| {
            limit.is_some_and(|limit| exceeds(name, limit, (*count, totals.replicas), (*one, *several), console))
        });
        let exceeds_a_number = exceeded.count() > 0;
        let is_too_full = self
            .max_full
            .is_some_and(|limit| exceeds_full(limit, document, console));
        let is_harmful = self.is_harmful(totals);
        let changes = totals.changed > 0 || totals.left_without_policy > 0;
        match is_harmful || exceeds_a_number || is_too_full || self.exit_code && changes {
            true => Exit::Unschedulable,
            false => Exit::Success,
        }
    }

    /// True for harm that no limit permits. With `--max-missing`, that limit decides on what is missing.
    fn is_harmful(&self, totals: &Totals) -> bool {
        let counted = match self.max_missing {
            Some(_) => Totals {
                newly_missing: 0,
                missing_copies: 0,
                ..*totals
            },
            None => *totals,
        };
        counted.is_harmful()
    }
}

/// True if more of all replicas are counted than a limit allows, which is printed.
pub(super) fn exceeds(
    name: &str,
    limit: ReplicaLimit,
    (count, replicas): (i64, i64),
    (one, several): (&'static str, &'static str),
    console: &Console,
) -> bool {
    if !limit.is_exceeded(count, replicas) {
        return false;
    }
    let limit = match limit {
        ReplicaLimit::Replicas(most) => most.to_string(),
        ReplicaLimit::Percent(most) => format!("{most}% of {replicas}"),
    };
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let message = format!(
        "{} {}, more than `--{name}` allows ({limit})",
        counted(count, "replica"),
        plural(count, one, several)
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
            percent: used,
        } = found;
        // Rounded down as in the table, it may look as if it were within the limit.
        let over = if *used <= percent { "over " } else { "" };
        format!("{cluster} ({resource} {over}{used}%)")
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
