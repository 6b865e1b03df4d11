//! The rules that every write is checked by.

use std::hash::{DefaultHasher, Hash, Hasher};

use divvy_controller::write::WriteJob;
use divvy_controller::write::patch::specification_patch;
use divvy_karmada::api::{ReadJson, ResourceBinding, TargetCluster};
use divvy_scheduler::decide::stored_hash::StoredHash;
use divvy_scheduler::moves::mark::{Mark, Marked, is_on_its_way, read_mark};
use divvy_scheduler::moves::readiness::{Health, Report, Reporting};
use divvy_scheduler::moves::step::{Look, Places, Seen, Wish, look};
use serde_json::Value;

use super::settings::Setting;
use super::{KEYS, NAMES, World};

/// Seconds after which the scheduler believes a report that has not changed.
const REPORT_TIME: i64 = 60;

/// What is read of a binding that is stored, to look at it as the scheduler may.
struct Stored {
    object: ResourceBinding,
    mark: Option<Mark>,
    reports: Vec<(String, i64, i64, bool)>,
}

impl Stored {
    fn new(binding: &Value) -> Self {
        let object = ResourceBinding::from_json(&binding.to_string()).expect("a binding");
        let text = object.metadata.annotations.get("divvy.io/move");
        let states = binding["status"]["aggregatedStatus"].as_array().into_iter().flatten();
        Self {
            mark: text.and_then(|text| Mark::parse(text).ok()),
            reports: states
                .map(|state| {
                    let count = |field: &str| state["status"][field].as_i64().unwrap_or(0);
                    let name = state["clusterName"].as_str().unwrap_or_default().to_owned();
                    let is_healthy = state["health"] == "Healthy";
                    (name, count("replicas"), count("readyReplicas"), is_healthy)
                })
                .collect(),
            object,
        }
    }
}

