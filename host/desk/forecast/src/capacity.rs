//! Replicas beyond the capacity of their clusters.
//!
//! Some strategies divide without regard to capacity, so that a cluster may gain replicas that do not fit. A cluster is *full* if
//! it uses more of a resource than it has. Of the replicas that a cluster gains, those are *beyond capacity* that would have to be
//! removed until the cluster uses no more of any resource than it has, or than it used before: an earlier excess is not the change's
//! doing. If different replicas would suffice, the smallest number counts.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use divvy_karmada::detector::Binding;

use crate::document::{ClusterRow, ResourceRow, Totals};
use crate::load::requested;
use crate::situation::Assignment;

/// Replicas that one cluster gains, by the quantity of one resource that each requests.
pub(crate) type Gains = BTreeMap<i64, i64>;

/// Two states of a cluster's resource: used earlier and later.
type States = fn(&ResourceRow) -> (i64, i64);

/// From the base, or from the assigned clusters without one, to the state after the changes.
fn to_after(row: &ResourceRow) -> (i64, i64) {
    (row.base.unwrap_or(row.before), row.after)
}

/// From the assigned clusters to the base.
fn to_base(row: &ResourceRow) -> (i64, i64) {
    (row.before, row.base.unwrap_or(row.before))
}

/// Gains of the clusters that use more of a resource than they have, and more than before.
pub struct Overflow {
    clusters: Vec<FullCluster>,
    /// Where a cluster is in `clusters`.
    positions: HashMap<String, usize>,
}

/// A cluster that uses more of some resources than it has.
struct FullCluster {
    name: String,
    /// By resource: the excess, and the gains so far.
    resources: Vec<(String, i128, Gains)>,
}

impl Overflow {
    /// Those clusters, without gains so far.
    fn new(rows: &[ClusterRow], states: States) -> Self {
        let of_row = |row: &ClusterRow| {
            let resources = row.resources.iter().filter_map(|(name, of_resource)| {
                let (from, to) = states(of_resource);
                let excess = excess(of_resource.allocatable.into(), from.into(), to.into());
                (excess > 0).then(|| (name.clone(), excess, Gains::new()))
            });
            let resources: Vec<_> = resources.collect();
            let name = || row.name.clone();
            (row.exists && !resources.is_empty()).then(|| FullCluster {
                name: name(),
                resources,
            })
        };
        let clusters: Vec<FullCluster> = rows.iter().filter_map(of_row).collect();
        let positions = clusters.iter().enumerate();
        Self {
            positions: positions
                .map(|(position, cluster)| (cluster.name.clone(), position))
                .collect(),
            clusters,
        }
    }

    /// Adds the gains of a binding.
    pub(crate) fn add(&mut self, binding: &Binding, from: &Assignment, to: &Assignment) {
        for (cluster, replicas) in to {
            let gain = replicas - from.get(cluster).copied().unwrap_or(0);
            if let Some(position) = self.position(cluster) {
                self.add_at(position, binding, gain);
            }
        }
    }

    /// Number of these clusters.
    pub fn len(&self) -> usize {
        self.clusters.len()
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.clusters.is_empty()
    }

    /// The position of a cluster among these; `None` if it is not one of them.
    pub fn position(&self, cluster: &str) -> Option<usize> {
        self.positions.get(cluster).copied()
    }

    /// Adds replicas of a binding that the cluster at a position gains. Losses are no gains, and a position past the end is none.
    pub fn add_at(&mut self, position: usize, binding: &Binding, gain: i64) {
        let Some(cluster) = self.clusters.get_mut(position).filter(|_| gain > 0) else {
            return;
        };
        for (name, quantity) in requested(binding) {
            let mut resources = cluster.resources.iter_mut();
            if let Some((.., gains)) = resources.find(|(resource, ..)| resource == name) {
                let sum = gains.entry(quantity).or_insert(0);
                *sum = sum.saturating_add(gain);
            }
        }
    }

    /// Replicas beyond the capacity of each cluster.
    fn replicas(&self) -> BTreeMap<&str, i64> {
        let of_cluster = self.clusters.iter().map(|cluster| {
            let fewest = cluster
                .resources
                .iter()
                .map(|(_, excess, gains)| fewest(gains, *excess));
            (cluster.name.as_str(), fewest.max().unwrap_or(0))
        });
        of_cluster.collect()
    }
}

/// Quantity beyond what a cluster has and beyond what was used before.
pub(crate) fn excess(allocatable: i128, from: i128, to: i128) -> i128 {
    to - allocatable.max(from)
}

/// The smallest number of these replicas whose requests cover an excess.
pub(crate) fn fewest(gains: &Gains, mut excess: i128) -> i64 {
    let mut fewest = 0;
    for (&quantity, &count) in gains.iter().rev().filter(|(quantity, _)| **quantity > 0) {
        if excess <= 0 {
            break;
        }
        let needed = (excess - 1) / i128::from(quantity) + 1;
        let taken = needed.min(count.into());
        excess -= taken * i128::from(quantity);
        fewest += i64::try_from(taken).unwrap_or(i64::MAX);
    }
    fewest
}

