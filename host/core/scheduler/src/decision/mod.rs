//! Decides bindings under a profile.
//!
//! - [`Decision`]: a decision, made from a binding's plan and [`Circumstances`], trying one affinity group after another.
//! - [`Scheduler`]: schedules bindings from manifests and keeps plans, a ledger and placements between them.
//! - [`guarded`]: confines a panic of Divvy to one decision.
//! - [`Partial`]: the missing replicas of a result with fewer than requested.
//! - [`decide_in_group`]: a binding in one affinity group, for replays.
//! - [`Recurring`]: a binding that is decided repeatedly.

mod groups;
mod outcome;
mod quorum;
mod recurring;
mod scheduler;

pub use crate::guard::{Defect, guarded};
pub use groups::{Circumstances, Estimates, decide_in_group};
pub use outcome::{Decision, Outcome, TargetFigures};
pub use quorum::Partial;
pub use recurring::{BriefFailure, BriefOutcome, Recurring};
pub use scheduler::{Scheduler, decide, decide_each};
