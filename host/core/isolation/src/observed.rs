//! Confining this process before it opens libraries itself, to look at what they do to it.

use std::path::PathBuf;

use crate::control::MissingFacility;
use crate::error::IsolationError;
use crate::sandbox;

/// Confines this process for the rest of its life. It reads these files and folders, the system's libraries and what the kernel says of it,
/// writes nothing but to what is open, has no network, starts no program, reaches no other process, and has this many bytes of memory beyond
/// its own. Returns what this system lacks for that.
///
/// # Errors
///
/// [`IsolationError::NotConfined`] if a path does not exist, the process has several threads, or the system cannot confine it.
pub fn confine_this_process(read: &[PathBuf], memory_bytes: u64) -> Result<Vec<MissingFacility>, IsolationError> {
    let confinement = sandbox::confine_observed(read, memory_bytes).map_err(|error| IsolationError::NotConfined {
        reason: error.to_string(),
        hint: error.hint().map(ToOwned::to_owned),
    })?;
    Ok(confinement.missing().iter().map(MissingFacility::from).collect())
}

/// Bytes of private memory that a process has written to, and of the tables of its pages; `None` if it has ended. For whoever started a process
/// that confines itself.
pub fn memory_of(process: u32) -> Option<u64> {
    sandbox::footprint(process).ok().map(|footprint| footprint.memory)
}
