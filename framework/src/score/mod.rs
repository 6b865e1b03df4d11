//! Score: rates each feasible cluster from 0 to 100.

pub(crate) mod calls;
mod context;
mod each;
mod result;

use crate::configuration::{NoPreferences, Preferences};
use crate::plugin::{BindingParts, Failure, Needs, Plugin, Promises};

pub use divvy_framework_view::MAXIMUM_SCORE;

/// A plugin that scores the feasible clusters. One that rates each by itself can be a [`ClusterScore`], which is shorter. The host multiplies its scores by the plugin's weight in the profile and
/// adds them up over all plugins.
///
/// The sums order the clusters. Where constraints limit the number of clusters, the bundled selector
/// `spread-constraints` takes those with the best sums; Average gives them the remainder of its division. A strategy
/// that divides by weights or by room, such as StaticWeight or DynamicWeight, does not read the sums: without
/// constraints, even a large weight in the profile moves hardly any replica.
///
/// ```
/// use divvy_framework::prelude::*;
///
/// /// Prefers clusters with more labels.
/// #[derive(Default)]
/// struct ManyLabels;
///
/// impl Plugin for ManyLabels {
///     const NAME: &'static str = "many-labels";
///     const DESCRIPTION: &'static str = "prefers clusters with more labels";
/// }
///
/// impl ScorePlugin for ManyLabels {
///     fn score(&self, context: &ScoreContext<'_, Self>, result: &mut ScoreResult<'_>) -> Result<(), Failure> {
///         for cluster in context.candidates() {
///             result.set(cluster, context.cluster(cluster).labels().count() as i64);
///         }
///         Ok(())
///     }
///
///     fn normalize(&self, _: &ScoreContext<'_, Self>, result: &mut ScoreResult<'_>) -> Result<(), Failure> {
///         result.scale_to_maximum();
///         Ok(())
///     }
/// }
///
/// use divvy_framework::testing::{ClusterBuilder, Scenario};
/// let scenario = Scenario::new()
///     .cluster(ClusterBuilder::new("a").label("tier", "gold").label("env", "prod"))
///     .cluster(ClusterBuilder::new("b").label("tier", "gold"));
/// assert_eq!(scenario.scores(&ManyLabels).unwrap(), [100, 50]);
/// ```
///
/// A policy can carry preferences for the plugin; the trait names their type, as for a
/// [`FilterPlugin`](crate::filter::FilterPlugin).
pub trait ScorePlugin<Accepted: Preferences + 'static = NoPreferences>: Plugin {
    /// The services that the plugin needs from the host for this call.
    const NEEDS: Needs = Needs::NONE;

    /// The promises about the calls: [`Promises::each_alone`] or nothing.
    const PROMISES: Promises = Promises::NONE;

    /// The parts of a binding that the plugin acts on; by default any. For a binding that has none of them, the host
    /// does not call the plugin, and each cluster gets 0, unless the policy carries preferences for the plugin.
    ///
    /// For such a binding, [`Self::score`] and [`Self::normalize`] must leave every score at 0, and must not explain
    /// anything, limit the time for which the answer holds, or fail. The test kit's `scores_checked` and `divvy plugin
    /// verify` check it.
    const ACTS_ON: BindingParts = BindingParts::ALL;

    /// Scores the feasible clusters. A cluster without a score gets 0.
    ///
    /// # Errors
    ///
    /// A [`Failure`] aborts this cycle and leaves the binding's last result in place.
    fn score(&self, context: &ScoreContext<'_, Self, Accepted>, result: &mut ScoreResult<'_>) -> Result<(), Failure>;

    /// Maps the plugin's own scores to 0..=100, right after [`Self::score`]. The default leaves them unchanged. The
    /// host then checks the scores: one outside the range aborts the cycle with an error that names plugin and cluster,
    /// and leaves the binding's last result in place.
    ///
    /// # Errors
    ///
    /// A [`Failure`] aborts this cycle and leaves the binding's last result in place.
    fn normalize(
        &self,
        context: &ScoreContext<'_, Self, Accepted>,
        result: &mut ScoreResult<'_>,
    ) -> Result<(), Failure> {
        let _ = (context, result);
        Ok(())
    }
}

pub use context::ScoreContext;
pub use each::ClusterScore;
pub use result::ScoreResult;
