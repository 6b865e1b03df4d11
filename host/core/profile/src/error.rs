//! Errors of profile files.

use std::path::PathBuf;

use divvy_spanned::{Problem, names};

/// Reason why a profile could not be read, one variant per cause.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// The file cannot be read.
    #[error("profile `{file}` cannot be read", file = .file.display())]
    Unreadable {
        /// Path of the file.
        file: PathBuf,
        /// Error of the operating system.
        #[source]
        source: std::io::Error,
    },
    /// The file is not UTF-8 text, as TOML must be.
    #[error("{file}:{line}: the profile is not UTF-8: byte {offset} is not valid", file = .file.display())]
    NotUtf8 {
        /// Path of the file.
        file: PathBuf,
        /// Line of the first byte that is not valid, from 1.
        line: usize,
        /// Offset of that byte.
        offset: usize,
    },
    /// The file is not TOML, has unknown keys or invalid values, or its profiles contradict each other. Lists every
    /// problem of the file, in line order.
    #[error("{}", .problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Invalid {
        /// The problems, each with its file and line.
        problems: Vec<Problem>,
    },
    /// The file has no profiles.
    #[error("{file}: no `[[profile]]` table")]
    Empty {
        /// Name of the file, as messages show it.
        file: String,
    },
    /// The file does not have the requested profile.
    #[error("{file}: no profile `{name}`")]
    NoSuchProfile {
        /// Name of the file, as messages show it.
        file: String,
        /// The requested name.
        name: String,
        /// Names of the profiles in the file.
        known: Vec<String>,
    },
    /// A profile cannot be written as TOML. A profile that was read from a file always can.
    #[error("profile `{name}` cannot be written as TOML")]
    Unwritable {
        /// Name of the profile.
        name: String,
        /// Error of the TOML library.
        #[source]
        source: toml::ser::Error,
    },
}

impl ProfileError {
    /// Suggested fix, if one is known. The problems of [`Self::Invalid`] carry their own.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Empty { .. } => Some("`divvy profile show` prints one to start from".to_owned()),
            Self::NoSuchProfile { name, known, .. } => names::hint(name, known),
            Self::Unreadable { .. } | Self::NotUtf8 { .. } | Self::Invalid { .. } | Self::Unwritable { .. } => None,
        }
    }
}
