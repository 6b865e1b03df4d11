//! Score: how well each feasible cluster suits, from 0 to 100.

use crate::cycle::CallContext;
use crate::plugin::{Failure, Plugin};

pub use divvy_framework_view::MAXIMUM_SCORE;

/// A plugin that scores the feasible clusters. The host multiplies its scores by the weight that the profile gives the
/// plugin, and adds up over all plugins.
///
/// ```
/// use divvy_framework::prelude::*;
///
/// /// Prefers clusters with more labels.
/// struct ManyLabels;
///
/// impl Plugin for ManyLabels {
///     const NAME: &'static str = "many-labels";
///     const DESCRIPTION: &'static str = "prefers clusters with more labels";
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
/// impl ScorePlugin for ManyLabels {
///     fn score(&self, context: &ScoreContext<'_, Self>, result: &mut ScoreResult<'_>) -> Result<(), Failure> {
///         for place in 0..context.len() {
///             result.set(place, context.cluster(place).labels().count() as i64);
///         }
///         Ok(())
///     }
///
///     fn normalize(&self, _: &ScoreContext<'_, Self>, result: &mut ScoreResult<'_>) -> Result<(), Failure> {
///         result.scale_to_maximum();
///         Ok(())
///     }
/// }
///
/// use divvy_framework::testing::{ClusterBuilder, Scenario};
/// let scenario = Scenario::new()
///     .cluster(ClusterBuilder::new("a").label("tier", "gold").label("env", "prod"))
///     .cluster(ClusterBuilder::new("b").label("tier", "gold"));
/// assert_eq!(scenario.scores(&ManyLabels).unwrap(), [100, 50]);
/// ```
pub trait ScorePlugin: Plugin {
    /// Scores the feasible clusters. A cluster that is not scored has 0.
    ///
    /// # Errors
    ///
    /// A [`Failure`]: the binding is not scheduled.
    fn score(&self, context: &ScoreContext<'_, Self>, result: &mut ScoreResult<'_>) -> Result<(), Failure>;

    /// Brings the plugin's own scores into 0..=100, right after [`Self::score`]. Without it they must be there already: a
    /// score outside is an error that names the plugin and the cluster.
    ///
    /// # Errors
    ///
    /// A [`Failure`]: the binding is not scheduled.
    fn normalize(&self, context: &ScoreContext<'_, Self>, result: &mut ScoreResult<'_>) -> Result<(), Failure> {
        let _ = (context, result);
        Ok(())
    }
}

/// What [`ScorePlugin::score`] is given: the feasible clusters, by place. It dereferences to [`CallContext`].
pub struct ScoreContext<'a, P: Plugin> {
    pub(crate) call: CallContext<'a, P>,
    pub(crate) last: &'a [i64],
}

impl<'a, P: Plugin> ScoreContext<'a, P> {
    /// The replicas that the last result gave the cluster at a place; `None` if it does not list it.
    #[inline]
    pub fn last(&self, place: usize) -> Option<i64> {
        self.last
            .get(place)
            .copied()
            .filter(|&last| last != divvy_framework_abi::arena::ABSENT)
    }
}

impl<'a, P: Plugin> std::ops::Deref for ScoreContext<'a, P> {
    type Target = CallContext<'a, P>;

    fn deref(&self) -> &CallContext<'a, P> {
        &self.call
    }
}

/// What [`ScorePlugin::score`] gives back: a score a feasible cluster.
pub struct ScoreResult<'a> {
    pub(crate) scores: &'a mut [i64],
}

impl ScoreResult<'_> {
    /// Sets the score of the cluster at a place. A place past the end is ignored.
    #[inline]
    pub fn set(&mut self, place: usize, score: i64) {
        if let Some(slot) = self.scores.get_mut(place) {
            *slot = score;
        }
    }

    /// The scores, one a feasible cluster.
    pub fn scores(&mut self) -> &mut [i64] {
        self.scores
    }

    /// Scales the scores so that the largest becomes 100; negative ones become 0. All zero stay zero.
    pub fn scale_to_maximum(&mut self) {
        let largest = self.scores.iter().copied().max().unwrap_or(0).max(0);
        for score in self.scores.iter_mut() {
            *score = if largest == 0 {
                0
            } else {
                let scaled = i128::from((*score).max(0)) * i128::from(MAXIMUM_SCORE) / i128::from(largest);
                i64::try_from(scaled).unwrap_or(MAXIMUM_SCORE)
            };
        }
    }

    /// Turns the scores round within 0..=100: the best becomes the worst.
    pub fn reverse(&mut self) {
        for score in self.scores.iter_mut() {
            *score = MAXIMUM_SCORE.saturating_sub(*score);
        }
    }
}
