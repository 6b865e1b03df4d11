//! The Divvy scheduler.

pub mod api;
pub mod fleet;
pub mod inputs;
pub mod manifests;
pub mod plugin;
pub mod policy;
pub mod strategy;
pub mod workloads;
