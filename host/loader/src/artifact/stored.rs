//! The library of an artifact in a folder: an OCI image layout, of which only the blobs are read.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use super::digest::ContentDigest;
use super::document::{DOCUMENT_BYTES_MAX, Descriptor, Document, Platform};
use super::error::ArtifactError;

/// Folder of the blobs in a layout.
pub const BLOBS_FOLDER: &str = "blobs/sha256";

/// A library that is in a folder. Its bytes are not compared with the checksum yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredLibrary {
    /// Its file.
    pub path: PathBuf,
    /// SHA-256 checksum that it must have, in hexadecimal.
    pub checksum: String,
}

/// Finds the library of an artifact for this platform in the first folder that holds the artifact.
///
/// # Errors
///
/// An [`ArtifactError`] if no folder holds it, or if one of the documents between the digest and the library is missing, is not what
/// names it, or is not a plugin's.
pub fn find_artifact<'a>(
    folders: impl IntoIterator<Item = &'a Path>,
    digest: &ContentDigest,
) -> Result<StoredLibrary, ArtifactError> {
    let mut searched = Vec::new();
    for folder in folders {
        let blobs = folder.join(BLOBS_FOLDER);
        let path = blobs.join(digest.hexadecimal());
        if path.symlink_metadata().is_ok() {
            return library(&blobs, &path, digest);
        }
        searched.push(folder.to_owned());
    }
    Err(ArtifactError::NotPulled {
        digest: digest.clone(),
        searched,
    })
}

fn library(blobs: &Path, root: &Path, digest: &ContentDigest) -> Result<StoredLibrary, ArtifactError> {
    let what = format!("`{}`", root.display());
    let bytes = read_document(root, digest, None)?;
    let platform = Platform::own();
    let manifest = match Document::parse(&what, &bytes)? {
        Document::Manifest(manifest) => *manifest,
        Document::Index(index) => {
            let descriptor = index.for_platform(&what, &platform)?;
            let path = blobs.join(descriptor.digest.hexadecimal());
            let bytes = read_document(&path, &descriptor.digest, Some(descriptor.size))?;
            Document::parse_manifest(&format!("`{}`", path.display()), &bytes)?
        }
    };
    let Descriptor { digest, size, .. } = manifest.library(&what)?;
    let path = blobs.join(digest.hexadecimal());
    let file = open_regular(&path).map_err(|error| unreadable(&path, &error))?;
    let actual = file.metadata().map_err(|error| unreadable(&path, &error))?.len();
    if actual != *size {
        return Err(ArtifactError::WrongSize {
            what: format!("`{}`", path.display()),
            expected: *size,
            actual,
        });
    }
    Ok(StoredLibrary {
        path,
        checksum: digest.hexadecimal().to_owned(),
    })
}

fn read_document(path: &Path, digest: &ContentDigest, size: Option<u64>) -> Result<Vec<u8>, ArtifactError> {
    let what = format!("`{}`", path.display());
    let file = open_regular(path).map_err(|error| unreadable(path, &error))?;
    let bytes = read_bounded(&what, file, DOCUMENT_BYTES_MAX)?;
    if let Some(expected) = size.filter(|size| *size != bytes.len() as u64) {
        return Err(ArtifactError::WrongSize {
            what,
            expected,
            actual: bytes.len() as u64,
        });
    }
    let actual = ContentDigest::of(&bytes);
    match actual == *digest {
        true => Ok(bytes),
        false => Err(ArtifactError::WrongDigest {
            what,
            expected: digest.clone(),
            actual,
        }),
    }
}

/// Reads everything, up to a limit.
///
/// # Errors
///
/// An [`ArtifactError`] if there is more, or reading fails.
pub fn read_bounded(what: &str, source: impl Read, limit: u64) -> Result<Vec<u8>, ArtifactError> {
    let mut bytes = Vec::new();
    let read = source.take(limit.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|error| ArtifactError::Unreadable {
        what: what.to_owned(),
        message: error.to_string(),
    })?;
    match bytes.len() as u64 > limit {
        true => Err(ArtifactError::TooLarge {
            what: what.to_owned(),
            limit,
        }),
        false => Ok(bytes),
    }
}

/// Opens a regular file. A pipe would be waited for, so it is not opened as one.
fn open_regular(path: &Path) -> std::io::Result<File> {
    let file = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK, Mode::empty())?;
    let file = File::from(file);
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(std::io::Error::other("it is not a regular file")),
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> ArtifactError {
    ArtifactError::Unreadable {
        what: format!("`{}`", path.display()),
        message: error.to_string(),
    }
}
