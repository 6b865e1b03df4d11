//! The Score plugin `cluster-locality`: clusters that the last result lists are preferred.
//!
//! This file joins the SDK to the rule, which is in [`cluster_locality`].

#![forbid(unsafe_code)]

mod cluster_locality;
#[cfg(test)]
mod tests;

use divvy_framework::prelude::*;

use cluster_locality::score_of;

/// Prefers clusters that the last result lists.
struct ClusterLocality;

impl Plugin for ClusterLocality {
    const NAME: &'static str = "cluster-locality";
    const DESCRIPTION: &'static str = "prefers clusters that the last result lists";
    type Configuration = NoConfiguration;
    type Preferences = NoPreferences;
    type Prepared = ();

    fn new(_: NoConfiguration) -> Result<Self, Box<dyn std::error::Error>> {
        Ok(Self)
    }

    fn prepare(&self, _: &PrepareContext<'_, Self>) -> Result<(), Failure> {
        Ok(())
    }
}

impl ScorePlugin for ClusterLocality {
    fn score(&self, context: &ScoreContext<'_, Self>, result: &mut ScoreResult<'_>) -> Result<(), Failure> {
        // The first scheduling of a binding is the commonest, and all its scores are 0 already.
        if context.binding().last().next().is_some() {
            for (place, score) in result.scores().iter_mut().enumerate() {
                *score = score_of(context.last(place));
            }
        }
        Ok(())
    }
}

divvy_framework::export_plugin!(ClusterLocality: Score);
