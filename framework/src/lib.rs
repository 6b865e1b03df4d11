//! The SDK with which Divvy plugins are written.

pub mod division;
