//! Pace: the steps in which a binding moves from one result to another.
//!
//! Pace is outside of the cycle. When a decision takes replicas from one cluster and gives them to another, its result is a
//! *target*, and a *pace* says the results on the way to it. Whether and when a step is made is up to the host, which also knows the
//! replicas that are ready.

pub(crate) mod calls;
mod context;
mod result;

pub use divvy_framework_arithmetic::pace::{Situation, Wait, step};

use crate::configuration::{NoPreferences, Preferences};
use crate::plugin::{Failure, Needs, Plugin};

/// A plugin that says the next step of a move.
///
/// A profile names one pace. Pure arithmetic like every other call: the same columns give the same step, and nothing is
/// remembered between two steps, because the process can end between them.
///
/// ```
/// use divvy_framework::prelude::*;
///
/// /// Moves one replica per step, the new one first.
/// #[derive(Default)]
/// struct OneByOne;
///
/// impl Plugin for OneByOne {
///     const NAME: &'static str = "one-by-one";
///     const DESCRIPTION: &'static str = "moves one replica per step";
/// }
///
/// impl PacePlugin for OneByOne {
///     fn pace(&self, context: &PaceContext<'_>, result: &mut PaceResult<'_>) -> Result<(), Failure> {
///         // The largest step that the allowances permit, with a surge of at most one replica.
///         let situation = context.situation();
///         let one = divvy_framework::pace::Situation { max_surge: situation.max_surge.min(1), ..situation };
///         result.largest_step(&one, context.ties());
///         Ok(())
///     }
/// }
///
/// use divvy_framework::testing::{Move, MovingCluster, Step};
/// let moving = Move::new(3)
///     .max_surge(2)
///     .cluster(MovingCluster::new("a").running(3))
///     .cluster(MovingCluster::new("b").target(3));
/// assert_eq!(moving.step_checked(&OneByOne).unwrap(), Step::Next(vec![3, 1]));
/// ```
///
/// A policy can carry preferences for the plugin; the trait names their type, as for a
/// [`FilterPlugin`](crate::filter::FilterPlugin).
pub trait PacePlugin<Accepted: Preferences + 'static = NoPreferences>: Plugin {
    /// The services that the plugin needs from the host for this call.
    const NEEDS: Needs = Needs::NONE;

    /// Says the next result on the way to the target, or why the move takes no step now.
    ///
    /// The host accepts a step only if it keeps these rules. If it breaks one, the host reports an `Error` that names the
    /// plugin, and writes nothing:
    ///
    /// | rule | in the columns of [`PaceContext`] |
    /// |---|---|
    /// | Each cluster is between its result and the target. | `min(current, target) <= next <= max(current, target)` |
    /// | No cluster exceeds its room. | `next <= max(current, current + room)` |
    /// | Ready replicas stay; those that are not ready go first. | with `kept(n) = sum(min(ready, current, n))`: `kept(next) >= min(kept(current), total - max_unavailable)` |
    /// | The surge is bounded. | `sum(next) <= max(sum(current), total + max_surge)` |
    /// | So is the number of clusters. | clusters with replicas: at most `max_clusters`, or those of `current` if they are more |
    /// | There is progress, or a reason. | either `next != current`, or [`PaceResult::wait_for`] |
    ///
    /// # Errors
    ///
    /// Return [`Failure::Preferences`] if the policy's preferences are invalid, and [`Failure::Internal`] if the plugin is
    /// at fault. Waiting is not a failure. Each leaves the binding's present result in place.
    fn pace(&self, context: &PaceContext<'_, Accepted>, result: &mut PaceResult<'_>) -> Result<(), Failure>;
}

pub use context::PaceContext;
pub use result::PaceResult;
