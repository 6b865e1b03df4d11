//! Testing a plugin as plain Rust: clusters, a binding and preferences by builders, no library, no host.
//!
//! Feature `testing`. A [`Scenario`] holds the clusters, with what earlier steps of a cycle would have found out about
//! them (score, replicas that fit now, last replicas), and the binding. It runs one step of one plugin through the same
//! contexts that the host's calls use. [`Scenario::assign_checked`] also holds a strategy to its promises.
//!
//! ```
//! use divvy_framework::testing::{ClusterBuilder, Scenario};
//!
//! let scenario = Scenario::new()
//!     .replicas(6)
//!     .cluster(ClusterBuilder::new("member1").region("eu").fits_now(10))
//!     .cluster(ClusterBuilder::new("member2").region("us").fits_now(10).last(2));
//! assert_eq!(scenario.cluster_names(), ["member1", "member2"]);
//! ```

mod builders;
mod promises;
mod scenario;

pub use builders::ClusterBuilder;
pub use divvy_framework_driver::binding::AffinityWriter;
pub use divvy_framework_driver::snapshot::ClusterWriter;
pub use scenario::{Explanation, Scenario};
/// Preferences and configurations as a test writes them.
pub use serde_json::{Value, json};

#[cfg(test)]
mod tests;
