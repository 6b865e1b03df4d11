//! The Filter plugin `cluster-affinity`: clusters that no affinity of the placement matches are out.
//!
//! This file joins the SDK to the rule, which is in [`cluster_affinity`]. Which affinities are in force (the one of the
//! policy, the observed group of several, its overflow affinities) is the host's to say: the rule sees the list.

#![forbid(unsafe_code)]

mod cluster_affinity;
#[cfg(test)]
mod tests;

use divvy_framework::prelude::*;

use cluster_affinity::{AnyOf, REASON};

/// Rejects clusters that no affinity of the placement matches.
struct ClusterAffinity;

impl Plugin for ClusterAffinity {
    const NAME: &'static str = "cluster-affinity";
    const DESCRIPTION: &'static str = "rejects clusters that the affinity of the placement does not match";
    type Configuration = NoConfiguration;
    type Preferences = NoPreferences;
    // Selectors are compiled in the call and not here: compiled, they borrow the snapshot's columns.
    type Prepared = ();

    fn new(_: NoConfiguration) -> Result<Self, Box<dyn std::error::Error>> {
        Ok(Self)
    }

    fn prepare(&self, _: &PrepareContext<'_, Self>) -> Result<(), Failure> {
        Ok(())
    }
}

impl FilterPlugin for ClusterAffinity {
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
