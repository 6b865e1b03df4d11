//! Cost of a cycle as instructions: callgrind counts them, and a file has the counts that are accepted.
//!
//! ```sh
//! tests/instructions/count
//! SNAPSHOTS=overwrite tests/instructions/count
//! ```
//!
//! The first command fails if a count is more than 2 % above that in `counts.txt`, the second one accepts the present counts. README.md
//! describes what is counted. A time would not do: on a shared machine, it varies by far more than what is looked for.
//!
//! - `cases`: the cases, by kind and size.
//! - `cycles`: this program under callgrind, with real plugins.
//! - `callgrind`: runs it, and reads the counts.
//! - `counts`: the file, and the comparison with it.

mod callgrind;
mod cases;
mod counts;
mod cycles;

use std::process::ExitCode;

use counts::{Accepted, Count, Differences};

/// Arguments with which this program is a process of its own: the cycles under callgrind, and the worker of an isolated plugin.
const CYCLES: &str = "cycles";
const WORKER: &str = "plugin-worker";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments[..] {
        [] => check(),
        [CYCLES, kind, recording] => cycles::run(kind, recording.as_ref()),
        [WORKER] => divvy_isolation::worker::run().map_err(|error| error.to_string()),
        _ => Err("this program takes no arguments; see tests/instructions/README.md".to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// Counts every case, and compares with the file or writes it.
fn check() -> Result<(), String> {
    let conditions = counts::conditions(&callgrind::version()?);
    let folder = tempfile::tempdir().map_err(|error| format!("a folder for callgrind's output: {error}"))?;
    let recording = cases::reduced_recording(folder.path())?;
    let mut counted: Vec<Count> = Vec::new();
    for kind in cases::KINDS {
        counted.extend(callgrind::count(kind, &recording, folder.path())?);
    }
    for count in &counted {
        println!("{count}");
    }
    if std::env::var_os("SNAPSHOTS").is_some_and(|action| action == "overwrite") {
        return Accepted::new(conditions, &counted).write();
    }
    let Differences { failures, notes } = Accepted::read()?.compare(&conditions, &counted);
    for note in notes {
        println!("{note}");
    }
    match failures.is_empty() {
        true => Ok(()),
        false => Err(failures.join("\n")),
    }
}
