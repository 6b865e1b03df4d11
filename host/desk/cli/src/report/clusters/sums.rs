//! Replicas of all results, and by cluster.

use std::collections::{BTreeMap, HashSet};

use super::names::Names;
use super::shares::Share;
use super::targets::Target;

/// Replicas of all bindings that were scheduled, and the clusters that have them.
#[derive(Debug)]
pub(crate) struct Sums<'a> {
    names: &'a Names<'a>,
    /// Replicas of all results.
    pub(crate) total: i128,
    /// Replicas that were added to last results.
    pub(crate) grown: i128,
    /// Replicas that were taken from last results, as a negative number.
    pub(crate) shrunk: i128,
    /// By row of the snapshot.
    used: Vec<bool>,
    /// Used clusters that the snapshot lacks.
    others: HashSet<&'a str>,
}

impl<'a> Sums<'a> {
    /// Sums in a fleet.
    pub(crate) fn new(names: &'a Names<'a>) -> Self {
        Self {
            names,
            total: 0,
            grown: 0,
            shrunk: 0,
            used: vec![false; names.len()],
            others: HashSet::new(),
        }
    }

    /// Adds the shares of a binding. One that was not scheduled has none.
    pub(crate) fn add(&mut self, shares: &[Share<'a>], has_last: bool) {
        for share in shares {
            if let Some(replicas) = share.replicas {
                self.total += i128::from(replicas);
                self.add_used(share);
            }
            if has_last {
                let growth = i128::from(share.growth());
                self.grown += growth.max(0);
                self.shrunk += growth.min(0);
            }
        }
    }

    fn add_used(&mut self, share: &Share<'a>) {
        let row = share.row.or_else(|| self.names.row(share.cluster));
        match row.and_then(|row| self.used.get_mut(row as usize)) {
            Some(is_used) => *is_used = true,
            None => {
                self.others.insert(share.cluster);
            }
        }
    }

    /// Number of clusters in the results.
    pub(crate) fn used(&self) -> usize {
        self.used.iter().filter(|is_used| **is_used).count() + self.others.len()
    }

    /// Number of clusters in the fleet.
    pub(crate) fn fleet(&self) -> usize {
        self.names.len()
    }
}

/// Replicas of several results by cluster.
#[derive(Debug)]
pub(crate) struct Counts<'a> {
    names: &'a Names<'a>,
    /// By row of the snapshot; `None` for clusters without a binding.
    by_row: Vec<Option<i64>>,
    /// Those whose row is not known.
    others: BTreeMap<String, i64>,
}

impl<'a> Counts<'a> {
    /// No replicas.
    pub(crate) fn new(names: &'a Names<'a>) -> Self {
        Self {
            names,
            by_row: vec![None; names.len()],
            others: BTreeMap::new(),
        }
    }

    /// Adds a result.
    pub(crate) fn add(&mut self, targets: &[Target]) {
        for target in targets {
            if let Some(sum) = self.by_row.get_mut(target.row as usize) {
                *sum = Some(sum.unwrap_or(0) + target.replicas);
            }
        }
    }

    /// Adds replicas on a cluster.
    pub(crate) fn add_named(&mut self, cluster: &str, replicas: i64) {
        match self.others.get_mut(cluster) {
            Some(sum) => *sum += replicas,
            None => {
                self.others.insert(cluster.to_owned(), replicas);
            }
        }
    }

    /// The replicas by name of the cluster.
    pub(crate) fn by_name(self) -> BTreeMap<String, i64> {
        let mut counts = self.others;
        for (row, sum) in (0_u32..).zip(self.by_row) {
            if let Some(sum) = sum {
                *counts.entry(self.names.name(row).to_owned()).or_insert(0) += sum;
            }
        }
        counts
    }
}
