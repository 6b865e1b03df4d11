//! Random histories of the whole scheduler with moves: clusters that flap, stand still and report late, slow readiness, refused and lost
//! writes, a scheduler that is killed before, between and after the two patches of a step, quotas, people, autoscalers, requests to
//! reschedule, evictions and their way back, other workloads that take room, plans that are carried out and given up.
//!
//! `DIVVY_MOVE_HISTORIES` sets their number, `DIVVY_MOVE_SEED` the first, `DIVVY_MOVE_SETTINGS` how many of the profiles they have. The table of
//! waits is printed with `--nocapture`. `run` beside this file lives very many, with a release build.

mod autoscaler;
mod budgets;
mod checks;
mod evictions;
mod members;
mod plans;
mod progress;
mod retained;
mod rooms;
mod settings;
mod tally;

use std::collections::BTreeMap;
use std::time::Duration;

use divvy_controller::condition::ScheduledReason;
use divvy_controller::engine::ActiveProfile;
use divvy_controller::write::{WriteJob, WriteOutcome};
use divvy_karmada::api::Timestamp;
use divvy_world::plane::EPOCH;
use divvy_world::random::Random;
use serde_json::{Value, json};

use self::checks::counts;
use self::members::Copy;
use self::plans::Plans;
use self::retained::{RETAINED, Retained};
use self::settings::{SETTINGS, Setting};
use self::tally::Tally;
use super::super::simulation::{Simulation, active_profile};
use super::{binding, ready_cluster};

const NAMES: [&str; 4] = ["a", "b", "c", "d"];
const KEYS: [&str; 3] = ["x", "y", "z"];
/// Seconds within which a Ready cluster applies what it is given, and within which it reports.
const DELAY: i64 = 4;
/// Seconds for which a cluster may stand still before Karmada notices it.
const STALL: i64 = 40;
/// Seconds with troubles, and all of them.
const TROUBLED: i64 = 150;
const SECONDS: i64 = 1_500;

struct World {
    seed: u64,
    random: Random,
    simulation: Simulation,
    active: ActiveProfile,
    setting: Setting,
    now: i64,
    /// True if the condition of a cluster is Ready, and the time until which it stands still.
    is_ready: [bool; 4],
    stalled_until: [i64; 4],
    copies: BTreeMap<&'static str, [Copy; 4]>,
    /// Load of each workload, in pods.
    loads: BTreeMap<&'static str, i64>,
    retained: Retained,
    plans: Plans,
    /// CPUs that other workloads take in each cluster.
    others: [i64; 4],
    is_calm: bool,
    steps: usize,
    kills: usize,
    /// Evictions that Karmada ended because everything was healthy.
    evictions: usize,
    /// Looks at a binding that could not take a further step, in seconds.
    waited: usize,
    /// Looks at a binding that could not begin, in seconds.
    waited_outside: usize,
    waits: BTreeMap<String, i64>,
    /// What happened, for messages.
    story: Vec<String>,
}

impl World {
    fn new(seed: u64, profiles: &[(Setting, ActiveProfile)]) -> Self {
        let (setting, active) = &profiles[usize::try_from(seed).expect("a seed") % profiles.len()];
        let mut world = Self {
            seed,
            random: Random::new(seed, "history"),
            simulation: Simulation::with_active(active.clone(), &NAMES.map(ready_cluster)),
            active: active.clone(),
            setting: *setting,
            now: 0,
            is_ready: [true; 4],
            stalled_until: [0; 4],
            copies: KEYS.map(|key| (key, <[Copy; 4]>::default())).into(),
            loads: BTreeMap::new(),
            retained: Retained::new(seed),
            plans: Plans::new(seed),
            others: [0; 4],
            is_calm: true,
            steps: 0,
            kills: 0,
            evictions: 0,
            waited: 0,
            waited_outside: 0,
            waits: BTreeMap::new(),
            story: Vec::new(),
        };
        world.simulation.hold_writes();
        world.summarise();
        for key in KEYS {
            let replicas = world.replicas();
            world.loads.insert(key, replicas);
            let weights = world.weights();
            let mut specification = binding(replicas, &[]);
            specification["placement"] = world.placement(&weights);
            world.simulation.create(key, specification);
        }
        world.pump();
        for copy in world.copies.values_mut().flatten() {
            copy.apply();
            copy.ready = copy.given;
        }
        for key in KEYS {
            world.report(key, &[true; 4]);
        }
        world.pump();
        world.create_retained();
        world.is_calm = false;
        world
    }

