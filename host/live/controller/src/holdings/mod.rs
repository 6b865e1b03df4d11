//! Capacity that results have taken but that the clusters do not report yet.
//!
//! A result's growth is held on each cluster until the figure that estimates use includes it: if the cluster's resource models
//! count, the requests of pods that are bound to nodes; otherwise, and for the number of pods, the requests of all pods. Two things
//! settle a holding, resource by resource:
//!
//! - Pods that exist: a report that arrives some time after a status has shown them contains them (`contained`), whatever its sums
//!   are. So pods that begin while as many end are not counted twice.
//! - Growth of the figure above its highest value since the decision, which is not that of pods that are known to exist: first for
//!   results that are known to be written, then for those that may still fail, and the oldest decision first. It is often seen first.
//!   If pods that are known to exist must have been the growth, the holding that it has settled begins again.
//!
//! A holding ends at once when its workload has ended or its result shrinks. Those that nothing settles end some time after the
//! cluster has applied the result, and after a limit in any case (`ending`).
//!
//! Holdings are by cluster name. The ledger that estimates read is by row of a snapshot, and is rebuilt when the rows
//! change.

mod contained;
mod ending;
mod part;
mod taking;
#[cfg(test)]
mod tests;
mod unwritten;
mod usage;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use divvy_karmada::api::{TargetCluster, Timestamp};
use divvy_scheduler::fleet::estimate::PODS;
use divvy_scheduler::fleet::{FleetSnapshot, Footprint, Ledger};

pub use self::part::HeldPart;
pub(crate) use self::part::described;
use self::taking::{Held, Settled, Taking};
pub(crate) use self::usage::Usage;
use crate::objects::{AggregatedStatus, BindingKey};

/// Time within which a report that a cluster's controller makes reaches the scheduler. The controller counts the pods last, and then
/// writes.
const REPORT_DELAY: Duration = Duration::from_secs(2);

/// Time limits of holdings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HoldingLimits {
    /// Time between two reports of a cluster: `--cluster-status-update-frequency` of Karmada's controllers and agents.
    pub report_period: Duration,
    /// Time after which a holding ends in any case.
    pub limit: Duration,
}

impl Default for HoldingLimits {
    fn default() -> Self {
        Self {
            report_period: Duration::from_secs(10),
            limit: Duration::from_secs(60),
        }
    }
}

impl HoldingLimits {
    /// Time after which a result that a cluster has applied must have been in a report. Growth that no report shows by then will never
    /// be seen: the cluster's quota refuses the pods, or other pods ended at the same time.
    pub(crate) fn unseen(&self) -> Duration {
        self.report_period.saturating_mul(2)
    }

    /// Time after which a report that arrives contains the pods that a status has shown: a report is on its way for less.
    fn report_delay(&self) -> Duration {
        REPORT_DELAY.min(self.report_period / 5)
    }

    /// Time after which a report must have been made that contains the pods that a status has shown. If none has arrived, it was equal
    /// to the last, which is not written again.
    fn silence(&self) -> Duration {
        self.report_period.saturating_mul(3) / 2
    }
}

/// Capacity that results hold, by cluster.
#[derive(Debug)]
pub(crate) struct Holdings {
    limits: HoldingLimits,
    clusters: HashMap<Arc<str>, Account>,
    /// Decisions of each binding that hold capacity, the oldest first, with the clusters.
    bindings: HashMap<Arc<BindingKey>, Vec<(DecisionNumber, ClusterNames)>>,
    decisions: u64,
    ledger: Ledger,
    rows: HashMap<Arc<str>, usize>,
    /// Number of the set of clusters that `rows` was made for.
    cluster_set: Option<u64>,
}

/// Names of clusters, each shared with its account.
type ClusterNames = Vec<Arc<str>>;

/// Number of a decision, in the order in which decisions were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct DecisionNumber(u64);

/// A result that takes capacity.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NewResult<'a> {
    /// Its clusters.
    pub(crate) targets: &'a [TargetCluster],
    /// The clusters before.
    pub(crate) last: &'a [TargetCluster],
    /// State of the resource in each cluster.
    pub(crate) aggregated: &'a [AggregatedStatus],
    /// Pod templates of the binding.
    pub(crate) footprint: &'a Footprint,
    /// True if the API server has it. Otherwise [`Holdings::confirm`] or [`Holdings::retract`] follows.
    pub(crate) is_written: bool,
    /// Time of the decision, for limits.
    pub(crate) since: Instant,
    /// Time of the decision, for people.
    pub(crate) began: Timestamp,
}

