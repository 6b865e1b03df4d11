//! State that every call of a cycle can see: the clusters, the binding, seeded randomness and explanations.

use divvy_framework_abi::arena::{Arena, NO_ROW};
use divvy_framework_abi::service::{Texts, text_kind};
use divvy_framework_abi::view::{CycleView, PolicyView, flag};

use crate::binding::Binding;
use crate::clusters::{Cluster, Clusters};
use crate::division::ties;
use crate::plugin::{Failure, Plugin};
use crate::prepare::{PreparePlugin, State};
use crate::random::Generator;

/// One attempt to schedule one binding against one snapshot. Every context dereferences to it.
#[derive(Clone, Copy)]
pub struct Cycle<'a> {
    view: &'a CycleView<'a>,
    policy: &'a PolicyView<'a>,
    texts: Texts<'a>,
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
    pub(crate) fn new(view: &'a CycleView<'a>, policy: &'a PolicyView<'a>, texts: Texts<'a>) -> Self {
        Self { view, policy, texts }
    }

    /// All clusters of the snapshot, feasible or not.
    #[inline]
    pub fn clusters(&self) -> Clusters<'a> {
        Clusters::new(Arena::new(self.view.snapshot.as_slice()))
    }

    /// The binding to schedule.
    pub fn binding(&self) -> Binding<'a> {
        Binding::new(self.view, self.policy)
    }

    /// The binding's seed, derived from the profile's seed and the binding's UID.
    pub fn seed(&self) -> u64 {
        self.view.seed
    }

    /// A random number generator for one purpose, such as the plugin's name. It gives the same numbers in every run.
    pub fn random(&self, purpose: &str) -> Generator {
        Generator::new(self.view.seed, purpose)
    }

    /// True if an explanation was requested. Build texts only then.
    #[inline]
    pub fn wants_explanation(&self) -> bool {
        self.view.flags & flag::EXPLAIN != 0
    }

    /// Registers a reason for rejecting the cluster in a row with the host, and returns its code.
    pub(crate) fn reason(&self, row: u32, reason: &str) -> u32 {
        self.texts.hand_over(text_kind::REASON, row, reason)
    }

    /// Explains what the plugin decided for the cluster in a row of the snapshot; `text` runs only if an explanation
    /// was requested.
    pub fn explain_row(&self, row: usize, text: impl FnOnce() -> String) {
        if self.wants_explanation() {
            let row = u32::try_from(row).unwrap_or(NO_ROW);
            self.texts.hand_over(text_kind::EXPLANATION, row, &text());
        }
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
    pub(crate) cycle: Cycle<'a>,
    pub(crate) state: State<'a>,
    pub(crate) rows: &'a [u32],
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
    /// The [`Failure`] of preparing. Pass it on: it is the outcome of this call.
    pub fn prepared(&self) -> Result<&P::Prepared, Failure> {
        self.state.get(self.plugin, self.cycle, None)
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

    /// Rows of the clusters in the snapshot. For Score and Select they ascend, which is the order of names; for Assign
    /// they follow the order in which Select chose the candidates.
    pub fn rows(&self) -> &'a [u32] {
        self.rows
    }

    /// The cluster at index `place` of [`Self::rows`].
    pub fn cluster(&self, place: usize) -> Cluster<'a> {
        let row = self.rows.get(place).map_or(usize::MAX, |&row| row as usize);
        self.cycle.clusters().get(row)
    }

    /// Score per cluster, weighted and added up over all plugins. Empty for Score.
    pub fn scores(&self) -> &'a [i64] {
        self.scores
    }

    /// Replicas per cluster in the last result; 0 if it does not list the cluster.
    pub fn last(&self) -> &'a [i64] {
        self.last
    }

    /// The replicas of the cluster at index `place` in the last result; `None` if it does not list the cluster.
    #[inline]
    pub fn listed_last(&self, place: usize) -> Option<i64> {
        let index = *self.last_index.get(place)?;
        (index != NO_ROW).then(|| self.last.get(place).copied().unwrap_or(0))
    }

    /// Index per cluster in the last result, in the order of `spec.clusters`; `u32::MAX` for a cluster that the last
    /// result does not list. Empty if it lists none of the feasible clusters.
    pub fn last_indices(&self) -> &'a [u32] {
        self.last_index
    }

    /// Replicas per cluster that fit now, beyond those of the last result. Karmada calls them allocatable. Empty for
    /// Score.
    pub fn fits_now(&self) -> &'a [i64] {
        self.fits_now
    }

    /// Capacity per cluster: the most replicas that it may get, at most those that fit now plus those of the last
    /// result. Karmada calls them available. Empty for Score.
    pub fn capacities(&self) -> &'a [i64] {
        self.capacity
    }

    /// The capacity of the cluster at index `place`: an element of [`Self::capacities`].
    #[inline]
    pub fn capacity(&self, place: usize) -> i64 {
        self.capacity.get(place).copied().unwrap_or(0)
    }

    /// Tier per cluster, 0 being the best; empty if there are no tiers. In Select, a limit on the number of clusters
    /// must never exclude a better tier in favour of a worse one.
    pub fn tiers(&self) -> &'a [u32] {
        self.tiers
    }

    /// The tie-breaking key of the cluster at index `place`: the smaller key is served first. It is derived from the
    /// profile's seed, the binding's UID and the cluster's name. So it does not depend on the order of the clusters,
    /// and over many bindings every subset of them is equally likely to come first.
    #[inline]
    pub fn tie_key(&self, place: usize) -> u64 {
        self.ties()(place)
    }

    /// [`Self::tie_key`] as a closure that looks its columns up only once, for the functions of [`crate::division`].
    pub fn ties(&self) -> impl Fn(usize) -> u64 + Copy + use<'a, P> {
        let hashes = self.cycle.clusters().name_hashes();
        let rows = self.rows;
        let seed = self.cycle.seed();
        move |place| {
            let hash = rows
                .get(place)
                .and_then(|&row| hashes.get(row as usize))
                .copied()
                .unwrap_or(0);
            ties::tie_key(seed, hash)
        }
    }

    /// Karmada's tie order, as a closure like [`Self::ties`]: by name, ascending or descending depending on one bit of
    /// the resource's UID. Unlike Divvy's order, it always starts at one end of the list of names.
    pub fn karmada_ties(&self) -> impl Fn(usize) -> u64 + Copy + use<'a, P> {
        let descends = ties::karmada_descends(self.cycle.binding().resource_uid());
        let rows = self.rows;
        // Rows are sorted by name.
        move |place| ties::karmada_tie_key(descends, rows.get(place).copied().unwrap_or(NO_ROW).into())
    }

    /// Explains what the plugin decided for the cluster at index `place`; `text` runs only if an explanation was
    /// requested.
    pub fn explain(&self, place: usize, text: impl FnOnce() -> String) {
        let row = self.rows.get(place).map_or(usize::MAX, |&row| row as usize);
        self.cycle.explain_row(row, text);
    }
}

impl<'a, P> std::ops::Deref for CallContext<'a, P> {
    type Target = Cycle<'a>;

    fn deref(&self) -> &Cycle<'a> {
        &self.cycle
    }
}
