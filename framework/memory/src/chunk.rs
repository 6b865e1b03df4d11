//! Chunks: files in memory, each mapped twice.

use std::ffi::c_void;
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// Start of the addresses at which the host writes chunks. The range up to [`READ`] lies between the addresses that
/// Linux gives to programs and those that it gives to libraries, and no sanitizer reserves it.
const WRITE: usize = 0x2000_0000_0000;
/// Start of the addresses at which everyone reads the same chunks.
const READ: usize = 0x3000_0000_0000;

/// Distance of the first chunk that no other process gets from the first that others get.
pub(crate) const KEPT: usize = (READ - WRITE) / 2;
/// The addresses at which chunks can be read that other processes get.
pub(crate) const SHARED_ADDRESSES: Range<usize> = READ..READ + KEPT;
/// The addresses at which all chunks can be read.
pub(crate) const READ_ADDRESSES: Range<usize> = READ..READ + (READ - WRITE);

/// A chunk of memory: a file that the host writes and others read.
#[derive(Debug)]
pub(crate) struct Chunk {
    file: OwnedFd,
    /// Distance from [`WRITE`] and from [`READ`].
    offset: usize,
    bytes: usize,
}

/// A chunk, for another process to read.
#[derive(Debug)]
pub struct ChunkFile {
    file: OwnedFd,
    read_address: usize,
    bytes: usize,
}

impl ChunkFile {
    /// The file, sealed: it can be mapped for reading only, and keeps its size.
    pub fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// The address at which this process reads the chunk.
    pub fn read_address(&self) -> usize {
        self.read_address
    }

    /// Size of the chunk in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Chunk {
    /// A chunk of `bytes` zero bytes, `offset` bytes after the first chunk.
    pub(crate) fn new(offset: usize, bytes: usize) -> io::Result<Self> {
        let file = memfd_create("divvy-snapshots", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        ftruncate(&file, bytes as u64)?;
        map_at(&file, WRITE + offset, bytes, Access::Write)?;
        // From here on, no one can map the file for writing or change its size. The mapping above stays.
        let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::FUTURE_WRITE | SealFlags::SEAL;
        let sealed = fcntl_add_seals(&file, seals).map_err(io::Error::from);
        let mapped = sealed.and_then(|()| map_at(&file, READ + offset, bytes, Access::Read));
        if let Err(error) = mapped {
            // SAFETY: the mapping was made above, and no address of it has left this function.
            let _unmapped = unsafe { munmap((WRITE + offset) as *mut c_void, bytes) };
            return Err(error);
        }
        Ok(Self { file, offset, bytes })
    }

    /// Size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The two addresses of the words that begin `start` bytes after the chunk's beginning: for writing, and for
    /// reading.
    pub(crate) fn addresses(&self, start: usize) -> (NonNull<u64>, NonNull<u64>) {
        let at = |base: usize| NonNull::new((base + self.offset + start) as *mut u64).unwrap_or(NonNull::dangling());
        (at(WRITE), at(READ))
    }

    /// The chunk, for another process to read.
    pub(crate) fn file(&self) -> io::Result<ChunkFile> {
        Ok(ChunkFile {
            file: self.file.try_clone()?,
            read_address: READ + self.offset,
            bytes: self.bytes,
        })
    }
}

/// The access that a mapping allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reading.
    Read,
    /// Reading and writing.
    Write,
}

/// Maps a file at an address at which nothing is mapped. The mapping is shared with all others of the file.
///
/// # Errors
///
/// The system's error, or [`io::ErrorKind::AddrInUse`] if something is mapped there.
pub fn map_at(file: impl AsFd, address: usize, bytes: usize, access: Access) -> io::Result<()> {
    let access = match access {
        Access::Read => ProtFlags::READ,
        Access::Write => ProtFlags::READ | ProtFlags::WRITE,
    };
    // Without `FIXED_NOREPLACE` in an old kernel, the address is only a suggestion, so it is compared below.
    let flags = MapFlags::SHARED | MapFlags::FIXED_NOREPLACE;
    // SAFETY: `FIXED_NOREPLACE`, or the bare suggestion in an old kernel, never replaces a mapping, so no memory in use
    // changes.
    let mapped = unsafe { mmap(address as *mut c_void, bytes, access, flags, file, 0) }?;
    if mapped as usize != address {
        // SAFETY: the mapping was made above, and no address of it has left this function.
        let _unmapped = unsafe { munmap(mapped, bytes) };
        return Err(io::ErrorKind::AddrInUse.into());
    }
    Ok(())
}
