//! The blocks in the chunks of this process.

use std::collections::BTreeMap;
use std::io;
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::Unprotected;
use crate::chunk::{Chunk, ChunkFile, KEPT};

/// Size of a chunk, unless a block needs a larger one. The size is only reserved: a page takes memory when it is first
/// written.
const CHUNK: usize = 32 << 20;
/// Blocks of at least `SMALL` bytes begin at multiples of this size, a page on most systems.
const PAGE: usize = 4096;
/// Smaller blocks begin at multiples of this size, a line of the processor's cache.
const LINE: usize = 64;
/// Blocks of fewer bytes, such as the columns of a cycle, are packed. If each began at a page, equal elements of two columns would
/// compete for one place in the processor's cache.
const SMALL: usize = 128 << 10;
/// Size of the parts of chunks from which small blocks are taken.
const SHELF: usize = 1 << 20;

/// Who reads a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Readers {
    /// Plugins in this process, and every process that gets the chunks.
    All,
    /// Plugins in this process.
    ThisProcess,
}

/// All chunks with the same readers, and the free room in them.
#[derive(Debug)]
struct Heap {
    chunks: Vec<Chunk>,
    /// Bytes of the last chunk that have been used; the bytes after them are zero.
    used: usize,
    /// Distance of the next chunk from the first.
    next: usize,
    /// The part of a chunk from which the next small block is taken: chunk, first free byte, and end.
    shelf: (usize, usize, usize),
    /// Dropped blocks, all zero, by size: chunk and first byte.
    free: BTreeMap<usize, Vec<(usize, usize)>>,
}

/// A block of words in a chunk. Dropping it frees its room.
pub(crate) struct Block {
    write: NonNull<u64>,
    read: NonNull<u64>,
    length: usize,
    readers: Readers,
    chunk: usize,
    start: usize,
}

// SAFETY: the heap gives each block memory that no other block has, so a block owns it as a box does.
unsafe impl Send for Block {}
// SAFETY: shared references to a block only read.
unsafe impl Sync for Block {}

fn heap(readers: Readers) -> MutexGuard<'static, Heap> {
    static ALL: Mutex<Heap> = Mutex::new(Heap::new(0));
    static THIS_PROCESS: Mutex<Heap> = Mutex::new(Heap::new(KEPT));
    let heap = match readers {
        Readers::All => &ALL,
        Readers::ThisProcess => &THIS_PROCESS,
    };
    heap.lock().unwrap_or_else(PoisonError::into_inner)
}

/// As [`crate::protection`]. The first call finds out, with a first chunk that stays.
pub(crate) fn protection() -> Result<(), Unprotected> {
    static KNOWN: OnceLock<Result<(), Unprotected>> = OnceLock::new();
    KNOWN
        .get_or_init(|| {
            let made = heap(Readers::All).extend(0);
            made.map_err(|error| Unprotected {
                reason: format!("no sealed file in memory could be made and mapped: {error}"),
            })
        })
        .clone()
}

/// The number of chunks that other processes may read. It only grows.
pub fn chunk_count() -> usize {
    heap(Readers::All).chunks.len()
}

/// The chunks from number `first` on, for another process. Chunks are never dropped, so a process needs each only once.
///
/// # Errors
///
/// If the process has no file descriptors left.
pub fn chunks(first: usize) -> io::Result<Vec<ChunkFile>> {
    heap(Readers::All).chunks.iter().skip(first).map(Chunk::file).collect()
}

/// Bytes to reserve for a block. There are few sizes, each at most a quarter above the request, so that a snapshot that
/// has grown a little fits into the room of a dropped one.
fn rounded(bytes: usize) -> usize {
    let in_grains = |grain: usize| {
        let grains = bytes.div_ceil(grain).max(1);
        let step = (grains.next_power_of_two() / 8).max(1);
        grains.next_multiple_of(step) * grain
    };
    // A line more than a round number, so that blocks of one size do not begin at the same place of a page.
    let small = in_grains(LINE) + LINE;
    if small < SMALL { small } else { in_grains(PAGE) }
}

impl Heap {
    /// A heap without memory, whose first chunk will be at this distance.
    const fn new(next: usize) -> Self {
        Self {
            chunks: Vec::new(),
            used: 0,
            next,
            shelf: (0, 0, 0),
            free: BTreeMap::new(),
        }
    }

    /// Adds a chunk with room for `bytes` bytes.
    fn extend(&mut self, bytes: usize) -> io::Result<()> {
        let bytes = bytes.next_multiple_of(CHUNK).max(CHUNK);
        let chunk = Chunk::new(self.next, bytes)?;
        self.next += bytes;
        self.used = 0;
        self.chunks.push(chunk);
        Ok(())
    }

    /// The chunk and first byte of a block of `bytes` bytes, all zero.
    fn take(&mut self, bytes: usize) -> io::Result<(usize, usize)> {
        if let Some(free) = self.free.get_mut(&bytes).and_then(Vec::pop) {
            return Ok(free);
        }
        if bytes >= SMALL {
            return self.take_new(bytes);
        }
        if self.shelf.2 - self.shelf.1 < bytes {
            let (chunk, start) = self.take_new(SHELF)?;
            self.shelf = (chunk, start, start + SHELF);
        }
        let (chunk, start, _) = self.shelf;
        self.shelf.1 += bytes;
        Ok((chunk, start))
    }