/// Counts the clusters that are full later, and those of them that are not full earlier.
fn count_full(rows: &[ClusterRow], states: States, totals: &mut Totals) {
    for row in rows.iter().filter(|row| row.exists) {
        let is_full = |used: fn((i64, i64)) -> i64| {
            let mut resources = row.resources.values();
            resources.any(|of_resource| used(states(of_resource)) > of_resource.allocatable)
        };
        let (was_full, is_full) = (is_full(|states| states.0), is_full(|states| states.1));
        totals.full += usize::from(is_full);
        totals.newly_full += usize::from(is_full && !was_full);
    }
}

/// Counts the replicas beyond capacity after decisions, and the full clusters, in the clusters' rows and in the sums. `add` adds the
/// gains of each binding; it is called only if a cluster is full.
pub fn count(rows: &mut [ClusterRow], add: impl FnOnce(&mut Overflow), totals: &mut Totals) {
    let overflow = count_between(rows, to_after, add, totals);
    let replicas = overflow.replicas();
    for row in rows {
        row.beyond_capacity = replicas.get(row.name.as_str()).copied().unwrap_or(0);
    }
}

/// Like [`count`], for the base, which the clusters' rows do not show.
pub(crate) fn count_base(rows: &[ClusterRow], add: impl FnOnce(&mut Overflow), totals: &mut Totals) {
    count_between(rows, to_base, add, totals);
}

fn count_between(
    rows: &[ClusterRow],
    states: States,
    add: impl FnOnce(&mut Overflow),
    totals: &mut Totals,
) -> Overflow {
    count_full(rows, states, totals);
    let mut overflow = Overflow::new(rows, states);
    if !overflow.is_empty() {
        add(&mut overflow);
    }
    totals.beyond_capacity += overflow.replicas().values().sum::<i64>();
    overflow
}

/// A cluster that gains and is then fuller than a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TooFull {
    /// Name of the cluster.
    pub cluster: String,
    /// Its fullest resource among those that it uses more of than before.
    pub resource: String,
    /// Use in percent of the allocatable quantity, rounded down, as in tables.
    pub percent: i64,
}

/// True if the use of a resource grows beyond this share of the allocatable quantity.
pub(crate) fn is_too_full(percent: i64, allocatable: i128, from: i128, to: i128) -> bool {
    to > from && to * 100 > allocatable * i128::from(percent)
}

/// The clusters whose use of a resource grows beyond this share of the allocatable quantity, the fullest first.
pub fn too_full(rows: &[ClusterRow], percent: i64) -> Vec<TooFull> {
    let of_row = |row: &ClusterRow| {
        let resources = row.resources.iter().filter_map(|(name, of_resource)| {
            let (from, to) = to_after(of_resource);
            let (allocatable, to) = (i128::from(of_resource.allocatable), i128::from(to));
            let is_too_full = is_too_full(percent, allocatable, from.into(), to);
            let used = (to * 100).checked_div(allocatable).unwrap_or(i128::MAX);
            is_too_full.then(|| (i64::try_from(used).unwrap_or(i64::MAX), name))
        });
        let (percent, resource) = resources.min_by_key(|(percent, name)| (Reverse(*percent), *name))?;
        row.exists.then(|| TooFull {
            cluster: row.name.clone(),
            resource: resource.clone(),
            percent,
        })
    };
    let mut found: Vec<TooFull> = rows.iter().filter_map(of_row).collect();
    found.sort_by(|left, right| (right.percent, &left.cluster).cmp(&(left.percent, &right.cluster)));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fewest_replicas_are_counted() {
        let gains = Gains::from([(100, 10), (1000, 2), (0, 5)]);
        for (excess, expected) in [
            (0, 0),
            (-5, 0),
            (1, 1),
            (1000, 1),
            (1001, 2),
            (2000, 2),
            (2001, 3),
            (2300, 5),
            (9999, 12),
        ] {
            assert_eq!(fewest(&gains, excess), expected, "{excess}");
        }
    }

    #[test]
    fn what_was_beyond_capacity_before_is_not_counted() {
        // Allocatable, earlier, later.
        for (states, expected) in [
            ((10, 5, 10), 0),
            ((10, 5, 12), 2),
            ((10, 12, 15), 3),
            ((10, 12, 12), 0),
            ((10, 12, 11), -1),
        ] {
            assert_eq!(excess(states.0, states.1, states.2), expected, "{states:?}");
        }
    }

    #[test]
    fn only_growth_beyond_the_limit_is_too_full() {
        for (percent, states, expected) in [
            (100, (1000, 900, 1000), false),
            (100, (1000, 900, 1001), true),
            (100, (1000, 1100, 1100), false),
            (80, (1000, 700, 801), true),
            (80, (0, 0, 1), true),
        ] {
            assert_eq!(
                is_too_full(percent, states.0, states.1, states.2),
                expected,
                "{percent} {states:?}"
            );
        }
    }
}
