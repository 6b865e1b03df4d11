//! What can be wrong with a profile file.

use std::path::PathBuf;

use divvy_framework::configuration::{ValueError, nearest};

/// Why a profile could not be read: one variant a cause, with file and line.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// The file cannot be read.
    #[error("profile `{file}` cannot be read", file = .file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The file is no TOML.
    #[error("{file}:{line}: {message}")]
    Syntax {
        /// The file.
        file: String,
        /// The line.
        line: usize,
        /// What the parser says.
        message: String,
    },
    /// A key or value does not fit.
    #[error("{file}:{line}: {error}")]
    Value {
        /// The file.
        file: String,
        /// The line.
        line: usize,
        /// What does not fit, with its path.
        error: ValueError,
    },
    /// The file has no profile at all.
    #[error("{file}: no `[[profile]]` table")]
    Empty {
        /// The file.
        file: String,
    },
    /// Two profiles of one name.
    #[error("{file}:{line}: a second profile `{name}`")]
    DuplicateProfile {
        /// The file.
        file: String,
        /// The line of the second.
        line: usize,
        /// The name.
        name: String,
    },
    /// A profile that extends one that does not stand before it.
    #[error("{file}:{line}: extends `{base}`, which is no profile above it")]
    UnknownBase {
        /// The file.
        file: String,
        /// The line.
        line: usize,
        /// The name.
        base: String,
        /// The profiles above it.
        known: Vec<String>,
    },
    /// The file does not have the profile asked for.
    #[error("{file}: no profile `{name}`")]
    NoSuchProfile {
        /// The file.
        file: String,
        /// The name.
        name: String,
        /// The profiles that it has.
        known: Vec<String>,
    },
}

impl ProfileError {
    /// What would help, if it is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Value { error, .. } => error.hint(),
            Self::Empty { .. } => Some("`divvy profile show` prints one to start from".to_owned()),
            Self::UnknownBase { base, known, .. } | Self::NoSuchProfile { name: base, known, .. } => {
                match nearest(base, known.iter().map(String::as_str)) {
                    Some(nearest) => Some(format!("did you mean `{nearest}`?")),
                    None if known.is_empty() => None,
                    None => Some(format!("known: {}", known.join(", "))),
                }
            }
            _ => None,
        }
    }
}
