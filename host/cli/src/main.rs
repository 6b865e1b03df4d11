//! The `divvy` command: arguments in, a report out, an exit code that says how it went.
//!
//! Nothing is decided here. The library schedules; [`command`] reads what a person asks for, [`report`] writes what they
//! are told.

mod command;
mod report;

use std::process::ExitCode;

fn main() -> ExitCode {
    command::main()
}
