//! Input of a call of Pace.

use divvy_framework_abi::arena::NO_ROW;
use divvy_framework_abi::call::PaceCall;

use super::Situation;
use crate::clusters::{Cluster, Row};
use crate::configuration::NoPreferences;
use crate::cycle::{Candidate, Column, Cycle};
use crate::export::Given;
use crate::reason::Reason;

/// The input of [`PacePlugin::pace`](super::PacePlugin::pace): the clusters of a move with their columns, and the binding's allowances. It dereferences to
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

    /// The columns and allowances in the form that [`step`](super::step) takes.
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

    /// The tie-breaking key of a cluster, as a closure for [`step`](super::step): the smaller key comes first. It is derived as
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
