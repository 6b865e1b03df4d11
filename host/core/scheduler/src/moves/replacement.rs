//! Whether reports show what replaces an eviction, so that Karmada may remove the old copy.
//!
//! Karmada ends an eviction once the scheduler has observed the binding's generation and every cluster of the result is Healthy in
//! `status.aggregatedStatus` (`pkg/controllers/gracefuleviction`). Right after a write, the entries there are still those from before it.
//! So the generation is recorded as observed only when the entries are newer than the result and show it, as far as the kind reports.
//!
//! An entry has no time, and no generation of the binding. What it has is compared: a cluster that was given replicas must have another
//! entry than when it was given them, or the time that reports take must have passed; and an entry with ready replicas must have as many
//! as the result. Health is Karmada's own condition, so it is not repeated here.

use std::collections::BTreeMap;

use divvy_karmada::api::{GracefulEvictionTask, TargetCluster};

use super::readiness::{Report, Reporting, fingerprint};

/// Seconds after which Karmada ends an eviction that does not say (`--graceful-eviction-timeout`).
const GRACE_SECONDS: i64 = 600;

/// Replicas that a result gave a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Given {
    /// Fingerprint of the cluster's entry then, 0 for none; `None` if it is not known, because another process wrote the result.
    entry: Option<u32>,
    /// Time, in milliseconds since 1970.
    at: i64,
}

/// What a result gave clusters while Karmada evicts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Replacement {
    given: BTreeMap<String, Given>,
    /// Time of the last change of the result.
    at: i64,
}

/// Reports as they are seen.
#[derive(Debug, Clone, Copy)]
pub struct Reported<'a> {
    /// The entries.
    pub entries: &'a [Report<'a>],
    /// The form in which they show readiness.
    pub reporting: Reporting,
    /// Time that reports of a Ready cluster take, in milliseconds.
    pub report_time: i64,
    /// The current time, in milliseconds since 1970.
    pub now: i64,
}

/// The tasks that end by the observed generation. Others have been decided by a person.
pub fn awaiting(tasks: &[GracefulEvictionTask]) -> impl Iterator<Item = &GracefulEvictionTask> {
    tasks.iter().filter(|task| task.suppress_deletion.is_none())
}

impl Replacement {
    /// A result of which nothing is awaited, since this time.
    pub fn settled(at: i64) -> Self {
        Self {
            given: BTreeMap::new(),
            at,
        }
    }

    /// A result that another process wrote at this time: any cluster may have been given replicas.
    pub fn unknown(result: &[TargetCluster], at: i64) -> Self {
        let given = Given { entry: None, at };
        Self {
            given: result.iter().map(|target| (target.name.clone(), given)).collect(),
            at,
        }
    }

    /// Notes that `result` follows `last`. What earlier results gave is still awaited where the clusters stay.
    pub fn give(&mut self, last: &[TargetCluster], result: &[TargetCluster], reported: &Reported<'_>) {
        let at = reported.now;
        self.given
            .retain(|name, _| result.iter().any(|target| target.name == *name));
        for target in result {
            let before = last.iter().find(|before| before.name == target.name);
            if before.is_none_or(|before| before.replicas < target.replicas) {
                let entry = Some(fingerprint(reported.of(&target.name)));
                self.given.insert(target.name.clone(), Given { entry, at });
            }
        }
        self.at = at;
    }

    /// Notes that the last result was written at this time, which may be long after its decision.
    pub fn written(&mut self, at: i64) {
        for given in self.given.values_mut().filter(|given| given.at == self.at) {
            given.at = at;
        }
        self.at = at;
    }

