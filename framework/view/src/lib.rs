//! Views of a cluster snapshot and of a binding, shared by plugins, hosts and the test kit.
//!
//! - [`clusters`]: the clusters, object by object or column by column, and affinity matching.
//! - [`binding`]: the binding that a cycle schedules.
//! - [`reason`]: a plugin's reasons for its decisions, as data and as text.
//! - [`tables`]: the tables that a profile provides.
//! - [`weekly`]: hours that recur on days of the week.
//! - [`words`](mod@words): the enumerations that both use, with their Kubernetes spellings and ABI codes.
//!
//! Every view reads memory that the other side laid out, and checks each access: a damaged arena gives empty answers,
//! never undefined behaviour. This crate neither builds arenas (`divvy-framework-calls` does) nor defines the plugin
//! traits (`divvy-framework` does).

#![forbid(unsafe_code)]

pub mod binding;
pub mod clusters;
pub mod reason;
pub mod tables;
pub mod weekly;
pub mod words;

/// Highest score that a plugin may give a cluster; the lowest is 0.
pub const MAXIMUM_SCORE: i64 = 100;
