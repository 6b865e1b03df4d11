//! Memory that the host writes and plugins can only read, in the host's process and in others.
//!
//! [`Words`] is a block of 64-bit words in a file in memory. The file is mapped twice: once for the host to write, and
//! once for everyone to read. Plugins get addresses of the second mapping. A plugin that writes through one faults at
//! once, and the kernel refuses to make the mapping writable, because the file is sealed.
//!
//! Blocks are parts of large chunks, each with one file. Another process that receives the files of [`chunks`] and maps
//! each at [`ChunkFile::read_address`] reads the same words at the same addresses. The seals keep it from writing to
//! the files or changing their size, however it opens them again. What is dropped is zeroed, and what no other process may see, such as the
//! configuration of a plugin, is in chunks that none gets ([`Words::of_this_process`]).
//!
//! Where the system has no sealed files in memory, blocks are ordinary memory, which plugins can write to;
//! [`protection`] returns the reason.
//!
//! On top of words there are a [`Column`] and a [`Pool`] that grow, as a `Vec` and a `String` do, [`Packed`] tables that do not change, and
//! a [`Slot`] for one value at a time.
//!
//! All `unsafe` code of snapshots, bindings and columns is in this crate.

#[cfg(target_os = "linux")]
mod chunk;
mod column;
#[cfg(target_os = "linux")]
mod heap;
mod packed;
mod pool;
mod slot;
#[cfg(not(target_os = "linux"))]
mod unprotected;
mod words;

#[cfg(target_os = "linux")]
pub use chunk::{Access, ChunkFile, map_at};
pub use column::Column;
#[cfg(target_os = "linux")]
pub use heap::{chunk_count, chunks};
pub use packed::{Packed, PackedText, Packer, packed_words};
pub use pool::Pool;
pub use slot::Slot;
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

/// True if plugins can only read at this address, in this process and in others: one that maps the files of [`chunks`] reads the same words
/// there.
pub fn is_shared(address: *const u8) -> bool {
    #[cfg(target_os = "linux")]
    return chunk::SHARED_ADDRESSES.contains(&address.addr());
    #[cfg(not(target_os = "linux"))]
    return unprotected::is_shared(address);
}

/// True if plugins in this process can only read at this address, whether or not others can.
pub fn is_protected(address: *const u8) -> bool {
    #[cfg(target_os = "linux")]
    return chunk::READ_ADDRESSES.contains(&address.addr());
    #[cfg(not(target_os = "linux"))]
    return unprotected::is_shared(address);
}