/// One cluster.
#[derive(Debug, Default)]
struct Account {
    /// Its last report; `None` before the first.
    usage: Option<Usage>,
    /// The report before the last, if the last is zero, and the time of the latter.
    before_zero: Option<(Usage, Instant)>,
    takings: BTreeMap<DecisionNumber, Taking>,
    /// Number of reports.
    reports: u64,
}

impl Default for Holdings {
    fn default() -> Self {
        Self::new(HoldingLimits::default())
    }
}

impl Holdings {
    /// Nothing is held.
    pub(crate) fn new(limits: HoldingLimits) -> Self {
        Self {
            limits,
            clusters: HashMap::new(),
            bindings: HashMap::new(),
            decisions: 0,
            ledger: Ledger::default().keeping_models_apart(),
            rows: HashMap::new(),
            cluster_set: None,
        }
    }

    /// The ledger for a snapshot. `cluster_set` counts the changes of the set of clusters; if it has changed, so have the rows, and
    /// the ledger is rebuilt.
    pub(crate) fn ledger(&mut self, fleet: &FleetSnapshot, cluster_set: u64) -> &Ledger {
        if self.cluster_set != Some(cluster_set) || self.rows.len() != fleet.len() {
            self.cluster_set = Some(cluster_set);
            self.rows = (0_u32..)
                .zip(0..fleet.len())
                .map(|(row, index)| (fleet.name(row).into(), index))
                .collect();
            self.rebuild();
        }
        &self.ledger
    }

    fn rebuild(&mut self) {
        self.ledger = Ledger::default().keeping_models_apart();
        for (cluster, account) in &self.clusters {
            let Some(&row) = self.rows.get(cluster) else { continue };
            for held in account.takings.values().flat_map(|taking| &taking.held) {
                book(
                    &mut self.ledger,
                    row,
                    &held.resource,
                    held.by_all.left,
                    held.by_bound.left,
                );
            }
        }
    }

    /// The number of a decision that holds nothing.
    pub(crate) fn number(&mut self) -> DecisionNumber {
        self.decisions += 1;
        DecisionNumber(self.decisions)
    }

    /// Holds the growth of a result over the last one on each cluster. Returns the number of the decision, with which
    /// [`Self::retract`] undoes it.
    pub(crate) fn take(&mut self, key: &Arc<BindingKey>, result: &NewResult<'_>) -> DecisionNumber {
        let number = self.number();
        for target in result.targets {
            let last = result.last.iter().find(|last| last.name == target.name);
            self.hold(key, number, target, &quantities(result.footprint, target, last), result);
        }
        number
    }

    /// Holds the part of a result that its clusters cannot have reported yet, for a binding that is seen for the first time and was
    /// scheduled `age` ago. Its pods are in a report if the cluster has had enough time for one, or if the status of the resource
    /// already shows them.
    pub(crate) fn restore(&mut self, key: &Arc<BindingKey>, result: &NewResult<'_>, age: Duration) {
        if age >= self.limits.unseen() {
            return;
        }
        let last: Vec<TargetCluster> = result
            .targets
            .iter()
            .filter_map(|target| shown(target, result))
            .collect();
        self.take(key, &NewResult { last: &last, ..*result });
    }

