//! The Score plugin `cluster-locality`: prefers clusters that the last result lists.
//!
//! This file connects the SDK to the rule in [`cluster_locality`].

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
        // Scores start at 0, so there is nothing to do when a binding is scheduled for the first time, the usual case.
        if context.binding().last().next().is_some() {
            for (place, score) in result.scores().iter_mut().enumerate() {
                *score = score_of(context.last(place));
            }
        }
        Ok(())
    }
}

divvy_framework::export_plugin!(ClusterLocality: Score);
