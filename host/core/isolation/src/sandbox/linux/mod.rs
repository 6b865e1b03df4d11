//! Confinement on Linux.

mod calls;
mod capabilities;
mod descriptors;
mod files;
mod resources;
mod usage;

use std::fs;
use std::path::PathBuf;

use rustix::io::Errno;

#[cfg(feature = "testing")]
pub use calls::forbid;
pub use descriptors::close_inherited;
pub use usage::{Footprint, footprint};

use crate::sandbox::confinement::{Confinement, Facility, Missing};
use crate::sandbox::error::SandboxError;
use crate::sandbox::limits::Limits;

/// Confines the calling process for the rest of its life. It must have a single thread; those that it starts later are confined, too.
///
/// # Errors
///
/// A [`SandboxError`] if a granted path does not exist, if the process has several threads, or if the kernel or the container forbids
/// `no_new_privs` or seccomp. The process may then be confined in part, so it should end. Whatever else is missing is in
/// [`Confinement::missing`].
pub fn confine(limits: &Limits) -> Result<Confinement, SandboxError> {
    one_thread()?;
    let grants = files::open(&limits.read, false)?;
    let filters = calls::filters(std::process::id(), limits.memory_bytes)?;

    // Nothing can be undone from here on.
    rustix::thread::set_no_new_privs(true).map_err(|errno| missing(Facility::NoNewPrivileges, errno))?;
    let mut absent = resources::apply(limits);
    absent.extend(capabilities::drop_all().err());
    let landlock_abi = match files::restrict(grants) {
        Ok(abi) => Some(abi),
        Err(missing) => {
            absent.push(missing);
            None
        }
    };
    // Last, because the filter forbids all of the above.
    calls::apply(&filters)?;
    Ok(Confinement::new(landlock_abi, absent))
}

/// As [`confine`], for a process that opens libraries to look at what they do to it: it may start processes and ask for what it does not get,
/// so that both are seen. It reads what is granted and what the kernel says of it, writes nothing, has no network and reaches no other
/// process. It may have this many bytes of memory beyond its own.
///
/// # Errors
///
/// As [`confine`].
pub fn confine_observed(read: &[PathBuf], memory_bytes: u64) -> Result<Confinement, SandboxError> {
    one_thread()?;
    let grants = files::open(read, true)?;

    // Nothing can be undone from here on.
    rustix::thread::set_no_new_privs(true).map_err(|errno| missing(Facility::NoNewPrivileges, errno))?;
    let mut absent = resources::apply_observed(memory_bytes);
    absent.extend(capabilities::drop_all().err());
    let landlock_abi = match files::restrict(grants) {
        Ok(abi) => Some(abi),
        Err(missing) => {
            absent.push(missing);
            None
        }
    };
    calls::apply(&calls::observed_filters(std::process::id(), landlock_abi.is_some())?)?;
    Ok(Confinement::new(landlock_abi, absent))
}

fn missing(facility: Facility, errno: Errno) -> Missing {
    Missing {
        facility,
        errno: errno.raw_os_error(),
    }
}

/// Landlock confines the calling thread and those that it starts.
fn one_thread() -> Result<(), SandboxError> {
    let tasks = fs::read_dir("/proc/self/task").map_err(|source| SandboxError::ThreadsUnknown { source })?;
    match tasks.count() {
        1 => Ok(()),
        threads => Err(SandboxError::SeveralThreads { threads }),
    }
}
