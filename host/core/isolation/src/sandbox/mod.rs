//! Confines the calling process before it runs code that is not trusted.
//!
//! A worker calls [`confine`] once, before it opens the library of a plugin. From then on, the process reads the system's libraries and
//! what [`Limits::read`] grants, writes no file, has no network, starts no process, signals no other process, and has a limited amount of
//! memory. What remains are memory, threads, time, and the descriptors that the process already has: the way to its host.
//!
//! | facility | purpose | if it is missing |
//! |---|---|---|
//! | `no_new_privs` | a program cannot regain privileges, and anyone may install a filter | an error |
//! | seccomp | system calls that are not listed answer `EPERM`; arguments of many that are listed are checked | an error |
//! | landlock | files outside the grants answer `EACCES` | [`Missing`] |
//! | resource limits | private writable memory, descriptors, no core dumps | [`Missing`] |
//! | capabilities | a worker of root keeps none but the right to read | [`Missing`] |
//!
//! The two layers overlap on purpose. The filter alone already refuses to open a file for writing, so a kernel without landlock exposes
//! contents of files, but no more than that.
//!
//! Not prevented:
//! - The existence, size and times of files are visible: landlock does not restrict `stat`.
//! - The limit of memory is one for programs that do not mean to evade it; [`footprint`] shows the host what the kernel does not count, and
//!   the number of threads, which the kernel limits for a user and not for a process.
//! - Memory of the kernel is limited only by others: tables of pages by the limit of addresses, pipes by that of descriptors, stacks of threads
//!   inside the kernel by the number of threads.
//! - Processor time is not limited by the kernel. The host sees it.
//! - What the process was given is shared with whoever gave it: the position in a file, and the memory behind a descriptor. Standard
//!   output and error should be pipes of their own, and shared memory sealed.
//!
//! Nothing can be undone, not even by the process itself.

mod confinement;
mod environment;
mod error;
mod limits;
mod linux;

pub use confinement::Missing;
pub use environment::environment;
pub use limits::Limits;
pub use linux::{Footprint, close_inherited, confine, confine_observed, footprint};

/// For the tests, which look at more than a worker needs.
#[cfg(feature = "testing")]
pub use {
    confinement::{Confinement, Facility},
    error::SandboxError,
    linux::forbid,
};

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
compile_error!("workers are confined by landlock and seccomp: it takes Linux on x86_64 or aarch64");
