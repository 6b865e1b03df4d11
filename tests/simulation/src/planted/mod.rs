//! Planted bugs: the simulation must find each of them.
//!
//! A bug is an edit of the sources of the controller or of the scheduler. They are copied into the target directory, edited there, and
//! compiled with the simulation against everything else as it is. Nothing of the engine knows about it.

mod bugs;
mod moves;
mod plans;
mod table;
mod variant;

use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::error::Error;
use crate::rules::Rule;

pub(crate) use self::table::write_row;

/// An edit of one file. The text must occur exactly once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edit {
    /// Path in `host`.
    pub(crate) file: &'static str,
    /// Text to replace.
    pub(crate) from: &'static str,
    /// Replacement.
    pub(crate) to: &'static str,
}

/// A bug that is planted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bug {
    /// Its name.
    pub(crate) name: &'static str,
    /// The rule that it breaks.
    pub(crate) rule: Rule,
    /// True if this project had it.
    pub(crate) is_real: bool,
    /// What goes wrong.
    pub(crate) text: &'static str,
    /// The edits that plant it.
    pub(crate) edits: &'static [Edit],
}

/// Every planted bug.
pub(crate) fn bugs() -> impl Iterator<Item = &'static Bug> {
    bugs::BUGS.iter().chain(moves::BUGS).chain(plans::BUGS)
}

/// The first seed that finds a bug.
#[derive(Debug, Clone)]
pub(crate) struct Finding {
    /// The bug.
    pub(crate) bug: Bug,
    /// The first seed that breaks any rule, and that rule.
    pub(crate) first: Option<(u64, String)>,
    /// The first seed that breaks the bug's rule, and how; `None` if none of the seeds does.
    pub(crate) found: Option<(u64, String)>,
}

/// Seeds that one process lives.
const RANGE: u64 = 40;

/// Plants a bug, and looks for it in this many seeds, on all cores.
pub(crate) fn look_for(bug: &Bug, seeds: u64, events: usize, plugins: &Path) -> Result<Finding, Error> {
    let program = variant::build(bug)?;
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    // Ranges are begun in order. Once one breaks the rule, only those before it still matter, and they are under way.
    let next = AtomicU64::new(0);
    let is_found = AtomicBool::new(false);
    let work = || -> Result<Vec<Breach>, Error> {
        let mut breaches = Vec::new();
        while !is_found.load(Ordering::Relaxed) {
            let number = next.fetch_add(RANGE, Ordering::Relaxed);
            if number >= seeds {
                break;
            }
            let numbers = number..seeds.min(number + RANGE);
            let of_range = live_range(bug, &program, numbers, events, plugins)?;
            if of_range.iter().any(|breach| breach.rule == bug.rule.to_string()) {
                is_found.store(true, Ordering::Relaxed);
            }
            breaches.extend(of_range);
        }
        Ok(breaches)
    };
    let mut breaches = Vec::new();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            let ended = worker
                .join()
                .unwrap_or_else(|_| Err(Error::Broken("a thread panicked".to_owned())));
            breaches.extend(ended?);
        }
        Ok::<_, Error>(())
    })?;
    breaches.sort_by_key(|breach| breach.seed);
    let of_rule = breaches.iter().find(|breach| breach.rule == bug.rule.to_string());
    Ok(Finding {
        bug: *bug,
        found: of_rule.map(|breach| (breach.seed, breach.text.clone())),
        first: breaches.first().map(|breach| (breach.seed, breach.rule.clone())),
    })
}

/// A breach that a planted simulation reports.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Breach {
    seed: u64,
    rule: String,
    text: String,
}

/// The first seed in which a bug is looked for, and the distance from one to the next. Bugs of moves, plans and evictions show in lives
/// with moves, which are one in three.
fn seeds_of(bug: &Bug) -> (u64, u64) {
    let mut of_moves = moves::BUGS.iter().chain(plans::BUGS);
    match bug.rule == Rule::F || of_moves.any(|other| other.name == bug.name) {
        true => (2, 3),
        false => (0, 1),
    }
}

/// Lives a range of the seeds for a bug up to the first that breaks the bug's rule. Returns every breach.
fn live_range(
    bug: &Bug,
    program: &Path,
    numbers: Range<u64>,
    events: usize,
    plugins: &Path,
) -> Result<Vec<Breach>, Error> {
    let (first, step) = seeds_of(bug);
    let output = Command::new(program)
        .arg("--plugins")
        .arg(plugins)
        .args(["--events", &events.to_string()])
        .args(["seeds", &(numbers.end - numbers.start).to_string()])
        .args(["--first", &(first + numbers.start * step).to_string()])
        .args(["--step", &step.to_string()])
        .args(["--until-breach", &bug.rule.to_string()])
        .output()
        .map_err(|source| Error::File {
            path: program.to_owned(),
            source,
        })?;
    let text = String::from_utf8_lossy(&output.stdout);
    // The last line has the figures. Without it, the lives did not come to an end.
    if !text.contains(" lives of ") {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(Error::Broken(format!("bug `{}`: {text}{message}", bug.name)));
    }
    Ok(text.lines().filter_map(read_breach).collect())
}

/// Reads a line that reports a breach.
fn read_breach(line: &str) -> Option<Breach> {
    let (seed, verdict) = line.strip_prefix("seed ")?.split_once(": rule ")?;
    let (rule, text) = verdict.split_once(": ")?;
    Some(Breach {
        seed: seed.parse().ok()?,
        rule: rule.to_owned(),
        text: text.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_breach_is_read_from_its_line() {
        let breach = Breach {
            seed: 7,
            rule: "b".to_owned(),
            text: "after a: b".to_owned(),
        };
        assert_eq!(read_breach("seed 7: rule b: after a: b"), Some(breach));
        assert_eq!(read_breach("12 lives of 150 steps, 9 events"), None);
    }

    #[test]
    fn every_bug_applies_to_the_sources_and_each_rule_has_two() {
        let names: BTreeSet<&str> = bugs().map(|bug| bug.name).collect();
        assert_eq!(names.len(), bugs().count());
        for (part, text) in [(bugs::BUGS, "the rest"), (moves::BUGS, "moves")] {
            assert!(part.len() >= 20, "{} bugs of {text}", part.len());
            assert!(part.iter().filter(|bug| bug.is_real).count() >= 10, "{text}");
        }
        for rule in Rule::ALL {
            let count = bugs().filter(|bug| bug.rule == rule).count();
            assert!(count >= 2, "rule {rule} has {count} bugs");
        }
        for bug in bugs() {
            variant::check(bug).unwrap_or_else(|error| panic!("{error}"));
        }
    }
}
