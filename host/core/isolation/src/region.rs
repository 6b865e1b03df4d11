//! Memory that a host shares with one worker: a file in memory, mapped by both at the same address.

use std::collections::BTreeSet;
use std::ffi::c_void;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};

use divvy_framework_memory::{Access, map_at};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use rustix::mm::munmap;

/// Address of the first region, behind everything that `divvy-framework-memory` maps.
const FIRST: usize = 0x4000_0000_0000;
/// Distance between two regions.
const DISTANCE: usize = 1 << 30;
/// Number of regions that fit below the addresses that Linux gives to libraries.
const REGIONS: usize = 0x4000;
/// Largest size of a region in bytes.
pub(crate) const LARGEST: usize = DISTANCE / 4;

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
