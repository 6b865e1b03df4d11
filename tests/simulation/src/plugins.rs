//! Builds the bundled plugins, and finds their folder.

use std::path::PathBuf;

use crate::error::Error;

/// Builds every bundled plugin, and returns the folder of their libraries.
pub(crate) fn build() -> Result<PathBuf, Error> {
    let bundled = divvy_built::bundled().map_err(|message| Error::Build {
        wanted: "the bundled plugins".to_owned(),
        message: message.to_owned(),
    })?;
    Ok(bundled.plugins.clone())
}
