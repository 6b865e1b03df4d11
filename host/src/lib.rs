//! The Divvy scheduler.

pub mod api;
