//! The Divvy scheduler.
