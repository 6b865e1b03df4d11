//! The simplest form of a score: one number for one cluster.

use super::{ScoreContext, ScorePlugin, ScoreResult};
use crate::binding::Binding;
use crate::clusters::Cluster;
use crate::plugin::{Failure, Plugin, Promises};

/// A score that rates each cluster by nothing but the cluster and the binding.
///
/// It is a [`ScorePlugin`] that promises [`Promises::each_alone`], and is exported as one. A score that reads tables or the columns of the call, has preferences, or explains what it
/// rates, implements [`ScorePlugin`] itself.
///
/// ```
/// use divvy_framework::prelude::*;
///
/// /// Prefers clusters of the gold tier.
/// #[derive(Default)]
/// struct Gold;
///
/// impl Plugin for Gold {
///     const NAME: &'static str = "gold";
///     const DESCRIPTION: &'static str = "prefers clusters of the gold tier";
/// }
///
/// impl ClusterScore for Gold {
///     fn score_of(&self, cluster: &Cluster<'_>, _: &Binding<'_>) -> i64 {
///         if cluster.label("tier") == Some("gold") { 100 } else { 0 }
///     }
/// }
///
/// use divvy_framework::testing::{ClusterBuilder, Scenario};
/// let scenario = Scenario::new()
///     .cluster(ClusterBuilder::new("a").label("tier", "gold"))
///     .cluster(ClusterBuilder::new("b"));
/// assert_eq!(scenario.scores(&Gold).unwrap(), [100, 0]);
/// ```
pub trait ClusterScore: Plugin {
    /// True to scale the scores so that the largest becomes 100, as [`ScoreResult::scale_to_maximum`] does. Otherwise each must be between
    /// 0 and 100.
    const SCALED: bool = false;

    /// The score of a cluster: the larger, the better.
    fn score_of(&self, cluster: &Cluster<'_>, binding: &Binding<'_>) -> i64;
}

impl<P: ClusterScore> ScorePlugin for P {
    const PROMISES: Promises = Promises::NONE.each_alone();

    fn score(&self, context: &ScoreContext<'_, Self>, result: &mut ScoreResult<'_>) -> Result<(), Failure> {
        let binding = context.binding();
        for candidate in context.candidates() {
            result.set(candidate, self.score_of(&context.cluster(candidate), &binding));
        }
        Ok(())
    }

    fn normalize(&self, _: &ScoreContext<'_, Self>, result: &mut ScoreResult<'_>) -> Result<(), Failure> {
        if P::SCALED {
            result.scale_to_maximum();
        }
        Ok(())
    }
}
