//! Errors of isolated plugins, one variant per cause.

use std::path::PathBuf;
use std::time::Duration;

/// Reason why an isolated plugin gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IsolationError {
    /// This system cannot isolate plugins.
    #[error("plugins cannot be isolated here: {reason}")]
    Unavailable {
        /// What is missing.
        reason: String,
    },
    /// The worker's program could not be started.
    #[error("the worker `{program}` cannot be started: {reason}", program = .program.display())]
    NotStarted {
        /// Path of the program.
        program: PathBuf,
        /// Error of the operating system.
        reason: String,
        /// True if processes, threads or memory have run out, which a worker that was ended may have had.
        is_exhausted: bool,
    },
    /// The worker could not confine itself.
    #[error("the worker cannot be confined: {reason}")]
    NotConfined {
        /// What is missing.
        reason: String,
        /// A remedy, if one is known.
        hint: Option<String>,
    },
    /// The worker could not open the library.
    #[error("{message}")]
    NotOpened {
        /// The loader's error.
        message: String,
        /// The loader's hint, if it has one.
        hint: Option<String>,
    },
    /// The worker cannot be asked for the operation: a path is not UTF-8, or the request is too large.
    #[error("its worker cannot be asked to {operation}: {reason}")]
    NotAsked {
        /// What it was to do.
        operation: Operation,
        /// Why the request cannot be written.
        reason: String,
    },
    /// The worker ended during the operation.
    #[error("its worker {ending} while it was to {operation}")]
    Died {
        /// How it ended.
        ending: Ending,
        /// What it was doing.
        operation: Operation,
    },
    /// The worker did not answer in time, and was ended.
    #[error("its worker did not {operation} within {}", seconds(*.deadline))]
    Late {
        /// The time that it had.
        deadline: Duration,
        /// What it was doing.
        operation: Operation,
    },
    /// The worker answered with what no worker writes, and was ended.
    #[error("its worker broke the protocol when it was to {operation}: {reason}")]
    Protocol {
        /// What was wrong.
        reason: &'static str,
        /// What it was doing.
        operation: Operation,
    },
    /// The worker used more memory than it may, and was ended.
    #[error("its worker used {} MiB of memory, {} are allowed, and was ended when it was to {operation}", .bytes >> 20, .limit >> 20)]
    Memory {
        /// Bytes that it used.
        bytes: u64,
        /// Bytes that it may use.
        limit: u64,
        /// What it was doing.
        operation: Operation,
    },
    /// The worker had more threads than it may, and was ended.
    #[error("its worker had {threads} threads, {limit} are allowed, and was ended when it was to {operation}")]
    Threads {
        /// Threads that it had.
        threads: u64,
        /// Threads that it may have.
        limit: u64,
        /// What it was doing.
        operation: Operation,
    },
    /// The worker used the processors between its calls, and was ended.
    #[error(
        "its worker used {} of processor time beyond half a processor between its calls, and was ended when it was to {operation}",
        seconds(*.time)
    )]
    Processors {
        /// Processor time that it may use beyond half a processor.
        time: Duration,
        /// What it was doing.
        operation: Operation,
    },
    /// The call is larger than the largest exchange.
    #[error("the call does not fit into {bytes} bytes of shared memory")]
    TooLarge {
        /// Size of the largest exchange.
        bytes: usize,
    },
}

impl IsolationError {
    pub(crate) fn not_asked(operation: Operation, error: &dyn std::error::Error) -> Self {
        Self::NotAsked {
            operation,
            reason: error.to_string(),
        }
    }

    /// True if the worker's process ended, or was ended, while it was asked for something.
    pub fn ended_worker(&self) -> bool {
        matches!(
            self,
            Self::Died { .. }
                | Self::Late { .. }
                | Self::Protocol { .. }
                | Self::Memory { .. }
                | Self::Threads { .. }
                | Self::Processors { .. }
        )
    }

    /// True if the next process of the worker can be expected to end in the same way: the plugin hung when it was opened or constructed
    /// again, as it had been before, or its processes have too much again and again while they are asked for nothing.
    pub fn is_lasting(&self) -> bool {
        let is_constructing = |operation: &Operation| matches!(operation, Operation::Open | Operation::Construct);
        matches!(self, Self::Late { operation, .. } if is_constructing(operation)) || self.is_of_rest()
    }

    /// True if the worker was ended while it was asked for nothing.
    pub(crate) fn is_of_rest(&self) -> bool {
        match self {
            Self::Memory { operation, .. } | Self::Threads { operation, .. } | Self::Processors { operation, .. } => {
                *operation == Operation::Rest
            }
            _ => false,
        }
    }

    /// A remedy, if one is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unavailable { .. } => Some(
                "if you trust the plugin as you trust divvy itself, set `isolation = \"none\"` for it in the profile"
                    .to_owned(),
            ),
            Self::NotConfined { hint, .. } | Self::NotOpened { hint, .. } => hint.clone(),
            _ => None,
        }
    }
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It exited with this code.
    Code(i32),
    /// It was ended by this signal.
    Signal(i32),
    /// The system did not say.
    Unknown,
}

impl std::fmt::Display for Ending {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Code(code) => write!(formatter, "exited with code {code}"),
            Self::Signal(signal) => match signal_name(*signal) {
                Some(name) => write!(formatter, "was ended by {name}"),
                None => write!(formatter, "was ended by signal {signal}"),
            },
            Self::Unknown => formatter.write_str("ended"),
        }
    }
}

/// Names of the signals by which programs end.
fn signal_name(signal: i32) -> Option<&'static str> {
    Some(match signal {
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        25 => "SIGXFSZ",
        31 => "SIGSYS",
        _ => return None,
    })
}

/// What a worker does for its host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// It confines itself, before it opens anything.
    Start,
    /// It opens the library.
    Open,
    /// It constructs a plugin.
    Construct,
    /// It answers a call.
    Call,
    /// It waits for the next call.
    Rest,
}

impl std::fmt::Display for Operation {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Start => "start",
            Self::Open => "open the library",
            Self::Construct => "construct the plugin",
            Self::Call => "answer a call",
            Self::Rest => "wait for the next call",
        })
    }
}

fn seconds(duration: Duration) -> String {
    match duration.subsec_millis() {
        0 => format!("{} s", duration.as_secs()),
        _ => format!("{} ms", duration.as_millis()),
    }
}
