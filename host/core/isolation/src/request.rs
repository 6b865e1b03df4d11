//! What the host asks of a worker beside calls: a library to open, and a plugin to construct.

use std::path::PathBuf;

use divvy_loader::LibraryDescription;
use serde::{Deserialize, Serialize};

/// A library that a worker may open.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct WorkerLibrary {
    /// Absolute path of the file.
    pub path: PathBuf,
    /// True if it is opened from a private copy, because the file may change.
    pub is_copied: bool,
}

/// A library for a worker to open, and the conditions under which it may.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LibraryRequest {
    /// Absolute path of the library.
    pub path: PathBuf,
    /// Name of the plugin; `None` for the only one.
    pub name: Option<String>,
    /// SHA-256 checksum that the file must have.
    pub checksum: String,
    /// True if the bytes are to be opened from a private copy, which the worker made when it started.
    pub is_copied: bool,
    /// True if a library without a certificate is allowed.
    pub allow_uncertified: bool,
}

/// What a worker answers to a [`LibraryRequest`].
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Opened {
    /// The library, by the worker's own number.
    Library {
        number: u64,
        description: Box<LibraryDescription>,
    },
    /// The loader's error.
    Refused { message: String, hint: Option<String> },
}

/// What a worker needs to construct a plugin.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Construction {
    /// Number of the library.
    pub(crate) library: u64,
    /// Configuration, a JSON object.
    pub(crate) configuration: String,
}
