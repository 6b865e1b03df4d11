//! Allocations of cycles and snapshots, counted at libc's malloc.
//!
//! This is a separate binary because it replaces malloc: see [`counter`].
//!
//! - [`changes`]: memory after many cluster changes.
//! - [`bindings`]: fleets of any size, and bindings for every bundled strategy.
//! - [`cycles`]: in the steady state, allocations do not depend on the number of clusters.
//! - [`snapshots`]: memory of a snapshot per cluster.
//! - [`stored`]: the input of a plan borrows from the store of a live scheduler.

#![cfg(all(target_os = "linux", target_env = "gnu"))]

mod bindings;
mod changes;
mod counter;
mod cycles;
mod snapshots;
mod stored;

#[allow(dead_code, reason = "shared with the other test binary, which uses the rest")]
#[path = "../artifacts.rs"]
mod artifacts;
#[allow(dead_code, reason = "shared with the other test binary, which uses the rest")]
#[path = "../manifests.rs"]
mod manifests;
#[allow(dead_code, reason = "shared with the other test binary, which uses the rest")]
#[path = "../scheduling.rs"]
mod scheduling;
