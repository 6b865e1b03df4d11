//! Tests plugins: as plain Rust, with builders for clusters, a binding and preferences; and as built libraries, in the
//! real scheduler.
//!
//! Requires the feature `testing`. A [`Scenario`] holds the binding and the clusters, including the results of earlier
//! steps of a cycle (score, replicas that fit now, last replicas). It runs one step of one plugin with the same
//! contexts as the host's calls. [`Scenario::rejections_checked`], [`Scenario::scores_checked`],
//! [`Scenario::candidates_checked`] and [`Scenario::assign_checked`] also check the host's rules and the plugin's
//! promises. They need neither a library nor a scheduler.
//!
//! A [`Move`] runs a pace: one step, or all steps to the target.
//!
//! [`Scenario::from_yaml`] decides manifests in whole cycles, with the bundled plugins around the library under test,
//! and [`Verification`] makes the checks of `divvy plugin verify` on it. Both run the binary `divvy`.
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

mod alone;
mod builders;
mod checked;
mod columns;
mod explanation;
mod groups;
mod host;
mod identity;
mod inputs;
mod last;
mod metrics;
mod moves;
mod parts;
mod peers;
mod promises;
mod scenario;
mod steps;
mod tables;

pub use builders::{AffinityBuilder, ClusterBuilder};
pub use explanation::Explanation;
pub use host::{Decision, Decisions, HostError, Verification, WholeCycle};
pub use metrics::{HistogramFigures, Metrics, measured};
pub use moves::{Move, MovingCluster, Step};
pub use peers::PeerBuilder;
pub use scenario::Scenario;
/// For writing preferences and configurations in tests.
pub use serde_json::{Value, json};
pub use tables::{RowBuilder, TableBuilder};

#[cfg(test)]
mod tests;
