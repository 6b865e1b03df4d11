//! The state that every call of a cycle can see: the clusters, the binding, seeded randomness and explanations.

use std::cell::Cell;

use divvy_framework_abi::arena::{Arena, NO_ROW};
use divvy_framework_abi::descriptor::feature;
use divvy_framework_abi::service::{Texts, text_kind};
use divvy_framework_abi::view::{CycleView, PolicyView, flag};

use crate::binding::{Binding, Placements, Policy};
use crate::clusters::{Cluster, Clusters, NotDeclared, Row};
use crate::division::ties;
use crate::export::GivenAny;
use crate::plugin::{Failure, Needs, Plugin};
use crate::prepare::{Kept, PreparePlugin};
use crate::random::Generator;
use crate::reason::Reason;
use crate::table::TableView;
use crate::value::{BindingValuePlugin, SnapshotValuePlugin};

pub use crate::clusters::{Candidate, Column};

/// One attempt to schedule one binding against one snapshot. Every context dereferences to it.
#[derive(Clone, Copy)]
pub struct Cycle<'a> {
    view: &'a CycleView<'a>,
    policy: &'a PolicyView<'a>,
    texts: Texts<'a>,
    /// Needs that the plugin declared for this extension point.
    needs: Needs,
    /// Time until which the answer holds, in milliseconds since 1970.
    valid_until: &'a Cell<i64>,
}

impl std::fmt::Debug for Cycle<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Cycle")
            .field("binding", &self.binding())
            .field("clusters", &self.clusters().len())
            .finish_non_exhaustive()
    }
}

impl<'a> Cycle<'a> {
    #[inline]
    pub(crate) fn new(
        view: &'a CycleView<'a>,
        policy: &'a PolicyView<'a>,
        texts: Texts<'a>,
        needs: Needs,
        valid_until: &'a Cell<i64>,
    ) -> Self {
        Self {
            view,
            policy,
            texts,
            needs,
            valid_until,
        }
    }

    /// All clusters of the snapshot, feasible or not.
    #[inline]
    pub fn clusters(&self) -> Clusters<'a> {
        self.seen(Clusters::new(self.arena()))
    }

    /// The snapshot.
    #[inline]
    pub(crate) fn arena(&self) -> Arena<'a> {
        Arena::new(self.view.snapshot.as_slice())
    }

    /// Clusters as the plugin sees them at this extension point.
    #[inline]
    pub(crate) fn seen<'c>(&self, clusters: Clusters<'c>) -> Clusters<'c> {
        clusters.declaring_raw(self.needs.has(feature::RAW_CLUSTERS))
    }

    /// True if the plugin declares that it cordons clusters.
    pub(crate) fn may_cordon(&self) -> bool {
        self.needs.has(feature::CORDONS)
    }

    /// The binding to schedule.
    pub fn binding(&self) -> Binding<'a> {
        Binding::new(self.view).declaring(self.needs.bits())
    }

    /// The time of the decision, in milliseconds since 1970-01-01T00:00:00Z. It is the only clock that a plugin may
    /// use: recordings contain it, so a replay decides at the same time.
    ///
    /// # Errors
    ///
    /// [`Failure::Internal`] unless the plugin declares [`Needs::time`], or if the host does not know the time.
    pub fn time(&self) -> Result<i64, Failure> {
        if !self.needs.has(feature::TIME) {
            return Err(NotDeclared::new("the time of the decision", "time").into());
        }
        if self.view.flags & flag::TIME == 0 {
            return Err(Failure::internal("the time of the decision is not known"));
        }
        Ok(self.view.time)
    }

    /// A table of the profile.
    ///
    /// # Errors
    ///
    /// [`Failure::Internal`] unless the plugin declares the table at this extension point: [`Needs::tables`].
    pub fn table(&self, name: &str) -> Result<TableView<'a>, Failure> {
        TableView::new(self.view, self.needs, name)
    }

    /// The workload affinity groups of the binding, and the placements of the other bindings in them: those in the
    /// input or on the control plane, including results that are not written yet.
    ///
    /// # Errors
    ///
    /// [`Failure::Internal`] unless the plugin declares [`Needs::placements`], or if the host does not know them.
    pub fn placements(&self) -> Result<Placements<'a>, Failure> {
        if !self.needs.has(feature::PLACEMENTS) {
            return Err(NotDeclared::new("the placements of other bindings", "placements").into());
        }
        let view = self.view.placements();
        let view = view.ok_or_else(|| Failure::internal("the placements of other bindings are not known"))?;
        Ok(Placements::new(view))
    }

    /// Sets the time, in milliseconds since 1970-01-01T00:00:00Z, until which the answer of this call holds. A live
    /// scheduler then decides the binding again; the earliest time of all plugins of a decision counts. Call it for
    /// rejections and acceptances alike if time can reverse them. A time in the past means very soon.
    pub fn valid_until(&self, milliseconds: i64) {
        self.valid_until.set(self.valid_until.get().min(milliseconds));
    }

    /// Preferences and rules of the policy for the called plugin.
    pub(crate) fn policy(&self) -> Policy<'a> {
        Policy::new(self.view, self.policy)
    }

    /// The binding's seed, derived from the profile's seed and the binding's UID.
    pub fn seed(&self) -> u64 {
        self.view.seed
    }

    /// A random number generator for one purpose, such as the plugin's name. It returns the same numbers in every run.
    pub fn random(&self, purpose: &str) -> Generator {
        Generator::new(self.view.seed, purpose)
    }

    /// True if an explanation was requested. Build texts only then.
    #[inline]
    pub fn wants_explanation(&self) -> bool {
        self.view.flags & flag::EXPLAIN != 0
    }

    /// Registers a reason for rejecting the cluster in a row with the host, and returns its code.
    pub(crate) fn reason(&self, row: Row, reason: &str) -> u32 {
        self.texts.hand_over(text_kind::REASON, row.number(), reason)
    }

    /// The tie-breaking keys of all clusters of the snapshot.
    fn ties_by_row(&self) -> impl Fn(Row) -> u64 + Copy + use<'a> {
        let (hashes, seed) = (self.clusters().name_hashes(), self.seed());
        move |row| ties::tie_key(seed, hashes.get(row).unwrap_or(0))
    }

    /// The tie-breaking key of the cluster in a row.
    pub(crate) fn row_tie_key(&self, row: Row) -> u64 {
        self.ties_by_row()(row)
    }

    /// Explains the plugin's decision about the cluster in a row of the snapshot, by a [`Reason`] or a text; `reason`
    /// runs only if an explanation was requested. A row past the end is ignored and counted; the test kit reports it as
    /// an error.
    pub fn explain_row<R: Into<Reason>>(&self, row: Row, reason: impl FnOnce() -> R) {
        if self.wants_explanation() {
            self.hand_over(row, &reason().into());
        }
    }

    #[cold]
    fn hand_over(&self, row: Row, reason: &Reason) {
        if row.index() >= self.clusters().len() {
            crate::export::count_out_of_range(1);
        }
        reason.hand_over(row.number(), |reason| self.texts.explain(reason));
    }

    /// Adds a remark on the whole decision; `text` runs only if an explanation was requested.
    pub fn note(&self, text: impl FnOnce() -> String) {
        if self.wants_explanation() {
            self.texts.hand_over(text_kind::NOTE, NO_ROW, &text());
        }
    }
}

