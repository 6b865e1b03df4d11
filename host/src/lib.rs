//! The Divvy scheduler.

pub mod plugin;
