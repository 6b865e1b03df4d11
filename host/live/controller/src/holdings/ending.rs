//! The ends of holdings: by what reports are known to contain, by time, and because their binding or their result is gone.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use super::taking::{Settled, Taking};
use super::{DecisionNumber, Holdings, book, release};
use crate::objects::BindingKey;

/// Holdings that time has ended.
#[derive(Debug, Default)]
pub(crate) struct Ended {
    /// Those that no report has shown, by binding and cluster.
    pub(crate) given_up: Vec<(Arc<BindingKey>, Arc<str>)>,
    /// Clusters on which less is held.
    pub(crate) clusters: BTreeSet<Arc<str>>,
}

impl Holdings {
    /// Ends holdings whose pods must have been reported by now, and those that lasted too long.
    pub(crate) fn expire(&mut self, now: Instant) -> Ended {
        let mut ended = Ended::default();
        let limits = self.limits;
        let mut overdue = Vec::new();
        let names: Vec<Arc<str>> = self.clusters.keys().cloned().collect();
        for name in names {
            let Some(account) = self.clusters.get_mut(&name) else {
                continue;
            };
            let settled = account.settle_contained(limits.silence(), now);
            if self.release_all(&name, &settled) {
                ended.clusters.insert(Arc::clone(&name));
            }
            let Some(account) = self.clusters.get(&name) else {
                continue;
            };
            let by_models = account.counts_by_models();
            for taking in account
                .takings
                .values()
                .filter(|taking| taking.is_overdue(&limits, now))
            {
                overdue.push(Arc::clone(&taking.key));
                // What growth has settled is only forgotten.
                if taking.left(by_models) > 0 {
                    ended.given_up.push((Arc::clone(&taking.key), Arc::clone(&name)));
                    ended.clusters.insert(Arc::clone(&name));
                }
            }
        }
        ended.given_up.sort();
        ended.given_up.dedup();
        for key in &overdue {
            self.end(key, |_, _, taking| taking.is_overdue(&limits, now));
        }
        self.clusters
            .retain(|_, account| account.usage.is_some() || !account.takings.is_empty());
        ended
    }

    /// Forgets a binding that is gone. Returns true if it held anything.
    pub(crate) fn remove(&mut self, key: &BindingKey) -> bool {
        self.end(key, |_, _, _| true)
    }

    /// Forgets the reports of a cluster that is gone. Holdings there end by their limits, because the cluster may return.
    pub(crate) fn forget_reports(&mut self, cluster: &str) {
        if let Some(account) = self.clusters.get_mut(cluster) {
            account.usage = None;
            account.before_zero = None;
        }
    }

    /// Releases everything, but keeps the clusters' reports.
    pub(crate) fn clear(&mut self) {
        self.bindings.clear();
        for account in self.clusters.values_mut() {
            account.takings.clear();
        }
        self.rebuild();
    }

    /// Ends takings of a binding. Returns true if there were any.
    pub(super) fn end(&mut self, key: &BindingKey, is_over: impl Fn(&str, DecisionNumber, &Taking) -> bool) -> bool {
        let Self {
            clusters: accounts,
            bindings,
            ledger,
            rows,
            ..
        } = self;
        let Some(decisions) = bindings.get_mut(key) else {
            return false;
        };
        let mut has_ended = false;
        for (number, clusters) in decisions {
            clusters.retain(|cluster| {
                let Some(account) = accounts.get_mut(cluster) else {
                    return false;
                };
                let Some(taking) = account
                    .takings
                    .get(number)
                    .filter(|taking| is_over(cluster, *number, taking))
                else {
                    return account.takings.contains_key(number);
                };
                if let Some(&row) = rows.get(cluster) {
                    for held in &taking.held {
                        book(ledger, row, &held.resource, -held.by_all.left, -held.by_bound.left);
                    }
                }
                account.takings.remove(number);
                has_ended = true;
                false
            });
        }
        self.tidy(key);
        has_ended
    }

    /// Releases what a cluster's takings no longer hold. Returns true if that is anything.
    pub(super) fn release_all(&mut self, cluster: &Arc<str>, settled: &[Settled]) -> bool {
        for settled in settled {
            release(&mut self.ledger, self.rows.get(cluster), settled);
        }
        if !settled.is_empty() {
            self.drop_finished(std::slice::from_ref(cluster));
        }
        settled.iter().any(|settled| settled.by_all > 0 || settled.by_bound > 0)
    }

    /// Ends takings on some clusters that hold nothing, and need not be kept for what others turn out to be.
    pub(super) fn drop_finished(&mut self, clusters: &[Arc<str>]) {
        for name in clusters {
            let Some(account) = self.clusters.get(name) else {
                continue;
            };
            let finished = account.finished();
            let keys = finished.iter().filter_map(|number| account.takings.get(number));
            let keys: Vec<Arc<BindingKey>> = keys.map(|taking| Arc::clone(&taking.key)).collect();
            for (number, key) in finished.into_iter().zip(keys) {
                self.end(&key, |held, decision, _| decision == number && *held == **name);
            }
        }
    }

    fn tidy(&mut self, key: &BindingKey) {
        if let Some(decisions) = self.bindings.get_mut(key) {
            decisions.retain(|(_, clusters)| !clusters.is_empty());
            if decisions.is_empty() {
                self.bindings.remove(key);
            }
        }
    }
}
