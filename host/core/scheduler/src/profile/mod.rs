//! A profile in use: its plugins, constructed and each at its extension point, its strategies and its tables.
//!
//! - [`Profile`]: the constructed plugins.
//! - [`ConfiguredProfile`]: a profile, with the keys of its configuration that concern results.
//! - [`Strategy`]: the plugin behind a strategy's name, with its promises and needs.
//! - [`ProvidedTables`]: the tables that the plugins read, with their cells for the snapshots that are in use.
//! - [`Pricing`]: the prices with which reports count costs.
//! - [`PlanOptions`]: settings that plans depend on.
//! - [`libraries`]: where each plugin is found, and in which process it runs.
//! - [`Exposure`]: protection from plugins that this system lacks.
//! - [`registry`]: constructs plugins from a profile's configuration.
//!
//! Nothing here knows a plan or a cycle: both read a profile.

mod configured;
mod cost;
mod error;
mod exposure;
pub mod libraries;
mod options;
mod plugins;
mod provided;
pub mod registry;
mod strategy;
mod table_rows;
mod tables;
mod unlisted;

pub use configured::ConfiguredProfile;
pub use cost::{KnownCost, Pricing};
pub use error::RegistryError;
pub use exposure::Exposure;
pub use options::PlanOptions;
pub use plugins::{Profile, ProfileParts};
pub use provided::ProvidedTables;
pub use strategy::{Strategy, StrategyPlugin, UnknownStrategy};
pub use tables::UnusableTables;
pub use unlisted::UnlistedPlugins;
