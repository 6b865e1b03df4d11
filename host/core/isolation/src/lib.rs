//! Plugins in processes of their own.
//!
//! A [`Worker`] is a process that opens one library, or several that share it. An [`IsolatedPlugin`] is a plugin that it
//! constructed: its calls are answered there, and take about as long as it takes to wake a process and be woken. What the plugin
//! does to its process (a crash, an endless loop, a write to memory that is not its own) costs only the call that it was answering.
//! The worker is started again for the next one.
//!
//! - `region`, `header`: the memory that both sides share, and whose turn it is. `exchange`: the host's side of it.
//! - `call`: the calls, copied with everything that they point to by `divvy_framework_abi::carry`. Snapshots are not copied,
//!   because a worker reads them where the host does (`divvy_framework_memory`).
//! - `event`: what a plugin hands over during a call. The worker writes it down, and the host trusts none of it.
//! - `request`: the libraries and plugins that the host asks for. `output`: what a worker prints. [`messages`]: what a worker answers as bytes, for tests that make it up.
//! - `supervisor`, `process`: starting, asking and ending workers. `deadline`, `usage`, `watch`: how long they may take, and what they may
//!   have. `plugin`: instances and what they keep.
//! - `sandbox`: what a worker gives up before it opens a library. `observed`: what a process gives up that opens one to look at it.
//! - `worker`: the other side, which is the program of [`set_program`] with one command.
//!
//! Like the loader, this crate is for Linux. It knows processes and the ABI, and neither profiles nor decisions.

mod call;
mod control;
mod deadline;
mod error;
mod event;
mod exchange;
mod header;
pub mod messages;
mod observed;
mod output;
mod plugin;
mod process;
mod region;
mod request;
#[cfg(not(feature = "testing"))]
#[expect(unreachable_pub, reason = "its tests reach it, with the feature")]
mod sandbox;
#[cfg(feature = "testing")]
pub mod sandbox;
mod supervisor;
mod usage;
mod watch;
pub mod worker;

pub use call::IsolatedCall;
pub use control::MissingFacility;
pub use error::{Ending, IsolationError, Operation};
pub use event::{Event, LeftOut};
pub use observed::{confine_this_process, memory_of};
pub use plugin::{Answered, Constructed, IsolatedPlugin};
pub use process::WorkerProgram;
pub use request::{LibraryRequest, WorkerLibrary};
pub use sandbox::environment;
pub use supervisor::{IsolatedLibrary, Worker, WorkerOptions, has_program, set_program};
