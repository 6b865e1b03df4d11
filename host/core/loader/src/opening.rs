//! The only file of the host that opens libraries: from their path, or from a private copy of their bytes.
//!
//! A library that cannot be opened is reported with the dynamic linker's own words, which are all that says why.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::LoadError;

/// True if a file with other bytes was opened from this path before. The dynamic linker identifies a library by its
/// path and would return the older one.
pub(crate) fn was_exchanged(path: &Path, checksum: &str) -> bool {
    static OPENED: Mutex<BTreeMap<PathBuf, String>> = Mutex::new(BTreeMap::new());
    let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
    let first = opened.entry(path.to_owned()).or_insert_with(|| checksum.to_owned());
    first != checksum
}

/// Opens the library at `path`. Messages name `shown`.
pub(crate) fn open(shown: &Path, path: &Path) -> Result<&'static libloading::Library, LoadError> {
    use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

    // All symbols are resolved now, so that a missing one is an error here rather than the end of the process later.
    // SAFETY: opening runs the library's constructors, so its code must be trusted: the file carries the record of a plugin for
    // this ABI (`PluginFile::checked`), and an operator vouches for the code by putting it where plugins are searched for.
    let opened = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) };
    let library = opened.map_err(|error| LoadError::OpenFailed {
        path: shown.to_owned(),
        message: said(&error, path),
    })?;
    Ok(Box::leak(Box::new(library.into())))
}

/// What the dynamic linker said about a library at `path`, whose own text is the source of the error. The path, with which most texts
/// begin, is left out: that of a copy means nothing to a reader.
fn said(error: &libloading::Error, path: &Path) -> String {
    let text = match error.source() {
        Some(source) => one_line(source),
        None => one_line(error),
    };
    let begins = format!("{}: ", path.display());
    match text.strip_prefix(&begins) {
        Some(rest) => rest.to_owned(),
        None => text,
    }
}

/// Copies that are not opened yet, by checksum.
fn kept_copies() -> MutexGuard<'static, BTreeMap<String, fs::File>> {
    static KEPT: Mutex<BTreeMap<String, fs::File>> = Mutex::new(BTreeMap::new());
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes the copy that [`open_copy`] opens later.
pub(crate) fn keep_copy(path: &Path, bytes: &[u8], checksum: &str) -> Result<(), LoadError> {
    let copied = copy(path, bytes)?;
    kept_copies().insert(checksum.to_owned(), copied);
    Ok(())
}

/// The bytes of a library as a file in memory.
fn copy(path: &Path, bytes: &[u8]) -> Result<fs::File, LoadError> {
    use std::io::Write;

    let refused = |source: std::io::Error| LoadError::FileUnreadable {
        path: path.to_owned(),
        source,
    };
    let memory = rustix::fs::memfd_create("divvy-plugin", rustix::fs::MemfdFlags::CLOEXEC)
        .map_err(|error| refused(error.into()))?;
    let mut file = fs::File::from(memory);
    file.write_all(bytes).map_err(refused)?;
    Ok(file)
}

/// Opens the bytes from a file in memory. Its descriptor stays open: the dynamic linker identifies a library by its
/// file, so a descriptor number that is closed and reused would return the older one. Bytes that are already open are not
/// opened again, because libraries are never closed: each reload of a profile would take more memory.
pub(crate) fn open_copy(path: &Path, bytes: &[u8], checksum: &str) -> Result<&'static libloading::Library, LoadError> {
    use std::os::fd::{AsRawFd, IntoRawFd};

    static COPIES: Mutex<BTreeMap<String, &'static libloading::Library>> = Mutex::new(BTreeMap::new());
    let mut copies = COPIES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(library) = copies.get(checksum) {
        return Ok(library);
    }
    let kept = kept_copies().remove(checksum);
    let file = kept.map_or_else(|| copy(path, bytes), Ok)?;
    let library = open(path, Path::new(&format!("/proc/self/fd/{}", file.as_raw_fd())))?;
    let _kept_open = file.into_raw_fd();
    copies.insert(checksum.to_owned(), library);
    Ok(library)
}

/// A text without line breaks.
pub(crate) fn one_line(text: &dyn std::fmt::Display) -> String {
    let text = text.to_string();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