/// The common part of the contexts of Score, Select and Assign: the clusters of the call and their columns. It
/// dereferences to [`Cycle`].
///
/// All counts are replicas. Each is between 0 and `i32::MAX`, but their sums can be larger.
pub struct CallContext<'a, P> {
    pub(crate) plugin: &'a P,
    pub(crate) cycle: &'a Cycle<'a>,
    pub(crate) kept: Kept<'a>,
    /// The preferences that the policy carries for the plugin, as the type named at this extension point.
    pub(crate) preferences: &'a dyn GivenAny,
    pub(crate) rows: &'a [Row],
    pub(crate) scores: &'a [i64],
    pub(crate) last: &'a [i64],
    pub(crate) last_index: &'a [u32],
    pub(crate) fits_now: &'a [i64],
    pub(crate) capacity: &'a [i64],
    pub(crate) tiers: &'a [u32],
}

impl<P: PreparePlugin> CallContext<'_, P> {
    /// The state that the plugin prepared for this binding. Prepares it on first use.
    ///
    /// # Errors
    ///
    /// The [`Failure`] of preparing. Return it: it is the outcome of this call.
    pub fn prepared(&self) -> Result<&P::Prepared, Failure> {
        self.kept.prepared(self.plugin, self.cycle, self.preferences)
    }
}

impl<P: SnapshotValuePlugin> CallContext<'_, P> {
    /// The value that the plugin keeps for the snapshot. Makes it if the host keeps none.
    ///
    /// # Errors
    ///
    /// The [`Failure`] of making it. Return it: it is the outcome of this call.
    pub fn snapshot_value(&self) -> Result<&P::SnapshotValue, Failure> {
        self.kept.snapshot_value(self.plugin, self.cycle)
    }
}

impl<P: BindingValuePlugin> CallContext<'_, P> {
    /// The value that the plugin keeps for the binding. Makes it if the host keeps none.
    ///
    /// # Errors
    ///
    /// The [`Failure`] of making it. Return it: it is the outcome of this call.
    pub fn binding_value(&self) -> Result<&P::BindingValue, Failure> {
        self.kept.binding_value(self.plugin, self.cycle, self.preferences)
    }
}

impl<'a, P: Plugin> CallContext<'a, P> {
    /// The number of clusters of the call: the feasible ones for Score and Select, the candidates for Assign.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// True if the call has no clusters, in which case the host does not make it.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The clusters of the call, in the order of its columns. For Score and the first selector, this is the order of
    /// names; for the next selector and for Assign, the order in which the previous selector chose them.
    pub fn candidates(&self) -> impl ExactSizeIterator<Item = Candidate> + DoubleEndedIterator + Clone + use<P> {
        (0..self.rows.len()).map(Candidate::from_index)
    }

