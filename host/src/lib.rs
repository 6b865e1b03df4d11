//! The Divvy scheduler.

pub mod api;
pub mod cycle;
pub mod fleet;
pub mod inputs;
pub mod manifests;
pub mod plugin;
pub mod policy;
pub mod profile;
pub mod replay;
pub mod scheduler;
pub mod strategy;
pub mod workloads;
