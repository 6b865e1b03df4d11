//! The clusters of results, of which a report has millions.
//!
//! A crate of its own, because these loops take most of the time of a large report, while the rest of the command line is compiled
//! for a short build. Nothing here is generic, so that all of it is compiled here.
//!
//! - [`names`]: the names of the clusters by their rows.
//! - [`targets`]: the clusters of a result in a few bytes each.
//! - [`shares`]: the clusters of a result beside those of the last one.
//! - [`rows`]: one row of a table per cluster.
//! - [`sums`]: replicas of all results, and by cluster.

pub mod names;
pub mod rows;
pub mod shares;
pub mod sums;
pub mod targets;
