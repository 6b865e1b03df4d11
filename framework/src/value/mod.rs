//! Values that a plugin keeps beyond a cycle: one per snapshot, one per binding.
//!
//! State for one cycle is [prepared](crate::plugin::PreparePlugin). Work that depends on the clusters alone, such as an
//! index of their labels, is done once per snapshot; work that depends on the binding alone, such as parsing an
//! annotation, once per plan of the binding. The host keeps both values. A plugin that lists neither `SnapshotValue`
//! nor `BindingValue` in [`export_plugin!`](crate::export_plugin) costs the host nothing.

pub(crate) mod calls;
mod columns;
#[cfg(all(test, feature = "testing"))]
mod tests;

pub use columns::ClusterColumns;
pub(crate) use columns::make;

use std::any::Any;
use std::marker::PhantomData;

use crate::assign::AssignPlugin;
use crate::binding::{Binding, Rule};
use crate::clusters::{Clusters, Row};
use crate::configuration::Preferences;
use crate::cycle::Cycle;
use crate::plugin::{Failure, Plugin};
use crate::prepare::typed;
use crate::table::TableView;

/// A plugin that keeps a value per snapshot, which depends on the clusters alone.
///
/// Contexts then have `snapshot_value()`. List `SnapshotValue` in [`export_plugin!`](crate::export_plugin), so that the
/// host keeps the value; without it, or on a host that does not keep values, each call makes its own.
///
/// ```
/// use divvy_framework::prelude::*;
///
/// /// Rejects clusters in regions with fewer than two clusters.
/// #[derive(Default)]
/// struct NoLonelyRegions;
///
/// impl Plugin for NoLonelyRegions {
///     const NAME: &'static str = "no-lonely-regions";
///     const DESCRIPTION: &'static str = "rejects clusters that are alone in their region";
/// }
///
/// impl SnapshotValuePlugin for NoLonelyRegions {
///     /// Clusters per region, by symbol.
///     type SnapshotValue = Vec<u32>;
///     /// Heartbeats of clusters change much, but no region.
///     const READS: ClusterColumns = ClusterColumns::NONE.location();
///
///     fn snapshot_value(
///         &self,
///         context: &SnapshotValueContext<'_>,
///         _: Option<&Vec<u32>>,
///     ) -> Result<Vec<u32>, Failure> {
///         let clusters = context.clusters();
///         let mut counts = vec![0; clusters.symbol_count()];
///         for (_, region) in clusters.regions().iter() {
///             counts[region.index()] += 1;
///         }
///         Ok(counts)
///     }
/// }
///
/// impl FilterPlugin for NoLonelyRegions {
///     fn filter(&self, context: &FilterContext<'_, Self>, result: &mut FilterResult<'_>) -> Result<(), Failure> {
///         let (counts, regions) = (context.snapshot_value()?, context.clusters().regions());
///         result.retain(|row| counts[regions[row].index()] > 1, |_| "cluster(s) were alone".to_owned());
///         Ok(())
///     }
/// }
///
/// use divvy_framework::testing::{ClusterBuilder, Scenario};
/// let scenario = Scenario::new()
///     .cluster(ClusterBuilder::new("a").region("eu"))
///     .cluster(ClusterBuilder::new("b").region("eu"))
///     .cluster(ClusterBuilder::new("c").region("us"));
/// assert_eq!(scenario.feasible(&NoLonelyRegions).unwrap(), ["a", "b"]);
/// ```
pub trait SnapshotValuePlugin: Plugin {
    /// The value. It cannot borrow from the snapshot.
    type SnapshotValue: Send + Sync + 'static;

    /// Columns of clusters that the value is made from. The host requests a new value only if one of them has changed
    /// in any cluster, if clusters were added or removed, or if a cell of the plugin's tables may have changed. By
    /// default, every change of a cluster counts.
    ///
    /// So a value may have been made for an earlier snapshot with the same columns. Texts in other columns may have
    /// symbols that did not exist then.
    const READS: ClusterColumns = ClusterColumns::ALL;

    /// Makes the value for a snapshot. `previous` is the value for an earlier snapshot, if the host still has it; the
    /// new value can be derived from it: see [`SnapshotValueContext::changed_rows`].
    ///
    /// # Errors
    ///
    /// A [`Failure`], which becomes the outcome of the call that needs the value: it aborts this cycle and leaves the
    /// binding's last result in place. The host tries again before the next call. Reading a column that [`Self::READS`]
    /// does not declare is such a failure.
    fn snapshot_value(
        &self,
        context: &SnapshotValueContext<'_>,
        previous: Option<&Self::SnapshotValue>,
    ) -> Result<Self::SnapshotValue, Failure>;
}

