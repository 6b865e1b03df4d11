//! Errors of recordings.

use std::path::PathBuf;

/// Reason why a recording could not be read, one variant per cause.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// The file cannot be read.
    #[error("`{file}` cannot be read", file = .file.display())]
    Unreadable {
        /// Path of the file.
        file: PathBuf,
        /// Error of the operating system.
        #[source]
        source: std::io::Error,
    },
    /// A line is too long, or the whole recording too large once it is unpacked.
    #[error("{file}:{line}: larger than {bytes_max} bytes", file = .file.display())]
    TooLarge {
        /// Path of the file.
        file: PathBuf,
        /// Line number, starting at 1.
        line: usize,
        /// The limit, in bytes.
        bytes_max: u64,
    },
    /// A line is not a valid record.
    #[error("{file}:{line}{}: {message}", after_line(*.column), file = .file.display())]
    Record {
        /// Path of the file.
        file: PathBuf,
        /// Line number, starting at 1.
        line: usize,
        /// Byte of the line at which reading stopped, starting at 1; `None` if the whole line is at fault.
        column: Option<usize>,
        /// Description of the problem.
        message: String,
    },
    /// A case names a fleet that no earlier line defines.
    #[error("{file}:{line}: case `{case}` names fleet `{fleet}`, which no earlier line defines", file = .file.display())]
    UnknownFleet {
        /// Path of the file.
        file: PathBuf,
        /// Line number, starting at 1.
        line: usize,
        /// Name of the case.
        case: String,
        /// Name of the fleet.
        fleet: String,
    },
    /// A case names a version of a table that no earlier line defines.
    #[error("{file}:{line}: case `{case}` names a version of table `{table}` which no earlier line defines", file = .file.display())]
    UnknownTable {
        /// Path of the file.
        file: PathBuf,
        /// Line number, starting at 1.
        line: usize,
        /// Name of the case.
        case: String,
        /// Name of the table.
        table: String,
    },
    /// The file has no cases.
    #[error("`{file}` has no case", file = .file.display())]
    Empty {
        /// Path of the file.
        file: PathBuf,
    },
}

/// Reason why a record could not be written.
#[derive(Debug, thiserror::Error)]
pub enum UnwritableRecord {
    /// The profile cannot be written as TOML.
    #[error(transparent)]
    Profile(#[from] divvy_profile::ProfileError),
    /// The record cannot be written as JSON.
    #[error("a record cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

fn after_line(column: Option<usize>) -> String {
    column.map(|column| format!(":{column}")).unwrap_or_default()
}
