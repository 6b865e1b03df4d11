//! The rule: a cluster that a graceful eviction task names as `fromCluster` is rejected, even if the last result lists it.
//!
//! It does not ask how far the task has come: while it stands, scheduling back would undo it.

/// Why a cluster is rejected: Karmada's text.
pub(crate) const REASON: &str = "cluster(s) is in the process of eviction";
