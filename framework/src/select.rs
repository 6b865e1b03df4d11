//! Select: picks the candidates among the feasible clusters.

use crate::configuration::{NoPreferences, Preferences};
use crate::cycle::{CallContext, Candidate};
use crate::export::Given;
use crate::plugin::{Failure, Needs, Plugin, Promises};

/// A plugin that picks the candidates, honouring the placement's spread constraints.
///
/// A profile names one or more such plugins. Each narrows down the selection of the previous one, in that one's order;
/// the order of the last is that of the candidates. Choosing a cluster that the call does not have, or one cluster
/// twice, aborts the cycle with an error that names the plugin.
///
/// ```
/// use divvy_framework::prelude::*;
///
/// /// Keeps the clusters with the best score.
/// #[derive(Default)]
/// struct BestScore;
///
/// impl Plugin for BestScore {
///     const NAME: &'static str = "best-score";
///     const DESCRIPTION: &'static str = "keeps the clusters with the best score";
/// }
///
/// impl SelectPlugin for BestScore {
///     fn select(&self, context: &SelectContext<'_, Self>, result: &mut SelectResult<'_>) -> Result<(), Failure> {
///         let best = context.scores().iter().map(|(_, score)| score).max();
///         for (cluster, score) in context.scores().iter() {
///             if Some(score) == best {
///                 result.choose(cluster);
///             }
///         }
///         Ok(())
///     }
/// }
///
/// use divvy_framework::testing::{ClusterBuilder, Scenario};
/// let scenario = Scenario::new()
///     .cluster(ClusterBuilder::new("a").score(10))
///     .cluster(ClusterBuilder::new("b").score(20))
///     .cluster(ClusterBuilder::new("c").score(20));
/// assert_eq!(scenario.candidates(&BestScore).unwrap(), ["b", "c"]);
/// ```
///
/// A policy can carry preferences for the plugin; the trait names their type, as for a
/// [`FilterPlugin`](crate::filter::FilterPlugin).
pub trait SelectPlugin<Accepted: Preferences + 'static = NoPreferences>: Plugin {
    /// The services that the plugin needs from the host for this call.
    const NEEDS: Needs = Needs::NONE;

    /// The promises about the plugin's results: [`Promises::enforces_spread_constraints`] and
    /// [`Promises::each_alone`].
    const PROMISES: Promises = Promises::NONE;

    /// Picks the candidates, in order of preference. Without a candidate, the host reports `Unschedulable`. If the
    /// selection breaks a rule (an index out of range or repeated), the host reports an `Error` that names the plugin.
    /// Both leave the binding's last result in place.
    ///
    /// # Errors
    ///
    /// Return [`Failure::Unschedulable`] if the constraints cannot be met, and [`Failure::Internal`] if the plugin is
    /// at fault. Either aborts this cycle and leaves the binding's last result in place.
    fn select(&self, context: &SelectContext<'_, Self, Accepted>, result: &mut SelectResult<'_>)
    -> Result<(), Failure>;
}

/// The input of [`SelectPlugin::select`]: the feasible clusters, or the selection of the previous selector. It
/// dereferences to [`CallContext`].
pub struct SelectContext<'a, P, Accepted = NoPreferences> {
    pub(crate) call: CallContext<'a, P>,
    pub(crate) preferences: &'a Given<'a, Accepted>,
    pub(crate) needed: i64,
}

impl<'a, P: Plugin, Accepted> SelectContext<'a, P, Accepted> {
    /// The preferences that the policy carries for the plugin; `None` if it carries none.
    pub fn preferences(&self) -> Option<&'a Accepted> {
        self.preferences.get()
    }

    /// Replicas that the candidates together must have room for; `None` if room does not matter, as for a strategy that
    /// duplicates.
    pub fn needed(&self) -> Option<i64> {
        (self.needed >= 0).then_some(self.needed)
    }
}

impl<'a, P, Accepted> std::ops::Deref for SelectContext<'a, P, Accepted> {
    type Target = CallContext<'a, P>;

    fn deref(&self) -> &CallContext<'a, P> {
        &self.call
    }
}

/// The output of [`SelectPlugin::select`]: the candidates, in order of preference.
pub struct SelectResult<'a> {
    candidates: &'a mut [u32],
    count: usize,
    overflow: u64,
}

impl<'a> SelectResult<'a> {
    pub(crate) fn new(candidates: &'a mut [u32]) -> Self {
        Self {
            candidates,
            count: 0,
            overflow: 0,
        }
    }

    /// The number of candidates, including those that did not fit the column.
    pub(crate) fn written(&self) -> u64 {
        (self.count as u64).saturating_add(self.overflow)
    }

    /// Makes a feasible cluster the next candidate. A cluster that the call does not have makes the whole result an
    /// error.
    #[inline]
    pub fn choose(&mut self, candidate: Candidate) {
        match self.candidates.get_mut(self.count) {
            Some(slot) => {
                *slot = candidate.number();
                self.count += 1;
            }
            // More candidates than feasible clusters: counted, so that the host can report the violation.
            None => self.overflow += 1,
        }
    }

    /// Clusters of the call that are not candidates so far, for [explanations](CallContext::explain). Allocates.
    pub fn left_out(&self) -> impl Iterator<Item = Candidate> + use<> {
        let mut is_chosen = vec![false; self.candidates.len()];
        for &chosen in self.candidates.iter().take(self.count) {
            if let Some(mark) = is_chosen.get_mut(chosen as usize) {
                *mark = true;
            }
        }
        let marks = is_chosen.into_iter().enumerate();
        marks
            .filter(|(_, chosen)| !chosen)
            .map(|(index, _)| Candidate::from_index(index))
    }

    /// Makes every cluster of the call a candidate, in the order of the call.
    pub fn choose_all(&mut self) {
        for (index, slot) in (0..).zip(self.candidates.iter_mut()) {
            *slot = index;
        }
        self.count = self.candidates.len();
    }
}
