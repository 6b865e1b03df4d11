//! Protection against clusters that vanish from the list without having been deleted.
//!
//! Karmada deletes a cluster in two steps: its deletion timestamp appears and bindings move away, then the object disappears.
//! A cluster that disappears without the first step, or a list that is suddenly shorter or empty, is more likely a mistake (a
//! restored backup, a wrong endpoint, an aggregated API server that lost its storage) than intended. Scheduling by such a
//! list would take replicas from healthy clusters. So while clusters are missing, no write takes replicas away from any
//! cluster, until they return, a person confirms that they are gone, or the time limit passes.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use divvy_karmada::api::TargetCluster;

/// Time after which missing clusters count as gone.
pub(crate) const CONFIRMED_AFTER: Duration = Duration::from_secs(300);

/// Clusters that are missing, each with the time of its disappearance.
#[derive(Debug, Default)]
pub(crate) struct LossGuard {
    missing: BTreeMap<String, Instant>,
}

impl LossGuard {
    /// Records that a cluster vanished although its deletion was not announced.
    pub(crate) fn vanished(&mut self, cluster: &str, now: Instant) {
        self.missing.entry(cluster.to_owned()).or_insert(now);
    }

    /// Records that a cluster exists. Returns true if it was missing.
    pub(crate) fn appeared(&mut self, cluster: &str) -> bool {
        self.missing.remove(cluster).is_some()
    }

    /// Checks the first list after a start: `named` are the clusters that results name. If at least half of them do not
    /// exist, they count as missing. A smaller number may be left over from clusters that were removed long ago.
    pub(crate) fn started<'a>(
        &mut self,
        named: impl IntoIterator<Item = &'a str>,
        exists: impl Fn(&str) -> bool,
        now: Instant,
    ) {
        let (mut known, mut unknown) = (0_usize, Vec::new());
        for name in named {
            match exists(name) {
                true => known += 1,
                false => unknown.push(name),
            }
        }
        if unknown.len() >= known.max(1) {
            for name in unknown {
                self.vanished(name, now);
            }
        }
    }

    /// Treats these clusters as gone, because a person confirmed it.
    pub(crate) fn confirm(&mut self, clusters: &[String]) {
        for cluster in clusters {
            self.missing.remove(cluster);
        }
    }

    /// True if a cluster is missing.
    pub(crate) fn is_missing(&self, cluster: &str) -> bool {
        self.missing.contains_key(cluster)
    }

    /// Treats clusters that were missing for too long as gone. Returns their names.
    pub(crate) fn expire(&mut self, now: Instant) -> Vec<String> {
        let is_over = |since: &Instant| now.saturating_duration_since(*since) >= CONFIRMED_AFTER;
        let gone: Vec<String> = self
            .missing
            .iter()
            .filter(|(_, since)| is_over(since))
            .map(|(name, _)| name.clone())
            .collect();
        for name in &gone {
            self.missing.remove(name);
        }
        gone
    }

    /// The missing clusters, sorted.
    pub(crate) fn missing(&self) -> impl Iterator<Item = &str> {
        self.missing.keys().map(String::as_str)
    }

    /// True if writes that take replicas away are stopped.
    pub(crate) fn is_on(&self) -> bool {
        !self.missing.is_empty()
    }

    /// Time at which the next missing cluster counts as gone.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.missing.values().min().map(|since| *since + CONFIRMED_AFTER)
    }
}

/// True if a new result takes replicas away from any cluster of the last one.
pub(crate) fn takes_away(last: &[TargetCluster], new: &[TargetCluster]) -> bool {
    last.iter().any(|before| {
        let after = new.iter().find(|after| after.name == before.name);
        after.is_none_or(|after| after.replicas < before.replicas)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_that_vanish_stop_writes_until_they_are_confirmed() {
        let now = Instant::now();
        let mut guard = LossGuard::default();
        guard.vanished("m1", now);
        guard.vanished("m1", now + Duration::from_secs(200));
        assert!(guard.is_on());
        assert_eq!(guard.next_due(), Some(now + CONFIRMED_AFTER));
        assert!(guard.expire(now + Duration::from_secs(299)).is_empty());
        assert_eq!(guard.expire(now + CONFIRMED_AFTER), ["m1"]);
        assert!(!guard.is_on());

        guard.vanished("m1", now);
        assert!(guard.appeared("m1"));
        assert!(!guard.is_on());
        guard.vanished("m2", now);
        guard.vanished("m3", now);
        guard.confirm(&["m2".to_owned()]);
        assert_eq!(guard.missing().collect::<Vec<_>>(), ["m3"]);
        guard.confirm(&["m3".to_owned()]);
        assert!(!guard.is_on());
    }

    #[test]
    fn after_a_start_half_of_the_named_clusters_must_exist() {
        for (existing, expected) in [
            (vec!["a", "b", "c"], false),
            (vec!["a", "b"], false),
            (vec!["a"], true),
            (vec![], true),
        ] {
            let mut guard = LossGuard::default();
            guard.started(["a", "b", "c"], |name| existing.contains(&name), Instant::now());
            assert_eq!(guard.is_on(), expected, "{existing:?}");
        }
        let mut guard = LossGuard::default();
        guard.started([], |_| false, Instant::now());
        assert!(!guard.is_on());
    }

    #[test]
    fn fewer_replicas_anywhere_are_taken_away() {
        let target = |name: &str, replicas| TargetCluster {
            name: name.to_owned(),
            replicas,
            ..TargetCluster::default()
        };
        let last = [target("a", 2), target("b", 1)];
        assert!(!takes_away(&last, &last));
        assert!(!takes_away(&last, &[target("a", 3), target("b", 1), target("c", 1)]));
        assert!(takes_away(&last, &[target("a", 3)]));
        assert!(takes_away(&last, &[target("a", 1), target("b", 2)]));
        assert!(!takes_away(&[], &[]));
    }
}
