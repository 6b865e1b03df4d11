//! Constructs a profile's plugins and schedules bindings with them.
//!
//! - [`Profile`]: the constructed plugins of a profile, each at its extension point.
//! - [`Strategy`]: the plugin behind a strategy's name, with its promises and needs.
//! - [`registry`]: constructs plugins from a profile's configuration.
//! - [`Scheduler`]: schedules bindings, trying one affinity group after another.

mod profile;
pub mod registry;
mod schedule;

pub use profile::{Profile, ProfileParts, Strategy};
pub use registry::RegistryError;
pub use schedule::{Decision, Outcome, Scheduler, TargetFigures, decide, decide_each};
