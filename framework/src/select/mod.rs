//! Select: picks the candidates among the feasible clusters.

pub(crate) mod calls;
mod context;
mod result;

use crate::configuration::{NoPreferences, Preferences};
use crate::plugin::{Failure, Needs, Plugin, Promises};

/// A plugin that picks the candidates, honouring the placement's spread constraints.
///
/// A profile names one or more such plugins. Each narrows down the selection of the previous one, in that one's order;
/// the order of the last is that of the candidates. Choosing a cluster that the call does not have, or one cluster
/// twice, aborts the cycle with an error that names the plugin.
///
/// ```
/// use divvy_framework::prelude::*;
///
/// /// Keeps the clusters with the best score.
/// #[derive(Default)]
/// struct BestScore;
///
/// impl Plugin for BestScore {
///     const NAME: &'static str = "best-score";
///     const DESCRIPTION: &'static str = "keeps the clusters with the best score";
/// }
///
/// impl SelectPlugin for BestScore {
///     fn select(&self, context: &SelectContext<'_, Self>, result: &mut SelectResult<'_>) -> Result<(), Failure> {
///         let best = context.scores().iter().map(|(_, score)| score).max();
///         for (cluster, score) in context.scores().iter() {
///             if Some(score) == best {
///                 result.choose(cluster);
///             }
///         }
///         Ok(())
///     }
/// }
///
/// use divvy_framework::testing::{ClusterBuilder, Scenario};
/// let scenario = Scenario::new()
///     .cluster(ClusterBuilder::new("a").score(10))
///     .cluster(ClusterBuilder::new("b").score(20))
///     .cluster(ClusterBuilder::new("c").score(20));
/// assert_eq!(scenario.candidates(&BestScore).unwrap(), ["b", "c"]);
/// ```
///
/// A policy can carry preferences for the plugin; the trait names their type, as for a
/// [`FilterPlugin`](crate::filter::FilterPlugin).
pub trait SelectPlugin<Accepted: Preferences + 'static = NoPreferences>: Plugin {
    /// The services that the plugin needs from the host for this call.
    const NEEDS: Needs = Needs::NONE;

    /// The promises about the plugin's results: [`Promises::enforces_spread_constraints`] and
    /// [`Promises::each_alone`].
    const PROMISES: Promises = Promises::NONE;

    /// Picks the candidates, in order of preference. Without a candidate, the host reports `Unschedulable`. If the
    /// selection breaks a rule (an index out of range or repeated), the host reports an `Error` that names the plugin.
    /// Both leave the binding's last result in place.
    ///
    /// # Errors
    ///
    /// Return [`Failure::Unschedulable`] if the constraints cannot be met, and [`Failure::Internal`] if the plugin is
    /// at fault. Either aborts this cycle and leaves the binding's last result in place.
    fn select(&self, context: &SelectContext<'_, Self, Accepted>, result: &mut SelectResult<'_>)
    -> Result<(), Failure>;
}

pub use context::SelectContext;
pub use result::SelectResult;
