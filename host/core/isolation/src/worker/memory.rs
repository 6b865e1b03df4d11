//! Memory that the host handed over.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Condvar, Mutex, PoisonError};

use divvy_framework_memory::{Access, map_at};

/// The number of chunks that are mapped, and who waits for more.
static CHUNKS: (Mutex<u64>, Condvar) = (Mutex::new(0), Condvar::new());

/// Maps a chunk of snapshots, to be read.
pub(super) fn map_chunk(file: &OwnedFd, address: usize, bytes: usize) -> io::Result<()> {
    map_at(file, address, bytes, Access::Read)?;
    *CHUNKS.0.lock().unwrap_or_else(PoisonError::into_inner) += 1;
    CHUNKS.1.notify_all();
    Ok(())
}

/// Waits until this number of chunks is mapped.
pub(super) fn wait_for_chunks(count: u64) {
    let mapped = CHUNKS.0.lock().unwrap_or_else(PoisonError::into_inner);
    drop(CHUNKS.1.wait_while(mapped, |mapped| *mapped < count));
}

/// Maps an exchange.
pub(super) fn map_exchange(file: &OwnedFd, address: usize, bytes: usize) -> io::Result<()> {
    map_at(file, address, bytes, Access::Write)
}
