//! The hidden command that runs a plugin in a process of its own.

use std::time::Duration;

use divvy_isolation::WorkerProgram;

use crate::exit::Exit;
use crate::report::errors::{Diagnostic, Failure};

/// Name of the command.
pub(super) const NAME: &str = "plugin-worker";

/// Time for a call of an isolated plugin in `divvy run`, during which other bindings wait.
const DEADLINE_OF_RUN: Duration = Duration::from_secs(1);
/// Time for a call of an isolated plugin in every other command.
const DEADLINE: Duration = Duration::from_secs(10);

/// Makes this program the one that workers run.
pub(super) fn announce(is_running: bool) {
    // This link leads to the program even if its file has been replaced.
    divvy_isolation::set_program(WorkerProgram {
        path: "/proc/self/exe".into(),
        arguments: vec![NAME.to_owned()],
        deadline: if is_running { DEADLINE_OF_RUN } else { DEADLINE },
    });
}

/// Serves the process that started this one.
pub(super) fn run() -> Result<Exit, Failure> {
    divvy_isolation::worker::run()
        .map(|()| Exit::Success)
        .map_err(|error| Failure::usage(Diagnostic::new(error.to_string())))
}
