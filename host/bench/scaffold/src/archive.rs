//! The files that the build script packed.

use std::collections::BTreeMap;
use std::io::Read;

use flate2::read::GzDecoder;

use crate::error::ScaffoldError;
use crate::manifest::self_contained;

const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/files.gz"));

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
    let mut unpacked = String::new();
    GzDecoder::new(PACKED).read_to_string(&mut unpacked)?;
    // Paths and texts take turns, and each ends with a NUL, which no text has.
    let mut parts = unpacked.split_terminator('\0').map(str::to_owned);
    let mut files = Files::new();
    while let Some(path) = parts.next() {
        let text = parts.next().ok_or(std::io::ErrorKind::UnexpectedEof)?;
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
