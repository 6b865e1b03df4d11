//! Chance, and what a cluster does with the replicas that it is given.

pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, bound: i64) -> i64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        i64::try_from((mixed ^ mixed >> 31) % bound.unsigned_abs()).expect("it is below the bound")
    }

    pub(super) fn chance(&mut self, percent: i64) -> bool {
        self.below(100) < percent
    }

    pub(super) fn cluster(&mut self) -> usize {
        usize::try_from(self.below(4)).expect("it is a cluster")
    }
}

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

    /// True if everything that is wanted is applied and ready.
    pub(super) fn is_healthy(&self) -> bool {
        self.pending.is_empty() && self.ready == self.wanted
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

    /// Ready replicas that are left once everything that was given is applied, and `next` too.
    pub(super) fn kept(&self, next: i64) -> i64 {
        let least = self.pending.iter().copied().min().unwrap_or(i64::MAX);
        self.ready.min(least).min(next)
    }
}