impl World {
    /// The ready replicas of a binding that the scheduler may know of, and what all moves use of the budgets: the bindings under way, and
    /// the replicas that are not ready.
    ///
    /// The target is that of a valid mark. Otherwise it is `decided`, or the result.
    fn look<R>(&self, stored: &Stored, decided: Option<&[TargetCluster]>, see: impl FnOnce(&Look<'_>) -> R) -> R {
        let object = &stored.object;
        let asked = match stored.mark.as_ref().map(|mark| mark.asked) {
            Some(StoredHash::Promised(asked)) => asked,
            Some(StoredHash::Standard(_)) | None => 0,
        };
        let milliseconds = self.simulation.seconds() * 1_000;
        let marked = Marked {
            generation: object.metadata.generation,
            asked,
            standard_asked: None,
            result: &object.spec.clusters,
            total: object.spec.replicas.unwrap_or(0).into(),
            now: milliseconds,
        };
        let text = object.metadata.annotations.get("divvy.io/move").map(String::as_str);
        let mark = read_mark(text, &marked, |_| true);
        let binding = &self.simulation.binding(&object.metadata.name)["status"]["aggregatedStatus"];
        let fingerprint = |name: &str| {
            let states = binding.as_array().into_iter().flatten();
            let state = states.into_iter().find(|state| state["clusterName"] == name);
            state.map_or(0, |state| fingerprint(&state.to_string()))
        };
        let reports = stored.reports.iter().map(|(name, replicas, ready, is_healthy)| Report {
            cluster: name,
            applied: true,
            replicas: Some(*replicas),
            ready_replicas: Some(*ready),
            health: if *is_healthy {
                Health::Healthy
            } else {
                Health::Unhealthy
            },
            fingerprint: fingerprint(name),
            ..Report::default()
        });
        let reports: Vec<Report<'_>> = reports.collect();
        let seen = Seen {
            generation: marked.generation,
            asked,
            present: marked.result,
            total: marked.total,
            evicted: &object.spec.graceful_eviction_tasks,
            is_dispatching_suspended: false,
            mark: mark.as_ref(),
            reports: &reports,
            reporting: Reporting::ReadyReplicas,
            has_counted_health: true,
            now: milliseconds,
        };
        let places = Places {
            exists: &|_| true,
            is_ready: &|name| self.is_ready[index(name)],
            room: &|_| i64::MAX,
            region: &|_| "",
            is_deleting: &|_| false,
            leaves_at_once: &|_| false,
            report_time: REPORT_TIME * 1_000,
        };
        let wish = match mark.as_ref().is_some_and(|mark| mark.valid().is_some()) {
            true => Wish::Continue,
            false => Wish::Decided(decided.unwrap_or(marked.result)),
        };
        see(&look(seen, wish, &places).expect("there is something to look at"))
    }

    /// No write takes what is ready below what is allowed, and none exceeds a budget.
    pub(super) fn check(&mut self, job: &WriteJob) {
        let Some(patch) = &job.specification else { return };
        let Some(result) = patch.clusters.as_deref() else {
            return;
        };
        let key = job.key.name.as_str();
        let binding = self.simulation.binding(key);
        if binding["metadata"]["resourceVersion"] != job.decided().metadata.resource_version.as_str() {
            return;
        }
        let stored = Stored::new(binding);
        let (before, next) = (counts(&stored.object.spec.clusters), counts(result));
        let total = i64::from(stored.object.spec.replicas.unwrap_or(0));
        let copies = &self.copies[key];
        let in_ready = || (0..4).filter(|cluster| self.is_ready[*cluster]);
        let excess = before.iter().sum::<i64>() - total;
        let ready: i64 = match self.setting.is_scaled && excess > tolerated(total) {
            // What an autoscaler would take for a surge goes at once, even if it may be ready: only what is known to be is kept.
            true => self.look(&stored, None, |look| {
                look.clusters().iter().map(|cluster| cluster.ready).sum()
            }),
            // Replicas that have become ready since the last report may go as if they were not.
            false => in_ready()
                .map(|cluster| copies[cluster].kept(before[cluster]).min(copies[cluster].reported()))
                .sum(),
        };
        let kept: i64 = in_ready().map(|cluster| copies[cluster].kept(next[cluster])).sum();
        let least = ready.min(total - self.setting.unavailable);
        assert!(
            kept >= least,
            "seed {}, second {}: `{key}` {before:?} -> {next:?} of {total} keeps {kept} of {ready} ready: {job:?}",
            self.seed,
            self.now
        );
        self.steps += 1;
        if self.setting.is_scaled {
            check_autoscaler(before, next, total);
        }
        let written = specification_patch(job, patch, "");
        let mark = written["metadata"]["annotations"]["divvy.io/move"].as_str();
        let mark = mark.and_then(|text| Mark::parse(text).ok());
        let target = mark.map(|mark| mark.target(result)).unwrap_or_default();
        let target = target.into_iter().map(|(name, replicas)| TargetCluster {
            name,
            replicas: i32::try_from(replicas).expect("a small count"),
            components: Vec::new(),
        });
        let target: Vec<TargetCluster> = target.collect();
        self.check_budgets(key, before, next, total, &target);
    }

    fn check_budgets(&self, key: &str, before: [i64; 4], next: [i64; 4], total: i64, target: &[TargetCluster]) {
        let given = [0, 1, 2, 3].map(|cluster| (next[cluster] - before[cluster]).max(0));
        // What is missing, and what is beyond the total, is written at once.
        let is_step = before.iter().sum::<i64>() >= total && given.iter().sum::<i64>() > 0;
        if !is_step {
            return;
        }
        let (mut used, mut own) = (Used::default(), Used::default());
        // A binding that is under way may go on, however many others are: what is written at once asks for no budget.
        let stored = Stored::new(self.simulation.binding(key));
        let begins = !self.look(&stored, None, |look| look.is_under_way());
        for other in KEYS {
            let stored = Stored::new(self.simulation.binding(other));
            // What is on its way by a void mark depends on a decision that is not known here.
            if other != key && !is_on_its_way(&stored.object) {
                continue;
            }
            let target = (other == key).then_some(target);
            self.look(&stored, target, |look| match other == key {
                true => own = Used::of(look, true),
                false => used.add(&Used::of(look, look.is_under_way())),
            });
        }
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
        let refused = begins.then(|| self.setting.full(&used, &own)).flatten();
        assert_eq!(
            refused,
            None,
            "`{key}` {before:?} -> {next:?} begins, {}",
            situation(&used)
        );
        used.add(&own);
        for (cluster, given) in given.into_iter().enumerate().filter(|(_, given)| *given > 0) {
            used.unready[cluster] += given;
            let spare = self.setting.spare(&used, cluster);
            assert!(
                spare >= 0,
                "`{key}` {before:?} -> {next:?} exceeds a budget, {}",
                situation(&used)
            );
        }
    }
}

/// What moves use of the budgets: the bindings under way, also in each cluster and region, and the replicas that are not ready by cluster.
#[derive(Debug, Default)]
struct Used {
    bindings: i64,
    bindings_in: [i64; 4],
    bindings_in_regions: [i64; 2],
    unready: [i64; 4],
}

/// The region of a cluster: `a` and `b` are in one, `c` and `d` in the other.
const fn region(cluster: usize) -> usize {
    cluster / 2
}

impl Used {
    /// What one move uses. Its bindings count only if it is under way or begins.
    fn of(look: &Look<'_>, counts: bool) -> Self {
        let mut used = Self {
            bindings: i64::from(counts),
            ..Self::default()
        };
        for claimed in look.claimed(|_| "") {
            let cluster = index(claimed.name);
            used.bindings_in[cluster] = i64::from(counts);
            used.bindings_in_regions[region(cluster)] = i64::from(counts);
            used.unready[cluster] = claimed.unready;
        }
        used
    }

