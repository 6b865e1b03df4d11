//! The blocks in the chunks of this process.

use std::collections::BTreeMap;
use std::io;
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::Unprotected;
use crate::chunk::{Chunk, ChunkFile};

/// Size of a chunk, unless a block needs a larger one. The size is only reserved: a page takes memory when it is first
/// written.
const CHUNK: usize = 32 << 20;
/// Blocks begin at multiples of this size, a page on most systems, so two blocks never share a page.
const GRAIN: usize = 4096;

/// All chunks, and the free room in them.
#[derive(Debug, Default)]
struct Heap {
    chunks: Vec<Chunk>,
    /// Bytes of the last chunk that have been used; the bytes after them are zero.
    used: usize,
    /// Distance of the next chunk from the first.
    next: usize,
    /// Dropped blocks, by size: chunk and first byte.
    free: BTreeMap<usize, Vec<(usize, usize)>>,
}

/// A block of words in a chunk. Dropping it frees its room.
pub(crate) struct Block {
    write: NonNull<u64>,
    read: NonNull<u64>,
    length: usize,
    chunk: usize,
    start: usize,
}

// SAFETY: the heap gives each block memory that no other block has, so a block owns it as a box does.
unsafe impl Send for Block {}
// SAFETY: shared references to a block only read.
unsafe impl Sync for Block {}

fn heap() -> MutexGuard<'static, Heap> {
    static HEAP: Mutex<Heap> = Mutex::new(Heap {
        chunks: Vec::new(),
        used: 0,
        next: 0,
        free: BTreeMap::new(),
    });
    HEAP.lock().unwrap_or_else(PoisonError::into_inner)
}

/// As [`crate::protection`]. The first call finds out, with a first chunk that stays.
pub(crate) fn protection() -> Result<(), Unprotected> {
    static KNOWN: OnceLock<Result<(), Unprotected>> = OnceLock::new();
    KNOWN
        .get_or_init(|| {
            let made = heap().extend(0);
            made.map_err(|error| Unprotected {
                reason: format!("no sealed file in memory could be made and mapped: {error}"),
            })
        })
        .clone()
}

/// The number of chunks. It only grows.
pub fn chunk_count() -> usize {
    heap().chunks.len()
}

/// The chunks from number `first` on, for another process. Chunks are never dropped, so a process needs each only once.
///
/// # Errors
///
/// If the process has no file descriptors left.
pub fn chunks(first: usize) -> io::Result<Vec<ChunkFile>> {
    heap().chunks.iter().skip(first).map(Chunk::file).collect()
}

/// Bytes to reserve for a block. There are few sizes, each at most a quarter above the request, so that a snapshot that
/// has grown a little fits into the room of a dropped one.
fn rounded(bytes: usize) -> usize {
    let grains = bytes.div_ceil(GRAIN).max(1);
    let step = (grains.next_power_of_two() / 8).max(1);
    grains.next_multiple_of(step) * GRAIN
}

impl Heap {
    /// Adds a chunk with room for `bytes` bytes.
    fn extend(&mut self, bytes: usize) -> io::Result<()> {
        let bytes = bytes.next_multiple_of(CHUNK).max(CHUNK);
        let chunk = Chunk::new(self.next, bytes)?;
        self.next += bytes;
        self.used = 0;
        self.chunks.push(chunk);
        Ok(())
    }

    /// The chunk and first byte of a block of `bytes` bytes; true if the block was used before.
    fn take(&mut self, bytes: usize) -> io::Result<(usize, usize, bool)> {
        if let Some((chunk, start)) = self.free.get_mut(&bytes).and_then(Vec::pop) {
            return Ok((chunk, start, true));
        }
        if self.chunks.last().is_none_or(|last| last.bytes() - self.used < bytes) {
            self.extend(bytes)?;
        }
        let start = self.used;
        self.used += bytes;
        Ok((self.chunks.len() - 1, start, false))
    }
}

