//! The Filter plugin `cluster-eviction`: rejects clusters that the binding is being evicted from.
//!
//! A cluster that a graceful eviction task names as `fromCluster` is rejected, even if the last result lists it. The progress of the task does
//! not matter: as long as it exists, scheduling to the cluster would undo it. The cost is per task, not per cluster.

#![forbid(unsafe_code)]

#[cfg(test)]
mod tests;

use divvy_framework::prelude::*;

/// Reason for rejecting a cluster, in Karmada's words.
const REASON: &str = "cluster(s) is in the process of eviction";

/// Rejects clusters that the binding is being evicted from.
#[derive(Default)]
struct ClusterEviction;

impl Plugin for ClusterEviction {
    const NAME: &'static str = "cluster-eviction";
    const DESCRIPTION: &'static str = "rejects clusters that the binding is being evicted from";
}

impl FilterPlugin for ClusterEviction {
    const PROMISES: Promises = Promises::NONE.each_alone();
    const ACTS_ON: BindingParts = BindingParts::EVICTIONS;

    fn filter(&self, context: &FilterContext<'_, Self>, result: &mut FilterResult<'_>) -> Result<(), Failure> {
        for row in context.binding().eviction_rows(&context.clusters()) {
            result.reject(row, || REASON);
        }
        Ok(())
    }
}

divvy_framework::export_plugin!(ClusterEviction: Filter);
