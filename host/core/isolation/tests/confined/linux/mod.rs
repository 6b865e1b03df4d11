//! The two sides of a case: the test, and the process that it starts.

mod access;
mod answer;
mod grounds;
mod libraries;
mod memory;
mod missing;
mod processes;
mod refused;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

use answer::{Answer, Case};
use grounds::Grounds;

/// Names the case for a process that is started for it.
const CASE: &str = "DIVVY_SANDBOX_CASE";
/// True in the member whose tests need more than Rust and a C compiler.
const NEEDS_GO: bool = matches!(env!("CARGO_PKG_NAME").as_bytes(), b"divvy-programs-tests");
/// Set if that process shall not be confined.
const FREE: &str = "DIVVY_SANDBOX_FREE";

fn cases() -> Vec<Case> {
    [
        access::cases(),
        processes::cases(),
        memory::cases(),
        libraries::cases(),
        refused::cases(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

pub(crate) fn main() -> ExitCode {
    if let Ok(name) = std::env::var(CASE) {
        return inside(&name);
    }
    let trial = |case: Case| Trial::test(case.name.clone(), move || test(&case));
    let trials = match NEEDS_GO {
        true => libraries::cases_in_go().into_iter().map(trial).collect(),
        false => {
            let trials = cases().into_iter().map(trial);
            trials.chain(missing::trials()).chain([memory::watched()]).collect()
        }
    };
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// The process that tries a case.
fn inside(name: &str) -> ExitCode {
    if missing::inside(name) {
        return ExitCode::SUCCESS;
    }
    let mut cases = cases()
        .into_iter()
        .chain(libraries::cases_in_go())
        .chain([memory::evading()]);
    let case = cases.find(|case| case.name == name).expect("the case is known");
    let grounds = Grounds::inside();
    if std::env::var_os(FREE).is_none() {
        let limits = grounds.limits();
        let confinement = divvy_isolation::sandbox::confine(&limits).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(confinement.missing(), [], "this machine lacks a facility");
    }
    let answer = Answer::from((case.attempt)(&grounds));
    answer.tell().expect("the test listens");
    ExitCode::SUCCESS
}

/// Tries a case in a confined process and, for comparison, in a free one.
fn test(case: &Case) -> Result<(), libtest_mimic::Failed> {
    let grounds = Grounds::new();
    (case.prepare)(&grounds);
    let confined = grounds.run(&case.name, true);
    if !case.expected.is(&confined) {
        return Err(format!(
            "expected {:?}, the confined process answered {confined:?}",
            case.expected
        )
        .into());
    }
    if case.compared {
        let free = grounds.run(&case.name, false);
        if case.expected.is(&free) {
            return Err(format!("without confinement, it answers {free:?} as well").into());
        }
    }
    Ok(())
}
