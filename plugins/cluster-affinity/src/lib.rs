//! The Filter plugin `cluster-affinity`: rejects clusters that no affinity of the placement matches.
//!
//! The host determines which affinities are in force: the policy's only one, or the observed group and its overflow affinities. The SDK
//! matches names, exclusions, labels, fields and zones, because strategies need it too. The last result is not considered: a cluster that no
//! longer matches is rejected even if the binding runs there.

#![forbid(unsafe_code)]

#[cfg(test)]
mod tests;

use divvy_framework::prelude::*;

/// Reason for rejecting a cluster, in Karmada's words.
const REASON: &str = "cluster(s) did not match the placement cluster affinity constraint";

/// Rejects clusters that no affinity of the placement matches.
#[derive(Default)]
struct ClusterAffinity;

impl Plugin for ClusterAffinity {
    const NAME: &'static str = "cluster-affinity";
    const DESCRIPTION: &'static str = "rejects clusters that the affinity of the placement does not match";
}

impl FilterPlugin for ClusterAffinity {
    const PROMISES: Promises = Promises::NONE.each_alone();
    const ACTS_ON: BindingParts = BindingParts::CLUSTER_AFFINITIES;

    fn filter(&self, context: &FilterContext<'_, Self>, result: &mut FilterResult<'_>) -> Result<(), Failure> {
        if let Some(affinities) = context.binding().compile_affinities(&context.clusters()) {
            result.retain_matching(&affinities, |_| REASON);
        }
        Ok(())
    }
}

divvy_framework::export_plugin!(ClusterAffinity: Filter);
