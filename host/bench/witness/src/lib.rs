//! Requests of a call to the system, and its changes of its process: for a process that checks code which it does not trust to
//! keep a contract, and that ends afterwards.
//!
//! - [`Witness`] reports files, the network and other processes that calls ask for, and can hide the environment from them.
//! - [`ProcessState`] is what a call must leave as it was: the directory, the locale, signals, descriptors and more.
//! - [`memory_in_use`] is the memory of the C library's allocator and of the process.
//! - [`processor_time`] and [`thread_count`] are what the process does, also while no call is in progress.
//!
//! A witness prevents nothing: every request is answered as usual. Its filter cannot be removed from a thread, so it belongs into a child
//! process. It sees system calls, and not what code reads from the memory of its own process:
//!
//! - the clock, which the kernel maps into each process, or which an instruction reads (`rdtsc`, `cntvct_el0`);
//! - the environment, unless code answers differently while it is hidden;
//! - a copy of the environment that was made while a library was opened, as Go's runtime makes one;
//! - files that are mapped or read by way of descriptors that were open before;
//! - random numbers: the standard library of Rust asks for some on behalf of every `HashMap`.
//!
//! ```no_run
//! use divvy_witness::{ProcessState, Witness};
//!
//! let witness = Witness::install()?;
//! let before = ProcessState::now();
//! witness.begin();
//! // The call.
//! let asked = witness.end();
//! let changed = before.changes(&ProcessState::now());
//! # Ok::<(), divvy_witness::NotInstalled>(())
//! ```

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod linux;
mod request;

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub use linux::{ProcessState, Witness, memory_in_use, processor_time, thread_count};
pub use request::Request;

/// Memory in use, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryInUse {
    /// Blocks of the C library's allocator that are in use. Modulo 2³², as the C library counts them: differences count.
    pub allocated: u32,
    /// Private memory of the process.
    pub resident: u64,
}

/// Requests of calls cannot be seen.
#[derive(Debug, thiserror::Error)]
#[error("{facility} is not available")]
pub struct NotInstalled {
    /// What the system lacks or forbids.
    pub facility: &'static str,
    /// The error of the system.
    #[source]
    pub source: std::io::Error,
}
