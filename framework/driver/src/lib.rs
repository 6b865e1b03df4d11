//! Building what plugins read, and checking what they return: for hosts and the test kit of the SDK.
//!
//! - [`snapshot`]: clusters that come, change and go, and the snapshots of them.
//! - [`binding`]: a binding as tables of numbers.
//! - [`cycle`]: a binding and a snapshot as the view that every call of a cycle reads.
//! - [`rules`]: the rules that a plugin's result must keep.
//!
//! Authors of plugins do not need this crate: it is shared because the host and the test kit must build and check in the
//! same way.

#![forbid(unsafe_code)]

pub mod binding;
pub mod cycle;
pub mod rules;
pub mod snapshot;
