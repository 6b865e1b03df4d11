//! Settling the takings of one cluster: by pods that its reports are known to contain, and by growth of its sums.
//!
//! A report contains a pod that existed when it was made. The status of a resource shows how many of its pods exist, so a report that
//! arrives some time later contains them, whatever its sums are: pods that begin while others end show no growth.
//!
//! Growth belongs to no one in particular, so the oldest taking claims it. If it turns out to have been that of others, whose pods are
//! known to be in the reports, the claim ends: its taking is held again. Takings that growth has settled are therefore kept as long as
//! one from before that report waits for its pods.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::taking::{Both, Settled};
use super::{Account, DecisionNumber};

/// Quantities by resource.
type Quantities = BTreeMap<Arc<str>, Both>;

/// Pods of a taking that were not known to be in a report before.
struct Newly {
    decision: DecisionNumber,
    /// Number of the cluster's reports before the decision.
    made: u64,
    resource: Arc<str>,
    ended: Both,
}

impl Account {
    /// Settles the takings by the last report. `age` is the time after which a report contains the pods that a status has shown.
    /// Returns the parts that end; of a taking that is held again, a negative one.
    pub(super) fn settle_contained(&mut self, age: Duration, now: Instant) -> Vec<Settled> {
        let (mut settled, mut explained) = (Quantities::new(), Quantities::new());
        self.contain(age, now, &mut settled, &mut explained);
        list(settled)
    }

    /// Settles the takings by the last report, which is new. Returns the parts that end.
    pub(super) fn settle_reported(&mut self, age: Duration, now: Instant) -> Vec<Settled> {
        let (mut settled, mut explained) = (Quantities::new(), Quantities::new());
        self.contain(age, now, &mut settled, &mut explained);
        self.claim(&mut settled, &mut explained);
        list(settled)
    }

    /// Settles what the last report is known to contain. `explained` is the growth that belongs to it.
    fn contain(&mut self, age: Duration, now: Instant, settled: &mut Quantities, explained: &mut Quantities) {
        // Karmada writes a report of zero if it cannot list the pods.
        let Some(usage) = self.usage.as_ref().filter(|usage| !usage.is_zero()) else {
            return;
        };
        let mut newly: Vec<Newly> = Vec::new();
        let mut waiting: BTreeMap<Arc<str>, i64> = BTreeMap::new();
        // Pods that wait for a node are in the sums of all pods only. They are those of the last decisions.
        for (decision, taking) in self.takings.iter_mut().rev() {
            let replicas = taking.existed(age, now);
            if replicas == 0 {
                continue;
            }
            for held in &mut taking.held {
                let quantity = held.of_replicas(replicas, taking.added);
                let waiting = waiting.entry(Arc::clone(&held.resource)).or_insert_with(|| {
                    let figure = usage.figure(&held.resource);
                    figure.all.saturating_sub(figure.bound).max(0)
                });
                let unbound = (*waiting).min(quantity);
                *waiting -= unbound;
                let ended = Both {
                    by_all: held.by_all.contain(quantity),
                    by_bound: held.by_bound.contain(quantity - unbound),
                };
                if ended != Both::default() {
                    newly.push(Newly {
                        decision: *decision,
                        made: taking.reports,
                        resource: Arc::clone(&held.resource),
                        ended,
                    });
                }
            }
        }
        for newly in newly {
            let again = self.give_back(&newly);
            let of_resource = settled.entry(Arc::clone(&newly.resource)).or_default();
            of_resource.by_all += newly.ended.by_all - again.by_all;
            of_resource.by_bound += newly.ended.by_bound - again.by_bound;
            let of_resource = explained.entry(newly.resource).or_default();
            of_resource.by_all += newly.ended.by_all - again.by_all;
            of_resource.by_bound += newly.ended.by_bound - again.by_bound;
        }
    }

    /// Ends claims of other takings on growth that may have been that of these pods, the last decisions first.
    fn give_back(&mut self, newly: &Newly) -> Both {
        let mut again = Both::default();
        for (number, taking) in self.takings.iter_mut().rev() {
            let mut held = taking.held.iter_mut();
            if *number != newly.decision
                && let Some(held) = held.find(|held| held.resource == newly.resource)
            {
                let rest = |ended: i64, again: i64| ended - again;
                again.by_all += held
                    .by_all
                    .give_back(rest(newly.ended.by_all, again.by_all), newly.made);
                again.by_bound += held
                    .by_bound
                    .give_back(rest(newly.ended.by_bound, again.by_bound), newly.made);
            }
        }
        again
    }

    /// Settles the takings by the growth in the last report, in their order.
    fn claim(&mut self, settled: &mut Quantities, explained: &mut Quantities) {
        let Some(usage) = &self.usage else { return };
        let mut takings: Vec<_> = self.takings.values_mut().collect();
        // Otherwise, the claims of a result that is never written would be lost to the results whose pods the report shows.
        takings.sort_by_key(|taking| !taking.is_written);
        for held in takings.into_iter().flat_map(|taking| &mut taking.held) {
            let figure = usage.figure(&held.resource);
            let explained = explained.entry(Arc::clone(&held.resource)).or_default();
            let ended = Both {
                by_all: held.by_all.settle(figure.all, self.reports, &mut explained.by_all),
                by_bound: held
                    .by_bound
                    .settle(figure.bound, self.reports, &mut explained.by_bound),
            };
            let settled = settled.entry(Arc::clone(&held.resource)).or_default();
            settled.by_all += ended.by_all;
            settled.by_bound += ended.by_bound;
        }
    }

    /// The takings that need not be kept.
    pub(super) fn finished(&self) -> Vec<DecisionNumber> {
        let by_models = self.counts_by_models();
        // What was taken after the last report cannot have been in one.
        let mut others = self.takings.values();
        let is_open = others.any(|taking| taking.reports < self.reports && taking.left(by_models) > 0);
        let finished = self.takings.iter().filter(|(_, taking)| match is_open {
            true => taking.is_over(by_models),
            false => taking.is_settled(by_models),
        });
        finished.map(|(number, _)| *number).collect()
    }
}

fn list(quantities: Quantities) -> Vec<Settled> {
    let settled = quantities.into_iter().map(|(resource, both)| Settled {
        resource,
        by_all: both.by_all,
        by_bound: both.by_bound,
    });
    settled.collect()
}