    /// Row of each cluster in the snapshot.
    pub fn rows(&self) -> Column<'a, Candidate, Row> {
        Column::new(self.rows)
    }

    /// The cluster itself; a cluster without a name or properties for a candidate that the call does not have.
    pub fn cluster(&self, candidate: Candidate) -> Cluster<'a> {
        self.cycle.clusters().get(self.candidate_row(candidate))
    }

    /// Row of a candidate; a row that no snapshot has if the call does not have the candidate.
    fn candidate_row(&self, candidate: Candidate) -> Row {
        self.rows().get(candidate).unwrap_or(Row::from_index(usize::MAX))
    }

    /// Score of each cluster, weighted and added up over all plugins. Empty for Score.
    pub fn scores(&self) -> Column<'a, Candidate, i64> {
        Column::new(self.scores)
    }

    /// Replicas of each cluster in the last result; 0 if it does not list the cluster.
    pub fn last(&self) -> Column<'a, Candidate, i64> {
        Column::new(self.last)
    }

    /// The replicas of a cluster in the last result; `None` if it does not list the cluster.
    #[inline]
    pub fn listed_last(&self, candidate: Candidate) -> Option<i64> {
        let index = *self.last_index.get(candidate.index())?;
        (index != NO_ROW).then(|| self.last().get(candidate).unwrap_or(0))
    }

    /// True if the last result lists any of the feasible clusters; false when a binding is scheduled for the first
    /// time.
    pub fn lists_any_last(&self) -> bool {
        !self.last_index.is_empty()
    }

    /// The clusters' order in the last result, as a closure for the functions of [`crate::division`]: by index in
    /// `spec.clusters`, with unlisted clusters last.
    pub fn last_order(&self) -> impl Fn(usize) -> u64 + Copy + use<'a, P> {
        let listed = self.last_index;
        move |index| listed.get(index).copied().unwrap_or(NO_ROW).into()
    }

    /// Replicas that fit now on each cluster, beyond those of the last result. Karmada calls them allocatable.
    pub fn fits_now(&self) -> Column<'a, Candidate, i64> {
        Column::new(self.fits_now)
    }

    /// Capacity of each cluster: the maximum number of replicas that it may get. Never more than those that fit now
    /// plus those of the last result. Karmada calls them available.
    pub fn capacity(&self) -> Column<'a, Candidate, i64> {
        Column::new(self.capacity)
    }

    /// Tier of each cluster, 0 being the best; empty if there are no tiers. Tiers whose clusters are not in the call
    /// are missing, so the numbers may have gaps and exceed the number of clusters. In Select, a limit on the number of
    /// clusters must never exclude a better tier in favour of a worse one.
    pub fn tiers(&self) -> Column<'a, Candidate, u32> {
        Column::new(self.tiers)
    }

    /// The tie-breaking key of a cluster: the smaller key is served first. It is derived from the profile's seed, the
    /// binding's UID and the cluster's name. So it does not depend on the order of the clusters, and over many bindings
    /// every subset of them is equally likely to come first.
    #[inline]
    pub fn tie_key(&self, candidate: Candidate) -> u64 {
        self.row_tie_key(self.candidate_row(candidate))
    }

    /// [`Self::tie_key`] as a closure that looks its columns up only once, for the functions of [`crate::division`].
    pub fn ties(&self) -> impl Fn(usize) -> u64 + Copy + use<'a, P> {
        let (key, rows) = (self.cycle.ties_by_row(), self.rows);
        move |index| key(rows.get(index).copied().unwrap_or(Row::from_index(usize::MAX)))
    }

    /// Karmada's tie order, as a closure like [`Self::ties`]: by name, ascending or descending depending on one bit of
    /// the resource's UID. Unlike Divvy's order, it always starts at one end of the list of names.
    pub fn karmada_ties(&self) -> impl Fn(usize) -> u64 + Copy + use<'a, P> {
        let descends = ties::karmada_descends(self.cycle.binding().resource_uid());
        let rows = self.rows;
        // Rows are sorted by name.
        move |index| ties::karmada_tie_key(descends, rows.get(index).map_or(NO_ROW, |row| row.number()).into())
    }

    /// Explains the plugin's decision about a cluster, by a [`Reason`] or a text: why it has its share (Assign), its
    /// score (Score), or was left out (Select). `reason` runs only if an explanation was requested. A candidate that
    /// the call does not have is ignored and counted; the test kit reports it as an error.
    pub fn explain<R: Into<Reason>>(&self, candidate: Candidate, reason: impl FnOnce() -> R) {
        if self.wants_explanation() {
            self.cycle.explain_row(self.candidate_row(candidate), reason);
        }
    }
}

impl<'a, P> std::ops::Deref for CallContext<'a, P> {
    type Target = Cycle<'a>;

    fn deref(&self) -> &Cycle<'a> {
        self.cycle
    }
}
