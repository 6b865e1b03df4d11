//! A taking: resources that one decision took on one cluster, and the part of them that the cluster has reported.

use std::sync::Arc;
use std::time::{Duration, Instant};

use divvy_karmada::api::Timestamp;

use super::{HoldingLimits, Usage};
use crate::objects::{AggregatedStatus, BindingKey};

/// Numbers of pods that are remembered with their times.
const SEEN_MAX: usize = 8;

/// Resources that one decision took on one cluster.
#[derive(Debug, Clone)]
pub(super) struct Taking {
    /// The binding.
    pub(super) key: Arc<BindingKey>,
    /// Replicas that the result gives the cluster.
    pub(super) replicas: i32,
    /// Replicas that the decision added there; 0 for a resource that goes to each cluster as a whole.
    pub(super) added: i64,
    /// Replicas whose pods were seen to exist, and since when, the fewest first.
    pub(super) seen: Vec<(Instant, i64)>,
    /// Resources that are not fully reported yet.
    pub(super) held: Vec<Held>,
    /// Fingerprint of the cluster's aggregated status at the decision; `None` if it had none.
    pub(super) fingerprint: Option<u64>,
    /// True if the result is known to be written.
    pub(super) is_written: bool,
    /// Number of the cluster's reports before the decision.
    pub(super) reports: u64,
    /// Time of the decision, for limits.
    pub(super) since: Instant,
    /// Time of the decision, for people.
    pub(super) began: Timestamp,
    /// Time at which the cluster was seen to have applied the result.
    pub(super) applied: Option<Instant>,
}

/// The part of one resource that is not reported yet, by both figures that estimates are made from.
#[derive(Debug, Clone)]
pub(super) struct Held {
    pub(super) resource: Arc<str>,
    /// The whole quantity.
    quantity: i64,
    /// By the requests of all pods.
    pub(super) by_all: Part,
    /// By the requests of pods that are bound to nodes, which models show.
    pub(super) by_bound: Part,
}

/// A quantity that ends by growth of a figure, or by reports that are known to contain it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    /// The rest that is not reported.
    pub(super) left: i64,
    /// Highest value of the figure since the decision; `None` until the cluster reports.
    peak: Option<i64>,
    /// The part that growth in reports has shown, and the numbers of the first and the last of them.
    claimed: i64,
    claimed_at: u64,
    claimed_last: u64,
    /// The part that reports are known to contain.
    contained: i64,
}

/// Quantities by both figures that estimates are made from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Both {
    pub(super) by_all: i64,
    pub(super) by_bound: i64,
}

/// Claims of a taking on reports.
pub(super) struct Claim {
    resource: Arc<str>,
    by_all: Part,
    by_bound: Part,
}

/// A change of the quantity of a resource that is held on one cluster.
pub(super) struct Settled {
    pub(super) resource: Arc<str>,
    pub(super) by_all: i64,
    pub(super) by_bound: i64,
}

impl Held {
    /// A quantity that is taken now. `usage` is the cluster's last report.
    pub(super) fn new(resource: Arc<str>, quantity: i64, usage: Option<&Usage>) -> Self {
        let figure = usage.map(|usage| usage.figure(&resource));
        let part = |peak| Part {
            left: quantity,
            peak,
            claimed: 0,
            claimed_at: 0,
            claimed_last: 0,
            contained: 0,
        };
        Self {
            resource,
            quantity,
            by_all: part(figure.map(|figure| figure.all)),
            by_bound: part(figure.map(|figure| figure.bound)),
        }
    }

    /// The rest by the figure that an estimate is made from.
    pub(super) fn left(&self, counts_by_models: bool) -> i64 {
        match counts_by_models {
            // Component sets are estimated by the sums beside the models, so neither may be short.
            true => self.by_bound.left.max(self.by_all.left),
            false => self.by_all.left,
        }
    }

    /// The quantity of this many of the replicas that were added.
    pub(super) fn of_replicas(&self, replicas: i64, added: i64) -> i64 {
        // It is a multiple of what one replica takes.
        self.quantity.checked_div(added).unwrap_or(0).saturating_mul(replicas)
    }

    /// True if nothing of it is held, and nothing can be held again.
    fn is_over(&self, counts_by_models: bool) -> bool {
        let is_over = |part: &Part| part.left == 0 && part.claimed == 0;
        is_over(&self.by_all) && (!counts_by_models || is_over(&self.by_bound))
    }

    /// Limits the holding to a quantity. Returns the part that ends.
    pub(super) fn limit(&mut self, quantity: i64) -> Settled {
        Settled {
            resource: Arc::clone(&self.resource),
            by_all: self.by_all.limit(quantity),
            by_bound: self.by_bound.limit(quantity),
        }
    }
}

impl Part {
    fn limit(&mut self, quantity: i64) -> i64 {
        let before = self.left;
        self.left = self.left.min(quantity.max(0));
        // What is no longer taken is not held again either.
        self.claimed = self.claimed.min(quantity.max(0) - self.left);
        before - self.left
    }

    /// Settles the part by a figure of a report. `explained` is the growth of the figure that others have claimed or are known to be.
    /// Returns the part that ends.
    pub(super) fn settle(&mut self, figure: i64, report: u64, explained: &mut i64) -> i64 {
        let Some(peak) = self.peak else {
            // The first report shows pods that already existed.
            self.peak = Some(figure);
            return 0;
        };
        let growth = figure.saturating_sub(peak).max(0);
        let claimed = self.claim(growth.saturating_sub(*explained), report);
        *explained = explained.saturating_add(claimed);
        self.peak = Some(peak.max(figure));
        claimed
    }

