//! Filter: excludes unsuitable clusters, each with a reason.

pub(crate) mod calls;
mod context;
mod each;
mod result;

use crate::configuration::{NoPreferences, Preferences};
use crate::plugin::{BindingParts, Failure, Needs, Plugin, Promises};

/// A plugin that rejects clusters. One that asks the same question about each cluster can be a [`ClusterFilter`], which is shorter.
///
/// The host calls it once per cycle, with all clusters. Clusters that are being deleted or that an earlier filter
/// rejected are already excluded: [`FilterResult::feasible`] returns the others.
///
/// ```
/// use divvy_framework::prelude::*;
///
/// /// Rejects clusters outside one region.
/// struct OneRegion {
///     region: String,
/// }
///
/// #[derive(Configuration)]
/// struct OneRegionConfiguration {
///     /// The region to stay in.
///     region: String,
/// }
///
/// impl Plugin for OneRegion {
///     const NAME: &'static str = "one-region";
///     const DESCRIPTION: &'static str = "rejects clusters outside one region";
/// }
///
/// impl ConfiguredPlugin for OneRegion {
///     type Configuration = OneRegionConfiguration;
///
///     fn new(configuration: OneRegionConfiguration) -> Result<Self, Box<dyn std::error::Error>> {
///         Ok(Self { region: configuration.region })
///     }
/// }
///
/// impl FilterPlugin for OneRegion {
///     fn filter(&self, context: &FilterContext<'_, Self>, result: &mut FilterResult<'_>) -> Result<(), Failure> {
///         let clusters = context.clusters();
///         let region = clusters.symbol(&self.region);
///         let regions = clusters.regions();
///         result.retain(|row| Some(regions[row]) == region, |_| "cluster(s) were in another region".to_owned());
///         Ok(())
///     }
/// }
///
/// use divvy_framework::testing::{ClusterBuilder, Scenario};
/// let scenario = Scenario::new()
///     .cluster(ClusterBuilder::new("a").region("eu"))
///     .cluster(ClusterBuilder::new("b").region("us"));
/// let plugin = OneRegion { region: "eu".to_owned() };
/// assert_eq!(scenario.feasible(&plugin).unwrap(), ["a"]);
/// ```
///
/// A policy can carry preferences for a filter in the annotation `divvy.io/preferences.<name of the plugin>`. The trait
/// names their type, which derives `Preferences`: `impl FilterPlugin<OneRegionPreferences> for OneRegion`; the method
/// then gets a `FilterContext<'_, Self, OneRegionPreferences>`. A plugin that serves several extension points names the
/// same type at each that reads them. A plugin that names none refuses all preferences.
pub trait FilterPlugin<Accepted: Preferences + 'static = NoPreferences>: Plugin {
    /// The services that the plugin needs from the host for this call.
    const NEEDS: Needs = Needs::NONE;

    /// The promises about the clusters that are left: [`Promises::enforces_workload_affinity`],
    /// [`Promises::enforces_workload_anti_affinity`] and [`Promises::each_alone`].
    const PROMISES: Promises = Promises::NONE;

    /// The parts of a binding that the plugin acts on; by default any. For a binding that has none of them, the host
    /// does not call the plugin, and no cluster is rejected, unless the policy carries preferences for the plugin.
    ///
    /// For such a binding, [`Self::filter`] must not reject a cluster, explain anything, limit the time for which its
    /// answer holds, or fail. The test kit's `rejections_checked` and `divvy plugin verify` check it.
    const ACTS_ON: BindingParts = BindingParts::ALL;

    /// Rejects clusters. The host excludes them from the rest of the cycle. If none is left, it reports `NoClusterFit`,
    /// with the number of clusters per reason, and the binding's last result stays in place.
    ///
    /// # Errors
    ///
    /// A [`Failure`] aborts this cycle and leaves the binding's last result in place. An unsuitable cluster is not a
    /// failure: reject it.
    fn filter(&self, context: &FilterContext<'_, Self, Accepted>, result: &mut FilterResult<'_>)
    -> Result<(), Failure>;
}

pub use context::FilterContext;
pub use each::ClusterFilter;
pub use result::FilterResult;
