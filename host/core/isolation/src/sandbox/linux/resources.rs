//! Resource limits.
//!
//! `RLIMIT_DATA` counts private mappings while they are writable. It counts neither shared memory nor reservations (`PROT_NONE`), and
//! the part of a reservation that becomes writable is counted at that moment. The filter of system calls closes its gaps: it refuses
//! the two kinds of writable memory that are not counted, which are new shared memory without a file and mappings that grow like a
//! stack; and it limits the length of a mapping that replaces another one, because the kernel checks only the difference, while it
//! counts the whole. So a mapping can exceed the limit once, by at most as much again.
//!
//! One gap remains, because the dynamic linker needs the same calls: memory that was written to and then made read-only does not count
//! any longer. Only a program that means to evade the limit does that, and [`footprint`](super::footprint) shows it to the host.
//!
//! `RLIMIT_AS` is far above that, because runtimes reserve much more than they use. Not used: `RLIMIT_NPROC`, because it counts all
//! processes of a user; `RLIMIT_FSIZE`, because the process can open nothing for writing, and a standard error that is a file would kill it.

use std::fs;
use std::io;

use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, setrlimit};

use super::{missing, usage};
use crate::sandbox::confinement::{Facility, Missing};
use crate::sandbox::limits::Limits;

/// Bytes of the main thread's stack, as Linux limits it by default. `RLIMIT_DATA` does not count it, and it may be unlimited.
const STACK_BYTES: u64 = 8 << 20;

/// Bytes of addresses beyond what the process has when it is confined: reservations, and memory that is shared with the host. Their tables
/// of pages take at most 256 MiB.
const ADDRESS_BYTES: u64 = 128 << 30;

/// Sets all limits, and returns those that could not be set.
pub(super) fn apply(limits: &Limits) -> Vec<Missing> {
    failed([
        (Facility::MemoryLimit, lower_memory(limits.memory_bytes)),
        (Facility::AddressLimit, lower_addresses()),
        (Facility::StackLimit, lower(Resource::Stack, STACK_BYTES)),
        (Facility::DescriptorLimit, lower(Resource::Nofile, limits.descriptors)),
        (Facility::CoreLimit, lower(Resource::Core, 0)),
        (Facility::OutOfMemoryScore, volunteer()),
    ])
}

/// Sets the limits of a process that is observed: those that a worker has but that of descriptors, which it needs itself. Memory is bounded as
/// far as one that takes it at once could harm the system before its observer looks.
pub(super) fn apply_observed(memory_bytes: u64) -> Vec<Missing> {
    failed([
        (Facility::MemoryLimit, lower_memory(memory_bytes)),
        (Facility::AddressLimit, lower_addresses()),
        (Facility::CoreLimit, lower(Resource::Core, 0)),
        (Facility::OutOfMemoryScore, volunteer()),
    ])
}

fn failed(results: impl IntoIterator<Item = (Facility, Result<(), Errno>)>) -> Vec<Missing> {
    let failed = |(facility, result): (Facility, Result<(), Errno>)| result.err().map(|errno| missing(facility, errno));
    results.into_iter().filter_map(failed).collect()
}

/// Limits private writable memory to what the process has, and this.
fn lower_memory(bytes: u64) -> Result<(), Errno> {
    let own = usage::writable().map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    lower(Resource::Data, own.saturating_add(bytes))
}

/// Limits addresses to what the process has, and [`ADDRESS_BYTES`].
fn lower_addresses() -> Result<(), Errno> {
    let mapped = usage::mapped().map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    lower(Resource::As, mapped.saturating_add(ADDRESS_BYTES))
}

/// If memory runs out, the kernel ends this process before others, and the scheduler above all.
fn volunteer() -> Result<(), Errno> {
    let highest = "1000";
    fs::write("/proc/self/oom_score_adj", highest).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
}

/// Lowers a limit to `value`, unless it is lower already.
fn lower(resource: Resource, value: u64) -> Result<(), Errno> {
    let value = Some(value.min(current(resource)?));
    setrlimit(
        resource,
        Rlimit {
            current: value,
            maximum: value,
        },
    )
}

/// The limit in force. rustix panics where the call is forbidden.
fn current(resource: Resource) -> Result<u64, Errno> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the limit lives during the call.
    let result = unsafe { libc::getrlimit(resource as _, &raw mut limit) };
    match result {
        0 => Ok(limit.rlim_cur),
        _ => Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)),
    }
}
