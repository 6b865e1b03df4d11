//! Finds and runs the binary of the scheduler.

use std::ffi::{OsStr, OsString};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;

use super::error::HostError;

/// Environment variable with the path of the binary.
const VARIABLE: &str = "DIVVY";

/// The program `divvy`.
#[derive(Debug)]
pub(super) struct Binary {
    program: PathBuf,
    /// True if the environment variable names it.
    is_named: bool,
}

/// Output of a run of the scheduler.
#[derive(Debug)]
pub(super) struct Printed {
    /// The command, as a person would write it.
    pub(super) command: String,
    pub(super) status: ExitStatus,
    pub(super) output: String,
    pub(super) messages: String,
}

impl Binary {
    /// The binary that the environment variable `DIVVY` names, otherwise `divvy` on the PATH.
    pub(super) fn find() -> Self {
        Self::named(std::env::var_os(VARIABLE))
    }

    /// The binary that this value of the environment variable names.
    pub(super) fn named(value: Option<OsString>) -> Self {
        match value.filter(|value| !value.is_empty()) {
            // A path is relative to the folder of the test, regardless of the folder of the command.
            Some(value) if value.to_string_lossy().contains('/') => Self {
                program: std::path::absolute(&value).unwrap_or_else(|_| value.into()),
                is_named: true,
            },
            Some(value) => Self {
                program: value.into(),
                is_named: true,
            },
            None => Self {
                program: "divvy".into(),
                is_named: false,
            },
        }
    }

    /// Runs the binary in a folder, with `input` as standard input.
    pub(super) fn run(&self, folder: &Path, arguments: &[OsString], input: &str) -> Result<Printed, HostError> {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(folder);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|source| self.not_started(source))?;
        let standard_input = child.stdin.take();
        let ended = thread::scope(|scope| {
            // In a thread of its own: the program may print before it has read everything.
            scope.spawn(|| {
                // A program that stops reading reports the reason itself.
                let _ = standard_input.map(|mut pipe| pipe.write_all(input.as_bytes()));
            });
            child.wait_with_output()
        });
        let ended = ended.map_err(|source| self.not_started(source))?;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ok(Printed {
            command: written(&self.program, arguments),
            status: ended.status,
            output: text(ended.stdout),
            messages: text(ended.stderr),
        })
    }

    fn not_started(&self, source: std::io::Error) -> HostError {
        let program = self.program.clone();
        match source.kind() {
            ErrorKind::NotFound => HostError::BinaryMissing {
                program,
                is_named: self.is_named,
            },
            _ => HostError::NotStarted { program, source },
        }
    }
}

impl Printed {
    /// The run as an error, with everything that it printed.
    pub(super) fn refused(self) -> HostError {
        let mut message = self.messages;
        message.push_str(&self.output);
        HostError::Refused {
            command: self.command,
            status: self.status,
            message,
        }
    }
}

/// A command as a person would write it.
pub(super) fn written(program: &Path, arguments: &[OsString]) -> String {
    let program = program.file_name().unwrap_or(program.as_os_str());
    let words = std::iter::once(program).chain(arguments.iter().map(OsString::as_os_str));
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}
