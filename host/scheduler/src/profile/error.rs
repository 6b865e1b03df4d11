//! Errors of profile files.

use std::path::PathBuf;

use divvy_documents::{Problem, names};

/// Why a profile could not be read: one variant per cause.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// The file cannot be read.
    #[error("profile `{file}` cannot be read", file = .file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The error of the operating system.
        #[source]
        source: std::io::Error,
    },
    /// Text that is not TOML, keys and values that do not fit, profiles that contradict each other: every problem of the
    /// file, in the order of its lines.
    #[error("{}", .problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Invalid {
        /// The problems, each with its file and line.
        problems: Vec<Problem>,
    },
    /// The file has no profile at all.
    #[error("{file}: no `[[profile]]` table")]
    Empty {
        /// The file.
        file: String,
    },
    /// The file does not have the requested profile.
    #[error("{file}: no profile `{name}`")]
    NoSuchProfile {
        /// The file.
        file: String,
        /// The name.
        name: String,
        /// The profiles of the file.
        known: Vec<String>,
    },
}

impl ProfileError {
    /// Remedy, if one is known. Those of [`Self::Invalid`] are with its problems.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Empty { .. } => Some("`divvy profile show` prints one to start from".to_owned()),
            Self::NoSuchProfile { name, known, .. } => names::hint(name, known),
            Self::Unreadable { .. } | Self::Invalid { .. } => None,
        }
    }
}
