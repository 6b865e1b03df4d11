//! The hidden command that runs a plugin in a process of its own: of each program, which starts itself for it.

use std::process::ExitCode;
use std::time::Duration;

use anstream::ColorChoice;
use divvy_isolation::WorkerProgram;

use crate::console::Console;
use crate::errors::{Diagnostic, Failure};
use crate::exit::Exit;
use crate::logging;

/// The only argument of the process.
const NAME: &str = "plugin-worker";

/// Time for a call of an isolated plugin in a running scheduler, during which other bindings wait.
pub const DEADLINE_OF_SCHEDULER: Duration = Duration::from_secs(1);
/// Time for a call of an isolated plugin in every command that ends by itself.
pub const DEADLINE: Duration = Duration::from_secs(10);

/// Makes this program the one that workers run, with this time for each call.
pub fn announce(deadline: Duration) {
    // This link leads to the program even if its file has been replaced.
    divvy_isolation::set_program(WorkerProgram {
        path: "/proc/self/exe".into(),
        arguments: vec![NAME.to_owned()],
        deadline,
    });
}

/// Serves the process that started this one, if that is what this process is for, and returns its exit code at the end. Every program
/// begins with it.
///
/// How a worker ends is for the process that started it, so nothing watches over it here.
pub fn serve_if_asked() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != NAME || arguments.next().is_some() {
        return None;
    }
    let console = Console::new(ColorChoice::Auto, 0);
    let done = logging::start(&console).and_then(|()| {
        divvy_isolation::worker::run()
            .map(|()| Exit::Success)
            .map_err(|error| Failure::usage(Diagnostic::new(error.to_string())))
    });
    Some(console.finish(done))
}
