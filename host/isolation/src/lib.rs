//! Plugins in processes of their own.
//!
//! A [`Worker`] is a process that opens one library. An [`IsolatedPlugin`] is a plugin that it constructed: its calls are
//! answered there, and cost about what it costs to wake a process and to be woken. What the plugin does to its process
//! (a crash, an endless loop, a write to memory that is not its own) costs the call that it was answering, and the worker
//! is started again for the next one.
//!
//! - `region`, `header`: the memory that both sides share, and whose turn it is. `exchange`: the host's side of it.
//! - `call`: the calls, copied with everything that they point to by `divvy_framework_abi::carry`. Snapshots are not copied,
//!   because a worker reads them where the host does (`divvy_framework_memory`).
//! - `event`: what a plugin hands over during a call, written down by the worker and believed by nobody.
//! - `supervisor`, `process`: starting, watching and ending workers. `plugin`: instances and what they keep.
//! - `worker`: the other side, which is the program of [`set_program`] with one command.
//!
//! This crate knows processes and the ABI. It knows no profile, and decides nothing.

#[cfg(target_os = "linux")]
mod call;
#[cfg(target_os = "linux")]
mod control;
mod error;
#[cfg(target_os = "linux")]
mod event;
#[cfg(target_os = "linux")]
mod exchange;
#[cfg(target_os = "linux")]
mod header;
#[cfg(target_os = "linux")]
mod plugin;
#[cfg(target_os = "linux")]
mod process;
#[cfg(target_os = "linux")]
mod region;
#[cfg(target_os = "linux")]
mod supervisor;
#[cfg(target_os = "linux")]
pub mod worker;

#[cfg(target_os = "linux")]
pub use call::IsolatedCall;
pub use error::{Ending, IsolationError, Operation};
#[cfg(target_os = "linux")]
pub use event::Event;
#[cfg(target_os = "linux")]
pub use plugin::{Answered, Constructed, IsolatedPlugin};
#[cfg(target_os = "linux")]
pub use supervisor::{LibraryRequest, Worker, WorkerOptions, WorkerProgram, set_program};
