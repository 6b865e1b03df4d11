//! Checks that a built plugin keeps the contracts of its extension points, with the configuration that will run.
//!
//! - [`check`]: the checks, one per contract. [`check::run`] runs one of them in this process.
//! - [`Subject`]: the plugin under test, in a profile whose other plugins take part in every cycle.
//! - [`Case`]: clusters and a binding as manifests, which `divvy schedule` reads as well.
//! - [`generate`] and [`edges`]: random cases, each from a seed and its number, and those at the ends of every range.
//! - [`shrink`]: the smallest case that still fails.
//! - [`supervise`]: runs a check in a child process, which may crash, hang or exit.
//!
//! The rules are not repeated here: a whole cycle of the scheduler decides each case, and its errors are the findings. Only
//! what a single cycle cannot show is compared here: one cycle with another.
//!
//! This crate reads manifests, but opens no file but those of child processes, and knows no terminal.

mod case;
mod chance;
pub mod check;
pub mod edges;
pub mod generate;
mod moves;
mod names;
mod preferences;
pub mod schema;
pub mod shrink;
mod subject;
pub mod supervise;

pub use case::{Case, Situation};
pub use subject::Subject;
