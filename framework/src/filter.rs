//! Filter: which clusters are out of the question, and why.

use crate::cycle::Cycle;
use crate::plugin::{Failure, Plugin};

/// A plugin that rejects clusters.
///
/// It is called once a cycle, with all clusters. Clusters that are being deleted, and those that earlier filters
/// rejected, are out already: [`FilterResult::feasible`] gives the others.
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
///     type Configuration = OneRegionConfiguration;
///     type Preferences = NoPreferences;
///     type Prepared = ();
///
///     fn new(configuration: OneRegionConfiguration) -> Result<Self, Box<dyn std::error::Error>> {
///         Ok(Self { region: configuration.region })
///     }
///
///     fn prepare(&self, _: &PrepareContext<'_, Self>) -> Result<(), Failure> {
///         Ok(())
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
pub trait FilterPlugin: Plugin {
    /// Rejects clusters.
    ///
    /// # Errors
    ///
    /// A [`Failure`]: the binding is not scheduled. A cluster that does not fit is no failure: reject it.
    fn filter(&self, context: &FilterContext<'_, Self>, result: &mut FilterResult<'_>) -> Result<(), Failure>;
}

/// What [`FilterPlugin::filter`] is given. It dereferences to [`Cycle`].
pub struct FilterContext<'a, P: Plugin> {
    pub(crate) cycle: Cycle<'a>,
    pub(crate) prepared: &'a P::Prepared,
}

impl<'a, P: Plugin> FilterContext<'a, P> {
    /// What the plugin prepared for this binding.
    pub fn prepared(&self) -> &'a P::Prepared {
        self.prepared
    }
}

impl<'a, P: Plugin> std::ops::Deref for FilterContext<'a, P> {
    type Target = Cycle<'a>;

    fn deref(&self) -> &Cycle<'a> {
        &self.cycle
    }
}

/// What [`FilterPlugin::filter`] gives back: clusters that it rejects, each with a reason.
pub struct FilterResult<'a> {
    pub(crate) cycle: Cycle<'a>,
    /// Per cluster of the snapshot: 0 while it is feasible.
    pub(crate) codes: &'a mut [u32],
    pub(crate) code: u32,
    pub(crate) latest: Option<(String, u32)>,
}

impl FilterResult<'_> {
    /// The rows of the clusters that are still feasible.
    pub fn feasible(&self) -> impl Iterator<Item = usize> + '_ {
        self.codes
            .iter()
            .enumerate()
            .filter(|(_, code)| **code == 0)
            .map(|(row, _)| row)
    }

    /// Rejects the cluster in a row; `reason` runs only if somebody asked. A row past the end, or one rejected already, is
    /// left as it is.
    ///
    /// Reasons are counted over all clusters, so they begin as Karmada's do: `cluster(s) had untolerated taint {...}`.
    #[inline]
    pub fn reject(&mut self, row: usize, reason: impl FnOnce() -> String) {
        if self.codes.get(row) != Some(&0) {
            return;
        }
        let code = if self.cycle.wants_explanation() {
            self.code_of(reason())
        } else {
            self.code
        };
        self.codes[row] = code;
    }

    /// Rejects every feasible cluster for which `fits` is false; `reason` runs, with the row, only if somebody asked.
    #[inline]
    pub fn retain(&mut self, mut fits: impl FnMut(usize) -> bool, reason: impl Fn(usize) -> String) {
        if self.cycle.wants_explanation() {
            for row in 0..self.codes.len() {
                if self.codes[row] == 0 && !fits(row) {
                    self.reject(row, || reason(row));
                }
            }
            return;
        }
        for (row, code) in self.codes.iter_mut().enumerate() {
            if *code == 0 && !fits(row) {
                *code = self.code;
            }
        }
    }

    /// Rejected clusters often share their reason: the one handed over last is remembered.
    fn code_of(&mut self, reason: String) -> u32 {
        if let Some((text, code)) = &self.latest
            && *text == reason
        {
            return *code;
        }
        let code = self.cycle.reason(&reason).max(1);
        self.latest = Some((reason, code));
        code
    }
}