    fn hold(
        &mut self,
        key: &Arc<BindingKey>,
        number: DecisionNumber,
        target: &TargetCluster,
        growth: &BTreeMap<&str, i64>,
        result: &NewResult<'_>,
    ) {
        if growth.is_empty() {
            return;
        }
        let cluster = match self.clusters.get_key_value(target.name.as_str()) {
            Some((name, _)) => Arc::clone(name),
            None => Arc::from(target.name.as_str()),
        };
        let account = self.clusters.entry(Arc::clone(&cluster)).or_default();
        let usage = account.base(self.limits.unseen(), result.since);
        let held: Vec<Held> = growth
            .iter()
            .map(|(resource, quantity)| {
                let mut held = Held::new(Arc::from(*resource), *quantity, usage);
                if *resource == PODS {
                    // Models do not bound the number of pods.
                    held.by_bound.left = 0;
                }
                held
            })
            .collect();
        if let Some(&row) = self.rows.get(&cluster) {
            for held in &held {
                book(
                    &mut self.ledger,
                    row,
                    &held.resource,
                    held.by_all.left,
                    held.by_bound.left,
                );
            }
        }
        let entry = result.aggregated.iter().find(|entry| *entry.cluster == *target.name);
        let last = result.last.iter().find(|last| last.name == target.name);
        let added = match result.footprint.is_component_set() {
            true => 0,
            false => i64::from(target.replicas) - last.map_or(0, |last| i64::from(last.replicas)),
        };
        let taking = Taking {
            key: Arc::clone(key),
            replicas: target.replicas,
            added,
            seen: Vec::new(),
            held,
            fingerprint: entry.map(|entry| entry.fingerprint),
            is_written: result.is_written,
            reports: account.reports,
            since: result.since,
            began: result.began,
            applied: None,
        };
        account.takings.insert(number, taking);
        let decisions = self.bindings.entry(Arc::clone(key)).or_default();
        match decisions.last_mut().filter(|(last, _)| *last == number) {
            Some((_, clusters)) => clusters.push(cluster),
            None => decisions.push((number, vec![cluster])),
        }
    }

    /// Releases capacity that a binding holds on a cluster beyond its present result there, whichever scheduler shrank it. Returns true
    /// if anything was released.
    pub(crate) fn shrink(&mut self, key: &BindingKey, targets: &[TargetCluster], footprint: &Footprint) -> bool {
        let Some(decisions) = self.bindings.get(key) else {
            return false;
        };
        let mut allowed: HashMap<&str, BTreeMap<&str, i64>> = HashMap::new();
        for target in targets {
            let all = quantities(footprint, target, None);
            allowed.entry(target.name.as_str()).or_insert(all);
        }
        let mut has_released = false;
        for (number, clusters) in decisions {
            for cluster in clusters {
                let Some(taking) = account_of(&mut self.clusters, cluster, *number) else {
                    continue;
                };
                for held in &mut taking.held {
                    let rest = allowed.get_mut(&**cluster).and_then(|all| all.get_mut(&*held.resource));
                    let limit = rest.as_ref().map_or(0, |rest| **rest);
                    let released = held.limit(limit);
                    if let Some(rest) = rest {
                        *rest -= held.by_all.left.max(held.by_bound.left);
                    }
                    has_released |= released.by_all > 0 || released.by_bound > 0;
                    release(&mut self.ledger, self.rows.get(cluster), &released);
                }
            }
        }
        let clusters: Vec<Arc<str>> = decisions.iter().flat_map(|(_, clusters)| clusters).cloned().collect();
        self.drop_finished(&clusters);
        has_released
    }

    /// Records the state of a binding's resource. Returns the clusters where it has ended, so that nothing of it is held any more.
    pub(crate) fn observe(&mut self, key: &BindingKey, aggregated: &[AggregatedStatus], now: Instant) -> Vec<Arc<str>> {
        let mut ended = Vec::new();
        for (number, clusters) in self.bindings.get(key).into_iter().flatten() {
            for cluster in clusters {
                let entry = aggregated.iter().find(|entry| entry.cluster == *cluster);
                if let Some(taking) = account_of(&mut self.clusters, cluster, *number) {
                    taking.observe(entry, now);
                    if entry.is_some_and(|entry| taking.has_ended(entry)) {
                        ended.push(Arc::clone(cluster));
                    }
                }
            }
        }
        if !ended.is_empty() {
            self.end(key, |cluster, _, _| ended.iter().any(|ended| **ended == *cluster));
        }
        ended
    }

    /// Records the report in a version of a cluster; `None` if there is none. Returns true if anything is no longer held.
    ///
    /// A version with the sums of the last one says nothing new of pods: it may be of a taint, a label or a condition, and have the report of
    /// before.
    pub(crate) fn reported(&mut self, cluster: &str, usage: Option<Usage>, now: Instant) -> bool {
        let name = match self.clusters.get_key_value(cluster) {
            Some((name, _)) => Arc::clone(name),
            None => Arc::from(cluster),
        };
        let account = self.clusters.entry(Arc::clone(&name)).or_default();
        let Some(usage) = usage.filter(|usage| account.usage.as_ref() != Some(usage)) else {
            return false;
        };
        account.reports += 1;
        account.replace(usage, now);
        if account.takings.is_empty() {
            return false;
        }
        let settled = account.settle_reported(self.limits.report_delay(), now);
        self.release_all(&name, &settled)
    }

