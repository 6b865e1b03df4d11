//! Reasons why an artifact is refused.

use std::path::PathBuf;

use super::digest::ContentDigest;
use super::document::{MANIFESTS_MAX, Platform};

/// Reason why an artifact is refused, one variant per cause. `what` names the document or blob.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArtifactError {
    /// No folder holds it.
    #[error("the artifact {digest} is in none of the folders {}", quoted(.searched))]
    NotPulled {
        /// Digest of the manifest or index.
        digest: ContentDigest,
        /// The folders.
        searched: Vec<PathBuf>,
    },
    /// A file cannot be read.
    #[error("{what} cannot be read: {message}")]
    Unreadable {
        /// The file.
        what: String,
        /// Message of the system.
        message: String,
    },
    /// It has more bytes than are read.
    #[error("{what} is too large: expected at most {limit} bytes")]
    TooLarge {
        /// The content.
        what: String,
        /// The limit.
        limit: u64,
    },
    /// It has another size than what refers to it says.
    #[error("{what} has another size than is said of it: expected {expected} bytes, found {actual}")]
    WrongSize {
        /// The content.
        what: String,
        /// The size that is said.
        expected: u64,
        /// Bytes that were found, or read before it was given up.
        actual: u64,
    },
    /// It has another digest than what refers to it says.
    #[error("{what} has another digest: expected {expected}, found {actual}")]
    WrongDigest {
        /// The content.
        what: String,
        /// The digest that is said.
        expected: ContentDigest,
        /// The digest of what was read.
        actual: ContentDigest,
    },
    /// It is of another type.
    #[error("{what} has another {field}: expected `{expected}`, found `{actual}`")]
    WrongMediaType {
        /// The document.
        what: String,
        /// Its field.
        field: &'static str,
        /// The type of a plugin.
        expected: String,
        /// The type that it has.
        actual: String,
    },
    /// It is not a manifest or an index.
    #[error("{what} is neither a manifest nor an index: {message}")]
    InvalidDocument {
        /// The document.
        what: String,
        /// The problem.
        message: String,
    },
    /// It has several layers, or none.
    #[error("{what} has {found} layers, expected one: the library")]
    WrongLayers {
        /// The manifest.
        what: String,
        /// Number of layers.
        found: usize,
    },
    /// It has no library for a platform.
    #[error("{what} has no library for {expected}; it has one for {}", platforms(.found))]
    NoPlatform {
        /// The index or manifest.
        what: String,
        /// The platform.
        expected: Platform,
        /// Those that it has a library for.
        found: Vec<Platform>,
    },
    /// It has several libraries for a platform.
    #[error("{what} has several libraries for {platform}, expected one")]
    SeveralForPlatform {
        /// The index.
        what: String,
        /// The platform.
        platform: Platform,
    },
    /// It has too many manifests.
    #[error("{what} has {actual} manifests, expected at most {MANIFESTS_MAX}")]
    TooManyManifests {
        /// The index.
        what: String,
        /// Number of manifests.
        actual: usize,
    },
}

impl ArtifactError {
    /// Suggested fix, if one is known. `reference` names the artifact.
    pub fn hint(&self, reference: &str) -> Option<String> {
        match self {
            Self::NotPulled { .. } => Some(format!(
                "pull it into one of them: `divvy plugin pull {reference} --into FOLDER`; a folder is named by `plugin-directories`, \
                 `--plugin-directory` or DIVVY_PLUGIN_PATH"
            )),
            Self::WrongDigest { .. } | Self::WrongSize { .. } | Self::TooLarge { .. } | Self::Unreadable { .. } => {
                Some(format!(
                    "someone changed it, or it was not copied as a whole; pull it again: `divvy plugin pull {reference} --into FOLDER`"
                ))
            }
            Self::NoPlatform { expected, .. } => Some(format!("ask its author for a build for {expected}")),
            _ => None,
        }
    }
}

fn quoted(folders: &[PathBuf]) -> String {
    let quoted: Vec<String> = folders.iter().map(|folder| format!("`{}`", folder.display())).collect();
    quoted.join(", ")
}

fn platforms(found: &[Platform]) -> String {
    match found {
        [] => "none".to_owned(),
        found => found.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
    }
}
