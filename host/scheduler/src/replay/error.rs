//! What can be wrong with a recording.

use std::path::PathBuf;

/// Why a recording could not be read: one variant a cause, with file and line.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// The file cannot be read.
    #[error("`{file}` cannot be read", file = .file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A line is no record.
    #[error("{file}:{line}: {message}", file = .file.display())]
    Record {
        /// The file.
        file: PathBuf,
        /// The line.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// A case names a fleet that does not stand before it.
    #[error("{file}:{line}: case `{case}` names fleet `{fleet}`, which does not stand before it", file = .file.display())]
    UnknownFleet {
        /// The file.
        file: PathBuf,
        /// The line.
        line: usize,
        /// The case.
        case: String,
        /// The fleet.
        fleet: String,
    },
    /// A file without a single case.
    #[error("`{file}` has no case", file = .file.display())]
    Empty {
        /// The file.
        file: PathBuf,
    },
}
