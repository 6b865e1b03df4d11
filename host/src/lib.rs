//! The Divvy scheduler.

pub mod api;
pub mod manifests;
pub mod plugin;
pub mod policy;
pub mod strategy;
pub mod workloads;