    fn add(&mut self, other: &Self) {
        self.bindings += other.bindings;
        for cluster in 0..4 {
            self.bindings_in[cluster] += other.bindings_in[cluster];
            self.unready[cluster] += other.unready[cluster];
        }
        for region in 0..2 {
            self.bindings_in_regions[region] += other.bindings_in_regions[region];
        }
    }
}

impl Setting {
    /// The budget of bindings that keeps a move from beginning beside others, if one does.
    fn full(&self, others: &Used, own: &Used) -> Option<&'static str> {
        if self.bindings.is_some_and(|limit| others.bindings >= limit) {
            return Some("bindings");
        }
        let is_full = |cluster: usize| {
            let limit = self.bindings_per_cluster;
            own.bindings_in[cluster] > 0 && limit.is_some_and(|limit| others.bindings_in[cluster] >= limit)
        };
        if (0..4).any(is_full) {
            return Some("bindings-per-cluster");
        }
        let is_full = |region: usize| {
            let limit = self.bindings_per_region;
            own.bindings_in_regions[region] > 0
                && limit.is_some_and(|limit| others.bindings_in_regions[region] >= limit)
        };
        (0..2).any(is_full).then_some("bindings-per-region")
    }

    /// Replicas that may still be given to a cluster; negative if too many are.
    fn spare(&self, used: &Used, cluster: usize) -> i64 {
        let left = |limit: Option<i64>, used: &[i64]| limit.map_or(i64::MAX, |limit| limit - used.iter().sum::<i64>());
        let own = &used.unready[cluster..=cluster];
        let near = &used.unready[2 * region(cluster)..][..2];
        let in_all = left(self.replicas, &used.unready);
        in_all
            .min(left(self.replicas_per_cluster, own))
            .min(left(self.replicas_per_region, near))
    }
}

/// A cluster of a move: its replicas, those known to be ready, and those of the target.
struct Column {
    current: i64,
    ready: i64,
    /// Ready replicas that its report shows.
    shown: i64,
    target: i64,
    /// True if budgets and room permit a further replica.
    may_get: bool,
}

/// The result that a move ends with, which has not begun: an explanation says it.
fn announced(text: &str) -> Option<Vec<TargetCluster>> {
    let (_, target) = text.strip_prefix("it is moved in steps from {")?.split_once("} to {")?;
    let (target, _) = target.split_once('}')?;
    let clusters = target.split(", ").filter_map(|cluster| cluster.split_once(':'));
    let target = clusters.map(|(name, replicas)| TargetCluster {
        name: name.to_owned(),
        replicas: replicas.parse().expect("a count"),
        components: Vec::new(),
    });
    Some(target.collect())
}

