//! A check in a child process, which may crash, hang or exit.
//!
//! The child is this program with other arguments. It reports its progress on its standard output, one JSON object per
//! line; its program keeps that stream for itself, so that what a plugin prints ends up in its standard error.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::case::Case;
use crate::check::{Outcome, SEARCH};
pub use crate::subject::Loaded;

/// Message of a child.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "event")]
pub enum Event {
    /// The plugin was loaded.
    Loaded(Loaded),
    /// A case begins.
    #[serde(rename_all = "camelCase")]
    Begins {
        /// Number of the case, from 0.
        case: u64,
    },
    /// The requested case.
    Case(Case),
    /// The check has ended.
    #[serde(rename_all = "camelCase")]
    Done {
        /// Its result.
        outcome: Outcome,
        /// Peak memory of the child, in bytes; 0 if it is not known.
        peak_bytes: u64,
    },
}

/// A program to run as a child.
#[derive(Debug, Clone)]
pub struct Program {
    /// The program.
    pub path: PathBuf,
    /// Arguments of every child.
    pub arguments: Vec<OsString>,
    /// Variables of every child; those of this process if absent.
    pub environment: Option<Vec<(OsString, OsString)>>,
    /// Memory that a child may have.
    pub memory: Option<MemoryLimit>,
    /// Time without progress after which a child counts as hanging.
    pub patience: Duration,
    /// Time after which a child is ended, whatever progress it reports.
    pub longest: Duration,
    /// Maximum number of cases of a step. A child that reports more of them reports no progress.
    pub cases: u64,
}

/// A bound of a child's memory, which is looked at as long as the child runs.
#[derive(Debug, Clone, Copy)]
pub struct MemoryLimit {
    /// Bytes that it may have.
    pub bytes: u64,
    /// Bytes that the process with a number has; `None` if they are not known.
    pub of: fn(u32) -> Option<u64>,
}

/// Time between two looks at the memory of a child.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// Time for the messages that a child had written before it was ended. What it has started may go on writing.
const AFTERWARDS: Duration = Duration::from_millis(200);

/// Bytes of the longest message: that with the largest case, of 100,000 clusters.
const MESSAGE_BYTES: u64 = 512 << 20;

/// Messages that are kept until they are taken.
const WAITING: usize = 16;

/// What a child has reported. Whoever has its standard output can write messages without end: the plugin, or a process that it has started.
#[derive(Debug, Default)]
struct Progress {
    /// The case that was begun last.
    case: Option<u64>,
    /// The time of the first message that this case begins again: a smaller one that fails as well is searched.
    search: Option<Instant>,
    /// True if there was an answer.
    has_answered: bool,
}

impl Progress {
    /// True if a message at this time is further progress in a step of at most `cases` cases.
    fn takes(&mut self, event: &Event, cases: u64, now: Instant) -> bool {
        if self.has_answered {
            return false;
        }
        let Event::Begins { case } = event else {
            self.has_answered = true;
            return true;
        };
        match self.case {
            Some(known) if known == *case => now.saturating_duration_since(*self.search.get_or_insert(now)) <= SEARCH,
            Some(known) if known > *case => false,
            _ if *case >= cases => false,
            _ => {
                (self.case, self.search) = (Some(*case), None);
                true
            }
        }
    }
}

/// Reason why a child is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Excess {
    /// It makes no progress.
    Silence,
    /// It has had all of its time.
    Time,
    /// It has more memory than it may.
    Memory,
}

/// End of a child.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// It finished its step.
    Done {
        /// Its last message.
        last: Event,
        /// Time that it took.
        took: Duration,
    },
    /// It refused its arguments or the plugin, with exit code 2 and this text.
    Refused(String),
    /// It ended before it was done, or failed afterwards.
    Died {
        /// The cause, in words.
        how: String,
        /// The case that it had begun last.
        case: Option<u64>,
        /// The result of the check, if the child had ended it.
        last: Option<Event>,
        /// The end of what it wrote to standard error.
        said: String,
        /// Time that it took.
        took: Duration,
    },
}

