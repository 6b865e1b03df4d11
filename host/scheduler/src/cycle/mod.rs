//! The cycle: one binding scheduled once against one snapshot.
//!
//! Filter → Score → Select → Assign, each step a plugin's decision, each result checked before it is used. The cycle does
//! no I/O and reads no clock: the same snapshot, binding, profile and seed give the same result, to the replica.
//!
//! - [`Cycle`]: runs the steps, over memory that it keeps from binding to binding.
//! - Halves: filter and score, then, with estimates from anywhere, select and assign.
//! - [`verify`]: the rules that a plugin's result must keep.
//! - [`explanation`]: why each cluster got what it got.

mod assign;
pub mod error;
pub mod explanation;
mod filter;
mod run;
mod score;
mod select;
mod sink;
mod tiers;
mod walk;

pub use divvy_framework_driver::rules as verify;
pub use error::CycleError;
pub use explanation::Explanation;
pub use run::{Cycle, CycleInput, Target};
