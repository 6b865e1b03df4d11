//! What a cycle and a snapshot allocate, counted at libc's malloc.
//!
//! A binary of its own, because it takes malloc's place: see [`counter`].
//!
//! - [`changes`]: memory that changes of clusters leave behind.
//! - [`bindings`]: fleets of any size, and bindings of every bundled strategy.
//! - [`cycles`]: in the steady state nothing is allocated that depends on the number of clusters.
//! - [`snapshots`]: what a snapshot takes a cluster.

#![cfg(all(target_os = "linux", target_env = "gnu"))]

mod bindings;
mod changes;
mod counter;
mod cycles;
mod snapshots;

#[allow(dead_code, reason = "shared with the other test binary, which uses the rest")]
#[path = "../artifacts.rs"]
mod artifacts;
#[allow(dead_code, reason = "shared with the other test binary, which uses the rest")]
#[path = "../manifests.rs"]
mod manifests;
#[allow(dead_code, reason = "shared with the other test binary, which uses the rest")]
#[path = "../scheduling.rs"]
mod scheduling;