    /// Settles the part by knowledge that reports contain this much of it. Returns the part that ends. What growth had shown before is
    /// the first of it.
    pub(super) fn contain(&mut self, quantity: i64) -> i64 {
        let more = quantity.saturating_sub(self.contained).max(0);
        self.contained += more;
        let shown = more.min(self.claimed);
        self.claimed -= shown;
        let ended = (more - shown).min(self.left);
        self.left -= ended;
        ended
    }

    /// Holds at most a quantity again that growth showed after the report with this number: it was that of other pods. Returns the
    /// part that is held again.
    pub(super) fn give_back(&mut self, quantity: i64, report: u64) -> i64 {
        if self.claimed_last <= report {
            return 0;
        }
        let part = quantity.clamp(0, self.claimed);
        self.claimed -= part;
        self.left += part;
        part
    }

    /// Claims at most the rest of a quantity. Returns the claimed quantity.
    fn claim(&mut self, quantity: i64, report: u64) -> i64 {
        let part = quantity.clamp(0, self.left);
        if part > 0 {
            if self.claimed == 0 {
                self.claimed_at = report;
            }
            self.claimed_last = report;
            self.left -= part;
            self.claimed = self.claimed.saturating_add(part);
        }
        part
    }
}

impl Taking {
    /// Records the state of the resource on the cluster. An entry that has not changed since the decision describes the state before it.
    pub(super) fn observe(&mut self, entry: Option<&AggregatedStatus>, now: Instant) {
        let entry = entry.filter(|entry| entry.applied && Some(entry.fingerprint) != self.fingerprint);
        let is_applied = entry.is_some_and(|entry| {
            entry
                .replicas
                .is_none_or(|replicas| replicas == i64::from(self.replicas))
        });
        self.applied = match is_applied {
            true => self.applied.or(Some(now)),
            false => None,
        };
        // Pods of a Job that have ended may be those of before the decision.
        let is_counted = |entry: &&AggregatedStatus| entry.replicas.is_some() || self.added == i64::from(self.replicas);
        let Some(pods) = entry.filter(is_counted).and_then(|entry| entry.pods(self.replicas)) else {
            return;
        };
        let known = self.seen.last().map_or(0, |(_, replicas)| *replicas);
        let replicas = self.added - i64::from(self.replicas).saturating_sub(pods).clamp(0, self.added);
        if replicas > known {
            // A resource may come pod by pod.
            self.seen.truncate(SEEN_MAX - 1);
            self.seen.push((now, replicas));
        }
    }

    /// True if a state that has changed since the decision says that the workload has ended.
    pub(super) fn has_ended(&self, entry: &AggregatedStatus) -> bool {
        entry.has_ended && Some(entry.fingerprint) != self.fingerprint
    }

    /// Replicas that it added and whose pods existed this long ago.
    pub(super) fn existed(&self, age: Duration, now: Instant) -> i64 {
        let mut seen = self.seen.iter().rev();
        let old = seen.find(|(since, _)| now.saturating_duration_since(*since) >= age);
        old.map_or(0, |(_, replicas)| *replicas)
    }

    /// True if the cluster has had enough time to report it, or the decision is too long ago.
    pub(super) fn is_overdue(&self, limits: &HoldingLimits, now: Instant) -> bool {
        let passed = |since: Instant, limit: Duration| now.saturating_duration_since(since) >= limit;
        passed(self.since, limits.limit) || self.applied.is_some_and(|applied| passed(applied, limits.unseen()))
    }

    /// True if all of it is reported, and its claims will not be passed on.
    pub(super) fn is_settled(&self, counts_by_models: bool) -> bool {
        self.is_written && self.left(counts_by_models) == 0
    }

    /// True if all of it is reported, whatever is learnt of others.
    pub(super) fn is_over(&self, counts_by_models: bool) -> bool {
        self.is_written && self.held.iter().all(|held| held.is_over(counts_by_models))
    }

    /// The largest rest of any resource.
    pub(super) fn left(&self, counts_by_models: bool) -> i64 {
        let left = self.held.iter().map(|held| held.left(counts_by_models));
        left.max().unwrap_or(0)
    }

    /// Its claims on reports.
    pub(super) fn claims(&self) -> Vec<Claim> {
        let claims = self.held.iter().map(|held| Claim {
            resource: Arc::clone(&held.resource),
            by_all: held.by_all,
            by_bound: held.by_bound,
        });
        claims.collect()
    }
}

impl Claim {
    /// Passes the claim on to other takings, in their order, and returns the parts that end. A taking that was made after the first
    /// report of the claim does not get it: it has counted that growth as existing.
    pub(super) fn settle<'a>(&self, takings: impl Iterator<Item = &'a mut Taking>) -> Settled {
        let mut settled = Settled {
            resource: Arc::clone(&self.resource),
            by_all: 0,
            by_bound: 0,
        };
        let pass = |from: &Part, to: &mut Part, made: u64, passed: &mut i64| {
            if made < from.claimed_at {
                *passed += to.claim(from.claimed - *passed, from.claimed_at);
            }
        };
        for taking in takings {
            let made = taking.reports;
            let mut held = taking.held.iter_mut();
            if let Some(held) = held.find(|held| held.resource == self.resource) {
                pass(&self.by_all, &mut held.by_all, made, &mut settled.by_all);
                pass(&self.by_bound, &mut held.by_bound, made, &mut settled.by_bound);
            }
        }
        settled
    }
}
