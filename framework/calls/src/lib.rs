//! Builds the input of plugins and checks their results, for hosts and for the SDK's test kit.
//!
//! - [`snapshot`]: the store of clusters and its immutable snapshots.
//! - [`binding`]: a binding as tables of numbers.
//! - [`cycle`]: the view of a binding and a snapshot that every call of a cycle reads.
//! - [`metrics`]: counters and histograms of a plugin.
//! - [`pace`]: the rules for a step of a move.
//! - [`rules`]: the rules that a plugin's result must satisfy.
//! - [`stated`]: promises that a strategy states with its result.
//! - [`tables`]: the tables that a profile provides, by row of a snapshot.
//!
//! Plugin authors do not need this crate. It is separate from the host so that the test kit builds and checks exactly
//! as the host does.

#![forbid(unsafe_code)]

pub mod binding;
pub mod cycle;
pub mod metrics;
pub mod pace;
pub mod placements;
pub mod rules;
pub mod snapshot;
pub mod stated;
pub mod tables;