    /// Takes entries for older than the last result: they arrived with a version of the binding that does not have it yet.
    pub fn outdated(&mut self, entries: &[Report<'_>]) {
        for (name, given) in self.given.iter_mut().filter(|(_, given)| given.at == self.at) {
            let entry = entries.iter().find(|entry| entry.cluster == name);
            given.entry = given.entry.map(|_| fingerprint(entry));
        }
    }

    /// The next time at which the answer may change without a report, in milliseconds since 1970; `None` if the reports show the result, or
    /// half of the shortest grace period has passed since it was written.
    ///
    /// There are members that never show it: those that scale by themselves. The other half of the time is left to Karmada.
    pub fn awaited(
        &self,
        result: &[TargetCluster],
        tasks: &[GracefulEvictionTask],
        reported: &Reported<'_>,
    ) -> Option<i64> {
        let grace = |task: &GracefulEvictionTask| task.grace_period_seconds.map_or(GRACE_SECONDS, i64::from);
        let grace = awaiting(tasks).map(grace).min()?;
        // The clock of another process may be ahead.
        let limit = self.at.min(reported.now).saturating_add(grace.saturating_mul(500));
        if limit <= reported.now {
            return None;
        }
        let unshown = result.iter().filter(|target| !self.is_shown(target, reported));
        let times = unshown.map(|target| {
            let given = self.given.get(&target.name);
            let settled = given.map(|given| given.at.saturating_add(reported.report_time));
            settled.filter(|at| *at > reported.now).unwrap_or(limit).min(limit)
        });
        times.min()
    }

    /// True if a cluster's entry is newer than what the cluster was given, and shows it.
    fn is_shown(&self, target: &TargetCluster, reported: &Reported<'_>) -> bool {
        let Some(entry) = reported.of(&target.name).filter(|entry| entry.applied) else {
            return false;
        };
        let wanted = i64::from(target.replicas);
        let counted = match reported.reporting {
            Reporting::ReadyReplicas => Some(entry.ready_replicas.unwrap_or(0)),
            Reporting::Health | Reporting::Nothing => entry.replicas,
        };
        let is_newer = |given: &Given| match given.entry {
            Some(before) => before != entry.fingerprint,
            // The count alone speaks for it.
            None => counted.is_some() && wanted > 0,
        };
        let is_settled = |given: &Given| reported.now.saturating_sub(given.at) >= reported.report_time;
        let given = self.given.get(&target.name);
        counted.is_none_or(|counted| counted >= wanted)
            && given.is_none_or(|given| is_newer(given) || is_settled(given))
    }
}

impl Reported<'_> {
    fn of(&self, cluster: &str) -> Option<&Report<'_>> {
        self.entries.iter().find(|entry| entry.cluster == cluster)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::moves::readiness::Health;

    fn targets(result: &[(&str, i32)]) -> Vec<TargetCluster> {
        let of = |(name, replicas): &(&str, i32)| TargetCluster {
            name: (*name).to_owned(),
            replicas: *replicas,
            components: Vec::new(),
        };
        result.iter().map(of).collect()
    }

