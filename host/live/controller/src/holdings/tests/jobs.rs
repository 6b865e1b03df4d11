//! Short Jobs that begin while others end, in three clusters, as a running Karmada shows them: reports every ten seconds, and states
//! of workloads 0.1 to 3 seconds late.

use std::num::NonZeroU32;
use std::time::Duration;

use serde_json::json;

use super::{Story, cpu, entry, fleet, key, reporting};
use crate::holdings::Usage;
use crate::objects::AggregatedStatus;

/// Milliseconds.
type Millis = u64;

const CLUSTERS: [&str; 3] = ["a", "b", "c"];
const CPU: i64 = 64;
const PODS: i64 = 10;
const JOBS: u64 = 40;
const STEP: Millis = 100;
const REPORT_PERIOD: Millis = 10_000;
const REPORT_DELAY: Millis = 300;
const APPLIED_AFTER: Millis = 700;

/// Pods of a Job in one cluster.
struct Run {
    job: String,
    cluster: usize,
    pods: i64,
    began: Millis,
    ends: Millis,
}

/// What a life has come to.
#[derive(Debug)]
struct Outcome {
    /// Jobs that were scheduled in 42 seconds.
    scheduled: usize,
    /// The most pods that a cluster had at a time.
    most: i64,
}

struct Scene {
    story: Story,
    now: Millis,
    runs: Vec<Run>,
    reported: [i64; 3],
    /// Reports and states that have not arrived: when they do, and whose they are.
    reports: Vec<(Millis, usize, i64)>,
    states: Vec<(Millis, String, Vec<AggregatedStatus>)>,
    states_ever: u64,
    /// True if states of Jobs count their pods.
    counts_pods: bool,
}

impl Scene {
    fn new(counts_pods: bool) -> Self {
        let mut scene = Self {
            story: Story::new(),
            now: 0,
            runs: Vec::new(),
            reported: [0; 3],
            reports: Vec::new(),
            states: Vec::new(),
            states_ever: 0,
            counts_pods,
        };
        for cluster in 0..3 {
            scene.reports.push((0, cluster, 0));
        }
        scene
    }

    /// Pods that a cluster has.
    fn pods(&self, cluster: usize) -> i64 {
        let runs = self.runs.iter().filter(|run| run.cluster == cluster);
        let runs = runs.filter(|run| run.began <= self.now && self.now < run.ends);
        runs.map(|run| run.pods).sum()
    }

    /// Gives a Job the roomiest clusters, pod by pod. Returns false if it does not fit.
    fn schedule(&mut self, job: &str, runs_for: Millis) -> bool {
        let ledger = self.story.holdings.ledger(&fleet(&CLUSTERS), 1);
        let held = [0, 1, 2].map(|row| ledger.taken("cpu", row) / 1000);
        let mut room = [0, 1, 2].map(|row| (CPU - self.reported[row] - held[row]).max(0));
        if room.iter().sum::<i64>() < PODS {
            return false;
        }
        let mut result = [0; 3];
        for _ in 0..PODS {
            let roomiest = (0..3).max_by_key(|cluster| room[*cluster]).expect("three clusters");
            room[roomiest] -= 1;
            result[roomiest] += 1;
        }
        let targets: Vec<(&str, i32)> = CLUSTERS.into_iter().zip(result).filter(|(_, pods)| *pods > 0).collect();
        self.story.take(job, &targets, &[], &cpu());
        for (cluster, pods) in result.into_iter().enumerate().filter(|(_, pods)| *pods > 0) {
            let began = self.now + APPLIED_AFTER;
            self.runs.push(Run {
                job: job.to_owned(),
                cluster,
                pods: pods.into(),
                began,
                ends: began + runs_for,
            });
        }
        true
    }