impl Block {
    /// A block of `length` words, all zero; `None` if there is no protected memory.
    pub(crate) fn zeroed(length: usize) -> Option<Self> {
        protection().ok()?;
        let bytes = rounded(length.checked_mul(size_of::<u64>())?);
        let mut heap = heap();
        let (chunk, start, is_used) = heap.take(bytes).ok()?;
        let (write, read) = heap.chunks.get(chunk)?.addresses(start);
        drop(heap);
        let mut block = Self {
            write,
            read,
            length,
            chunk,
            start,
        };
        if is_used {
            block.as_mut_slice().fill(0);
        }
        Some(block)
    }

    #[inline]
    pub(crate) fn as_slice(&self) -> &[u64] {
        // SAFETY: chunks stay mapped as long as the process lives, and only `as_mut_slice`, which borrows `self`
        // mutably, gives access for writing.
        unsafe { std::slice::from_raw_parts(self.read.as_ptr(), self.length) }
    }

    #[inline]
    pub(crate) fn as_mut_slice(&mut self) -> &mut [u64] {
        // SAFETY: chunks stay mapped as long as the process lives, and `take` gives a block to no one else until it is
        // dropped.
        unsafe { std::slice::from_raw_parts_mut(self.write.as_ptr(), self.length) }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        let bytes = rounded(self.length * size_of::<u64>());
        heap().free.entry(bytes).or_default().push((self.chunk, self.start));
    }
}

#[cfg(test)]
mod tests {
    use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap, mprotect};

    use super::*;

    #[test]
    fn sizes_are_rounded_by_at_most_a_quarter() {
        for bytes in [0, 1, 4096, 4097, 40_000, 1 << 20, (1 << 20) + 1, 99_999_999] {
            let rounded = rounded(bytes);
            assert!(rounded >= bytes && rounded.is_multiple_of(GRAIN), "{bytes}");
            assert!(
                rounded <= bytes.max(1).next_multiple_of(GRAIN) / 4 * 5,
                "{bytes}: {rounded}"
            );
        }
    }

    #[test]
    fn what_is_written_is_read_at_the_other_address() {
        let mut block = Block::zeroed(10).expect("this system has sealed files");
        block.as_mut_slice()[9] = 4;
        assert_eq!(block.as_slice()[9], 4);
        let written = block.as_mut_slice().as_ptr();
        assert_ne!(block.as_slice().as_ptr(), written);
    }

    #[test]
    fn a_block_larger_than_a_chunk_gets_one_of_its_own() {
        let mut block = Block::zeroed(CHUNK / 8 + 1).expect("there is address space");
        block.as_mut_slice()[CHUNK / 8] = 1;
        assert_eq!(block.as_slice()[CHUNK / 8], 1);
    }

    #[test]
    fn the_addresses_that_plugins_see_cannot_be_made_writable() {
        let block = Block::zeroed(512).expect("this system has sealed files");
        let page = block.as_slice().as_ptr().cast_mut().cast();
        // SAFETY: the kernel refuses, which is what this test checks, so nothing changes.
        let refused = unsafe { mprotect(page, GRAIN, MprotectFlags::READ | MprotectFlags::WRITE) };
        assert_eq!(refused, Err(rustix::io::Errno::ACCESS));
    }

    #[test]
    fn the_files_cannot_be_written_mapped_for_writing_or_resized() {
        let _block = Block::zeroed(1).expect("this system has sealed files");
        let chunks = chunks(0).expect("there are descriptors");
        let file = chunks.first().expect("there is one").file();
        let again = std::fs::OpenOptions::new()
            .read(true)
            .write(true)
            .open(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&file)))
            .expect("opened again by its link");
        assert!(rustix::io::write(&again, b"x").is_err());
        assert!(rustix::fs::ftruncate(&again, 0).is_err());
        assert!(rustix::fs::ftruncate(&again, 1 << 40).is_err());
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        // SAFETY: the kernel refuses; if it did not, the mapping would be new and unused.
        assert!(unsafe { mmap(std::ptr::null_mut(), GRAIN, access, flags, &again, 0) }.is_err());
    }
}
