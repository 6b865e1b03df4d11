//! State that every call of a cycle can see: the clusters, the binding, seeded randomness and explanations.

use divvy_framework_abi::AbiStr;
use divvy_framework_abi::arena::Arena;
use divvy_framework_abi::call::{CycleView, flag, text_kind};

use crate::binding::Binding;
use crate::clusters::{Cluster, Clusters};
use crate::plugin::Plugin;
use crate::random::Generator;

/// One attempt to schedule one binding against one snapshot. Every context dereferences to it.
#[derive(Clone, Copy)]
pub struct Cycle<'a> {
    view: &'a CycleView<'a>,
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
    pub(crate) fn new(view: &'a CycleView<'a>) -> Self {
        Self { view }
    }

    /// All clusters of the snapshot, feasible or not.
    #[inline]
    pub fn clusters(&self) -> Clusters<'a> {
        Clusters::new(Arena::new(self.view.snapshot.as_slice()))
    }

    /// The binding to schedule.
    pub fn binding(&self) -> Binding<'a> {
        Binding::new(self.view)
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

    /// Hands a text to the host, and returns the host's answer.
    fn hand_over(&self, kind: u32, subject: u32, text: &str) -> u32 {
        (self.view.text)(self.view.text_context, kind, subject, AbiStr::from_str(text))
    }

    /// Registers a reason with the host, and returns its code.
    pub(crate) fn reason(&self, reason: &str) -> u32 {
        self.hand_over(text_kind::REASON, 0, reason)
    }

    /// Explains the count of the candidate at index `place`; `text` runs only if an explanation was requested.
    pub fn explain(&self, place: usize, text: impl FnOnce() -> String) {
        if self.wants_explanation() {
            self.hand_over(text_kind::EXPLANATION, place as u32, &text());
        }
    }

    /// Adds a remark on the whole decision; `text` runs only if an explanation was requested.
    pub fn note(&self, text: impl FnOnce() -> String) {
        if self.wants_explanation() {
            self.hand_over(text_kind::NOTE, 0, &text());
        }
    }
}

/// The common part of the contexts of Score, Select and Assign: the prepared state and the clusters of the call. It
/// dereferences to [`Cycle`].
pub struct CallContext<'a, P: Plugin> {
    pub(crate) cycle: Cycle<'a>,
    pub(crate) prepared: &'a P::Prepared,
    pub(crate) rows: &'a [u32],
}

impl<'a, P: Plugin> CallContext<'a, P> {
    /// The state that the plugin prepared for this binding.
    pub fn prepared(&self) -> &'a P::Prepared {
        self.prepared
    }

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
}

impl<'a, P: Plugin> std::ops::Deref for CallContext<'a, P> {
    type Target = Cycle<'a>;

    fn deref(&self) -> &Cycle<'a> {
        &self.cycle
    }
}