/// The child could not be started.
#[derive(Debug, thiserror::Error)]
#[error("the check cannot be started")]
pub struct NotStarted(#[from] std::io::Error);

/// Exit code with which a child refuses its arguments, its profile or the plugin.
const REFUSED: i32 = 2;

/// Bytes of standard error that are kept, from its end.
const KEPT_BYTES: usize = 4_096;

impl Program {
    /// The same, whose children have the variables of this process.
    #[must_use]
    pub fn with_environment(self) -> Self {
        Self {
            environment: None,
            ..self
        }
    }

    /// Runs a child with further arguments and waits until it ends.
    ///
    /// # Errors
    ///
    /// [`NotStarted`]. Everything that goes wrong later is an [`End`].
    pub fn run(&self, further: &[OsString]) -> Result<End, NotStarted> {
        let started = Instant::now();
        let mut command = Command::new(&self.path);
        command
            .args(&self.arguments)
            .args(further)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(environment) = &self.environment {
            command.env_clear().envs(environment.iter().cloned());
        }
        let mut child = command.spawn()?;
        let events = events(&mut child);
        let said = said(&mut child);
        let (mut last, mut progress) = (None, Progress::default());
        let mut take = |event: Event| {
            let is_progress = progress.takes(&event, self.cases, Instant::now());
            if is_progress && !matches!(event, Event::Begins { .. }) {
                last = Some(event);
            }
            is_progress
        };
        let (mut heard, mut looked) = (Instant::now(), Instant::now());
        let mut excess = loop {
            let left = self.patience.saturating_sub(heard.elapsed());
            let left = left.min(self.longest.saturating_sub(started.elapsed()));
            match events.recv_timeout(self.memory.map_or(left, |_| left.min(BETWEEN_LOOKS))) {
                Ok(event) => {
                    if take(event) {
                        heard = Instant::now();
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break None,
            }
            if heard.elapsed() >= self.patience {
                break Some(Excess::Silence);
            }
            if started.elapsed() >= self.longest {
                break Some(Excess::Time);
            }
            if looked.elapsed() >= BETWEEN_LOOKS {
                looked = Instant::now();
                if self.is_too_large(&child) {
                    break Some(Excess::Memory);
                }
            }
        };
        let status = match excess {
            Some(_) => Ok(None),
            None => self.wait(&mut child, &mut excess),
        };
        if !matches!(status, Ok(Some(_))) {
            // Killing a child that has just ended by itself fails, which does not matter.
            let _ended = child.kill();
            let _status = child.wait();
        }
        let took = started.elapsed();
        // What it had said before it was ended.
        let until = Instant::now() + AFTERWARDS;
        while let Ok(event) = events.recv_timeout(until.saturating_duration_since(Instant::now())) {
            let _is_progress = take(event);
            if Instant::now() >= until {
                break;
            }
        }
        let said = said.recv_timeout(Duration::from_secs(1)).unwrap_or_default();
        Ok(match (status, last) {
            (Ok(Some(status)), Some(last)) if status.success() => End::Done { last, took },
            (Ok(Some(status)), None) if status.code() == Some(REFUSED) => End::Refused(said),
            (status, last) => End::Died {
                how: match (excess, self.memory) {
                    (Some(Excess::Time), _) => format!("no end within {} s", self.longest.as_secs()),
                    (_, Some(limit)) if excess == Some(Excess::Memory) || limit.was_refused(&said) => {
                        format!("more than {} MiB of memory are needed", limit.bytes >> 20)
                    }
                    _ => how(status, last.is_some(), self.patience),
                },
                case: progress.case,
                last,
                said,
                took,
            },
        })
    }

    /// Waits until a child ends; `None` if it does not in time, or has too much meanwhile. An error if the system does not say.
    fn wait(&self, child: &mut Child, excess: &mut Option<Excess>) -> std::io::Result<Option<ExitStatus>> {
        let deadline = Instant::now() + self.patience;
        loop {
            match child.try_wait() {
                Ok(None) if Instant::now() < deadline => {}
                ended => return ended,
            }
            if self.is_too_large(child) {
                *excess = Some(Excess::Memory);
                return Ok(None);
            }
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// True if a child has more memory than it may.
    fn is_too_large(&self, child: &Child) -> bool {
        self.memory
            .is_some_and(|limit| (limit.of)(child.id()).is_some_and(|bytes| bytes > limit.bytes))
    }
}

impl MemoryLimit {
    /// True if the system refused a child memory at once that it may not have, as Rust's standard library says it.
    fn was_refused(&self, said: &str) -> bool {
        let mut lines = said.lines().rev();
        let line = lines.find(|line| line.starts_with("memory allocation of "));
        let bytes = line.and_then(|line| line.split_whitespace().nth(3)?.parse::<u64>().ok());
        bytes.is_some_and(|bytes| bytes > self.bytes / 2)
    }
}

/// The messages of a child, line by line. Lines that are not events are left out.
fn events(child: &mut Child) -> Receiver<Event> {
    let (send, receive) = mpsc::sync_channel(WAITING);
    if let Some(output) = child.stdout.take() {
        thread::spawn(move || {
            each_line(BufReader::new(output), MESSAGE_BYTES, |line| {
                let Ok(event) = serde_json::from_slice(line) else {
                    return true;
                };
                send.send(event).is_ok()
            });
        });
    }
    receive
}

/// Hands over lines until `take` returns false, reading ends or a line has more than `most` bytes.
fn each_line(mut from: impl BufRead, most: u64, mut take: impl FnMut(&[u8]) -> bool) {
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = from.by_ref().take(most).read_until(b'\n', &mut line);
        let is_cut = line.len() as u64 == most && !line.ends_with(b"\n");
        if !read.is_ok_and(|count| count > 0) || is_cut || !take(&line) {
            return;
        }
    }
}

/// The end of what a child writes to standard error, once it has ended.
fn said(child: &mut Child) -> Receiver<String> {
    let (send, receive) = mpsc::channel();
    if let Some(mut errors) = child.stderr.take() {
        thread::spawn(move || {
            let mut kept = Vec::new();
            let mut buffer = [0; 4_096];
            while let Ok(count) = errors.read(&mut buffer)
                && count > 0
            {
                kept.extend_from_slice(buffer.get(..count).unwrap_or_default());
                let excess = kept.len().saturating_sub(KEPT_BYTES);
                kept.drain(..excess);
            }
            let _received = send.send(String::from_utf8_lossy(&kept).into_owned());
        });
    }
    receive
}

/// The cause of a child's death, in words.
fn how(status: std::io::Result<Option<ExitStatus>>, is_done: bool, patience: Duration) -> String {
    let when = if is_done { " after the check had ended" } else { "" };
    let status = match status {
        Ok(Some(status)) => status,
        Ok(None) if is_done => {
            return format!(
                "the process did not end within {} s after the check",
                patience.as_secs()
            );
        }
        Ok(None) => return format!("no answer within {} s", patience.as_secs()),
        Err(error) => return format!("the system does not say how the process ended: {error}"),
    };
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("the process was killed by {}{when}", signal_name(signal)),
        (None, Some(code)) if !is_done => format!("the process ended with exit code {code} in the middle of the check"),
        (None, code) => format!("the process ended with exit code {}{when}", code.unwrap_or(-1)),
    }
}

/// The name of a signal.
fn signal_name(signal: i32) -> String {
    let known = [
        (4, "SIGILL"),
        (5, "SIGTRAP"),
        (6, "SIGABRT"),
        (7, "SIGBUS"),
        (8, "SIGFPE"),
        (9, "SIGKILL"),
        (11, "SIGSEGV"),
        (15, "SIGTERM"),
    ];
    let found = known.iter().find(|(number, _)| *number == signal);
    found.map_or_else(|| format!("signal {signal}"), |(_, name)| (*name).to_owned())
}

#[cfg(test)]
mod tests;
