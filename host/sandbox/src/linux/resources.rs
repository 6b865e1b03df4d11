//! Resource limits.
//!
//! `RLIMIT_DATA` counts private mappings while they are writable. It counts neither shared memory nor reservations (`PROT_NONE`), and
//! the part of a reservation that becomes writable is counted at that moment. The filter of system calls closes its gaps: it refuses
//! the two kinds of writable memory that are not counted, which are new shared memory without a file and mappings that grow like a
//! stack; and it limits the length of a mapping that replaces another one, because the kernel checks only the difference, while it
//! counts the whole. So the limit can be exceeded once, by at most as much again, and then nothing more becomes writable.
//!
//! Not used: `RLIMIT_AS`, because runtimes reserve much more than they use; `RLIMIT_NPROC`, because it counts all processes of a user;
//! `RLIMIT_FSIZE`, because the process can open nothing for writing, and a standard error that is a file would kill it.

use std::fs;
use std::io;

use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, setrlimit};

use super::missing;
use crate::confinement::{Facility, Missing};
use crate::limits::Limits;

/// Sets all limits, and returns those that could not be set.
pub(super) fn apply(limits: &Limits) -> Vec<Missing> {
    let memory = writable_bytes().and_then(|own| {
        let total = own.saturating_add(limits.memory_bytes);
        lower(Resource::Data, total)
    });
    let results = [
        (Facility::MemoryLimit, memory),
        (Facility::DescriptorLimit, lower(Resource::Nofile, limits.descriptors)),
        (Facility::CoreLimit, lower(Resource::Core, 0)),
    ];
    let failed = |(facility, result): (Facility, Result<(), Errno>)| result.err().map(|errno| missing(facility, errno));
    results.into_iter().filter_map(failed).collect()
}

/// Lowers a limit to `value`, unless it is lower already.
fn lower(resource: Resource, value: u64) -> Result<(), Errno> {
    let value = Some(value.min(maximum(resource)?));
    setrlimit(
        resource,
        Rlimit {
            current: value,
            maximum: value,
        },
    )
}

/// The highest value that the process may set. rustix panics where the call is forbidden.
fn maximum(resource: Resource) -> Result<u64, Errno> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the limit lives during the call.
    let result = unsafe { libc::getrlimit(resource as _, &raw mut limit) };
    match result {
        0 => Ok(limit.rlim_max),
        _ => Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)),
    }
}

/// Bytes of private writable memory of this process, as `RLIMIT_DATA` counts them.
fn writable_bytes() -> Result<u64, Errno> {
    let status =
        fs::read_to_string("/proc/self/status").map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmData:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kibibytes.and_then(|count| count.checked_mul(1024)).ok_or(Errno::IO)
}