    /// Replicas of a workload: more where surges are less than a tenth of them.
    fn replicas(&mut self) -> i64 {
        self.random
            .count(if self.setting.allowances.is_scaled { 40 } else { 12 })
            + 1
    }

    fn total(&self, key: &str) -> i64 {
        self.simulation.binding(key)["spec"]["replicas"].as_i64().unwrap_or(0)
    }

    fn weights(&mut self) -> Vec<(&'static str, i64)> {
        let first = self.random.index(4);
        let weights = NAMES.map(|name| (name, self.random.count(4)));
        let mut weights: Vec<_> = weights.into_iter().filter(|(_, weight)| *weight > 0).collect();
        weights.retain(|(name, _)| *name != NAMES[first]);
        weights.push((NAMES[first], 1));
        weights
    }

    /// Changes a binding, and notes what its clusters are given.
    fn patch(&mut self, key: &'static str, patch: &Value) {
        self.simulation.patch(key, patch);
        self.give(key);
    }

    fn note(&mut self, what: String) {
        if std::env::var_os("TRACE").is_some() {
            eprintln!("{}: {what}", self.now);
        }
        self.story.push(format!("{}: {what}", self.now));
    }

    /// The last things that happened.
    fn story(&self) -> String {
        let first = self.story.len().saturating_sub(40);
        self.story[first..].join("\n")
    }

    /// Changes a binding, and lets the scheduler write what follows before anything else happens.
    fn act(&mut self, key: &'static str, patch: &Value) {
        self.note(format!("{key} is changed: {patch}"));
        self.patch(key, patch);
        self.pump();
    }

    fn result(&self, key: &str) -> [i64; 4] {
        let result = self.simulation.result(key);
        NAMES.map(|name| result.get(name).copied().unwrap_or(0))
    }

    /// Hands a changed binding to the clusters. Those that it is evicted from keep what they have.
    fn give(&mut self, key: &'static str) {
        let (result, evicted) = (self.result(key), self.evicted(key));
        let copies = self.copies.get_mut(key).expect("a binding");
        for (index, copy) in copies.iter_mut().enumerate() {
            let is_kept = result[index] == 0 && evicted[index];
            copy.want(if is_kept { copy.wanted } else { result[index] }, self.now);
        }
    }

    /// Writes the states that clusters report.
    fn report(&mut self, key: &'static str, reporting: &[bool; 4]) {
        let now = self.now;
        let copies = self.copies.get_mut(key).expect("a binding");
        for (copy, _) in copies.iter_mut().zip(reporting).filter(|(_, reports)| **reports) {
            copy.report = (copy.given > 0).then_some((copy.given, copy.ready));
            copy.reported_at = now;
        }
        let states = NAMES.iter().zip(copies.iter()).filter_map(|(name, copy)| {
            let (replicas, ready) = copy.report?;
            let status = json!({"replicas": replicas, "readyReplicas": ready});
            let health = if ready == replicas { "Healthy" } else { "Unhealthy" };
            Some(json!({"clusterName": name, "applied": true, "health": health, "status": status}))
        });
        let states = Value::Array(states.collect());
        if self.simulation.binding(key)["status"]["aggregatedStatus"] != states {
            self.note(format!("{key} is reported: {states}"));
            self.patch(key, &json!({"status": {"aggregatedStatus": states}}));
        }
    }

