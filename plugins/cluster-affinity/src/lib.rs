//! The Filter plugin `cluster-affinity`: rejects clusters that no affinity of the placement matches.
//!
//! This file connects the SDK to the rule in [`cluster_affinity`]. The host determines which affinities are in force
//! (the policy's only one, or the observed group and its overflow affinities); the rule gets the list.

#![forbid(unsafe_code)]

mod cluster_affinity;
#[cfg(test)]
mod tests;

use divvy_framework::prelude::*;

use cluster_affinity::{AnyOf, REASON};

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
        let clusters = context.clusters();
        let affinities = context
            .binding()
            .affinities()
            .map(|affinity| affinity.compile(&clusters));
        match AnyOf::new(affinities) {
            AnyOf::Everything => {}
            AnyOf::One(affinity) => {
                result.retain(|row| affinity.matches(row), |_| REASON.to_owned());
            }
            AnyOf::Several(affinities) => result.retain(
                |row| affinities.iter().any(|affinity| affinity.matches(row)),
                |_| REASON.to_owned(),
            ),
        }
        Ok(())
    }
}

divvy_framework::export_plugin!(ClusterAffinity: Filter);
