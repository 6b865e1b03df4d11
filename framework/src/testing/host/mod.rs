//! The real scheduler, run on the library of the crate under test.
//!
//! A plugin depends on the SDK alone, and the SDK contains no scheduler. So the kit runs the binary `divvy`, as
//! operators do: [`Scenario::from_yaml`](super::Scenario::from_yaml) decides manifests in whole cycles, and
//! [`Verification`] makes the checks of `divvy plugin verify`. The kit does not read manifests itself, because a second
//! reader could disagree with the scheduler's.

mod binary;
mod decision;
mod error;
mod library;
mod verification;
mod whole_cycle;

pub use decision::{Decision, Decisions};
pub use error::HostError;
pub use verification::Verification;
pub use whole_cycle::WholeCycle;

#[cfg(test)]
mod tests;
