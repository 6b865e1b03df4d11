//! Pace: the steps in which a binding moves from one result to another.
//!
//! Pace is outside of the cycle. When a decision takes replicas from one cluster and gives them to another, its result is a
//! *target*, and a *pace* says the results on the way to it. Whether and when a step is made is up to the host, which also knows the
//! replicas that are ready.

use divvy_framework_abi::arena::NO_ROW;
use divvy_framework_abi::call::{PaceCall, wait};

use crate::clusters::{Cluster, Row};
use crate::configuration::{NoPreferences, Preferences};
use crate::cycle::{Candidate, Column, Cycle};
use crate::export::Given;
use crate::plugin::{Failure, Needs, Plugin};
use crate::reason::Reason;

pub use divvy_framework_arithmetic::pace::{Situation, Wait, step};

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

/// The input of [`PacePlugin::pace`]: the clusters of a move with their columns, and the binding's allowances. It dereferences to
/// [`Cycle`], whose binding has the present result as its last one.
///
/// The clusters are those of the present result, of the target, and all in which replicas of the binding are still there. A
/// [`Candidate`] is one of them. All counts are replicas.
pub struct PaceContext<'a, Accepted = NoPreferences> {
    cycle: &'a Cycle<'a>,
    preferences: &'a Given<'a, Accepted>,
    call: PaceCall<'a>,
}

impl<'a, Accepted> PaceContext<'a, Accepted> {
    pub(crate) fn new(cycle: &'a Cycle<'a>, preferences: &'a Given<'a, Accepted>, call: PaceCall<'a>) -> Self {
        Self {
            cycle,
            preferences,
            call,
        }
    }

    /// The preferences that the policy carries for the plugin; `None` if it carries none.
    pub fn preferences(&self) -> Option<&'a Accepted> {
        self.preferences.get()
    }

    /// The number of clusters of the move.
    pub fn len(&self) -> usize {
        self.call.current.as_slice().len()
    }

    /// True if the move has no clusters, in which case the host does not make the call.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The clusters of the move, in the order of its columns, which is that of their names.
    pub fn candidates(&self) -> impl ExactSizeIterator<Item = Candidate> + DoubleEndedIterator + Clone + use<Accepted> {
        (0..self.len()).map(Candidate::from_index)
    }

    /// Row of a cluster in the snapshot; `None` if the cluster is gone.
    pub fn row(&self, candidate: Candidate) -> Option<Row> {
        let row = *self.call.rows.as_slice().get(candidate.index())?;
        (row != NO_ROW).then(|| Row::from_index(row as usize))
    }

    /// The cluster itself; `None` if it is gone.
    pub fn cluster(&self, candidate: Candidate) -> Option<Cluster<'a>> {
        Some(self.cycle.clusters().get(self.row(candidate)?))
    }

    /// Replicas that the present result gives each cluster.
    pub fn current(&self) -> Column<'a, Candidate, i64> {
        Column::new(self.call.current.as_slice())
    }

    /// Replicas that are in each cluster: more than [`Self::current`] while some are being removed or Karmada evicts them, fewer while
    /// they are being created.
    pub fn present(&self) -> Column<'a, Candidate, i64> {
        Column::new(self.call.present.as_slice())
    }

    /// Replicas that are known to be ready in each cluster: a lower bound, never more than [`Self::present`].
    pub fn ready(&self) -> Column<'a, Candidate, i64> {
        Column::new(self.call.ready.as_slice())
    }

    /// Replicas of each cluster in the target. While too few are known to be ready, a cluster has those in it that may be ready, so that they
    /// stay where they are for now; the targets then add up to more than [`Self::total`].
    pub fn target(&self) -> Column<'a, Candidate, i64> {
        Column::new(self.call.target.as_slice())
    }

    /// Further replicas that fit in each cluster, beyond [`Self::current`]; `i64::MAX` if room does not limit them.
    pub fn room(&self) -> Column<'a, Candidate, i64> {
        Column::new(self.call.room.as_slice())
    }

    /// Replicas that the binding asks for.
    pub fn total(&self) -> i64 {
        self.call.total
    }

    /// Replicas that a result may have beyond [`Self::total`].
    pub fn max_surge(&self) -> i64 {
        self.call.max_surge
    }

    /// Replicas by which the ready ones may fall below [`Self::total`].
    pub fn max_unavailable(&self) -> i64 {
        self.call.max_unavailable
    }

    /// The greatest number of clusters that a result may have; `None` without a limit.
    pub fn max_clusters(&self) -> Option<u32> {
        (self.call.max_clusters > 0).then_some(self.call.max_clusters)
    }

    /// The columns and allowances in the form that [`step`] takes.
    pub fn situation(&self) -> Situation<'a> {
        Situation {
            current: self.call.current.as_slice(),
            present: self.call.present.as_slice(),
            ready: self.call.ready.as_slice(),
            target: self.call.target.as_slice(),
            room: self.call.room.as_slice(),
            total: self.total(),
            max_surge: self.max_surge(),
            max_unavailable: self.max_unavailable(),
            max_clusters: self.max_clusters(),
        }
    }

    /// The tie-breaking key of a cluster, as a closure for [`step`]: the smaller key comes first. It is derived as
    /// [`CallContext::tie_key`](crate::cycle::CallContext::tie_key) is. Clusters that are gone come last, by name.
    pub fn ties(&self) -> impl Fn(usize) -> u64 + Copy + use<'a, Accepted> {
        let (cycle, rows) = (self.cycle, self.call.rows.as_slice());
        move |index| match rows.get(index) {
            Some(&row) if row != NO_ROW => cycle.row_tie_key(Row::from_index(row as usize)),
            _ => u64::MAX,
        }
    }

    /// Explains the plugin's decision about a cluster, by a [`Reason`] or a text; `reason` runs only if an explanation was
    /// requested. A cluster that is gone has no explanation: use [`Cycle::note`].
    pub fn explain<R: Into<Reason>>(&self, candidate: Candidate, reason: impl FnOnce() -> R) {
        if let Some(row) = self.row(candidate) {
            self.cycle.explain_row(row, reason);
        }
    }
}

