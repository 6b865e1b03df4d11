//! Errors of creating a plugin.

use std::io;
use std::path::PathBuf;

/// Reason why no plugin was created. Nothing is left behind.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScaffoldError {
    /// The folder exists, so its files could be lost.
    #[error("`{}` already exists", folder.display())]
    Exists {
        /// The folder.
        folder: PathBuf,
    },
    /// A path that a manifest has to name is not UTF-8.
    #[error("`{}` is not UTF-8, so that Cargo.toml cannot name it", path.display())]
    PathNotUtf8 {
        /// The path.
        path: PathBuf,
    },
    /// The given path of the SDK does not lead to one.
    #[error("`{}` is not a checkout of Divvy: it has no `framework/Cargo.toml`", path.display())]
    NotACheckout {
        /// The path.
        path: PathBuf,
    },
    /// A file or folder could not be written.
    #[error("`{}` cannot be written", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The archive in the binary cannot be read.
    #[error("the templates in the binary are damaged")]
    Damaged {
        /// The cause.
        source: io::Error,
    },
}
