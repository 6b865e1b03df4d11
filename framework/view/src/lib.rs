//! Reading a snapshot of clusters and the tables of a binding: the views that plugins, hosts and the test kit share.
//!
//! - [`clusters`]: the clusters, object by object or column by column, and the matchers of affinities.
//! - [`binding`]: the binding of a cycle.
//! - [`words`](mod@words): the enumerations of both, with Kubernetes' words and the ABI's codes.
//!
//! Every view reads memory that another party laid out, and reads it checked: a damaged arena gives empty answers, never
//! undefined behaviour. Who builds the arena is unknown here, and so is what an author of a plugin writes.

#![forbid(unsafe_code)]

pub mod binding;
pub mod clusters;
pub mod words;

/// The best score of a cluster; the worst is 0.
pub const MAXIMUM_SCORE: i64 = 100;