    /// Sends the states of the Jobs whose pods begin or end now.
    fn send_states(&mut self) {
        let changes = |run: &&Run| run.began == self.now || run.ends == self.now;
        let mut jobs: Vec<String> = self.runs.iter().filter(changes).map(|run| run.job.clone()).collect();
        jobs.dedup();
        for job in jobs {
            let runs = self.runs.iter().filter(|run| run.job == job);
            let states = runs.map(|run| {
                let has_ended = run.ends <= self.now;
                let started = u32::try_from(run.pods).ok().and_then(NonZeroU32::new);
                AggregatedStatus {
                    started: started.filter(|_| self.counts_pods),
                    has_ended: has_ended && self.counts_pods,
                    ..entry(CLUSTERS[run.cluster], None, 1 + u64::from(has_ended))
                }
            });
            let states = states.collect();
            self.states_ever += 1;
            let delay = STEP + STEP * (self.states_ever * 7 % 30);
            self.states.push((self.now + delay, job, states));
        }
    }

    /// A step of time: reports and states are made, and those that were under way arrive.
    fn step(&mut self) {
        self.now += STEP;
        self.story.now += Duration::from_millis(STEP);
        self.send_states();
        for cluster in 0..3 {
            let offset = u64::try_from(cluster).expect("three clusters") * 3_300;
            if self.now % REPORT_PERIOD == offset {
                self.reports
                    .push((self.now + REPORT_DELAY, cluster, self.pods(cluster)));
            }
        }
        let now = self.now;
        let (due, later) = std::mem::take(&mut self.states)
            .into_iter()
            .partition(|(at, ..)| *at <= now);
        self.states = later;
        let due: Vec<(Millis, String, Vec<AggregatedStatus>)> = due;
        for (_, job, states) in due {
            self.story.holdings.observe(&key(&job), &states, self.story.now);
        }
        let (due, later) = std::mem::take(&mut self.reports)
            .into_iter()
            .partition(|(at, ..)| *at <= now);
        self.reports = later;
        let due: Vec<(Millis, usize, i64)> = due;
        for (at, cluster, pods) in due {
            // A report that is equal to the last is not written.
            if at == 0 || self.reported[cluster] != pods {
                self.reported[cluster] = pods;
                let requests = json!({"cpu": pods.to_string(), "pods": pods.to_string()});
                let usage = Usage::new(&reporting(requests, json!({}), false));
                self.story.holdings.reported(CLUSTERS[cluster], usage, self.story.now);
            }
        }
        if now.is_multiple_of(1_000) {
            self.story.holdings.expire(self.story.now);
        }
    }

    /// A Job comes every second, and waits for room.
    fn live(mut self, runs_for: impl Fn(u64) -> Millis) -> Outcome {
        let (mut created, mut scheduled, mut most) = (0, 0, 0);
        let mut waiting: Vec<u64> = Vec::new();
        while self.now < 42_000 {
            if self.now.is_multiple_of(1_000) && created < JOBS {
                waiting.push(created);
                created += 1;
            }
            self.step();
            let still = waiting.len();
            waiting.retain(|job| !self.schedule(&format!("job-{job:02}"), runs_for(*job)));
            scheduled += still - waiting.len();
            most = most.max((0..3).map(|cluster| self.pods(cluster)).max().unwrap_or(0));
        }
        Outcome { scheduled, most }
    }
}

/// karmada-scheduler has scheduled 35 of them by then, and some of their pods wait for nodes. The states of kinds that do not count their
/// pods show what growth alone comes to: 13 in a running Karmada.
#[test]
fn jobs_that_begin_while_others_end_take_the_room_that_reports_show() {
    let counted = Scene::new(true).live(|_| 15_000);
    assert!(counted.scheduled >= 35, "{counted:?}");
    assert!(counted.most <= CPU, "{counted:?}");
    let uncounted = Scene::new(false).live(|_| 15_000);
    assert!(uncounted.scheduled < 35, "{uncounted:?}");
}

/// However long they run, no cluster gets more pods than it has room for.
#[test]
fn no_cluster_is_given_more_than_it_has() {
    for seed in 0..20 {
        let runs_for = |job: u64| 500 * (1 + (job * 13 + seed * 7) % 80);
        let outcome = Scene::new(true).live(runs_for);
        assert!(outcome.most <= CPU, "{seed}: {outcome:?}");
    }
}
