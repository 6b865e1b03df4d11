//! Capacity that decisions have taken but that the clusters do not report yet.
//!
//! A decision's growth is held on each cluster from the moment of the decision until the cluster has shown it: the
//! resource is healthy there, and the cluster has reported its resources since. After a time limit it is given back in
//! any case. A write that failed gives back at once.
//!
//! Holdings are by cluster name. The ledger that estimates read is by row of a snapshot, and is made anew when the rows
//! change.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use divvy_karmada::api::TargetCluster;
use divvy_scheduler::fleet::{FleetSnapshot, Footprint, Ledger, PodTemplate};

use crate::objects::{AggregatedStatus, BindingKey, Health};

/// Time after which a holding is given back even if the resource never became healthy, as in Karmada.
pub const HOLD_MAX: Duration = Duration::from_secs(300);

/// Time after which a holding is given back although its cluster has not reported since the resource became healthy.
const REPORT_MAX: Duration = Duration::from_secs(30);

/// Capacity that decisions hold, by binding.
#[derive(Debug, Default)]
pub struct Holdings {
    holdings: HashMap<Arc<BindingKey>, Holding>,
    ledger: Ledger,
    rows: HashMap<String, usize>,
    /// Number of the set of clusters that `rows` was made for.
    clusters: u64,
    /// Clusters on which something is held that is healthy there, so that their next report gives it back.
    shown_next: HashSet<String>,
}

/// Capacity that one binding holds.
#[derive(Debug, Clone)]
pub struct Holding {
    footprint: Footprint,
    clusters: Vec<HeldCluster>,
    since: Instant,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct HeldCluster {
    name: String,
    /// Pods of each template.
    pods: Vec<i64>,
    /// Fingerprint of the cluster's aggregated status when the decision was made.
    fingerprint: Option<u64>,
    /// Time at which the resource was seen healthy there.
    healthy_since: Option<Instant>,
}

impl Holdings {
    /// The ledger for a snapshot. `clusters` counts the changes of the set of clusters; with another count than the last,
    /// the rows are others, and the ledger is rebuilt.
    pub fn ledger(&mut self, fleet: &FleetSnapshot, clusters: u64) -> &Ledger {
        if self.clusters != clusters || self.rows.len() != fleet.len() {
            self.clusters = clusters;
            self.rows = (0_u32..)
                .zip(0..fleet.len())
                .map(|(row, index)| (fleet.name(row).to_owned(), index))
                .collect();
            self.rebuild();
        }
        &self.ledger
    }

    fn rebuild(&mut self) {
        self.ledger = Ledger::default();
        for holding in self.holdings.values() {
            for held in &holding.clusters {
                if let Some(&row) = self.rows.get(&held.name) {
                    holding.footprint.book(&mut self.ledger, row, &held.pods);
                }
            }
        }
    }

    /// Takes what a result adds to the last one. Returns the binding's previous holding, with which
    /// [`Self::give_back`] undoes this.
    pub fn take(
        &mut self,
        key: &Arc<BindingKey>,
        result: &[TargetCluster],
        last: &[TargetCluster],
        aggregated: &[AggregatedStatus],
        footprint: &Footprint,
        now: Instant,
    ) -> Option<Holding> {
        let before = self.remove(key);
        let held_before = |cluster: &str, template: &PodTemplate| {
            let before = before.as_ref();
            before.map_or(0, |before| before.pods(cluster, &template.name))
        };
        let clusters = result.iter().filter_map(|target| {
            let growth = footprint.growth(target, last);
            let pods = footprint.templates().iter().zip(footprint.pods(target)).zip(growth);
            // Capacity that an earlier decision holds is still not reported, unless this decision takes it away again.
            let held = pods.map(|((template, pods), growth)| {
                let held = held_before(&target.name, template).saturating_add(growth);
                held.clamp(0, pods)
            });
            let held: Vec<i64> = held.collect();
            held.iter().any(|pods| *pods > 0).then(|| HeldCluster {
                name: target.name.clone(),
                pods: held,
                fingerprint: fingerprint(aggregated, &target.name),
                healthy_since: None,
            })
        });
        let clusters = clusters.collect();
        let holding = Holding {
            footprint: footprint.clone(),
            clusters,
            since: now,
        };
        self.insert(key, holding);
        before
    }

    /// Undoes [`Self::take`]: the write failed.
    pub fn give_back(&mut self, key: &Arc<BindingKey>, before: Option<Holding>) {
        self.remove(key);
        if let Some(before) = before {
            self.insert(key, before);
        }
    }

    /// Holds the whole result of a binding that was scheduled lately and is not healthy yet: after a start, nothing
    /// else is known about it.
    pub fn restore(&mut self, key: &Arc<BindingKey>, result: &[TargetCluster], footprint: &Footprint, now: Instant) {
        self.take(key, result, &[], &[], footprint, now);
    }