impl World {
    /// Nothing disturbs the bindings any more, and everything is written: none could begin its move, or take a further step. So each step
    /// was as large as the allowances, the budgets and room permit, and none could have been made earlier: they permit a larger step
    /// only where they permit one of a single replica.
    pub(super) fn check_progress(&mut self) {
        let bindings = KEYS.map(|key| Stored::new(self.simulation.binding(key)));
        let moves = KEYS.map(|key| self.simulation.explanation(key)["move"].clone());
        let targets = moves.each_ref().map(|text| text.as_str().and_then(announced));
        let used: Vec<Used> = bindings
            .iter()
            .zip(&targets)
            .map(|(stored, target)| self.look(stored, target.as_deref(), |look| Used::of(look, look.is_under_way())))
            .collect();
        let mut all = Used::default();
        used.iter().for_each(|used| all.add(used));
        for (number, (key, stored)) in KEYS.into_iter().zip(&bindings).enumerate() {
            let target = targets[number].as_deref();
            if target.is_none() && !is_on_its_way(&stored.object) {
                continue;
            }
            // What is still there of earlier results counts as there.
            let lags = |look: &Look<'_>| look.clusters().iter().any(|cluster| cluster.present > cluster.current);
            if self.look(stored, target, lags) {
                continue;
            }
            let (is_under_way, own, columns) = self.look(stored, target, |look| {
                let columns = look.clusters().iter().zip(look.shown()).map(|(cluster, shown)| Column {
                    current: cluster.current,
                    ready: cluster.ready,
                    shown: *shown,
                    target: cluster.target,
                    may_get: self.setting.spare(&all, index(cluster.name)) > 0 && self.room(index(cluster.name)) > 0,
                });
                let columns: Vec<Column> = columns.collect();
                (look.is_under_way(), Used::of(look, true), columns)
            });
            let total = self.total(key);
            let sum: i64 = columns.iter().map(|column| column.current).sum();
            let ready: i64 = columns.iter().map(|column| column.ready).sum();
            let gives = columns
                .iter()
                .any(|column| column.current < column.target && column.may_get);
            let mut takers = columns.iter().filter(|column| column.current > column.target);
            let least = ready.min(total - self.setting.unavailable);
            // Of those that a report shows as ready besides, as many stay as the known ones lack.
            let missing = (total - self.setting.unavailable - ready).max(0);
            let stays = |column: &Column| column.shown.min(column.ready + missing);
            let takes = takers.any(|column| column.current > stays(column) || ready > least);
            let surge = self.surge(total);
            let may_step = [
                (gives && sum < total + surge, "give"),
                (takes && sum > total, "take"),
                (gives && takes, "give and take"),
            ];
            let possible = may_step.into_iter().find_map(|(may, step)| may.then_some(step));
            // A move that is not under way needs a place among those that are.
            let is_kept_out = !is_under_way && self.setting.full(&all, &own).is_some();
            assert_eq!(
                possible.filter(|_| !is_kept_out),
                None,
                "seed {}, second {}: `{key}` waits: {:?} of {total}, {own:?} beside {all:?}\n{}\n{}",
                self.seed,
                self.now,
                counts(&stored.object.spec.clusters),
                moves[number],
                self.story()
            );
            match is_under_way {
                true => self.waited += 1,
                false => self.waited_outside += 1,
            }
        }
    }

    /// The surge of a step: a FederatedHPA tolerates less than a tenth.
    fn surge(&self, total: i64) -> i64 {
        match self.setting.is_scaled {
            true => self.setting.surge.min(tolerated(total)),
            false => self.setting.surge,
        }
    }
}

/// Replicas beyond the total that a FederatedHPA tolerates.
fn tolerated(total: i64) -> i64 {
    (total - 1).max(0) / 10
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

fn index(name: &str) -> usize {
    NAMES.iter().position(|known| *known == name).expect("a cluster")
}

/// The fingerprint of an entry, as marks have it.
fn fingerprint(text: &str) -> u32 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let hash = hasher.finish();
    let halves = [hash >> 32, hash & u64::from(u32::MAX)].map(|half| u32::try_from(half).expect("half of it"));
    (halves[0] ^ halves[1]).max(1)
}