    /// Everything that is held, by cluster and in the order of the decisions.
    pub(crate) fn parts(&self) -> impl Iterator<Item = HeldPart<'_>> {
        let mut clusters: Vec<&Arc<str>> = self.clusters.keys().collect();
        clusters.sort_unstable();
        clusters.into_iter().flat_map(|cluster| self.parts_on(cluster))
    }

    /// Everything that is held on a cluster, in the order of the decisions.
    pub(crate) fn parts_on(&self, cluster: &str) -> impl Iterator<Item = HeldPart<'_>> {
        self.clusters
            .get_key_value(cluster)
            .into_iter()
            .flat_map(|(name, account)| {
                let by_models = account.counts_by_models();
                let held = account
                    .takings
                    .values()
                    .filter(move |taking| taking.left(by_models) > 0);
                held.map(move |taking| HeldPart {
                    binding: &taking.key,
                    cluster: name,
                    began: taking.began,
                    resources: taking
                        .held
                        .iter()
                        .map(|held| (&*held.resource, held.left(by_models)))
                        .filter(|(_, left)| *left > 0)
                        .collect(),
                })
            })
    }

    /// True if a binding holds anything.
    pub(crate) fn holds(&self, key: &BindingKey) -> bool {
        self.bindings.contains_key(key)
    }

    /// True if nothing is held.
    pub(crate) fn is_empty(&self) -> bool {
        self.bindings.is_empty()
    }
}

impl Account {
    fn counts_by_models(&self) -> bool {
        self.usage.as_ref().is_some_and(|usage| usage.counts_by_models)
    }

    /// The report from which growth is counted. A report of zero that follows another counts only after some time: Karmada writes one
    /// if it cannot list the pods, and the next report would look like growth.
    fn base(&self, patience: Duration, now: Instant) -> Option<&Usage> {
        match &self.before_zero {
            Some((before, since)) if now.saturating_duration_since(*since) < patience => Some(before),
            _ => self.usage.as_ref(),
        }
    }

    fn replace(&mut self, usage: Usage, now: Instant) {
        let before = self.usage.take().filter(|before| !before.is_zero());
        self.before_zero = match (usage.is_zero(), before) {
            (true, Some(before)) => Some((before, now)),
            (true, None) => self.before_zero.take(),
            (false, _) => None,
        };
        self.usage = Some(usage);
    }
}

fn account_of<'a>(
    accounts: &'a mut HashMap<Arc<str>, Account>,
    cluster: &str,
    number: DecisionNumber,
) -> Option<&'a mut Taking> {
    accounts.get_mut(cluster)?.takings.get_mut(&number)
}

/// Quantity of each resource that a target takes in addition to the last one.
fn quantities<'a>(
    footprint: &'a Footprint,
    target: &'a TargetCluster,
    last: Option<&'a TargetCluster>,
) -> BTreeMap<&'a str, i64> {
    let mut sums: BTreeMap<&str, i64> = BTreeMap::new();
    for (resource, quantity) in footprint.added(target, last).filter(|(_, quantity)| *quantity > 0) {
        let sum = sums.entry(resource).or_default();
        *sum = sum.saturating_add(quantity);
    }
    sums
}

/// The part of a target that its cluster already shows; `None` if it shows nothing. A kind without a number of replicas is shown as a
/// whole.
fn shown(target: &TargetCluster, result: &NewResult<'_>) -> Option<TargetCluster> {
    let mut entries = result.aggregated.iter();
    let entry = entries.find(|entry| *entry.cluster == *target.name && entry.applied)?;
    let replicas = entry.replicas.unwrap_or_else(|| i64::from(target.replicas));
    Some(TargetCluster {
        replicas: i32::try_from(replicas).unwrap_or(i32::MAX),
        ..target.clone()
    })
}

fn book(ledger: &mut Ledger, row: usize, resource: &str, by_all: i64, by_bound: i64) {
    let index = ledger.resource(resource);
    ledger.take(index, row, by_all);
    if let Some(ledger) = ledger.by_models_mut() {
        let index = ledger.resource(resource);
        ledger.take(index, row, by_bound);
    }
}

fn release(ledger: &mut Ledger, row: Option<&usize>, settled: &Settled) {
    if let Some(&row) = row {
        book(ledger, row, &settled.resource, -settled.by_all, -settled.by_bound);
    }
}
