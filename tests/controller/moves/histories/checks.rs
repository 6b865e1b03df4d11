//! The rules that every write is checked by: those of `tests/judge`, and the budgets, on the pods that members really run.
//!
//! What the scheduler believes appears in two places. A replica that no report has shown as ready, or whose cluster is not Ready, may go as if
//! it were not; and of a surge that an autoscaler would take for less need, only what is known to be ready is kept.

use std::collections::BTreeMap;

use divvy_controller::write::WriteJob;
use divvy_controller::write::patch::specification_patch;
use divvy_judge::steps::{Column, tolerated};
use divvy_karmada::api::TargetCluster;
use divvy_scheduler::moves::mark::{MOVE_ANNOTATION, Mark};

use super::budgets::{Used, full, mark_of, spare};
use super::{KEYS, NAMES, World};

impl World {
    /// No write takes what is ready below what is allowed, and none exceeds a surge or a budget.
    pub(super) fn check(&mut self, job: &WriteJob) {
        let Some(patch) = &job.specification else { return };
        let Some(result) = patch.clusters.as_deref() else {
            return;
        };
        let key = job.key.name.as_str();
        let binding = self.simulation.binding(key);
        if binding["metadata"]["resourceVersion"] != job.decided().resource_version() {
            return;
        }
        let (before, next) = (self.result(key), counts(result));
        let total = self.total(key);
        let columns = self.columns(key, before, next);
        let sums = (before.iter().sum::<i64>(), next.iter().sum::<i64>());
        let allowances = &self.setting.allowances;
        let mut breach = allowances.judge(&columns, sums, total);
        if allowances.is_scaled && sums.0 - total > tolerated(total) {
            let left = columns.values().filter(|column| column.is_ready);
            let left: i64 = left
                .map(|column| column.ready.min(column.before).min(column.after))
                .sum();
            let known = self.known_ready(key);
            breach = breach.or_else(|| {
                let is_less = left < known.min(total - allowances.unavailable);
                is_less.then(|| format!("{left} are left of {known} that are known to be ready: {columns:?}"))
            });
        }
        assert_eq!(
            breach,
            None,
            "seed {}, second {}: `{key}` {before:?} -> {next:?} of {total}: {job:?}\n{}",
            self.seed,
            self.now,
            self.story()
        );
        self.steps += 1;
        if self.setting.allowances.is_scaled {
            check_autoscaler(before, next, total);
        }
        let written = specification_patch(job, patch, "");
        let mark = written["metadata"]["annotations"][MOVE_ANNOTATION].as_str();
        let mark = mark.and_then(|text| Mark::parse(text).ok());
        let target = mark.map(|mark| mark.target(result)).unwrap_or_default();
        let target = NAMES.map(|name| {
            target
                .iter()
                .find(|(known, _)| known.as_str() == name)
                .map_or(0, |(_, count)| *count)
        });
        self.check_budgets(key, before, next, total, target);
    }

    /// What the clusters of a binding run, once they have applied everything that they were given.
    fn columns(&self, key: &str, before: [i64; 4], next: [i64; 4]) -> BTreeMap<String, Column> {
        let column = |cluster: usize| {
            let copy = &self.copies[key][cluster];
            let column = Column {
                ready: copy.kept(),
                reported: copy.reported(),
                before: before[cluster],
                after: next[cluster],
                is_ready: self.is_ready[cluster],
                counts: self.is_ready[cluster],
            };
            (NAMES[cluster].to_owned(), column)
        };
        (0..4).map(column).collect()
    }

    fn check_budgets(&self, key: &str, before: [i64; 4], next: [i64; 4], total: i64, target: [i64; 4]) {
        let given = [0, 1, 2, 3].map(|cluster| (next[cluster] - before[cluster]).max(0));
        // What is missing, and what is beyond the total, is written at once.
        let is_step = before.iter().sum::<i64>() >= total && given.iter().sum::<i64>() > 0;
        if !is_step {
            return;
        }
        let mut used = Used::default();
        for other in KEYS.into_iter().filter(|other| *other != key) {
            // What is on its way by a void mark depends on a decision that is not known here.
            let mark = mark_of(self.simulation.binding(other));
            used.add(&Used::in_members(self, other, self.result(other), mark.as_ref()));
        }
        let stored = self.simulation.binding(key);
        let mark = mark_of(stored);
        let mut own = Used::in_members(self, key, before, mark.as_ref());
        (0..4).for_each(|cluster| own.claim(cluster, target[cluster] != before[cluster]));
        // A binding that is under way may go on, however many others are. One with a void mark may have been.
        let begins = match &mark {
            Some(mark) => mark.is_released,
            None => stored["metadata"]["annotations"][MOVE_ANNOTATION].is_null(),
        };
        let limits = &self.setting.allowances;
        let situation = |used: &Used| {
            format!(
                "seed {}, second {}: {given:?} are given, and `{key}` uses {own:?} beside {used:?}\n{}",
                self.seed,
                self.now,
                self.story()
            )
        };
        for (cluster, given) in given.into_iter().enumerate().filter(|(_, given)| *given > 0) {
            let room = self.room(cluster);
            assert!(
                given <= room,
                "`{key}` {before:?} -> {next:?} exceeds the room of `{}`, {room}, {}",
                NAMES[cluster],
                situation(&used)
            );
        }
        let refused = begins.then(|| full(limits, &used, &own)).flatten();
        assert_eq!(
            refused,
            None,
            "`{key}` {before:?} -> {next:?} begins, {}",
            situation(&used)
        );
        used.add(&own);
        for (cluster, given) in given.into_iter().enumerate().filter(|(_, given)| *given > 0) {
            used.unready[cluster] += given;
            let spare = spare(limits, &used, cluster);
            assert!(
                spare >= 0,
                "`{key}` {before:?} -> {next:?} exceeds a budget, {}",
                situation(&used)
            );
        }
    }
}

/// With as much load as `total` pods have, a FederatedHPA of Karmada does not compute a smaller total because of a step
/// (`replica_calculator.go`): it multiplies the pods with the ratio of their load, unless that is within its tolerance, and divides them
/// by the surge.
fn check_autoscaler(before: [i64; 4], next: [i64; 4], total: i64) {
    let (before, pods): (i64, i64) = (before.iter().sum(), next.iter().sum());
    if pods <= before.max(total) {
        return;
    }
    let is_tolerated = (pods - total) * 10 < pods;
    assert!(
        is_tolerated,
        "{pods} pods of {total} have so little load that an autoscaler removes some"
    );
}

pub(super) fn counts(result: &[TargetCluster]) -> [i64; 4] {
    NAMES.map(|name| {
        let own = result.iter().find(|target| target.name == name);
        own.map_or(0, |target| i64::from(target.replicas))
    })
}

pub(super) fn index(name: &str) -> usize {
    NAMES.iter().position(|known| *known == name).expect("a cluster")
}
