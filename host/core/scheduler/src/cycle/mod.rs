//! The cycle: schedules one binding against one snapshot.
//!
//! Filter → Score → Select → Assign. Plugins decide each step, and the host checks each result before it is used. The
//! cycle does no I/O and reads no clock: the same snapshot, binding, profile and seed give the same result, to the
//! replica.
//!
//! - [`Cycle`]: runs the steps and reuses its memory from binding to binding.
//! - [`Cycle::run_with_estimates`]: for callers with their own estimates, which are filled in after Filter.
//! - [`Cycle::divide_among`]: Assign alone, among given candidates.
//! - [`Cycle::pace`]: the next step of a move, apart from the steps of a decision.
//! - [`verify`]: the rules that a plugin's result must satisfy.
//! - [`explanation`]: the reasons for each cluster's replicas.

mod account;
mod assign;
mod columns;
mod cordon;
pub mod error;
pub mod explanation;
mod filter;
mod given;
mod listing;
mod pace;
mod run;
mod said;
mod score;
mod select;
mod sink;
mod skipped;
mod tiers;
mod values;
mod views;
mod walk;

pub use divvy_framework_arithmetic::pace::Wait;
pub use divvy_framework_calls::pace::PaceViolation;
pub use divvy_framework_calls::rules as verify;
pub use error::CycleError;
pub use explanation::{ClusterExplanation, Detail, Explanation, LeftOut, Note, Reason, Remainder};
pub use given::GivenCandidate;
pub use pace::{Moving, MovingCluster, PaceAnswer, Step};
pub use run::{Cycle, CycleInput, Target};
pub use skipped::Skipped;
