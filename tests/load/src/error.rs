//! Errors of measurements.

use std::path::PathBuf;
use std::time::Duration;

use divvy_client::ConnectionError;

/// A measurement that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The API server cannot be reached as configured.
    #[error(transparent)]
    Connection(#[from] ConnectionError),
    /// A request failed.
    #[error("{method} {path} failed")]
    Request {
        /// HTTP method.
        method: String,
        /// Path of the request.
        path: String,
        /// The API server's answer, or the connection's error.
        source: Box<kube::Error>,
    },
    /// The control plane holds objects of others.
    #[error("the control plane at {server} holds {kind} `{name}`, which no measurement created")]
    NotEmpty {
        /// URL of the API server.
        server: String,
        /// Kind of the object.
        kind: &'static str,
        /// Name of the object.
        name: String,
    },
    /// The program that is measured cannot be found.
    #[error("this program does not know its own path, beside which it looks for `divvy`")]
    Program(#[source] std::io::Error),
    /// The runtime cannot be started.
    #[error("the runtime cannot be started")]
    Runtime(#[source] std::io::Error),
    /// The scheduler process cannot be started.
    #[error("the scheduler cannot be started")]
    Start(#[source] std::io::Error),
    /// The scheduler process ended during the measurement.
    #[error("the scheduler ended early; its last output: {0}")]
    Ended(String),
    /// The scheduler did not become ready.
    #[error("the scheduler was not ready within {within:?}; its last output: {words}")]
    NotReady {
        /// Time that it had.
        within: Duration,
        /// The end of its log.
        words: String,
    },
    /// Bindings that were not scheduled in time.
    #[error("{done} of {all} bindings were scheduled within {within:?}; last output of the scheduler: {words}")]
    Late {
        /// Bindings that were scheduled.
        done: usize,
        /// Bindings that were created.
        all: usize,
        /// Time without any progress.
        within: Duration,
        /// The end of the scheduler's log.
        words: String,
    },
    /// A file cannot be written or read.
    #[error("`{path}` cannot be used")]
    File {
        /// The file.
        path: PathBuf,
        /// Cause.
        source: std::io::Error,
    },
    /// The API server in memory cannot listen.
    #[error("the API server in memory cannot listen")]
    Listen(#[source] std::io::Error),
    /// A process whose figures cannot be read.
    #[error("figures of process {0} cannot be read; they come from `/proc`, which only Linux has")]
    Figures(u32),
    /// The measurement was interrupted.
    #[error("interrupted")]
    Interrupted,
}

impl LoadError {
    /// Suggested fix.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Connection(error) => error.hint(),
            Self::NotEmpty { .. } => Some(
                "measurements need a control plane of their own: `tests/control-plane/up DIR` starts one, whose kubeconfig is `DIR/kubeconfig`"
                    .to_owned(),
            ),
            _ => None,
        }
    }
}
