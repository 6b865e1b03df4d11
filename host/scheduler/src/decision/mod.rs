//! Decides bindings under a profile.
//!
//! - [`Decision`]: a decision, made from a binding's plan and [`Circumstances`], trying one affinity group after another.
//! - [`Scheduler`]: schedules bindings from manifests and keeps plans, a ledger and placements between them.
//! - [`guarded`]: confines a panic of Divvy to one decision.
//! - [`Recurring`]: a binding that is decided repeatedly.

mod groups;
mod outcome;
mod recurring;
mod scheduler;

pub use crate::guard::{Defect, guarded};
pub use groups::{Circumstances, Estimates};
pub use outcome::{Decision, Outcome, TargetFigures};
pub use recurring::{BriefFailure, BriefOutcome, Recurring};
pub use scheduler::{Scheduler, decide, decide_each};
