//! The Divvy scheduler.

pub mod api;
pub mod inputs;
pub mod manifests;
pub mod policy;
pub mod strategy;
pub mod workloads;
