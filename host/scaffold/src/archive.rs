//! The files that the build script packed.

use std::collections::BTreeMap;
use std::io::Read;

use flate2::read::GzDecoder;

use crate::error::ScaffoldError;
use crate::manifest::self_contained;

const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/files.tar.gz"));

/// Path of the workspace's manifest in the archive.
const WORKSPACE: &str = "workspace/Cargo.toml";

/// Files by path, as text: sources, manifests and documents.
pub(crate) type Files = BTreeMap<String, String>;

/// Unpacks everything. The manifests of the SDK no longer inherit from the workspace.
///
/// # Errors
///
/// An error only if the archive in the binary is damaged.
pub(crate) fn unpack() -> Result<Files, ScaffoldError> {
    read().map_err(|source| ScaffoldError::Damaged { source })
}

fn read() -> std::io::Result<Files> {
    let mut archive = tar::Archive::new(GzDecoder::new(PACKED));
    let mut files = Files::new();
    for entry in archive.entries()? {
        let mut entry = entry?;
        let path = entry.path()?.to_string_lossy().into_owned();
        let mut text = String::new();
        entry.read_to_string(&mut text)?;
        files.insert(path, text);
    }
    let workspace = files.remove(WORKSPACE).ok_or(std::io::ErrorKind::NotFound)?;
    for (path, text) in &mut files {
        if path.starts_with("sdk/") && path.ends_with("/Cargo.toml") {
            *text = self_contained(text, &workspace)?;
        }
    }
    Ok(files)
}
