//! Planted bugs: the simulation must find each of them.
//!
//! A bug is an edit of the controller's sources. They are copied into the target directory, edited there, and compiled with the
//! simulation against everything else as it is. Nothing of the engine knows about it.

mod bugs;
mod table;
mod variant;

use std::path::Path;
use std::process::Command;

use crate::error::Error;
use crate::rules::Rule;

pub(crate) use self::bugs::BUGS;
pub(crate) use self::table::write_table;

/// An edit of one file. The text must occur exactly once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edit {
    /// Path in the controller's `src`.
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

/// The first seed that finds a bug.
#[derive(Debug, Clone)]
pub(crate) struct Finding {
    /// The bug.
    pub(crate) bug: Bug,
    /// The seed and what it says; `None` if the bug's rule is broken by none of the seeds.
    pub(crate) found: Option<(u64, String)>,
}

/// Plants a bug, and looks for it in this many seeds.
pub(crate) fn look_for(bug: &Bug, seeds: u64, events: usize, plugins: &Path) -> Result<Finding, Error> {
    let program = variant::build(bug)?;
    let output = Command::new(&program)
        .arg("--plugins")
        .arg(plugins)
        .args(["--events", &events.to_string(), "seeds", &seeds.to_string()])
        .args(["--until-breach", &bug.rule.to_string()])
        .output()
        .map_err(|source| Error::File { path: program, source })?;
    let text = String::from_utf8_lossy(&output.stdout);
    // The last line has the figures. Without it, the lives did not come to an end.
    if !text.contains(" lives of ") {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(Error::Broken(format!("bug `{}`: {text}{message}", bug.name)));
    }
    let found = text.lines().find_map(|line| {
        let (seed, verdict) = line.strip_prefix("seed ")?.split_once(": ")?;
        let text = verdict.strip_prefix(&format!("rule {}: ", bug.rule))?;
        Some((seed.parse().ok()?, text.to_owned()))
    });
    Ok(Finding { bug: *bug, found })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_bug_applies_to_the_sources_and_each_rule_has_two() {
        let names: BTreeSet<&str> = BUGS.iter().map(|bug| bug.name).collect();
        assert_eq!(names.len(), BUGS.len());
        assert!(BUGS.len() >= 20, "{} bugs", BUGS.len());
        assert!(BUGS.iter().filter(|bug| bug.is_real).count() >= 10);
        for rule in Rule::ALL {
            let count = BUGS.iter().filter(|bug| bug.rule == rule).count();
            assert!(count >= 2, "rule {rule} has {count} bugs");
        }
        for bug in BUGS {
            variant::check(bug).unwrap_or_else(|error| panic!("{error}"));
        }
    }
}
