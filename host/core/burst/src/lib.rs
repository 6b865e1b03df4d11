//! Decides bindings that need replicas at the same time as one plan.
//!
//! Decided one after another, a binding takes the room that it likes best, and a later one that could use nothing else waits. Here the
//! results of one after another are the beginning: as long as they are not written, what they give may go elsewhere. A plan
//! ([`divvy_joint`]) places as much as possible of what waits, the highest priority first, and changes as few of the other results as
//! possible. Replicas that run stay where they are.
//!
//! Each part of a plan is decided by the binding's own plugins, with exactly the room that the plan gives it ([`GivenRoom`]). What they
//! refuse is planned without; what the plan does not place is decided afterwards, as ever. A plan counts only if it places more than one
//! after another does: at the highest priority at which they differ, fewer replicas are missing.
//!
//! - [`Member`]: a binding, and what it gets if bindings are decided one after another. [`decide_alone`] finds that out on trial.
//! - [`Burst`]: everything else that decisions read. [`Burst::plan`] makes the plan.
//! - [`plan_bindings`]: the same for bindings of manifests, with the decisions that follow.
//! - [`Jointly`]: the decisions to be made again, and in which order. [`Share`]: what each binding could have had, and gets.
#![forbid(unsafe_code)]

mod alone;
mod bindings;
mod given;
mod member;
mod model;
mod planning;
mod share;

use std::num::NonZeroUsize;

use divvy_scheduler::fleet::{FleetSnapshot, Ledger};
use divvy_scheduler::profile::Profile;

pub use alone::decide_alone;
pub use bindings::{Earlier, Outlook, plan_bindings};
pub use given::GivenRoom;
pub use member::{Alone, Member};
pub use planning::{Change, Jointly};
pub use share::Share;

/// Everything that the decisions of a plan read beside the bindings.
#[derive(Debug, Clone, Copy)]
pub struct Burst<'a> {
    /// Profile whose plugins decide.
    pub profile: &'a Profile,
    /// The clusters.
    pub fleet: &'a FleetSnapshot,
    /// Capacity that is taken once all members are decided one after another.
    pub ledger: &'a Ledger,
    /// Time of the decisions, in milliseconds since 1970; `None` if it is not known.
    pub time: Option<i64>,
    /// Steps for which the prices of room are looked for, at most.
    pub steps: usize,
    /// Threads for independent work. Their number does not affect any result.
    pub threads: NonZeroUsize,
}
