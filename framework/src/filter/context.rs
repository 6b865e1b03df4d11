//! Input of a call of Filter.

use crate::binding::{Tolerations, UntoleratedTaints};
use crate::clusters::Row;
use crate::configuration::NoPreferences;
use crate::cycle::Cycle;
use crate::export::Given;
use crate::plugin::Failure;
use crate::prepare::{Kept, PreparePlugin};
use crate::reuse::with_scratch;
use crate::value::{BindingValuePlugin, SnapshotValuePlugin};

/// The input of [`FilterPlugin::filter`](super::FilterPlugin::filter). It dereferences to [`Cycle`].
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

    /// Runs `work` with the taints that the placement does not tolerate. `None` if no cluster has a taint: `work` is then not run.
    pub fn with_untolerated_taints<T>(&self, work: impl FnOnce(&UntoleratedTaints<'_>) -> T) -> Option<T> {
        let clusters = self.cycle.clusters();
        if !clusters.any_tainted() {
            return None;
        }
        let tolerations = self.cycle.binding().tolerations();
        Some(with_scratch(|compiled: &mut Tolerations| {
            work(&compiled.compile(&clusters, tolerations))
        }))
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