    /// What clusters and people do within a second.
    fn disturb(&mut self) {
        self.crowd();
        self.plan();
        for cluster in 0..4 {
            if self.random.chance(2) {
                self.flap(cluster);
                self.pump();
            }
            if self.random.chance(1) {
                self.stalled_until[cluster] = self.now + self.random.count(STALL);
            }
        }
        for key in KEYS {
            if self.random.chance(2) {
                let replicas = self.replicas();
                self.loads.insert(key, replicas);
                // The autoscaler changes those that it scales.
                if !self.setting.allowances.is_scaled {
                    self.act(key, &json!({"spec": {"replicas": replicas}}));
                }
            }
            if self.random.chance(1) {
                let time = Timestamp::from_seconds(EPOCH + self.now);
                self.act(key, &json!({"spec": {"rescheduleTriggeredAt": time}}));
            }
            if self.random.chance(2) {
                let weights = self.weights();
                let placement = self.placement(&weights);
                self.act(key, &json!({"spec": {"placement": placement}}));
            }
            if self.random.chance(1) && self.is_settled(key) {
                // A person, or another scheduler.
                let mut result = self.result(key);
                let (from, to) = (self.random.index(4), self.random.index(4));
                let moved = self.random.count(3).min(result[from]);
                result[from] -= moved;
                result[to] += moved;
                self.act(key, &json!({"spec": {"clusters": targets(result)}}));
            }
            if self.random.chance(1) && self.is_settled(key) {
                let cluster = self.random.index(4);
                self.evict(key, cluster);
            }
            if self.random.chance(2) {
                // Karmada waits for no longer, or a person confirms.
                self.act(key, &json!({"spec": {"gracefulEvictionTasks": null}}));
            }
            // What was given before is not known any more, so that a late report would be believed.
            if self.random.chance(1) && self.is_reported(key) {
                // Someone cuts the mark, and something unrelated of the binding.
                let mark = self.simulation.binding(key)["metadata"]["annotations"]["divvy.io/move"].clone();
                if let Some(mark) = mark.as_str() {
                    let length = usize::try_from(self.random.count(200))
                        .expect("a length")
                        .min(mark.len());
                    let annotations = json!({"divvy.io/move": mark[..length]});
                    let at = self.now.to_string();
                    self.act(
                        key,
                        &json!({"metadata": {"annotations": annotations, "labels": {"at": at}}}),
                    );
                }
            }
        }
    }

    fn is_settled(&self, key: &str) -> bool {
        self.copies[key].iter().all(|copy| copy.pending.is_empty())
    }

    /// True if every cluster has applied what it was given, and said so.
    fn is_reported(&self, key: &str) -> bool {
        let is_told = |copy: &Copy| copy.report.map_or(0, |report| report.0) == copy.given;
        self.is_settled(key) && self.copies[key].iter().all(is_told)
    }

    /// A cluster becomes NotReady, or Ready again: it has then applied everything, and said so.
    fn flap(&mut self, cluster: usize) {
        self.is_ready[cluster] = !self.is_ready[cluster];
        self.note(format!("{} is ready: {}", NAMES[cluster], self.is_ready[cluster]));
        let is_ready = self.is_ready[cluster];
        for key in KEYS {
            let copy = &mut self.copies.get_mut(key).expect("a binding")[cluster];
            copy.ready = 0;
            if is_ready {
                copy.apply();
            }
        }
        let mut reporting = [false; 4];
        reporting[cluster] = is_ready;
        for key in KEYS {
            self.report(key, &reporting);
        }
        let mut object = self.simulation.stored_cluster(NAMES[cluster]);
        object["status"]["conditions"] = json!([{
            "type": "Ready", "status": if is_ready { "True" } else { "False" },
            "lastTransitionTime": Timestamp::from_seconds(EPOCH + self.now),
        }]);
        self.simulation.cluster(&object);
    }

