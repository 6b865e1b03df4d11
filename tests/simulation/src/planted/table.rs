//! The table of the README, made by a command.

use std::fmt::Write;
use std::fs;

use divvy_built::repository;

use super::Finding;
use crate::error::Error;

/// Line before the table.
const BEGINNING: &str = "<!-- Made by `cargo run -p divvy-simulation -- planted`. -->";
/// Line after the table.
const END: &str = "<!-- End. -->";

/// Writes the table of what was found into the README.
pub(crate) fn write_table(findings: &[Finding]) -> Result<(), Error> {
    let path = repository().join("tests/simulation/README.md");
    let failure = |source| Error::File {
        path: path.clone(),
        source,
    };
    let readme = fs::read_to_string(&path).map_err(failure)?;
    let mut table =
        "| bug | rule | ours | seed | first of any rule | what goes wrong |\n|---|---|---|---|---|---|\n".to_owned();
    for Finding { bug, first, found } in findings {
        let seed = found
            .as_ref()
            .map_or_else(|| "not found".to_owned(), |(seed, _)| seed.to_string());
        let first = match first {
            Some((seed, rule)) => format!("{seed} ({rule})"),
            None => String::new(),
        };
        let ours = if bug.is_real { "yes" } else { "" };
        // Writing to a text cannot fail.
        let _infallible = writeln!(
            table,
            "| {} | {} | {ours} | {seed} | {first} | {} |",
            bug.name, bug.rule, bug.text
        );
    }
    let text = match (readme.split_once(BEGINNING), readme.split_once(END)) {
        (Some((before, _)), Some((_, after))) => format!("{before}{BEGINNING}\n\n{table}\n{END}{after}"),
        _ => format!("{readme}\n{BEGINNING}\n\n{table}\n{END}\n"),
    };
    fs::write(&path, text).map_err(failure)
}
