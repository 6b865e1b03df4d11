//! Plugins put to work: a profile with its plugins constructed, and bindings scheduled by it.
//!
//! - [`Profile`]: the constructed plugins of a profile, each at its extension point.
//! - [`Strategy`]: the plugin behind a strategy's name, with its promises and needs.
//! - [`registry`]: from a profile's configuration to constructed plugins.
//! - [`Scheduler`]: schedules bindings, group after group.

mod profile;
pub mod registry;
mod schedule;

pub use profile::{Profile, ProfileParts, Strategy};
pub use registry::RegistryError;
pub use schedule::{Decision, Outcome, Scheduler, TargetFigures, decide};