    /// What clusters do with what they were given.
    fn run_clusters(&mut self) {
        for key in KEYS {
            let mut reporting = [false; 4];
            for (cluster, reports) in reporting.iter_mut().enumerate() {
                if !self.is_ready[cluster] || self.stalled_until[cluster] > self.now {
                    continue;
                }
                let copy = &mut self.copies.get_mut(key).expect("a binding")[cluster];
                if self.now - copy.pending_since >= DELAY - 1 || self.random.chance(30) {
                    copy.apply();
                }
                if self.is_calm || self.random.chance(25) {
                    copy.ready += self.random.count(copy.given - copy.ready + 1);
                }
                // A report that is lost is made again in time.
                *reports = self.now - copy.reported_at >= DELAY - 1 || self.random.chance(20);
            }
            self.report(key, &reporting);
            self.pump();
            self.finish_eviction(key);
        }
    }

    /// Carries out what the scheduler wants, with what may happen to it.
    fn pump(&mut self) {
        loop {
            let jobs = self.simulation.take_held();
            if jobs.is_empty() {
                return;
            }
            for job in jobs {
                if job.key.name == RETAINED {
                    self.check_retained(&job);
                    self.carry_out_retained(&job);
                    continue;
                }
                self.check(&job);
                if !self.carry_out(&job) {
                    // The rest died with the process.
                    break;
                }
            }
        }
    }

    /// Carries a write out. Returns false if the scheduler is killed over it.
    fn carry_out(&mut self, job: &WriteJob) -> bool {
        let key = KEYS.into_iter().find(|key| *key == job.key.name).expect("a binding");
        let before = self.result(key);
        let fate = if self.is_calm { 99 } else { self.random.count(100) };
        let gives = job.specification.as_ref().and_then(|patch| patch.clusters.as_ref());
        let gives = gives.is_some_and(|next| counts(next).iter().sum::<i64>() > before.iter().sum::<i64>());
        self.note(format!(
            "{key} {before:?} -> {:?}, fate {fate}",
            job.specification
                .as_ref()
                .map(|patch| patch.clusters.as_deref().map(counts))
        ));
        let is_killed = match fate {
            // Before the write, after its first patch, after both.
            0..4 => true,
            4..8 => {
                self.simulation.refuse_next_status();
                self.simulation.deliver_silently(job);
                true
            }
            8..12 => {
                self.simulation.deliver_silently(job);
                true
            }
            12..16 => {
                self.simulation.fail_next_write(WriteOutcome::Failed("lost".to_owned()));
                self.simulation.deliver(job);
                false
            }
            16..26 if gives => {
                let refused = WriteOutcome::Refused(ScheduledReason::QuotaExceeded, "quota".to_owned());
                self.simulation.fail_next_write(refused);
                self.simulation.deliver(job);
                false
            }
            26..32 => {
                // Someone else is faster.
                self.patch(key, &json!({"status": {"conditions": []}}));
                self.simulation.deliver(job);
                false
            }
            32..36 => {
                self.simulation.refuse_next_status();
                self.simulation.deliver(job);
                false
            }
            _ => {
                self.simulation.deliver(job);
                false
            }
        };
        self.give(key);
        self.note_moved(key, before);
        self.check_observed(key);
        if is_killed {
            self.kills += 1;
            self.simulation.kill(&self.active);
        }
        !is_killed
    }

    fn has_ended(&self, key: &str) -> bool {
        let binding = self.simulation.binding(key);
        let sum: i64 = self.result(key).iter().sum();
        let is_marked = binding["metadata"]["annotations"]["divvy.io/move"].is_string();
        !is_marked
            && !self.is_planned(key)
            && self.is_observed(key)
            && Some(sum) == binding["spec"]["replicas"].as_i64()
    }

    fn note_waits(&mut self) {
        self.simulation.publish();
        for line in self.simulation.scraped("divvy_move_waits{") {
            let (name, count) = line.rsplit_once(' ').expect("a metric");
            let reason = name.split('"').nth(1).expect("a reason").to_owned();
            *self.waits.entry(reason).or_default() += count.parse::<i64>().expect("a count");
        }
    }

