//! Time and peak memory of `divvy` on large inputs, beside the goals.
//!
//! Makes the inputs, runs each case once, and prints a table. The figures are those of one run on one machine, so nothing fails
//! on them: CI only builds this program. Run it before and after a change of the way in which large inputs are read, decided or
//! printed.
//!
//! ```sh
//! cargo build --release && cargo run --release -p divvy-sizes
//! cargo run --release -p divvy-sizes -- --divvy target/release/divvy --inputs target/sizes schedule
//! ```

mod cases;
mod inputs;
mod measure;

use std::path::PathBuf;
use std::process::ExitCode;

use cases::{CASES, Case, Outcome};

/// Arguments of this program.
struct Arguments {
    /// The binary that is measured.
    divvy: PathBuf,
    /// Folder for the inputs, which are made if they are not there.
    inputs: PathBuf,
    /// Cases whose names contain one of these; empty for all.
    chosen: Vec<String>,
    /// Divisor of all sizes, to try this program.
    scale: usize,
}

fn arguments() -> Result<Arguments, String> {
    let mut found = Arguments {
        divvy: "target/release/divvy".into(),
        inputs: "target/sizes".into(),
        chosen: Vec::new(),
        scale: 1,
    };
    let mut given = std::env::args().skip(1);
    while let Some(argument) = given.next() {
        let mut value = || given.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--divvy" => found.divvy = value()?.into(),
            "--inputs" => found.inputs = value()?.into(),
            "--scale" => {
                let text = value()?;
                let scale = text.parse().ok().filter(|scale| *scale > 0);
                found.scale = scale.ok_or(format!("--scale needs a positive number, not `{text}`"))?;
            }
            option if option.starts_with('-') => {
                return Err(format!("unknown option {option}; known: --divvy, --inputs, --scale"));
            }
            _ => found.chosen.push(argument),
        }
    }
    Ok(found)
}

fn run() -> Result<(), String> {
    let arguments = arguments()?;
    let is_chosen = |case: &&Case| {
        let mut chosen = arguments.chosen.iter();
        arguments.chosen.is_empty() || chosen.any(|part| case.name.contains(part.as_str()))
    };
    let cases: Vec<&Case> = CASES.iter().filter(is_chosen).collect();
    if cases.is_empty() {
        let names: Vec<&str> = CASES.iter().map(|case| case.name).collect();
        return Err(format!("no case is called so; there are: {}", names.join(", ")));
    }
    println!("{}", Outcome::TITLES);
    let mut outcomes = Vec::new();
    for case in cases {
        let outcome = case.run(&arguments.divvy, (&arguments.inputs, arguments.scale), &outcomes)?;
        println!("{outcome}");
        outcomes.push(outcome);
    }
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}
