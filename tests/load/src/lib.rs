//! Load on a control plane: the speed and the memory of a running `divvy run`.
//!
//! The scheduler is always a child process, so that its CPU time and its peak memory are those of a process.
//!
//! - [`mod@bench`]: a real API server. Drain rate of a burst and latency of a steady load, each beside a *bare client* that makes
//!   the same calls without deciding anything: the rate that the API server allows on this machine.
//! - [`scale`]: an API server in memory that serves any number of bindings and clusters. The memory of the scheduler, and its
//!   speed if writes cost the server nothing.
//! - [`objects`]: the clusters and bindings of both.
//! - [`plane`], [`api`]: the objects of a measurement on a real API server, created and removed.
//! - [`observer`], [`bare`], [`scheduler`]: the observer, the bare client, and the process that is measured.

pub mod api;
pub mod bare;
pub mod bench;
mod error;
pub mod objects;
pub mod observer;
pub mod plane;
pub mod scale;
pub mod scheduler;

pub use error::LoadError;
