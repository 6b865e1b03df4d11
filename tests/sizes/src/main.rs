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
//!
//! Cases `policies-90`, `policies-97`, `probe-90` and `probe-97` are fleets that are planned for, with rows of their own: `divvy diff --drain` and
//! `divvy rebalance` of the same fleet, and plans made without the command, in parts and whole, beside their bounds.

mod cases;
mod fleets;
mod inputs;
mod measure;
mod plans;

use std::path::PathBuf;
use std::process::ExitCode;

use cases::{CASES, Case, Outcome};
use fleets::Planned;

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
    let given: Vec<String> = std::env::args().skip(1).collect();
    if let [first, rest @ ..] = given.as_slice()
        && first == "--solve"
    {
        return plans::solve(rest);
    }
    let arguments = arguments()?;
    let is_chosen = |name: &str| {
        let mut chosen = arguments.chosen.iter();
        arguments.chosen.is_empty() || chosen.any(|part| name.contains(part.as_str()))
    };
    let cases: Vec<&Case> = CASES.iter().filter(|case| is_chosen(case.name)).collect();
    let planned: Vec<Planned> = plans::FLEETS
        .into_iter()
        .filter(|planned| is_chosen(&planned.name()))
        .collect();
    if cases.is_empty() && planned.is_empty() {
        let names = CASES.iter().map(|case| case.name.to_owned());
        let names: Vec<String> = names.chain(plans::FLEETS.map(Planned::name)).collect();
        return Err(format!("no case is called so; there are: {}", names.join(", ")));
    }
    let inputs = (arguments.inputs.as_path(), arguments.scale);
    if !cases.is_empty() {
        println!("{}", Outcome::TITLES);
    }
    let mut outcomes = Vec::new();
    for case in cases {
        let outcome = case.run(&arguments.divvy, inputs, &outcomes)?;
        println!("{outcome}");
        outcomes.push(outcome);
    }
    if !planned.is_empty() {
        println!("{}", plans::TITLES);
    }
    for planned in planned {
        plans::print(planned, &arguments.divvy, inputs)?;
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
