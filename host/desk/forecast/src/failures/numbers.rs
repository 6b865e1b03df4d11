//! Clusters by number, so that losses compare and add numbers instead of names.

use std::collections::HashMap;

use divvy_scheduler::fleet::FleetSnapshot;

use crate::situation::{Assignment, Situation};

/// A cluster's number with its replicas.
pub(super) type Share = (u32, i64);

/// Numbers of clusters: first those that exist, by name, then those that only bindings list.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    by_name: HashMap<String, u32>,
}

impl Numbers {
    /// Numbers for all clusters of a situation.
    pub(super) fn new(situation: &Situation) -> Self {
        let named = situation.clusters.keys().cloned().zip(0..);
        Self {
            by_name: named.collect(),
        }
    }

    /// The number of a cluster; `None` if it neither exists nor was added.
    pub(super) fn get(&self, cluster: &str) -> Option<u32> {
        self.by_name.get(cluster).copied()
    }

    /// The number of a cluster; a new one if it has none.
    pub(super) fn add(&mut self, cluster: &str) -> u32 {
        if let Some(number) = self.get(cluster) {
            return number;
        }
        let number = u32::try_from(self.by_name.len()).unwrap_or(u32::MAX);
        self.by_name.insert(cluster.to_owned(), number);
        number
    }

    /// Number of clusters that have a number.
    pub(super) fn len(&self) -> usize {
        self.by_name.len()
    }

    /// Shares of an assignment on clusters for which `keeps` is true, by number. Every cluster must have a number.
    pub(super) fn shares(&self, assignment: &Assignment, keeps: impl Fn(u32) -> bool) -> Vec<Share> {
        let numbered = assignment
            .iter()
            .filter_map(|(cluster, replicas)| Some((self.get(cluster)?, *replicas)));
        let mut shares: Vec<Share> = numbered.filter(|share| keeps(share.0)).collect();
        // Names are in order, but clusters that do not exist are numbered last.
        shares.sort_unstable_by_key(|share| share.0);
        shares
    }

    /// The number of the cluster in each row of a snapshot.
    pub(super) fn by_row(&self, fleet: &FleetSnapshot) -> Vec<u32> {
        let rows = 0..u32::try_from(fleet.len()).unwrap_or(u32::MAX);
        rows.map(|row| self.get(fleet.name(row)).unwrap_or(u32::MAX)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_in_the_order_of_numbers() {
        let mut numbers = Numbers::default();
        for name in ["b", "d", "a", "c"] {
            numbers.add(name);
        }
        assert_eq!((numbers.add("d"), numbers.len()), (1, 4));
        let assignment = ["a", "b", "c", "d"].map(|name| (name.to_owned(), 5));
        let shares = numbers.shares(&assignment.into(), |number| number != 3);
        assert_eq!(shares, [(0, 5), (1, 5), (2, 5)]);
    }
}