    /// Notes the state of a binding's resource. A cluster counts as healthy only by an entry that changed since the
    /// decision: before that, it describes the resource as it was.
    pub fn observe(&mut self, key: &BindingKey, aggregated: &[AggregatedStatus], now: Instant) {
        let Some(holding) = self.holdings.get_mut(key) else {
            return;
        };
        for held in &mut holding.clusters {
            let entry = aggregated.iter().find(|entry| entry.cluster == held.name);
            let is_healthy = entry
                .is_some_and(|entry| entry.health == Health::Healthy && Some(entry.fingerprint) != held.fingerprint);
            match is_healthy {
                true if held.healthy_since.is_none() => {
                    held.healthy_since = Some(now);
                    self.shown_next.insert(held.name.clone());
                }
                true => {}
                false => held.healthy_since = None,
            }
        }
    }

    /// Gives back what a cluster has shown by now: it has just reported its resources. Returns true if anything was
    /// given back.
    pub fn reported(&mut self, cluster: &str) -> bool {
        // Clusters report often, and nearly always without anything to give back.
        self.shown_next.remove(cluster) && self.release(|held, _| held.name == cluster && held.healthy_since.is_some())
    }

    /// Gives back what was held too long. Returns true if anything was given back.
    pub fn expire(&mut self, now: Instant) -> bool {
        self.release(|held, since| {
            let is_overdue = now.saturating_duration_since(since) >= HOLD_MAX;
            let is_shown = held
                .healthy_since
                .is_some_and(|healthy| now.saturating_duration_since(healthy) >= REPORT_MAX);
            is_overdue || is_shown
        })
    }

    /// Forgets a binding that is gone.
    pub fn remove(&mut self, key: &BindingKey) -> Option<Holding> {
        let holding = self.holdings.remove(key)?;
        for held in &holding.clusters {
            if let Some(&row) = self.rows.get(&held.name) {
                holding.footprint.release(&mut self.ledger, row, &held.pods);
            }
        }
        Some(holding)
    }

    /// Gives back everything.
    pub fn clear(&mut self) {
        self.holdings.clear();
        self.shown_next.clear();
        self.rebuild();
    }

    /// Pods that a binding holds on a cluster, of all its templates.
    pub fn held(&self, key: &BindingKey, cluster: &str) -> i64 {
        let held = self
            .holdings
            .get(key)
            .and_then(|holding| holding.clusters.iter().find(|held| held.name == cluster));
        held.map_or(0, |held| held.pods.iter().sum())
    }

    /// Every holding: the binding, the cluster, and the name and the pods of each template that holds any.
    pub fn held_pods(&self) -> impl Iterator<Item = (&Arc<BindingKey>, &str, Vec<(&str, i64)>)> {
        let holdings = self.holdings.iter();
        holdings.flat_map(|(key, holding)| {
            let clusters = holding.clusters.iter();
            clusters.map(move |held| {
                let names = holding
                    .footprint
                    .templates()
                    .iter()
                    .map(|template| template.name.as_str());
                let pods = names.zip(held.pods.iter().copied()).filter(|(_, pods)| *pods > 0);
                (key, held.name.as_str(), pods.collect())
            })
        })
    }

    /// Number of bindings that hold something.
    pub fn len(&self) -> usize {
        self.holdings.len()
    }

    /// True if nothing is held.
    pub fn is_empty(&self) -> bool {
        self.holdings.is_empty()
    }

    fn insert(&mut self, key: &Arc<BindingKey>, holding: Holding) {
        if holding.clusters.is_empty() {
            return;
        }
        for held in &holding.clusters {
            if let Some(&row) = self.rows.get(&held.name) {
                holding.footprint.book(&mut self.ledger, row, &held.pods);
            }
        }
        self.holdings.insert(Arc::clone(key), holding);
    }

    fn release(&mut self, is_over: impl Fn(&HeldCluster, Instant) -> bool) -> bool {
        let mut has_released = false;
        let Self {
            holdings, ledger, rows, ..
        } = self;
        holdings.retain(|_, holding| {
            let Holding {
                footprint,
                clusters,
                since,
            } = holding;
            clusters.retain(|held| {
                let over = is_over(held, *since);
                if over {
                    has_released = true;
                    if let Some(&row) = rows.get(&held.name) {
                        footprint.release(ledger, row, &held.pods);
                    }
                }
                !over
            });
            !clusters.is_empty()
        });
        has_released
    }
}

impl Holding {
    /// Pods of a template that are held on a cluster.
    fn pods(&self, cluster: &str, template: &str) -> i64 {
        let held = self.clusters.iter().find(|held| held.name == cluster);
        let templates = self.footprint.templates();
        let index = templates.iter().position(|known| known.name == template);
        let pods = held.zip(index).and_then(|(held, index)| held.pods.get(index));
        pods.copied().unwrap_or(0)
    }
}

fn fingerprint(aggregated: &[AggregatedStatus], cluster: &str) -> Option<u64> {
    let entry = aggregated.iter().find(|entry| entry.cluster == cluster);
    entry.map(|entry| entry.fingerprint)
}

#[cfg(test)]
mod tests;
