//! Errors of the command.

use std::path::PathBuf;

/// A simulation that cannot be run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// A profile or its plugins cannot be loaded.
    #[error("the profiles cannot be loaded: {0}")]
    Profile(String),
    /// Cargo cannot be run, or does not build what is needed.
    #[error("cargo does not build {wanted}: {message}")]
    Build {
        /// The wanted artifact.
        wanted: String,
        /// Cargo's messages.
        message: String,
    },
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A planted bug does not apply to the sources.
    #[error("bug `{bug}`: {} contains {count} times, expected once:\n{from}", file.display())]
    Patch {
        /// Name of the bug.
        bug: &'static str,
        /// The file.
        file: PathBuf,
        /// Occurrences of the text.
        count: usize,
        /// The text.
        from: &'static str,
    },
    /// A runtime cannot be built.
    #[error("the runtime cannot be built: {0}")]
    Runtime(std::io::Error),
    /// Lives broke rules.
    #[error("{0}")]
    Broken(String),
}
