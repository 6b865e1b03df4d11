//! Reasons why a process could not be confined.

use std::io;
use std::path::PathBuf;

use crate::sandbox::confinement::Missing;

/// Reason why a process could not be confined. It may be confined in part, so it should only report the error and end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// A facility without which nothing is isolated.
    #[error(transparent)]
    Required(#[from] Missing),
    /// A granted file or folder does not exist or cannot be reached.
    #[error("granted path {path:?} cannot be opened: {source}")]
    Grant {
        /// The path, as it was granted.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The process has several threads, but landlock confines only one and what it starts later.
    #[error("the process has {threads} threads before it is confined, expected 1")]
    SeveralThreads {
        /// The number of threads.
        threads: usize,
    },
    /// The number of threads cannot be found out.
    #[error("the threads of the process cannot be counted in /proc/self/task: {source}")]
    ThreadsUnknown {
        /// The cause.
        source: io::Error,
    },
    /// The filter of system calls is not valid.
    #[error("the filter of system calls is not valid: {source}")]
    Filter {
        /// The cause.
        #[from]
        source: seccompiler::BackendError,
    },
    /// Descriptors that the process inherited cannot be closed.
    #[error("inherited descriptors cannot be closed: {source}")]
    Descriptors {
        /// The cause.
        source: io::Error,
    },
}

impl SandboxError {
    /// A remedy, if one is known.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Required(missing) => missing.hint(),
            Self::Grant { .. } => Some("every path in `read` must exist when the plugin is started"),
            Self::ThreadsUnknown { .. } => Some("isolation needs /proc"),
            _ => None,
        }
    }
}