    /// The chunk and first byte of pages that no block has had.
    fn take_new(&mut self, bytes: usize) -> io::Result<(usize, usize)> {
        if self.chunks.last().is_none_or(|last| last.bytes() - self.used < bytes) {
            self.extend(bytes)?;
        }
        let start = self.used;
        self.used += bytes;
        Ok((self.chunks.len() - 1, start))
    }
}

impl Block {
    /// A block of `length` words, all zero; `None` if there is no protected memory.
    pub(crate) fn zeroed(length: usize, readers: Readers) -> Option<Self> {
        protection().ok()?;
        let bytes = rounded(length.checked_mul(size_of::<u64>())?);
        let mut heap = heap(readers);
        let (chunk, start) = heap.take(bytes).ok()?;
        let (write, read) = heap.chunks.get(chunk)?.addresses(start);
        Some(Self {
            write,
            read,
            length,
            readers,
            chunk,
            start,
        })
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
        // Now rather than when it is used again: until then, others could read what is not theirs.
        self.as_mut_slice().fill(0);
        let bytes = rounded(self.length * size_of::<u64>());
        heap(self.readers)
            .free
            .entry(bytes)
            .or_default()
            .push((self.chunk, self.start));
    }
}

#[cfg(test)]
mod tests {
    use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap, mprotect};

    use super::*;

    #[test]
    fn sizes_are_rounded_by_at_most_a_quarter() {
        for bytes in [
            0,
            1,
            64,
            65,
            700,
            3_500,
            4_000,
            4096,
            4097,
            40_000,
            1 << 20,
            (1 << 20) + 1,
            99_999_999,
        ] {
            let rounded = rounded(bytes);
            let (grain, more) = if rounded < SMALL { (LINE, LINE) } else { (PAGE, 0) };
            assert!(rounded >= bytes && rounded.is_multiple_of(grain), "{bytes}");
            assert!(
                rounded <= bytes.max(1).next_multiple_of(grain) / 4 * 5 + more,
                "{bytes}: {rounded}"
            );
        }
    }

    #[test]
    fn small_blocks_share_pages_and_nothing_else() {
        let mut blocks: Vec<Block> = (0..5_000)
            .map(|number| Block::zeroed(1 + number % 900, Readers::All).expect("this system has sealed files"))
            .collect();
        for (block, number) in blocks.iter_mut().zip(0..) {
            block.as_mut_slice().fill(number);
        }
        for (block, number) in blocks.iter().zip(0..) {
            assert!(block.as_slice().iter().all(|word| *word == number), "{number}");
        }
    }

    #[test]
    fn what_is_written_is_read_at_the_other_address() {
        let mut block = Block::zeroed(10, Readers::All).expect("this system has sealed files");
        block.as_mut_slice()[9] = 4;
        assert_eq!(block.as_slice()[9], 4);
        let written = block.as_mut_slice().as_ptr();
        assert_ne!(block.as_slice().as_ptr(), written);
    }

    #[test]
    fn what_was_written_is_gone_with_its_block() {
        for readers in [Readers::All, Readers::ThisProcess] {
            let mut block = Block::zeroed(3, readers).expect("this system has sealed files");
            block.as_mut_slice().fill(u64::MAX);
            let read = block.read;
            drop(block);
            // SAFETY: chunks stay mapped as long as the process lives. Another test may have the block by now, and writes numbers.
            let words = unsafe { std::slice::from_raw_parts(read.as_ptr(), 3) };
            assert!(words.iter().all(|word| *word != u64::MAX), "{readers:?}");
        }
    }

    #[test]
    fn other_processes_get_no_chunk_of_this_process_alone() {
        let own = Block::zeroed(1, Readers::ThisProcess).expect("this system has sealed files");
        let address = own.as_slice().as_ptr().addr();
        for chunk in chunks(0).expect("there are descriptors") {
            assert!(!(chunk.read_address()..chunk.read_address() + chunk.bytes()).contains(&address));
        }
        let address = own.as_slice().as_ptr().cast();
        assert!(crate::is_protected(address) && !crate::is_shared(address));
    }

    #[test]
    fn a_block_larger_than_a_chunk_gets_one_of_its_own() {
        let mut block = Block::zeroed(CHUNK / 8 + 1, Readers::All).expect("there is address space");
        block.as_mut_slice()[CHUNK / 8] = 1;
        assert_eq!(block.as_slice()[CHUNK / 8], 1);
    }

    #[test]
    fn the_addresses_that_plugins_see_cannot_be_made_writable() {
        let block = Block::zeroed(SMALL / size_of::<u64>(), Readers::All).expect("this system has sealed files");
        let page = block.as_slice().as_ptr().cast_mut().cast();
        // SAFETY: the kernel refuses, which is what this test checks, so nothing changes.
        let refused = unsafe { mprotect(page, PAGE, MprotectFlags::READ | MprotectFlags::WRITE) };
        assert_eq!(refused, Err(rustix::io::Errno::ACCESS));
    }

    #[test]
    fn the_files_cannot_be_written_mapped_for_writing_or_resized() {
        let _block = Block::zeroed(1, Readers::All).expect("this system has sealed files");
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
        assert!(unsafe { mmap(std::ptr::null_mut(), PAGE, access, flags, &again, 0) }.is_err());
    }
}
