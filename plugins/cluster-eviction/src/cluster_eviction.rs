//! The rule: a cluster that a graceful eviction task names as `fromCluster` is rejected, even if the last result lists
//! it.
//!
//! The progress of the task does not matter: as long as it exists, scheduling to the cluster would undo it.

/// Reason for rejecting a cluster, in Karmada's words.
pub(crate) const REASON: &str = "cluster(s) is in the process of eviction";
