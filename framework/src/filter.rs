//! Filter: excludes unsuitable clusters, each with a reason.

use crate::clusters::{NotDeclared, Row, RowSet};
use crate::configuration::{NoPreferences, Preferences};
use crate::cycle::Cycle;
use crate::export::Given;
use crate::plugin::{BindingParts, Failure, Needs, Plugin, Promises};
use crate::prepare::{Kept, PreparePlugin};
use crate::reason::{Cause, Reason};
use crate::value::{BindingValuePlugin, SnapshotValuePlugin};

/// A plugin that rejects clusters.
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

/// The input of [`FilterPlugin::filter`]. It dereferences to [`Cycle`].
pub struct FilterContext<'a, P, Accepted = NoPreferences> {
    pub(crate) plugin: &'a P,
    pub(crate) cycle: &'a Cycle<'a>,
    pub(crate) kept: Kept<'a>,
    pub(crate) preferences: &'a Given<'a, Accepted>,
}

impl<'a, P, Accepted> FilterContext<'a, P, Accepted> {
    /// The preferences that the policy carries for the plugin; `None` if it carries none.
    pub fn preferences(&self) -> Option<&'a Accepted> {
        self.preferences.get()
    }

    /// The replicas of a cluster in the last result; `None` if it does not list the cluster. Searches the last result:
    /// for all clusters of a fleet, use [`Binding::collect_last_rows`](crate::binding::Binding::collect_last_rows).
    pub fn listed_last(&self, row: Row) -> Option<i64> {
        let mut last = self.cycle.binding().last();
        last.find(|target| target.row == Some(row))
            .map(|target| target.replicas)
    }

    /// The tie-breaking key of a cluster: the smaller key is served first.
    #[inline]
    pub fn tie_key(&self, row: Row) -> u64 {
        self.cycle.row_tie_key(row)
    }
}

impl<P: PreparePlugin, Accepted: 'static> FilterContext<'_, P, Accepted> {
    /// The state that the plugin prepared for this binding. Prepares it on first use.
    ///
    /// # Errors
    ///
    /// The [`Failure`] of preparing. Pass it on: it is the outcome of this call.
    pub fn prepared(&self) -> Result<&P::Prepared, Failure> {
        self.kept.prepared(self.plugin, self.cycle, self.preferences)
    }
}

impl<P: SnapshotValuePlugin, Accepted> FilterContext<'_, P, Accepted> {
    /// The value that the plugin keeps for the snapshot. Makes it if the host keeps none.
    ///
    /// # Errors
    ///
    /// The [`Failure`] of making it. Pass it on: it is the outcome of this call.
    pub fn snapshot_value(&self) -> Result<&P::SnapshotValue, Failure> {
        self.kept.snapshot_value(self.plugin, self.cycle)
    }
}

impl<P: BindingValuePlugin, Accepted: 'static> FilterContext<'_, P, Accepted> {
    /// The value that the plugin keeps for the binding. Makes it if the host keeps none.
    ///
    /// # Errors
    ///
    /// The [`Failure`] of making it. Pass it on: it is the outcome of this call.
    pub fn binding_value(&self) -> Result<&P::BindingValue, Failure> {
        self.kept.binding_value(self.plugin, self.cycle, self.preferences)
    }
}

impl<'a, P, Accepted> std::ops::Deref for FilterContext<'a, P, Accepted> {
    type Target = Cycle<'a>;

    fn deref(&self) -> &Cycle<'a> {
        self.cycle
    }
}

/// The output of [`FilterPlugin::filter`]: the rejected clusters, each with a reason.
pub struct FilterResult<'a> {
    cycle: &'a Cycle<'a>,
    /// Per cluster of the snapshot: 0 while it is feasible.
    codes: &'a mut [u32],
    /// Per cluster of the snapshot: 1 if it is cordoned. Empty unless the plugin needs it.
    cordoned: &'a mut [u32],
    code: u32,
    latest: Option<(String, u32)>,
    /// Clusters of the last result, once a cluster was cordoned.
    last: Option<RowSet>,
    /// Number of rejections of rows past the end.
    pub(crate) dropped: u64,
}

impl<'a> FilterResult<'a> {
    pub(crate) fn new(cycle: &'a Cycle<'a>, codes: &'a mut [u32], cordoned: &'a mut [u32], code: u32) -> Self {
        Self {
            cycle,
            codes,
            cordoned,
            code,
            latest: None,
            last: None,
            dropped: 0,
        }
    }

