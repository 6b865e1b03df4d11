//! The simplest form of a filter: one question about one cluster.

use super::{FilterContext, FilterPlugin, FilterResult};
use crate::binding::Binding;
use crate::clusters::Cluster;
use crate::plugin::{Failure, Plugin, Promises};

/// A filter that asks the same question about each cluster, and needs nothing but the cluster and the binding to answer it.
///
/// It is a [`FilterPlugin`] that promises [`Promises::each_alone`], and is exported as one. A filter that reads tables, times or other
/// bindings, has preferences, cordons clusters, or prepares something once for all clusters, implements [`FilterPlugin`] itself.
///
/// ```
/// use divvy_framework::prelude::*;
///
/// /// Keeps workloads without GPUs off clusters that are bought for them.
/// #[derive(Default)]
/// struct GpuOnly;
///
/// impl Plugin for GpuOnly {
///     const NAME: &'static str = "gpu-only";
///     const DESCRIPTION: &'static str = "keeps workloads without GPUs off clusters with GPUs";
/// }
///
/// impl ClusterFilter for GpuOnly {
///     fn fits(&self, cluster: &Cluster<'_>, binding: &Binding<'_>) -> bool {
///         cluster.label("gpu-only").is_none() || binding.requests().any(|request| request.resource == "nvidia.com/gpu")
///     }
///
///     fn reason(&self, _: &Cluster<'_>, _: &Binding<'_>) -> String {
///         "cluster(s) were for workloads with GPUs".to_owned()
///     }
/// }
///
/// use divvy_framework::testing::{ClusterBuilder, Scenario};
/// let scenario = Scenario::new()
///     .cluster(ClusterBuilder::new("a"))
///     .cluster(ClusterBuilder::new("b").label("gpu-only", "true"));
/// assert_eq!(scenario.feasible(&GpuOnly).unwrap(), ["a"]);
/// assert_eq!(scenario.requests(&[("nvidia.com/gpu", 1)]).feasible(&GpuOnly).unwrap(), ["a", "b"]);
/// ```
pub trait ClusterFilter: Plugin {
    /// True if clusters of the last result pass whatever the answer is, so that the filter keeps newcomers out and moves nothing.
    const KEEPS_LAST: bool = false;

    /// True if the cluster may get replicas of the binding.
    fn fits(&self, cluster: &Cluster<'_>, binding: &Binding<'_>) -> bool;

    /// The reason why a cluster does not fit; called only if an explanation was requested. Reasons begin as Karmada's do: `cluster(s)
    /// were …`, because clusters with equal reasons are counted together.
    fn reason(&self, cluster: &Cluster<'_>, binding: &Binding<'_>) -> String;
}

impl<P: ClusterFilter> FilterPlugin for P {
    const PROMISES: Promises = Promises::NONE.each_alone();

    fn filter(&self, context: &FilterContext<'_, Self>, result: &mut FilterResult<'_>) -> Result<(), Failure> {
        let (clusters, binding) = (context.clusters(), context.binding());
        let fits = |row| self.fits(&clusters.get(row), &binding);
        let reason = |row| self.reason(&clusters.get(row), &binding);
        match P::KEEPS_LAST {
            true => result.retain_newcomers(fits, reason),
            false => result.retain(fits, reason),
        }
        Ok(())
    }
}
