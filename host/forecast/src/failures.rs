//! The loss of each cluster, region, zone or provider, one after the other.
//!
//! Each loss is a forecast of its own: the same situation without some clusters, against the situation with them.

use std::collections::{BTreeMap, BTreeSet};

use divvy_scheduler::fleet::Fleet;

use crate::choice::zones;
use crate::document::FailureRow;
use crate::forecast::{Comparer, Comparison};
use crate::future::{Concerned, Future, Options, Side, prepare};
use crate::load::tightest;
use crate::movement::Movement;
use crate::parallel;
use crate::situation::{ClusterEntry, Situation};

/// Size of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Each {
    /// A single cluster.
    Cluster,
    /// All clusters of a region.
    Region,
    /// All clusters with nodes in a zone.
    Zone,
    /// All clusters of a provider.
    Provider,
}

impl Each {
    /// The word on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Cluster => "cluster",
            Self::Region => "region",
            Self::Zone => "zone",
            Self::Provider => "provider",
        }
    }

    /// Every loss by its name, with the clusters that it takes. A cluster without a region is in no loss of one.
    pub fn losses(self, situation: &Situation) -> BTreeMap<String, BTreeSet<String>> {
        let mut losses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (cluster, entry) in &situation.clusters {
            for name in self.names(cluster, entry) {
                losses.entry(name).or_default().insert(cluster.clone());
            }
        }
        losses
    }

    fn names(self, cluster: &str, entry: &ClusterEntry) -> Vec<String> {
        let spec = &entry.object.spec;
        let one = |name: &str| {
            if name.is_empty() {
                Vec::new()
            } else {
                vec![name.to_owned()]
            }
        };
        match self {
            Self::Cluster => one(cluster),
            Self::Region => one(&spec.region),
            Self::Zone => zones(&entry.object).map(str::to_owned).collect(),
            Self::Provider => one(&spec.provider),
        }
    }
}

/// Forecasts every loss, worst first: by replicas lost, then bindings newly unschedulable, then replicas displaced, then
/// name.
pub fn failures(situation: &Situation, side: &Side, each: Each, options: Options) -> Vec<FailureRow> {
    let prepared = prepare(situation, side, options, &[]);
    let fleet = situation.snapshot(side.profile.needs_raw_clusters());
    let base = Future::of_prepared(&prepared, situation, fleet, side, options);
    // A loss concerns few of the bindings, and all others are in every future what they are in the base.
    let concerned = Concerned::new(&prepared, situation);
    let comparer = Comparer::new(situation, &base, &side.profile);
    let losses: Vec<(String, BTreeSet<String>)> = each.losses(situation).into_iter().collect();
    // One thread per loss; what is inside a loss is decided on that thread alone.
    let inside = Options {
        threads: std::num::NonZeroUsize::MIN,
        ..options
    };
    let mut rows = parallel::map(&losses, options.threads, || {
        let mut fleet = situation.fleet(side.profile.needs_raw_clusters());
        let (prepared, concerned, comparer) = (&prepared, &concerned, &comparer);
        move |(name, lost): &(String, BTreeSet<String>)| {
            let after = without(situation, lost);
            for cluster in lost {
                fleet.remove(cluster);
            }
            let some = concerned.without(lost);
            let entries = Future::entries_of(prepared, &some, &after, &fleet.snapshot(), side, inside);
            put_back(&mut fleet, situation, lost);
            row(name, lost, &comparer.compare(&after, &entries))
        }
    });
    rows.sort_by(|left, right| {
        let severity = |row: &FailureRow| (row.lost, row.newly_unschedulable, row.displaced);
        severity(right)
            .cmp(&severity(left))
            .then_with(|| left.name.cmp(&right.name))
    });
    rows
}

fn without(situation: &Situation, lost: &BTreeSet<String>) -> Situation {
    let mut after = situation.clone();
    after.clusters.retain(|name, _| !lost.contains(name));
    after.gone.extend(lost.iter().cloned());
    after
}

fn put_back(fleet: &mut Fleet, situation: &Situation, lost: &BTreeSet<String>) {
    for entry in lost.iter().filter_map(|cluster| situation.clusters.get(cluster)) {
        fleet.upsert_with_json(&entry.object, entry.json.as_deref());
    }
}

fn row(name: &str, lost: &BTreeSet<String>, comparison: &Comparison) -> FailureRow {
    let (mut displaced, mut rehomed) = (0, 0);
    for row in &comparison.bindings {
        let on_lost = row.clusters.iter().filter(|counts| lost.contains(&counts.name));
        let of_binding: i64 = on_lost.filter_map(|counts| counts.base).sum();
        let Movement {
            removed,
            lost,
            stranded,
            ..
        } = row.movement;
        displaced += of_binding;
        rehomed += (of_binding - removed - lost - stranded).max(0);
    }
    let movement = comparison.totals.movement;
    FailureRow {
        name: name.to_owned(),
        clusters: lost.len(),
        displaced,
        rehomed,
        lost: movement.lost + movement.stranded,
        newly_unschedulable: comparison.totals.newly_unschedulable,
        tightest: tightest(&comparison.clusters),
    }
}
