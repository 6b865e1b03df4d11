//! Descriptors that a process inherits.

use std::fs;
use std::io;
use std::os::fd::RawFd;

use crate::sandbox::error::SandboxError;

/// Closes all descriptors of the process except those in `keep`. A process started by [`std::process::Command`] inherits what its parent
/// opened without `CLOEXEC`, which may be anything: a pipe of the shell, a socket of a library.
///
/// # Errors
///
/// [`SandboxError::Descriptors`] if the kernel has no `close_range` and /proc cannot be read either.
///
/// # Safety
///
/// Nothing in the process may own a descriptor that is not in `keep`. This is so at the beginning of `main`.
pub unsafe fn close_inherited(keep: &[RawFd]) -> Result<(), SandboxError> {
    let mut keep: Vec<u32> = keep
        .iter()
        .filter_map(|&descriptor| descriptor.try_into().ok())
        .collect();
    keep.sort_unstable();
    let mut first = 0_u32;
    for last_kept in keep.into_iter().map(Some).chain([None]) {
        let last = match last_kept {
            // Nothing is between two that are kept.
            Some(kept) if kept <= first => None,
            Some(kept) => Some(kept - 1),
            None => Some(u32::MAX),
        };
        if let Some(last) = last {
            close(first, last).map_err(|source| SandboxError::Descriptors { source })?;
        }
        first = last_kept.map_or(u32::MAX, |kept| first.max(kept.saturating_add(1)));
    }
    Ok(())
}

/// Closes the descriptors from `first` to `last`, inclusive.
fn close(first: u32, last: u32) -> io::Result<()> {
    // SAFETY: the call takes three numbers. The caller of `close_inherited` promises that no one owns these descriptors.
    let result = unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
    if result == 0 {
        return Ok(());
    }
    // Linux before 5.9, or a container that does not know the call.
    let open = fs::read_dir("/proc/self/fd")?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect::<Vec<u32>>();
    for descriptor in open.into_iter().filter(|open| (first..=last).contains(open)) {
        let descriptor = libc::c_int::try_from(descriptor).map_err(io::Error::other)?;
        // SAFETY: the caller of `close_inherited` promises that no one owns the descriptor. The one that read the folder is closed by
        // now, and closing a number twice fails without effect.
        unsafe { libc::close(descriptor) };
    }
    Ok(())
}
