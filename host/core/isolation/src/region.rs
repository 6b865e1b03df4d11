//! Memory that a host shares with one worker: a file in memory, mapped by both at the same address.

use std::collections::BTreeSet;
use std::ffi::c_void;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};

use divvy_framework_memory::{Access, map_at};
use rustix::fs::{FallocateFlags, MemfdFlags, SealFlags, fallocate, fcntl_add_seals, fstat, ftruncate, memfd_create};
use rustix::mm::munmap;

/// Address of the first region, behind everything that `divvy-framework-memory` maps.
const FIRST: usize = 0x4000_0000_0000;
/// Distance between two regions.
const DISTANCE: usize = 1 << 30;
/// Number of regions that fit below the addresses that Linux gives to libraries.
const REGIONS: usize = 0x4000;
/// Largest size of a region in bytes: the texts that a call may hand over take less than half of it.
pub(crate) const LARGEST: usize = DISTANCE / 16;
/// Bytes at the beginning of a region that always keep their memory: a page, however large pages are.
const KEPT: usize = 64 << 10;

/// Memory that both sides read and write. Its size is fixed.
#[derive(Debug)]
pub(crate) struct Region {
    file: OwnedFd,
    number: usize,
    bytes: usize,
}

/// The numbers of regions that are in use in this process.
fn numbers() -> MutexGuard<'static, BTreeSet<usize>> {
    static USED: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());
    USED.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Region {
    /// A region of `bytes` bytes, all zero.
    pub(crate) fn new(bytes: usize) -> io::Result<Self> {
        let file = memfd_create("divvy-exchange", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        ftruncate(&file, bytes as u64)?;
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        let number = {
            let mut used = numbers();
            let free = (0..REGIONS).find(|number| !used.contains(number));
            let free = free.ok_or(io::ErrorKind::OutOfMemory)?;
            used.insert(free);
            free
        };
        let region = Self { file, number, bytes };
        map_at(&region.file, region.address(), bytes, Access::Write)?;
        Ok(region)
    }

    pub(crate) fn address(&self) -> usize {
        FIRST + self.number * DISTANCE
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Bytes of memory that the region takes, by whichever side they were written.
    pub(crate) fn allocated(&self) -> u64 {
        // A block of the figure has 512 bytes, whatever those of the file have.
        fstat(&self.file).map_or(0, |known| {
            u64::try_from(known.st_blocks).unwrap_or(0).saturating_mul(512)
        })
    }

    /// Gives memory back, except for that of a page at the beginning. It is zero when it is next read.
    pub(crate) fn empty(&self) {
        let (from, length) = (KEPT as u64, self.bytes.saturating_sub(KEPT) as u64);
        let mode = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        // Where the system cannot, the worker's next call uses the same memory.
        let _emptied = fallocate(&self.file, mode, from, length);
    }

    pub(crate) fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: all references to the memory borrow the region, which is dropped here, so there are none.
        let unmapped = unsafe { munmap(self.address() as *mut c_void, self.bytes) };
        // An address that is still mapped is not used again.
        if unmapped.is_ok() {
            numbers().remove(&self.number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_that_is_emptied_takes_no_memory_and_is_zero() {
        let region = Region::new(4 << 20).expect("this system has files in memory");
        let last = (region.address() + region.bytes() - 1) as *mut u8;
        let middle = (region.address() + (2 << 20)) as *mut u8;
        for byte in [middle, last] {
            // SAFETY: the region is mapped, and no one else writes to it.
            unsafe { byte.write_volatile(7) };
        }
        assert!(region.allocated() > 0);
        region.empty();
        assert_eq!(region.allocated(), 0);
        for byte in [middle, last] {
            // SAFETY: as above.
            assert_eq!(unsafe { byte.read_volatile() }, 0);
        }
    }
}