    /// Rows of the clusters that are still feasible.
    pub fn feasible(&self) -> impl Iterator<Item = Row> + '_ {
        self.codes
            .iter()
            .enumerate()
            .filter(|(_, code)| **code == 0)
            .map(|(row, _)| Row::from_index(row))
    }

    /// Rejects the cluster in a row; `reason` runs only if an explanation was requested. Has no effect on a cluster that
    /// is already rejected. A row past the end is ignored and counted; the test kit reports it as an error.
    ///
    /// The host reports how many clusters share each reason, so reasons begin as Karmada's do:
    /// `cluster(s) had untolerated taint {...}`. A [`Reason`] can also have figures, which the explanation of the cluster
    /// shows as data: `Reason::new("cluster(s) were full").figure("seats", 3)`.
    #[inline]
    pub fn reject<R: Into<Reason>>(&mut self, row: Row, reason: impl FnOnce() -> R) {
        match self.codes.get(row.index()) {
            Some(0) => {}
            Some(_) => return,
            None => {
                self.dropped += 1;
                return;
            }
        }
        let code = if self.cycle.wants_explanation() {
            code_of(&mut self.latest, self.cycle, row, &reason().into())
        } else {
            self.code
        };
        self.codes[row.index()] = code;
    }

    /// Rejects every feasible cluster for which `fits` returns false; `reason` runs, with the row, only if an
    /// explanation was requested.
    #[inline]
    pub fn retain<R: Into<Reason>>(&mut self, mut fits: impl FnMut(Row) -> bool, reason: impl Fn(Row) -> R) {
        let (explains, code) = (self.cycle.wants_explanation(), self.code);
        // `fits` is called in one place only, so that it is inlined into the loop.
        for (row, own) in (0_u32..).zip(self.codes.iter_mut()) {
            let row = Row::from_index(row as usize);
            if *own == 0 && !fits(row) {
                *own = match explains {
                    true => code_of(&mut self.latest, self.cycle, row, &reason(row).into()),
                    false => code,
                };
            }
        }
    }

    /// Cordons the cluster in a row: it takes no further replicas of the binding and keeps those of the last result. A cluster
    /// that the last result does not list is rejected. Has no effect on a cluster that is already rejected. `reason` is as for
    /// [`Self::reject`].
    ///
    /// The host enforces it under every strategy: the cluster's capacity is what it has, and a strategy that does not heed
    /// capacities divides what exceeds it among the other candidates. Select does not leave the cluster out for having no
    /// room. The cluster still loses replicas if the binding shrinks, or if its strategy moves them for another reason.
    ///
    /// # Errors
    ///
    /// [`Failure::Internal`] unless the plugin declares [`Needs::cordons`].
    ///
    /// ```
    /// use divvy_framework::prelude::*;
    ///
    /// /// Takes nothing away from clusters that are about to be dismantled, and gives them nothing.
    /// #[derive(Default)]
    /// struct Dismantled;
    ///
    /// impl Plugin for Dismantled {
    ///     const NAME: &'static str = "dismantled";
    ///     const DESCRIPTION: &'static str = "cordons clusters that are about to be dismantled";
    /// }
    ///
    /// impl FilterPlugin for Dismantled {
    ///     const NEEDS: Needs = Needs::NONE.cordons();
    ///
    ///     fn filter(&self, context: &FilterContext<'_, Self>, result: &mut FilterResult<'_>) -> Result<(), Failure> {
    ///         for (row, cluster) in context.clusters().rows().zip(context.clusters().iter()) {
    ///             if cluster.label("dismantle") == Some("true") {
    ///                 result.cordon(row, || "cluster(s) were about to be dismantled")?;
    ///             }
    ///         }
    ///         Ok(())
    ///     }
    /// }
    ///
    /// use divvy_framework::testing::{ClusterBuilder, Scenario};
    /// let scenario = Scenario::new()
    ///     .cluster(ClusterBuilder::new("a").label("dismantle", "true").last(2))
    ///     .cluster(ClusterBuilder::new("b").label("dismantle", "true"))
    ///     .cluster(ClusterBuilder::new("c"));
    /// assert_eq!(scenario.feasible(&Dismantled).unwrap(), ["a", "c"]);
    /// assert_eq!(scenario.cordoned(&Dismantled).unwrap(), ["a"]);
    /// ```
    pub fn cordon<R: Into<Reason>>(&mut self, row: Row, reason: impl FnOnce() -> R) -> Result<(), Failure> {
        if !self.cycle.may_cordon() {
            return Err(NotDeclared::new("the column of cordoned clusters", "cordons").into());
        }
        if self.codes.get(row.index()) != Some(&0) {
            // Rejected, or past the end, which `reject` counts.
            self.reject(row, reason);
            return Ok(());
        }
        let cycle = self.cycle;
        let last = self.last.get_or_insert_with(|| {
            let mut last = RowSet::default();
            cycle.binding().collect_last_rows(&cycle.clusters(), &mut last);
            last
        });
        match self.cordoned.get_mut(row.index()) {
            Some(cordoned) if last.contains(row) => {
                *cordoned = 1;
                cycle.explain_row(row, reason);
            }
            _ => self.reject(row, reason),
        }
        Ok(())
    }
}

/// The code of a reason. Rejected clusters often share their reason, so the latest one is not passed to the host again. What a
/// reason has besides its text is passed for each cluster.
fn code_of(latest: &mut Option<(String, u32)>, cycle: &Cycle<'_>, row: Row, reason: &Reason) -> u32 {
    if reason.cause() != Cause::Other || reason.figures().len() > 0 {
        cycle.explain_row(row, || reason.clone());
    }
    let text = reason.to_string();
    if let Some((known, code)) = latest
        && *known == text
    {
        return *code;
    }
    let code = cycle.reason(row, &text).max(1);
    *latest = Some((text, code));
    code
}