    /// Lives on until all moves have ended, or for a time.
    fn live(&mut self) {
        while self.now < SECONDS {
            self.now += 1;
            if self.now == TROUBLED {
                self.is_calm = true;
                self.stalled_until = [0; 4];
                for cluster in 0..4 {
                    if !self.is_ready[cluster] {
                        self.flap(cluster);
                    }
                }
                self.simulation.quota_changes();
                self.others = [0; 4];
                self.evict_all();
            }
            if !self.is_calm {
                self.disturb();
            }
            self.pump();
            self.run_clusters();
            self.summarise();
            self.run_retained();
            self.autoscale();
            self.pump();
            self.simulation.pass(Duration::from_secs(1));
            self.pump();
            if self.is_calm {
                self.check_progress();
            }
            self.note_waits();
            let has_ended = |key: &&str| self.has_ended(key) && !self.evicted(key).contains(&true);
            let is_at_rest = self.is_calm && KEYS.iter().all(has_ended) && self.is_synced();
            if is_at_rest && !self.is_planned(RETAINED) && self.has_planned_at_rest() {
                return;
            }
        }
    }
}

fn targets(result: [i64; 4]) -> Value {
    let targets = NAMES.iter().zip(result).filter(|(_, replicas)| *replicas > 0);
    targets
        .map(|(name, replicas)| json!({"name": name, "replicas": replicas}))
        .collect()
}

#[test]
fn no_history_takes_more_than_is_allowed_and_moves_end() {
    let number = |name: &str, otherwise: u64| {
        let written = std::env::var(name).ok();
        written.map_or(otherwise, |number| number.parse().expect("a number of histories"))
    };
    let (first, histories) = (
        number("DIVVY_MOVE_SEED", 0),
        number("DIVVY_MOVE_HISTORIES", divvy_built::cases(20, 60)),
    );
    let settings = usize::try_from(number("DIVVY_MOVE_SETTINGS", 10)).expect("a number of settings");
    let profiles = SETTINGS.iter().take(settings);
    let profiles: Vec<_> = profiles
        .map(|setting| (*setting, active_profile(&setting.lines())))
        .collect();
    let threads = std::thread::available_parallelism().map_or(1, |number| number.get());
    let mut all = Tally::default();
    std::thread::scope(|scope| {
        let lives = |thread: usize| {
            let seeds = (first..first + histories).skip(thread).step_by(threads);
            let profiles = &profiles;
            scope.spawn(move || Tally::of(seeds, profiles))
        };
        let lives: Vec<_> = (0..threads).map(lives).collect();
        for life in lives {
            match life.join() {
                Ok(tally) => all.add(tally),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    let Tally {
        histories,
        ended,
        steps,
        kills,
        evictions,
        synced,
        planned: [given, given_up, reached],
        waited,
        waited_outside,
        waits,
        left,
    } = all;
    println!("{histories} histories, {ended} ended, {steps} results, {kills} kills");
    println!("{evictions} evictions were replaced, {synced} templates rewritten from the members' replicas");
    println!("{given} targets of plans, {given_up} given up, {reached} reached undisturbed");
    println!(
        "{waited} times, a binding could not take a larger or an earlier step, {waited_outside} times not begin; seconds waited for"
    );
    for (reason, seconds) in waits.iter().filter(|(_, seconds)| **seconds > 0) {
        println!("{reason:>16} {seconds:>8}");
    }
    assert!(
        ended * 100 >= histories * 95,
        "{ended} of {histories} ended; {}",
        left.join("\n")
    );
    // Of a few that someone lives again, not each has everything.
    if histories < 50 {
        return;
    }
    assert!(steps > 20 * histories, "the histories do something: {steps}");
    assert!(waited > histories, "steps are waited for: {waited}");
    assert!(waited_outside > histories / 4, "moves wait to begin: {waited_outside}");
    assert!(evictions > histories / 2, "evictions are replaced: {evictions}");
    assert!(synced > 5 * histories, "members scale themselves: {synced}");
    assert!(
        given > 3 * histories && given_up > histories / 4,
        "plans: {given}, {given_up}"
    );
    assert!(reached > histories / 2, "targets are reached: {reached}");
    for reason in ["readiness", "budget", "quota", "reports", "room"] {
        assert!(
            waits.get(reason).is_some_and(|seconds| *seconds > 0),
            "nothing waited for {reason}"
        );
    }
}
