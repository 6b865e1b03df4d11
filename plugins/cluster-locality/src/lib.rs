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
#[derive(Default)]
struct ClusterLocality;

impl Plugin for ClusterLocality {
    const NAME: &'static str = "cluster-locality";
    const DESCRIPTION: &'static str = "prefers clusters that the last result lists";
}

impl ScorePlugin for ClusterLocality {
    const PROMISES: Promises = Promises::NONE.each_alone();
    const ACTS_ON: BindingParts = BindingParts::LAST_RESULT;

    fn score(&self, context: &ScoreContext<'_, Self>, result: &mut ScoreResult<'_>) -> Result<(), Failure> {
        // Scores start at 0, so there is nothing to do if every cluster of the last result is gone or was rejected.
        if context.lists_any_last() {
            for candidate in context.candidates() {
                let last = context.listed_last(candidate);
                result.set(candidate, score_of(last));
                if let Some(last) = last {
                    context.explain(candidate, || Reason::of(Cause::Listed).figure("last", last));
                }
            }
        }
        Ok(())
    }
}

divvy_framework::export_plugin!(ClusterLocality: Score);
