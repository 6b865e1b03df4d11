//! Confines the calling process before it runs code that is not trusted.
//!
//! A worker calls [`confine`] once, before it opens the library of a plugin. From then on, the process reads the system's libraries and
//! what [`Limits::read`] grants, writes no file, has no network, starts no process, signals no other process, and has a limited amount of
//! memory. What remains are memory, threads, time, and the descriptors that the process already has: the way to its host.
//!
//! | facility | purpose | if it is missing |
//! |---|---|---|
//! | `no_new_privs` | a program cannot regain privileges, and anyone may install a filter | [`SandboxError`] |
//! | seccomp | system calls that are not listed answer `EPERM`; arguments of many that are listed are checked | [`SandboxError`] |
//! | landlock | files outside the grants answer `EACCES` | [`Missing`] |
//! | resource limits | private writable memory, descriptors, no core dumps | [`Missing`] |
//! | capabilities | a worker of root keeps none but the right to read | [`Missing`] |
//!
//! The two layers overlap on purpose. The filter alone already refuses to open a file for writing, so a kernel without landlock exposes
//! contents of files, but no more than that.
//!
//! Not prevented:
//! - The existence, size and times of files are visible: landlock does not restrict `stat`.
//! - The limit of memory is one for programs that do not mean to evade it; [`memory_used`] shows the host what the kernel does not count.
//! - Memory of the kernel is not limited: page tables of memory that is only read, pipes, stacks of threads inside the kernel. Threads
//!   are limited by the memory of their stacks as long as the C library makes them. The container's limits apply to all of it.
//! - Processor time is not limited.
//! - What the process was given is shared with whoever gave it: the position in a file, and the memory behind a descriptor. Standard
//!   output and error should be pipes of their own, and shared memory sealed.
//!
//! Nothing can be undone, not even by the process itself.
//!
//! ```no_run
//! use divvy_sandbox::{Limits, close_inherited, confine};
//!
//! fn main() -> Result<(), divvy_sandbox::SandboxError> {
//!     let socket = 3;
//!     // SAFETY: nothing has been opened yet.
//!     unsafe { close_inherited(&[0, 1, 2, socket]) }?;
//!     let limits = Limits {
//!         read: vec!["/plugins/libours.so".into()],
//!         ..Limits::default()
//!     };
//!     let confinement = confine(&limits)?;
//!     for missing in confinement.missing() {
//!         // Tell the host, over the socket: it warns the operator.
//!         let _warning = missing.to_string();
//!     }
//!     // Open the library, and answer calls.
//!     Ok(())
//! }
//! ```

mod confinement;
mod environment;
mod error;
mod limits;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod linux;

pub use confinement::{Confinement, Facility, Missing};
pub use environment::environment;
pub use error::SandboxError;
pub use limits::Limits;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub use linux::{close_inherited, confine, memory_used};

/// What tests of workers need.
#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    feature = "testing"
))]
pub mod testing {
    pub use crate::linux::forbid;
}

/// Confines the calling process: not possible on this target.
///
/// # Errors
///
/// Always [`SandboxError::Unsupported`].
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub fn confine(_limits: &Limits) -> Result<Confinement, SandboxError> {
    use std::env::consts::{ARCH, OS};
    Err(SandboxError::Unsupported {
        target: format!("{OS} on {ARCH}"),
    })
}