/// The input of [`SnapshotValuePlugin::snapshot_value`]: the clusters and the tables of the profile, without a binding.
#[derive(Debug)]
pub struct SnapshotValueContext<'a> {
    cycle: Cycle<'a>,
    /// The clusters, of which the plugin reads the columns that it declares.
    clusters: Clusters<'a>,
    changed_rows: Option<&'a [Row]>,
}

impl<'a> SnapshotValueContext<'a> {
    /// All clusters of the snapshot, with the columns that [`SnapshotValuePlugin::READS`] declares.
    pub fn clusters(&self) -> Clusters<'a> {
        self.clusters
    }

    /// A table that the plugin declares at one of its extension points. If it was reloaded, any cell may have changed;
    /// otherwise only those of [`Self::changed_rows`].
    ///
    /// # Errors
    ///
    /// As [`Cycle::table`].
    pub fn table(&self, name: &str) -> Result<TableView<'a>, Failure> {
        self.cycle.table(name)
    }

    /// Rows whose clusters have changed in any column since the snapshot of the previous value, ascending and without
    /// duplicates. Both snapshots have the same clusters in the same rows, and the symbols of the previous one have the
    /// same texts in this one. New texts have new symbols, so a table by symbol may have to grow.
    ///
    /// `None` if anything may have changed: no previous value exists, a cluster was added or removed, a table of the
    /// profile changed, the host dropped unused texts and renumbered the others, or the previous snapshot is not an earlier
    /// one of the same clusters.
    ///
    /// ```
    /// use divvy_framework::prelude::*;
    ///
    /// /// True for each cluster of the gold tier.
    /// fn gold(context: &SnapshotValueContext<'_>, previous: Option<&Vec<bool>>) -> Vec<bool> {
    ///     let clusters = context.clusters();
    ///     let is_gold = |row| clusters.get(row).label("tier") == Some("gold");
    ///     let (Some(previous), Some(changed)) = (previous, context.changed_rows()) else {
    ///         return clusters.rows().map(is_gold).collect();
    ///     };
    ///     let mut gold = previous.clone();
    ///     for &row in changed {
    ///         gold[row.index()] = is_gold(row);
    ///     }
    ///     gold
    /// }
    /// ```
    pub fn changed_rows(&self) -> Option<&'a [Row]> {
        self.changed_rows
    }
}

/// A plugin that keeps a value per binding, which depends on the binding and its preferences alone.
///
/// Contexts then have `binding_value()`. List `BindingValue` in [`export_plugin!`](crate::export_plugin), so that the host
/// keeps the value with its plan of the binding, until the binding changes.
pub trait BindingValuePlugin: Plugin {
    /// The value. It cannot borrow from the binding.
    type BindingValue: Send + Sync + 'static;

    /// Makes the value for a binding.
    ///
    /// # Errors
    ///
    /// A [`Failure`], which becomes the outcome of the call that needs the value: it aborts this cycle and leaves the
    /// binding's last result in place.
    fn binding_value(&self, context: &BindingValueContext<'_, Self>) -> Result<Self::BindingValue, Failure>;
}

/// The input of [`BindingValuePlugin::binding_value`]: the binding, without clusters. Its last result has no rows.
pub struct BindingValueContext<'a, P> {
    cycle: Cycle<'a>,
    preferences: Option<&'a dyn Any>,
    plugin: PhantomData<P>,
}

impl<'a, P> BindingValueContext<'a, P> {
    pub(crate) fn new(cycle: Cycle<'a>, preferences: Option<&'a dyn Any>) -> Self {
        Self {
            cycle,
            preferences,
            plugin: PhantomData,
        }
    }

    /// The binding.
    pub fn binding(&self) -> Binding<'a> {
        self.cycle.binding()
    }

    /// The preferences that the policy carries for the plugin; `None` if it carries none.
    ///
    /// # Errors
    ///
    /// [`Failure::Internal`] if `Accepted` is not the type that the plugin names at its extension points.
    pub fn preferences<Accepted: Preferences + 'static>(&self) -> Result<Option<&'a Accepted>, Failure> {
        typed(self.preferences)
    }

    /// The entries of the policy's lists for the strategy, without rows; none if the plugin is not its strategy.
    pub fn rules<Accepted: Preferences + 'static>(
        &self,
    ) -> impl ExactSizeIterator<Item = Rule<'a>> + use<'a, P, Accepted>
    where
        P: AssignPlugin<Accepted>,
    {
        self.cycle.policy().rules()
    }
}
