//! Progress: nothing waits for what is there already.
//!
//! A scheduler can use only what reports have shown it, so this check alone is made of what it can know: it reads the stored bindings as
//! the scheduler does. What a write may do is judged by what members run, in `checks`.

use std::hash::{DefaultHasher, Hash, Hasher};

use divvy_karmada::api::{ReadJson, ResourceBinding, TargetCluster};
use divvy_profile::{MoveBudgets, OnExclusion};
use divvy_scheduler::decide::stored_hash::StoredHash;
use divvy_scheduler::moves::budgets::Applicant;
use divvy_scheduler::moves::look::{Look, Seen, Wish, look};
use divvy_scheduler::moves::mark::{Mark, Marked, is_on_its_way, read_mark};
use divvy_scheduler::moves::readiness::{Health, Report, Reporting};
use divvy_scheduler::moves::world;
use serde_json::Value;

use super::budgets::{Used, full, spare};
use super::checks::{counts, index};
use super::{KEYS, World};

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

/// What a look reads of the clusters. Room and budgets are judged here.
impl world::World for World {
    fn exists(&self, _: &str) -> bool {
        true
    }

    fn is_ready(&self, cluster: &str) -> bool {
        self.is_ready[index(cluster)]
    }

    fn is_deleting(&self, _: &str) -> bool {
        false
    }

    fn is_excluded(&self, _: &str) -> bool {
        false
    }

    fn room(&self, _: &str) -> i64 {
        i64::MAX
    }

    fn region(&self, _: &str) -> &str {
        ""
    }

    fn max_clusters(&self) -> Option<u32> {
        None
    }

    fn report_time(&self) -> i64 {
        REPORT_TIME * 1_000
    }

    fn budgets(&self) -> MoveBudgets {
        MoveBudgets::default()
    }

    fn others(&self) -> Vec<Applicant<'_>> {
        Vec::new()
    }

    fn holds_back(&self, _: &[TargetCluster], _: &[TargetCluster]) -> bool {
        false
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
        let wish = match mark.as_ref().is_some_and(|mark| mark.valid().is_some()) {
            true => Wish::Continue,
            false => Wish::Decided(decided.unwrap_or(marked.result)),
        };
        let seen = Seen {
            key: &object.metadata.name,
            priority: 0,
            wish,
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
        see(&look(seen, OnExclusion::Steps, self).expect("there is something to look at"))
    }

    /// The replicas of a binding that are known to be ready.
    pub(super) fn known_ready(&self, key: &str) -> i64 {
        let stored = Stored::new(self.simulation.binding(key));
        self.look(&stored, None, |look| {
            look.clusters().iter().map(|cluster| cluster.ready).sum()
        })
    }
}

/// What one move uses, as far as the scheduler can know. Its bindings count only if it is under way or begins.
fn known_use(look: &Look<'_>, counts: bool) -> Used {
    let mut used = Used {
        bindings: i64::from(counts),
        ..Used::default()
    };
    for claimed in look.claimed(|_| "") {
        let cluster = index(claimed.name);
        used.claim(cluster, counts);
        used.unready[cluster] = claimed.unready;
    }
    used
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
            .map(|(stored, target)| self.look(stored, target.as_deref(), |look| known_use(look, look.is_under_way())))
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
                    may_get: spare(&self.setting.allowances, &all, index(cluster.name)) > 0
                        && self.room(index(cluster.name)) > 0,
                });
                let columns: Vec<Column> = columns.collect();
                (look.is_under_way(), known_use(look, true), columns)
            });
            let total = self.total(key);
            let sum: i64 = columns.iter().map(|column| column.current).sum();
            let ready: i64 = columns.iter().map(|column| column.ready).sum();
            let gives = columns
                .iter()
                .any(|column| column.current < column.target && column.may_get);
            let mut takers = columns.iter().filter(|column| column.current > column.target);
            let least = ready.min(total - self.setting.allowances.unavailable);
            // Of those that a report shows as ready besides, as many stay as the known ones lack.
            let missing = (total - self.setting.allowances.unavailable - ready).max(0);
            let stays = |column: &Column| column.shown.min(column.ready + missing);
            let takes = takers.any(|column| column.current > stays(column) || ready > least);
            let surge = self.setting.allowances.surge_of(total);
            let may_step = [
                (gives && sum < total + surge, "give"),
                (takes && sum > total, "take"),
                (gives && takes, "give and take"),
            ];
            let possible = may_step.into_iter().find_map(|(may, step)| may.then_some(step));
            // A move that is not under way needs a place among those that are.
            let is_kept_out = !is_under_way && full(&self.setting.allowances, &all, &own).is_some();
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
}

/// The fingerprint of an entry, as marks have it.
fn fingerprint(text: &str) -> u32 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let hash = hasher.finish();
    let halves = [hash >> 32, hash & u64::from(u32::MAX)].map(|half| u32::try_from(half).expect("half of it"));
    (halves[0] ^ halves[1]).max(1)
}
