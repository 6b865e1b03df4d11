//! Rules that must hold whatever fails, for anything that shows the writes of a control plane: its audit log, or a simulated API
//! server.
//!
//! - [`LeaseRule`]: no scheduler writes without holding the lease.
//! - [`MoveRule`]: a binding is moved at most once for each change that another writer made to it.
//! - [`CapacityRule`]: no cluster is given more than it has.
//! - [`steps`]: no step of a move takes ready replicas below what is allowed, or gives more than a surge.
//!
//! Each rule receives the events in order and returns a sentence if one breaks it.

pub mod steps;

use std::collections::BTreeMap;

/// Milliseconds for which a lease is valid after it was renewed.
pub const LEASE_MILLIS: i64 = 15_000;

/// Replicas by cluster.
pub type Result = BTreeMap<String, i64>;

/// No scheduler writes without holding the lease.
#[derive(Debug, Clone, Default)]
pub struct LeaseRule {
    lease: Option<(String, i64)>,
}

impl LeaseRule {
    /// Takes in a write of the lease at a time in milliseconds. An empty holder frees it.
    pub fn note(&mut self, holder: &str, at: i64) {
        self.lease = (!holder.is_empty()).then(|| (holder.to_owned(), at));
    }

    /// Judges a write of a scheduler at a time in milliseconds. The name of the writer ends with its identity in the lease.
    pub fn judge(&self, writer: &str, object: &str, at: i64) -> Option<String> {
        let what = format!("{writer} wrote {object}");
        match &self.lease {
            None => Some(format!("{what}, when nobody held the lease")),
            Some((holder, _)) if !writer.ends_with(holder.as_str()) => {
                Some(format!("{what}, when {holder} held the lease"))
            }
            Some((_, renewed)) if at - renewed > LEASE_MILLIS => Some(format!(
                "{what}, with a lease that it renewed {} ms before",
                at - renewed
            )),
            Some(_) => None,
        }
    }
}

/// A binding is moved at most once for each change that another writer made to it.
#[derive(Debug, Clone, Default)]
pub struct MoveRule {
    /// For every binding, the generation that another writer wrote last, and the moves since.
    asked: BTreeMap<String, (i64, usize)>,
}

impl MoveRule {
    /// Takes in a change by another writer.
    pub fn ask(&mut self, binding: &str, generation: i64) {
        self.asked.insert(binding.to_owned(), (generation, 0));
    }

    /// Judges a scheduler's write of a result.
    pub fn judge(&mut self, binding: &str, before: &Result, after: &Result) -> Option<String> {
        if before == after {
            return None;
        }
        let (generation, moves) = self.asked.entry(binding.to_owned()).or_default();
        *moves += 1;
        (*moves > 1)
            .then(|| format!("{binding} was moved {moves} times for generation {generation}: {before:?}, {after:?}"))
    }
}

/// No cluster is given more of a resource than it has, where all of what runs there are results.
#[derive(Debug, Clone, Default)]
pub struct CapacityRule {
    limits: BTreeMap<String, i128>,
    /// For every binding, its result and the quantity that one replica takes.
    results: BTreeMap<String, (Result, i128)>,
    taken: BTreeMap<String, i128>,
}

impl CapacityRule {
    /// A rule for clusters of these capacities.
    pub fn new(limits: BTreeMap<String, i128>) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }

    /// The result of a binding.
    pub fn result(&self, binding: &str) -> Result {
        let known = self.results.get(binding);
        known.map(|(result, _)| result.clone()).unwrap_or_default()
    }

    /// Takes in a result of replicas that take `one` each. Returns the clusters that have more than they can, each with what is
    /// taken and its limit.
    pub fn note(&mut self, binding: &str, result: Result, one: i128) -> Vec<(String, i128, i128)> {
        let (before, one_before) = self
            .results
            .insert(binding.to_owned(), (result.clone(), one))
            .unwrap_or_default();
        for (cluster, replicas) in &before {
            *self.taken.entry(cluster.clone()).or_default() -= i128::from(*replicas) * one_before;
        }
        let mut over = Vec::new();
        for (cluster, replicas) in &result {
            let taken = self.taken.entry(cluster.clone()).or_default();
            *taken += i128::from(*replicas) * one;
            let limit = self.limits.get(cluster).copied().unwrap_or(0);
            if *taken > limit {
                over.push((cluster.clone(), *taken, limit));
            }
        }
        over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(pairs: &[(&str, i64)]) -> Result {
        pairs.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    }

    #[test]
    fn only_the_holder_of_a_valid_lease_may_write() {
        let mut rule = LeaseRule::default();
        assert!(rule.judge("divvy/a", "x", 0).is_some());
        rule.note("a", 1_000);
        assert_eq!(rule.judge("divvy/a", "x", 16_000), None);
        assert!(rule.judge("divvy/b", "x", 2_000).is_some());
        assert!(rule.judge("divvy/a", "x", 16_001).is_some());
        rule.note("", 17_000);
        assert!(rule.judge("divvy/a", "x", 17_001).is_some());
    }

    #[test]
    fn a_second_move_needs_another_change() {
        let mut rule = MoveRule::default();
        let (one, two, three) = (result(&[("a", 1)]), result(&[("b", 1)]), result(&[("c", 1)]));
        rule.ask("x", 1);
        assert_eq!(rule.judge("x", &one, &one), None);
        assert_eq!(rule.judge("x", &one, &two), None);
        assert!(rule.judge("x", &two, &three).is_some());
        rule.ask("x", 2);
        assert_eq!(rule.judge("x", &three, &one), None);
    }

    #[test]
    fn results_are_summed_by_cluster() {
        let mut rule = CapacityRule::new(BTreeMap::from([("a".to_owned(), 10)]));
        assert!(rule.note("x", result(&[("a", 4)]), 2).is_empty());
        assert_eq!(rule.note("y", result(&[("a", 2)]), 2), [("a".to_owned(), 12, 10)]);
        assert!(rule.note("x", result(&[("a", 3)]), 2).is_empty());
        assert!(rule.note("y", Result::new(), 2).is_empty());
        assert_eq!(rule.result("x"), result(&[("a", 3)]));
    }
}