impl<'a, Accepted> std::ops::Deref for PaceContext<'a, Accepted> {
    type Target = Cycle<'a>;

    fn deref(&self) -> &Cycle<'a> {
        self.cycle
    }
}

/// The output of [`PacePlugin::pace`]: one count per cluster, initially that of the present result, or a reason for waiting.
pub struct PaceResult<'a> {
    next: &'a mut [i64],
    wait: u32,
    /// Number of counts for clusters that the call does not have.
    pub(crate) dropped: u64,
}

impl<'a> PaceResult<'a> {
    pub(crate) fn new(next: &'a mut [i64]) -> Self {
        Self {
            next,
            wait: wait::NONE,
            dropped: 0,
        }
    }

    /// The reason as the host receives it.
    pub(crate) fn wait(&self) -> u32 {
        self.wait
    }

    /// Sets the replicas of a cluster in the next result. The host ignores and counts clusters that the call does not
    /// have; the test kit reports them as an error.
    #[inline]
    pub fn set(&mut self, candidate: Candidate, replicas: i64) {
        match self.next.get_mut(candidate.index()) {
            Some(slot) => *slot = replicas,
            None => self.dropped += 1,
        }
    }

    /// Takes no step, for this reason. The last call counts. The host shows the reason where the binding is explained, and asks
    /// again when something changes. A step and a reason together are an error.
    pub fn wait_for(&mut self, reason: Wait) {
        self.wait = reason.number();
    }

    /// The next result, one count per cluster.
    pub fn replicas(&mut self) -> &mut [i64] {
        self.next
    }

    /// Takes the largest step of a situation, or waits for what hinders it: [`step`]. `ties` as [`PaceContext::ties`] returns it.
    pub fn largest_step(&mut self, situation: &Situation<'_>, ties: impl Fn(usize) -> u64 + Copy) {
        crate::reuse::with_scratch(|next: &mut Vec<i64>| match step(situation, ties, next) {
            Ok(()) => {
                for (slot, replicas) in self.next.iter_mut().zip(next.iter()) {
                    *slot = *replicas;
                }
            }
            Err(reason) => self.wait_for(reason),
        });
    }
}