    fn entry(cluster: &str, ready: Option<i64>, fingerprint: u32) -> Report<'_> {
        Report {
            cluster,
            applied: true,
            health: Health::Healthy,
            replicas: ready,
            ready_replicas: ready,
            is_rolling_out: false,
            fingerprint,
        }
    }

    fn reported<'a>(entries: &'a [Report<'a>], reporting: Reporting, now: i64) -> Reported<'a> {
        Reported {
            entries,
            reporting,
            report_time: 60_000,
            now,
        }
    }

    fn tasks(seconds: Option<i32>, suppressed: Option<bool>) -> Vec<GracefulEvictionTask> {
        vec![GracefulEvictionTask {
            from_cluster: "x".to_owned(),
            grace_period_seconds: seconds,
            suppress_deletion: suppressed,
            ..GracefulEvictionTask::default()
        }]
    }

    /// `a` is given two more, `b` is new, and `c` keeps what it has.
    fn replaced(entries: &[Report<'_>], reporting: Reporting) -> (Replacement, Vec<TargetCluster>) {
        let result = targets(&[("a", 5), ("b", 4), ("c", 3)]);
        let mut replacement = Replacement::settled(0);
        replacement.give(
            &targets(&[("a", 3), ("c", 3)]),
            &result,
            &reported(entries, reporting, 1_000),
        );
        (replacement, result)
    }

    #[test]
    fn entries_from_before_the_result_do_not_show_it() {
        let before = [entry("a", Some(3), 1), entry("c", Some(3), 3)];
        let kind = Reporting::ReadyReplicas;
        let (replacement, result) = replaced(&before, kind);
        let awaited = |entries: &[Report<'_>], now| {
            replacement.awaited(&result, &tasks(None, None), &reported(entries, kind, now))
        };
        assert_eq!(awaited(&before, 2_000), Some(61_000));
        // One of them has too few, or they are not ready yet, or one has not been applied.
        let [a, b, c] = [entry("a", Some(5), 4), entry("b", Some(4), 5), before[1]];
        assert_eq!(awaited(&[a, c], 2_000), Some(61_000));
        let unready = Report {
            ready_replicas: Some(3),
            ..b
        };
        assert_eq!(awaited(&[a, unready, c], 2_000), Some(61_000));
        assert_eq!(awaited(&[a, Report { applied: false, ..b }, c], 2_000), Some(61_000));
        assert_eq!(awaited(&[a, b, c], 2_000), None);
        // After the time of reports, their counts still must be right.
        assert_eq!(awaited(&before, 62_000), Some(301_000));
        assert_eq!(awaited(&before, 301_000), None, "half of ten minutes have passed");
    }

    #[test]
    fn a_cluster_that_shrank_and_grows_again_needs_another_entry() {
        let old = [entry("a", Some(6), 1)];
        let kind = Reporting::ReadyReplicas;
        let result = targets(&[("a", 6)]);
        let mut replacement = Replacement::settled(0);
        replacement.give(&targets(&[("a", 3)]), &result, &reported(&old, kind, 1_000));
        let awaited = |replacement: &Replacement, entries: &[Report<'_>], now| {
            replacement.awaited(&result, &tasks(Some(600), None), &reported(entries, kind, now))
        };
        assert_eq!(awaited(&replacement, &old, 2_000), Some(61_000));
        assert_eq!(awaited(&replacement, &old, 61_000), None, "it was right all the time");
        let new = [entry("a", Some(6), 2)];
        assert_eq!(awaited(&replacement, &new, 2_000), None);
        // It came with a version that does not have the result.
        replacement.outdated(&new);
        assert_eq!(awaited(&replacement, &new, 2_000), Some(61_000));
    }

    #[test]
    fn kinds_without_counts_are_shown_by_another_entry_or_by_time() {
        let before = [entry("a", None, 1), entry("c", None, 3)];
        let kind = Reporting::Health;
        let (replacement, result) = replaced(&before, kind);
        let awaited = |entries: &[Report<'_>], now| {
            replacement.awaited(&result, &tasks(None, None), &reported(entries, kind, now))
        };
        let after = [entry("a", None, 2), entry("b", None, 5), before[1]];
        assert_eq!(awaited(&[before[0], after[1], before[1]], 2_000), Some(61_000));
        assert_eq!(awaited(&after, 2_000), None);
        assert_eq!(awaited(&[before[0], after[1], before[1]], 61_000), None);
    }

    #[test]
    fn another_process_goes_by_counts_and_time() {
        let result = targets(&[("a", 5)]);
        let unknown = Replacement::unknown(&result, 1_000);
        let awaited =
            |entry: Report<'_>, kind, now| unknown.awaited(&result, &tasks(None, None), &reported(&[entry], kind, now));
        assert_eq!(awaited(entry("a", Some(5), 1), Reporting::ReadyReplicas, 2_000), None);
        assert_eq!(
            awaited(entry("a", Some(4), 1), Reporting::ReadyReplicas, 62_000),
            Some(301_000)
        );
        assert_eq!(awaited(entry("a", None, 1), Reporting::Health, 2_000), Some(61_000));
        assert_eq!(awaited(entry("a", None, 1), Reporting::Health, 61_000), None);
    }

    #[test]
    fn a_later_result_still_awaits_what_an_earlier_one_gave() {
        let before = [entry("a", Some(3), 1), entry("c", Some(3), 3)];
        let kind = Reporting::ReadyReplicas;
        let (mut replacement, result) = replaced(&before, kind);
        let next = targets(&[("a", 5), ("c", 7)]);
        replacement.give(&result, &next, &reported(&before, kind, 3_000));
        let awaited =
            |entries: &[Report<'_>], now| replacement.awaited(&next, &tasks(None, None), &reported(entries, kind, now));
        let c = entry("c", Some(7), 6);
        assert_eq!(awaited(&[before[0], c], 4_000), Some(61_000));
        assert_eq!(awaited(&[entry("a", Some(5), 4), c], 4_000), None);
    }

    #[test]
    fn the_limit_is_half_of_the_shortest_grace_period_and_no_task_of_a_person_counts() {
        let (replacement, result) = replaced(&[], Reporting::ReadyReplicas);
        let awaited = |tasks: &[GracefulEvictionTask], now| {
            let reported = reported(&[], Reporting::ReadyReplicas, now);
            replacement.awaited(&result, tasks, &reported)
        };
        let both = [tasks(Some(40), None), tasks(None, None)].concat();
        assert_eq!(awaited(&both, 20_999), Some(21_000));
        assert_eq!(awaited(&both, 21_000), None);
        for seconds in [0, -5, i32::MIN] {
            assert_eq!(awaited(&tasks(Some(seconds), None), 1_000), None);
        }
        assert!(awaited(&tasks(Some(i32::MAX), None), 1_000).is_some());
        assert_eq!(awaited(&tasks(None, Some(true)), 1_000), None);
        assert_eq!(awaited(&tasks(None, Some(false)), 1_000), None);
        assert_eq!(awaited(&[], 1_000), None);
    }
}
