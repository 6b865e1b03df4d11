//! The blocks in the chunks of this process.

use std::collections::BTreeMap;
use std::io;
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::Unprotected;
use crate::chunk::{Chunk, ChunkFile};

/// Size of a chunk, unless a block needs a larger one. It is reserved; pages take memory once they are written.
const CHUNK: usize = 32 << 20;
/// Blocks begin at multiples of this size, that of a page on most systems, so that two blocks share none.
const GRAIN: usize = 4096;

/// All chunks, and the room in them.
#[derive(Debug, Default)]
struct Heap {
    chunks: Vec<Chunk>,
    /// Bytes of the last chunk that were handed out; those behind are zero.
    used: usize,
    /// Distance of the next chunk from the first.
    next: usize,
    /// Blocks that were dropped: chunk and first byte, by size.
    free: BTreeMap<usize, Vec<(usize, usize)>>,
}

/// A block of words in a chunk. It is free again once it is dropped.
pub(crate) struct Block {
    write: NonNull<u64>,
    read: NonNull<u64>,
    length: usize,
    chunk: usize,
    start: usize,
}

// SAFETY: a block has its memory to itself, as a box has.
unsafe impl Send for Block {}
// SAFETY: as above; shared references only read.
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

/// As [`crate::protection`]: found out once, by a first chunk that stays.
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

/// The chunks from number `first` on, for another process. They are never dropped, so each is handed over once.
///
/// # Errors
///
/// If the process has no file descriptors left.
pub fn chunks(first: usize) -> io::Result<Vec<ChunkFile>> {
    heap().chunks.iter().skip(first).map(Chunk::file).collect()
}

/// Bytes to set aside for a block: a few sizes only, at most a quarter more than asked for, so that a snapshot that grows a little
/// finds the room of one that was dropped.
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

    /// The chunk and first byte of a block of `bytes` bytes, and whether it was used before.
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
        // SAFETY: the chunk is mapped there as long as the process lives, and nobody writes to the block while `self` is
        // borrowed.
        unsafe { std::slice::from_raw_parts(self.read.as_ptr(), self.length) }
    }

    #[inline]
    pub(crate) fn as_mut_slice(&mut self) -> &mut [u64] {
        // SAFETY: as above, and the block is nobody else's: the heap hands it out once until it is dropped.
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
        // SAFETY: nothing changes: the kernel refuses, which is what is tested.
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
        // SAFETY: the kernel refuses, and otherwise the mapping would be a new one.
        assert!(unsafe { mmap(std::ptr::null_mut(), GRAIN, access, flags, &again, 0) }.is_err());
    }
}
