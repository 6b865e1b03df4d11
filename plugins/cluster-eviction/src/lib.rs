//! The Filter plugin `cluster-eviction`: rejects clusters that the binding is being evicted from.
//!
//! The SDK looks up the names of the eviction tasks, so [`cluster_eviction`] contains only the reason. The cost is per
//! eviction task, not per cluster.

#![forbid(unsafe_code)]

mod cluster_eviction;
#[cfg(test)]
mod tests;

use divvy_framework::prelude::*;

use cluster_eviction::REASON;

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
            result.reject(row, || REASON.to_owned());
        }
        Ok(())
    }
}

divvy_framework::export_plugin!(ClusterEviction: Filter);
