//! Memory that the host writes and plugins can only read, in the host's process and in others.
//!
//! [`Words`] is a block of 64-bit words in a file in memory. The file is mapped twice: once for the host to write, and
//! once for everyone to read. Plugins get addresses of the second mapping. A plugin that writes through one faults at
//! once, and the kernel refuses to make the mapping writable, because the file is sealed.
//!
//! Blocks are parts of large chunks, each with one file. Another process that receives the files of [`chunks`] and maps
//! each at [`ChunkFile::read_address`] reads the same words at the same addresses. The seals keep it from writing to
//! the files or changing their size, however it opens them again.
//!
//! Where the system has no sealed files in memory, blocks are ordinary memory, which plugins can write to;
//! [`protection`] returns the reason.
//!
//! All `unsafe` code of snapshots is in this crate.

#[cfg(target_os = "linux")]
mod chunk;
#[cfg(target_os = "linux")]
mod heap;
#[cfg(not(target_os = "linux"))]
mod unprotected;
mod words;

#[cfg(target_os = "linux")]
pub use chunk::{Access, ChunkFile, map_at};
#[cfg(target_os = "linux")]
pub use heap::{chunk_count, chunks};
pub use words::Words;

/// Why memory is not protected from plugins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unprotected {
    /// The operation that the system refused, and its error.
    pub reason: String,
}

/// Checks that plugins cannot write to [`Words`].
///
/// # Errors
///
/// [`Unprotected`] if the system has no sealed files in memory. Blocks are then ordinary memory.
pub fn protection() -> Result<(), Unprotected> {
    #[cfg(target_os = "linux")]
    return heap::protection();
    #[cfg(not(target_os = "linux"))]
    return unprotected::protection();
}

/// True if another process that maps the files of [`chunks`] reads the same words at this address.
#[cfg(target_os = "linux")]
pub fn is_shared(address: *const u8) -> bool {
    chunk::READ_ADDRESSES.contains(&(address as usize))
}
