//! Processes that never outlive the test that started them.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::Error;

/// Time that a process gets to end by itself after SIGTERM.
const TERMINATION: Duration = Duration::from_secs(30);
/// Lines of a log that an error shows.
const TAIL_LINES: usize = 30;

/// A running process, killed when the value is dropped.
#[derive(Debug)]
pub struct Process {
    name: String,
    log: PathBuf,
    child: Child,
    /// The process ends when this pipe closes, which also happens when the test itself is killed.
    _lifeline: Option<ChildStdin>,
}

/// Standard input of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// A pipe that stays open as long as the [`Process`] exists.
    Lifeline,
    /// Empty.
    Empty,
}

impl Process {
    /// Starts a process. Its standard output and standard error are appended to the file `log`.
    pub fn spawn(name: &str, command: &mut Command, log: &Path, input: Input) -> Result<Self, Error> {
        let mut spawned = || -> std::io::Result<Child> {
            let output = File::options().create(true).append(true).open(log)?;
            let input = match input {
                Input::Lifeline => Stdio::piped(),
                Input::Empty => Stdio::null(),
            };
            command.stdin(input).stdout(output.try_clone()?).stderr(output).spawn()
        };
        let mut child = spawned().map_err(|source| Error::Spawn {
            name: name.to_owned(),
            source,
        })?;
        Ok(Self {
            name: name.to_owned(),
            log: log.to_owned(),
            _lifeline: child.stdin.take(),
            child,
        })
    }

    /// The process ID.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The file with everything that the process printed.
    pub fn log(&self) -> &Path {
        &self.log
    }

    /// The text that the process printed so far; empty if it cannot be read.
    pub fn printed(&self) -> String {
        std::fs::read(&self.log).map_or_else(|_| String::new(), |bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The exit status of a process that has ended; `None` while it runs.
    pub fn exit_status(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Fails if the process has ended, with the end of its log.
    pub fn check_running(&mut self) -> Result<(), Error> {
        if self.exit_status().is_none() {
            return Ok(());
        }
        let printed = self.printed();
        let lines: Vec<&str> = printed.lines().collect();
        Err(Error::Ended {
            name: self.name.clone(),
            log: self.log.clone(),
            tail: lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n"),
        })
    }

    /// Ends the process at once, as `kill -9` does.
    pub fn kill(mut self) {
        self.end();
    }

    /// Sends SIGTERM and waits for the end. Fails if the process is still running after half a minute; it is killed then.
    pub fn terminate(mut self) -> Result<ExitStatus, Error> {
        self.signal(Signal::TERM);
        let start = Instant::now();
        while start.elapsed() < TERMINATION {
            if let Some(status) = self.exit_status() {
                return Ok(status);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Err(Error::Termination {
            name: self.name.clone(),
            seconds: TERMINATION.as_secs(),
        })
    }

    /// Stops the process without ending it; [`Process::resume`] continues it.
    pub fn pause(&self) {
        self.signal(Signal::STOP);
    }

    /// Continues a paused process.
    pub fn resume(&self) {
        self.signal(Signal::CONT);
    }

    /// Releases the process: it keeps running when this program ends.
    pub fn detach(self) -> u32 {
        let id = self.id();
        std::mem::forget(self);
        id
    }

    fn signal(&self, signal: Signal) {
        let id = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(id) = id {
            // It fails only for a process that has ended.
            let _ = kill_process(id, signal);
        }
    }

    fn end(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}
