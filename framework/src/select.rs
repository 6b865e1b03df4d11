//! Select: picks the candidates among the feasible clusters.

use crate::cycle::CallContext;
use crate::plugin::{Failure, Plugin};

/// A plugin that picks the candidates, honouring the placement's spread constraints.
///
/// A profile names exactly one such plugin. Its result is a list of indices into the feasible clusters: an index that
/// is out of range or repeated aborts the cycle with an error that names the plugin.
///
/// ```
/// use divvy_framework::prelude::*;
///
/// /// Keeps the clusters with the best score.
/// struct BestScore;
///
/// impl Plugin for BestScore {
///     const NAME: &'static str = "best-score";
///     const DESCRIPTION: &'static str = "keeps the clusters with the best score";
///     type Configuration = NoConfiguration;
///     type Preferences = NoPreferences;
///     type Prepared = ();
///
///     fn new(_: NoConfiguration) -> Result<Self, Box<dyn std::error::Error>> {
///         Ok(Self)
///     }
///
///     fn prepare(&self, _: &PrepareContext<'_, Self>) -> Result<(), Failure> {
///         Ok(())
///     }
/// }
///
/// impl SelectPlugin for BestScore {
///     fn select(&self, context: &SelectContext<'_, Self>, result: &mut SelectResult<'_>) -> Result<(), Failure> {
///         let best = context.scores().iter().max();
///         for (place, score) in context.scores().iter().enumerate() {
///             if Some(score) == best {
///                 result.choose(place);
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
pub trait SelectPlugin: Plugin {
    /// Picks the candidates, in order of preference. Without a candidate the host reports `Unschedulable`.
    ///
    /// # Errors
    ///
    /// Return [`Failure::Unschedulable`] if the constraints cannot be met, and [`Failure::Internal`] if the plugin is
    /// at fault. Either aborts this cycle and leaves the binding's last result in place.
    fn select(&self, context: &SelectContext<'_, Self>, result: &mut SelectResult<'_>) -> Result<(), Failure>;
}

/// The input of [`SelectPlugin::select`]: the feasible clusters, by index. It dereferences to [`CallContext`].
pub struct SelectContext<'a, P: Plugin> {
    pub(crate) call: CallContext<'a, P>,
    pub(crate) scores: &'a [i64],
    pub(crate) last: &'a [i64],
    pub(crate) fits_now: &'a [i64],
    pub(crate) available: &'a [i64],
    pub(crate) tiers: &'a [u32],
    pub(crate) needed: i64,
}

impl<'a, P: Plugin> SelectContext<'a, P> {
    /// Score per feasible cluster, weighted and added up over all plugins.
    pub fn scores(&self) -> &'a [i64] {
        self.scores
    }

    /// Replicas per feasible cluster that fit now, plus those of the last result. Karmada calls them available.
    pub fn available(&self) -> &'a [i64] {
        self.available
    }

    /// Replicas per feasible cluster that fit now. Karmada calls them allocatable.
    pub fn fits_now(&self) -> &'a [i64] {
        self.fits_now
    }

    /// The replicas of the cluster at index `place` in the last result; `None` if it does not list the cluster.
    pub fn last(&self, place: usize) -> Option<i64> {
        self.last
            .get(place)
            .copied()
            .filter(|&last| last != divvy_framework_abi::arena::ABSENT)
    }

    /// Tier per feasible cluster, 0 being the best; empty if there are no tiers. A limit on the number of clusters must
    /// never exclude a better tier in favour of a worse one.
    pub fn tiers(&self) -> &'a [u32] {
        self.tiers
    }

    /// Replicas that the candidates together must have room for; `None` if room does not matter, as for a strategy that
    /// duplicates.
    pub fn needed(&self) -> Option<i64> {
        (self.needed >= 0).then_some(self.needed)
    }
}

impl<'a, P: Plugin> std::ops::Deref for SelectContext<'a, P> {
    type Target = CallContext<'a, P>;

    fn deref(&self) -> &CallContext<'a, P> {
        &self.call
    }
}

/// The output of [`SelectPlugin::select`]: the candidates, in order of preference.
pub struct SelectResult<'a> {
    pub(crate) candidates: &'a mut [u32],
    pub(crate) count: usize,
    pub(crate) overflow: u64,
}

impl SelectResult<'_> {
    /// Makes the feasible cluster at index `place` the next candidate.
    #[inline]
    pub fn choose(&mut self, place: usize) {
        match self.candidates.get_mut(self.count) {
            Some(slot) => {
                *slot = u32::try_from(place).unwrap_or(u32::MAX);
                self.count += 1;
            }
            // More candidates than feasible clusters: counted, so that the host can report the violation.
            None => self.overflow += 1,
        }
    }

    /// Makes every feasible cluster a candidate, in the order of names.
    pub fn choose_all(&mut self) {
        for (place, slot) in (0..).zip(self.candidates.iter_mut()) {
            *slot = place;
        }
        self.count = self.candidates.len();
    }
}
