//! Constructs a profile's plugins and schedules bindings with them.
//!
//! - [`Profile`]: the constructed plugins of a profile, each at its extension point.
//! - [`Strategy`]: the plugin behind a strategy's name, with its promises and needs.
//! - [`ProvidedTables`]: the tables that its plugins read, with their cells for the snapshots that are in use.
//! - [`registry`]: constructs plugins from a profile's configuration.
//! - [`Decision`]: a decision, made from a binding's plan and [`Circumstances`], trying one affinity group after another.
//! - [`Scheduler`]: schedules bindings from manifests and keeps plans, a ledger and placements between them.
//! - [`Recurring`]: a binding that is decided again and again.

mod decision;
mod error;
mod groups;
mod profile;
mod provided;
mod recurring;
pub mod registry;
mod schedule;
mod tables;
mod unlisted;

pub use decision::{Decision, Outcome, TargetFigures};
pub use error::RegistryError;
pub use groups::{Circumstances, Estimates};
pub use profile::{Profile, ProfileParts, Strategy, StrategyPlugin};
pub use provided::ProvidedTables;
pub use recurring::{BriefFailure, BriefOutcome, Recurring};
pub use schedule::{Scheduler, decide, decide_each};
pub use tables::UnusableTables;
pub use unlisted::UnlistedPlugins;
