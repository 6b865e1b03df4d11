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
//! - Memory of the kernel is not limited: page tables of memory that is only read, pipes, stacks of threads inside the kernel. Threads
//!   are limited by the memory of their stacks as long as the C library makes them. The container's limits apply to all of it.
//! - Processor time is not limited.
//!
//! Nothing here is a secret from the plugin, and nothing can be undone, not even by the process itself.

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
#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    feature = "testing"
))]
pub use linux::forbid;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub use linux::{allowed_calls, close_inherited, confine};

/// Confines the calling process: not possible on this target.
///
/// # Errors
///
/// Always [`SandboxError::Unsupported`].
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub fn confine(_limits: &Limits) -> Result<Confinement, SandboxError> {
    Err(SandboxError::Unsupported {
        target: concat_target(std::env::consts::OS, std::env::consts::ARCH),
    })
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
fn concat_target(system: &str, architecture: &str) -> String {
    format!("{system} on {architecture}")
}
