//! Assign: divides the replicas over the candidates.

pub(crate) mod calls;
mod context;
mod result;
mod stated;

use crate::configuration::{NoPreferences, Preferences};
use crate::plugin::{Failure, Needs, Plugin, Promises, RuleList};

/// A plugin that divides a binding's replicas over the candidates: a strategy.
///
/// ```
/// use divvy_framework::prelude::*;
///
/// /// Gives everything to the candidate with the most room.
/// #[derive(Default)]
/// struct Roomiest;
///
/// impl Plugin for Roomiest {
///     const NAME: &'static str = "roomiest";
///     const DESCRIPTION: &'static str = "gives everything to the candidate with most room";
/// }
///
/// impl AssignPlugin for Roomiest {
///     const STRATEGIES: &'static [&'static str] = &["Roomiest"];
///     const PROMISES: Promises = Promises::NONE.respects_capacity().order_independent();
///
///     fn assign(&self, context: &AssignContext<'_, Self>, result: &mut AssignResult<'_>) -> Result<(), Failure> {
///         let capacity = context.capacity();
///         match context.candidates().max_by_key(|&candidate| (capacity[candidate], context.tie_key(candidate))) {
///             Some(roomiest) if capacity[roomiest] >= context.replicas() => {
///                 result.set(roomiest, context.replicas());
///                 context.explain(roomiest, || "has most room".to_owned());
///                 Ok(())
///             }
///             Some(roomiest) => Err(Failure::too_small(context.replicas(), capacity[roomiest])),
///             None => Err(Failure::too_small(context.replicas(), 0)),
///         }
///     }
/// }
///
/// use divvy_framework::testing::{ClusterBuilder, Scenario};
/// let scenario = Scenario::new()
///     .replicas(6)
///     .cluster(ClusterBuilder::new("a").fits_now(4))
///     .cluster(ClusterBuilder::new("b").fits_now(7).last(1));
/// assert_eq!(scenario.assign(&Roomiest).unwrap(), [0, 6]);
/// ```
///
/// A policy can carry free-form preferences for a strategy that names their type in the trait, `impl
/// AssignPlugin<RoomiestPreferences> for Roomiest`, and derives `Preferences` for it; the method then gets an
/// `AssignContext<'_, Self, RoomiestPreferences>`. Any other strategy refuses all preferences. They are in the
/// annotation `divvy.io/preferences`, or, as for any other plugin, in `divvy.io/preferences.<name of the plugin>`.
pub trait AssignPlugin<Accepted: Preferences + 'static = NoPreferences>: Plugin {
    /// Names of the strategies that the plugin serves, in `UpperCamelCase`, as policies spell them. No two plugins of a
    /// profile may serve the same strategy.
    const STRATEGIES: &'static [&'static str];

    /// The promises about the plugin's results.
    const PROMISES: Promises;

    /// The services that the plugin needs from the host.
    const NEEDS: Needs = Needs::NONE;

    /// Policy lists that this strategy reads.
    const RULE_LISTS: &'static [RuleList] = &[];

    /// The promises about this result that [`Self::PROMISES`] cannot express, because they depend on the policy or on the
    /// configuration: a number of clusters. It is called before [`Self::assign`], with the same input and without the result, so
    /// compute it from the preferences rather than from the division: a mistake in the division is found by what does
    /// not depend on it.
    ///
    /// The host checks each result against them. A broken promise aborts the cycle with an error that names the
    /// plugin, the promise, and the cluster or the group that breaks it, and leaves the binding's last result in place. A host of
    /// ABI 1.0 does not call the method.
    ///
    /// ```
    /// use divvy_framework::prelude::*;
    ///
    /// #[derive(Default, Preferences)]
    /// #[serde(default)]
    /// struct FewPreferences {
    ///     /// Clusters to use. Absent: no limit.
    ///     most_clusters: Option<u32>,
    /// }
    ///
    /// #[derive(Default)]
    /// struct Few;
    ///
    /// impl Plugin for Few {
    ///     const NAME: &'static str = "few";
    ///     const DESCRIPTION: &'static str = "divides over the first clusters by name";
    /// }
    ///
    /// impl AssignPlugin<FewPreferences> for Few {
    ///     const STRATEGIES: &'static [&'static str] = &["Few"];
    ///     const PROMISES: Promises = Promises::NONE;
    ///
    ///     fn stated_promises(&self, context: &AssignContext<'_, Self, FewPreferences>) -> Result<StatedPromises, Failure> {
    ///         let most = context.preferences().and_then(|preferences| preferences.most_clusters);
    ///         Ok(most.map_or(StatedPromises::NONE, |most| StatedPromises::NONE.most_clusters(most)))
    ///     }
    ///
    ///     fn assign(
    ///         &self,
    ///         context: &AssignContext<'_, Self, FewPreferences>,
    ///         result: &mut AssignResult<'_>,
    ///     ) -> Result<(), Failure> {
    ///         // The limit is forgotten.
    ///         for candidate in context.candidates() {
    ///             result.set(candidate, context.replicas() / context.len() as i64);
    ///         }
    ///         Ok(())
    ///     }
    /// }
    ///
    /// use divvy_framework::testing::{ClusterBuilder, Scenario, json};
    /// let scenario = Scenario::new().replicas(6).cluster(ClusterBuilder::new("a")).cluster(ClusterBuilder::new("b"));
    /// assert_eq!(scenario.check_promises(&Few), Ok(()));
    /// let broken = scenario.preferences(&json!({ "mostClusters": 1 })).check_promises(&Few).unwrap_err();
    /// assert!(broken.starts_with("plugin `few` promises to use at most 1 of the clusters but used 2: `b` is one too many"));
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`Self::assign`]; nothing is divided then.
    fn stated_promises(&self, context: &AssignContext<'_, Self, Accepted>) -> Result<StatedPromises, Failure> {
        let _ = context;
        Ok(StatedPromises::NONE)
    }

    /// Divides the replicas. If the policy has tiers, the host calls the method once per tier, with the tier's
    /// candidates and its share of the replicas. It checks the counts: their signs, their sum, and [`Self::PROMISES`].
    /// A violation aborts the cycle with an error that names the plugin, and leaves the binding's last result in place.
    /// Candidates with 0 replicas are dropped from the result.
    ///
    /// # Errors
    ///
    /// Return [`Failure::Unschedulable`] if the candidates have too little room, [`Failure::Preferences`] if the
    /// policy's preferences are invalid, and [`Failure::Internal`] if the plugin is at fault. Each aborts this cycle
    /// and leaves the binding's last result in place, even if earlier tiers succeeded.
    fn assign(&self, context: &AssignContext<'_, Self, Accepted>, result: &mut AssignResult<'_>)
    -> Result<(), Failure>;
}

pub use stated::StatedPromises;

pub use context::AssignContext;
pub use result::AssignResult;
