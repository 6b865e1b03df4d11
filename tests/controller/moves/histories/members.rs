//! What a cluster does with the replicas that it is given.
//!
//! It is a count, not the pods on nodes of `tests/world`: it applies every result that it was ever given, one after the other, however late.
//! Karmada may skip some of them; a history is to be as bad as it can be.

/// A binding's replicas in one cluster.
#[derive(Clone, Default)]
pub(super) struct Copy {
    /// What Karmada wants it to run.
    pub(super) wanted: i64,
    /// What the cluster has applied.
    pub(super) given: i64,
    /// Results that it has not applied yet, the oldest first, and the time of the first.
    pub(super) pending: Vec<i64>,
    pub(super) pending_since: i64,
    pub(super) ready: i64,
    /// Replicas and ready replicas of its last report, and its time.
    pub(super) report: Option<(i64, i64)>,
    pub(super) reported_at: i64,
}

impl Copy {
    /// Wants another number of replicas.
    pub(super) fn want(&mut self, wanted: i64, now: i64) {
        if wanted == self.wanted {
            return;
        }
        if self.pending.is_empty() {
            self.pending_since = now;
        }
        self.wanted = wanted;
        self.pending.push(wanted);
    }

    /// Ready replicas of its last report.
    pub(super) fn reported(&self) -> i64 {
        self.report.map_or(0, |(_, ready)| ready)
    }

    pub(super) fn apply(&mut self) {
        for given in self.pending.drain(..) {
            self.given = given;
            self.ready = self.ready.min(given);
        }
    }

    /// Ready replicas that are left once everything that was given is applied.
    pub(super) fn kept(&self) -> i64 {
        self.pending.iter().copied().fold(self.ready, i64::min)
    }
}
