//! The table of the README, made by a command.

use std::collections::BTreeMap;
use std::fs;

use divvy_built::repository;

use super::{Finding, bugs};
use crate::error::Error;

/// Line before the table.
const BEGINNING: &str = "<!-- Made by `cargo run -p divvy-simulation -- planted`. -->";
/// Line after the table.
const END: &str = "<!-- End. -->";

/// Writes what was found of a bug into the table of the README. Other bugs keep their rows.
pub(crate) fn write_row(finding: &Finding) -> Result<(), Error> {
    let path = repository().join("tests/simulation/README.md");
    let failure = |source| Error::File {
        path: path.clone(),
        source,
    };
    let readme = fs::read_to_string(&path).map_err(failure)?;
    let known: BTreeMap<&str, &str> = readme.lines().filter_map(|line| Some((name(line)?, line))).collect();
    let mut table = "| bug | rule | ours | seed | what goes wrong |\n|---|---|---|---|---|\n".to_owned();
    for bug in bugs() {
        let line = match bug.name == finding.bug.name {
            true => Some(row(finding)),
            false => known.get(bug.name).map(|line| (*line).to_owned()),
        };
        if let Some(line) = line {
            table.push_str(&line);
            table.push('\n');
        }
    }
    let text = match (readme.split_once(BEGINNING), readme.split_once(END)) {
        (Some((before, _)), Some((_, after))) => format!("{before}{BEGINNING}\n\n{table}\n{END}{after}"),
        _ => format!("{readme}\n{BEGINNING}\n\n{table}\n{END}\n"),
    };
    fs::write(&path, text).map_err(failure)
}

fn row(finding: &Finding) -> String {
    let Finding { bug, found, .. } = finding;
    let seed = found
        .as_ref()
        .map_or_else(|| "not found".to_owned(), |(seed, _)| seed.to_string());
    let ours = if bug.is_real { "yes" } else { "" };
    format!("| {} | {} | {ours} | {seed} | {} |", bug.name, bug.rule, bug.text)
}

/// Name of the bug in a row of the table.
fn name(line: &str) -> Option<&str> {
    Some(line.strip_prefix("| ")?.split_once(" |")?.0)
}
