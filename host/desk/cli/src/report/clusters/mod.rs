//! The clusters of results. A report can have millions.
//!
//! - [`names`]: the names of the clusters by their rows.
//! - [`targets`]: the clusters of a result by their rows.
//! - [`shares`]: the clusters of a result beside those of the last one.
//! - [`rows`]: one row of a table per cluster.
//! - [`sums`]: replicas of all results, and by cluster.

pub(crate) mod names;
pub(crate) mod rows;
pub(crate) mod shares;
pub(crate) mod sums;
pub(crate) mod targets;
