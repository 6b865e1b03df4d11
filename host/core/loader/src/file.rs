//! The bytes of a library's file, which is neither opened nor believed: its headers, its records and its checksum.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use divvy_framework_abi::section::{PluginRecord, SECTION_NAME};
use object::{Object, ObjectSection};
use ring::digest::{SHA256, digest};

use crate::error::LoadError;

/// Largest library that is read. For comparison, a debug build of a plugin has 23 MB.
const LIBRARY_BYTES_MAX: u64 = 1 << 30;

/// The bytes of a library's file.
#[derive(Debug)]
pub(crate) struct LibraryFile {
    path: PathBuf,
    bytes: Vec<u8>,
    /// Made when it is first asked for: a library of 20 MB takes longer to hash than to read.
    checksum: OnceLock<String>,
}

impl LibraryFile {
    /// Reads a file.
    pub(crate) fn read(path: &Path) -> Result<Self, LoadError> {
        let path = std::path::absolute(path).map_err(|source| LoadError::FileUnreadable {
            path: path.to_owned(),
            source,
        })?;
        let unreadable = |source: std::io::Error| match source.kind() {
            std::io::ErrorKind::NotFound => LoadError::FileMissing { path: path.clone() },
            _ => LoadError::FileUnreadable {
                path: path.clone(),
                source,
            },
        };
        // Reading a device or a pipe may never end. A folder is refused when it is read.
        let metadata = fs::metadata(&path).map_err(unreadable)?;
        let actual = match metadata.is_file() || metadata.is_dir() {
            true if metadata.len() <= LIBRARY_BYTES_MAX => None,
            true => Some(format!("it has more than {LIBRARY_BYTES_MAX} bytes")),
            false => Some("it is not a regular file".to_owned()),
        };
        if let Some(actual) = actual {
            return Err(LoadError::NotALibrary { path, actual });
        }
        let bytes = fs::read(&path).map_err(unreadable)?;
        Ok(Self {
            path,
            bytes,
            checksum: OnceLock::new(),
        })
    }

    /// Absolute path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Parses the headers of a shared library.
    pub(crate) fn parse(&self) -> Result<object::File<'_>, LoadError> {
        object::File::parse(self.bytes.as_slice()).map_err(|error| LoadError::NotALibrary {
            path: self.path.clone(),
            actual: describe_content(&self.bytes, &error),
        })
    }

    /// The section with the records, which is empty if the file has none.
    pub(crate) fn section<'data>(file: &object::File<'data>) -> &'data [u8] {
        let section = file.section_by_name(SECTION_NAME);
        section.and_then(|section| section.data().ok()).unwrap_or(&[])
    }

    /// The records in the file.
    pub(crate) fn records(file: &object::File<'_>) -> Vec<PluginRecord> {
        PluginRecord::read_all(Self::section(file))
    }

    /// The SHA-256 checksum of the file, in hexadecimal.
    pub(crate) fn checksum(&self) -> &str {
        self.checksum.get_or_init(|| {
            let digest = digest(&SHA256, &self.bytes);
            digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
        })
    }
}

/// Describes a file that is not a library, for the error message.
fn describe_content(bytes: &[u8], error: &object::Error) -> String {
    if bytes.is_empty() {
        "it is empty".to_owned()
    } else if std::str::from_utf8(bytes).is_ok() {
        "it is a text file".to_owned()
    } else {
        error.to_string().to_lowercase()
    }
}
