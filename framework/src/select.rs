//! Select: which of the feasible clusters are candidates.

use crate::cycle::CallContext;
use crate::plugin::{Failure, Plugin};

/// A plugin that picks the candidates, honouring the placement's spread constraints.
///
/// One such plugin is named by the profile. Its result is a list of places among the feasible clusters: the host refuses
/// a list that names a place twice or one that does not exist.
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
    /// Picks the candidates, in order of preference.
    ///
    /// # Errors
    ///
    /// [`Failure::Unschedulable`] if the constraints cannot be met; [`Failure::Internal`] if the plugin is at fault.
    fn select(&self, context: &SelectContext<'_, Self>, result: &mut SelectResult<'_>) -> Result<(), Failure>;
}

/// What [`SelectPlugin::select`] is given: the feasible clusters, by place. It dereferences to [`CallContext`].
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
    /// Per feasible cluster: its score, weighted and added up over all plugins.
    pub fn scores(&self) -> &'a [i64] {
        self.scores
    }

    /// Per feasible cluster: replicas that fit now plus those that the last result has there. Karmada calls it available.
    pub fn available(&self) -> &'a [i64] {
        self.available
    }

    /// Per feasible cluster: replicas that fit now. Karmada calls it allocatable.
    pub fn fits_now(&self) -> &'a [i64] {
        self.fits_now
    }

    /// The replicas that the last result gave the cluster at a place; `None` if it does not list it.
    pub fn last(&self, place: usize) -> Option<i64> {
        self.last
            .get(place)
            .copied()
            .filter(|&last| last != divvy_framework_abi::arena::ABSENT)
    }

    /// Per feasible cluster: its tier, the best being 0; empty if there are no tiers. A limit on the number of clusters
    /// must never cut off a better tier in favour of a worse one.
    pub fn tiers(&self) -> &'a [u32] {
        self.tiers
    }

    /// How many replicas the candidates must be able to hold together; `None` if availability does not matter, as for a
    /// duplicating strategy.
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

/// What [`SelectPlugin::select`] gives back: the candidates, in order of preference.
pub struct SelectResult<'a> {
    pub(crate) candidates: &'a mut [u32],
    pub(crate) count: usize,
    pub(crate) overflow: u64,
}

impl SelectResult<'_> {
    /// Makes the feasible cluster at a place the next candidate.
    #[inline]
    pub fn choose(&mut self, place: usize) {
        match self.candidates.get_mut(self.count) {
            Some(slot) => {
                *slot = u32::try_from(place).unwrap_or(u32::MAX);
                self.count += 1;
            }
            // More candidates than feasible clusters: the host says so.
            None => self.overflow += 1,
        }
    }

    /// Makes every feasible cluster a candidate, by name.
    pub fn choose_all(&mut self) {
        for (place, slot) in (0..).zip(self.candidates.iter_mut()) {
            *slot = place;
        }
        self.count = self.candidates.len();
    }
}
