//! A taking: resources that one decision took on one cluster, and the part of them that the cluster has reported.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use divvy_karmada::api::Timestamp;

use super::{HoldingLimits, Usage};
use crate::objects::{AggregatedStatus, BindingKey};

/// Resources that one decision took on one cluster.
#[derive(Debug, Clone)]
pub(super) struct Taking {
    /// The binding.
    pub(super) key: Arc<BindingKey>,
    /// Replicas that the result gives the cluster.
    pub(super) replicas: i32,
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
    /// By the requests of all pods.
    pub(super) by_all: Part,
    /// By the requests of pods that are bound to nodes, which models show.
    pub(super) by_bound: Part,
}

/// A quantity that ends by growth of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    /// The rest that is not reported.
    pub(super) left: i64,
    /// Highest value of the figure since the decision; `None` until the cluster reports.
    peak: Option<i64>,
    /// The part that reports have shown, and the number of the first of them.
    claimed: i64,
    claimed_at: u64,
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
        };
        Self {
            resource,
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
        before - self.left
    }

    /// Settles the part by a figure of a report. `settled` is the growth of the figure that earlier takings have claimed.
    fn settle(&mut self, figure: i64, report: u64, settled: &mut i64) {
        let Some(peak) = self.peak else {
            // The first report shows pods that already existed.
            self.peak = Some(figure);
            return;
        };
        let growth = figure.saturating_sub(peak).max(0);
        *settled += self.claim(growth.saturating_sub(*settled), report);
        self.peak = Some(peak.max(figure));
    }

    /// Claims at most the rest of a quantity. Returns the claimed quantity.
    fn claim(&mut self, quantity: i64, report: u64) -> i64 {
        let part = quantity.clamp(0, self.left);
        if part > 0 {
            if self.claimed == 0 {
                self.claimed_at = report;
            }
            self.left -= part;
            self.claimed = self.claimed.saturating_add(part);
        }
        part
    }
}

impl Taking {
    /// Records the state of the resource on the cluster. An entry that has not changed since the decision describes the state before it.
    pub(super) fn observe(&mut self, entry: Option<&AggregatedStatus>, now: Instant) {
        let is_applied = entry.is_some_and(|entry| {
            let is_complete = entry
                .replicas
                .is_none_or(|replicas| replicas == i64::from(self.replicas));
            entry.applied && is_complete && Some(entry.fingerprint) != self.fingerprint
        });
        self.applied = match is_applied {
            true => self.applied.or(Some(now)),
            false => None,
        };
    }

    /// True if the cluster has had enough time to report it, or the decision is too long ago.
    pub(super) fn is_overdue(&self, limits: &HoldingLimits, now: Instant) -> bool {
        let passed = |since: Instant, limit: Duration| now.saturating_duration_since(since) >= limit;
        passed(self.since, limits.limit) || self.applied.is_some_and(|applied| passed(applied, limits.unseen()))
    }

    /// True if all of it is reported, and its claims will not be passed on.
    pub(super) fn is_settled(&self, counts_by_models: bool) -> bool {
        self.is_written && self.held.iter().all(|held| held.left(counts_by_models) == 0)
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

/// Settles the takings of one cluster by a report, in their order, and returns the parts that end.
pub(super) fn settle<'a>(takings: impl Iterator<Item = &'a mut Taking>, usage: &Usage, report: u64) -> Vec<Settled> {
    let mut settled: HashMap<Arc<str>, Settled> = HashMap::new();
    for held in takings.flat_map(|taking| &mut taking.held) {
        let figure = usage.figure(&held.resource);
        let sums = settled.entry(Arc::clone(&held.resource)).or_insert_with(|| Settled {
            resource: Arc::clone(&held.resource),
            by_all: 0,
            by_bound: 0,
        });
        held.by_all.settle(figure.all, report, &mut sums.by_all);
        held.by_bound.settle(figure.bound, report, &mut sums.by_bound);
    }
    settled.into_values().collect()
}
