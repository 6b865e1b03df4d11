//! The `divvy` command: parses arguments, prints a report, and exits with a code for the outcome.
//!
//! Every scheduling decision is made in the library. [`command`] reads the request and [`report`] renders the answer.

mod command;
mod report;

use std::process::ExitCode;

fn main() -> ExitCode {
    command::main()
}
