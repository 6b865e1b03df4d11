//! Capacity that results hold in fleets that fill up: short Jobs that begin while others end, and a burst of more than there is room for.
//!
//! Members run the pods of results and report as those of a running Karmada do, at twice the speed: a cluster every ten seconds and only
//! if something has changed, and a workload 0.1 to 3 seconds late. karmada-scheduler was measured beside a running Karmada with the same
//! workloads at full speed.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use divvy_control_plane_tests::objects::{BINDING, CLUSTER};
use divvy_control_plane_tests::scenario::{condition, result};
use divvy_control_plane_tests::templates::{self, Cluster};
use divvy_control_plane_tests::users::SCHEDULER;
use divvy_control_plane_tests::{Error, Scenario};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::folder;

const CLUSTERS: [&str; 3] = ["a", "b", "c"];
/// CPU of each, and so the pods that it runs.
const CPU: i64 = 64;
/// Half of Karmada's ten seconds.
const REPORT_PERIOD: Duration = Duration::from_secs(5);
/// Time until a member has the pods of a result.
const APPLIED_AFTER: Duration = Duration::from_millis(350);
/// Steps of 50 ms by which the state of a workload is late at most.
const LATE_MAX: u32 = 30;
/// Time between two looks at the bindings.
const LOOK: Duration = Duration::from_millis(100);

/// Pods of a workload in one cluster.
struct Run {
    binding: String,
    cluster: String,
    pods: i64,
    created: Instant,
    /// Time at which all of them had found room.
    began: Option<Instant>,
}

/// The members, and what they have reported.
struct Members {
    /// Time for which pods run; `None` for ever.
    runs_for: Option<Duration>,
    runs: Vec<Run>,
    states: BTreeMap<String, Value>,
    /// States on their way, with the time at which they arrive.
    late: Vec<(Instant, String, Value)>,
    states_ever: u32,
    reports: Vec<Report>,
    /// The most pods that waited for room at a time.
    waited: i64,
}

/// The last report of a cluster.
struct Report {
    cluster: &'static str,
    /// Time of the next.
    due: Instant,
    usage: Usage,
}

/// Pods of a cluster that run, and that wait for room.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Usage {
    running: i64,
    waiting: i64,
}

impl Members {
    fn new(runs_for: Option<Duration>) -> Self {
        let start = Instant::now();
        let reports = (0..).zip(CLUSTERS).map(|(number, cluster)| Report {
            cluster,
            due: start + REPORT_PERIOD * number / 3,
            usage: Usage::default(),
        });
        Self {
            runs_for,
            runs: Vec::new(),
            states: BTreeMap::new(),
            late: Vec::new(),
            states_ever: 0,
            reports: reports.collect(),
            waited: 0,
        }
    }

    /// One look at the bindings: what follows from their results, and what members and controllers write by then. Returns the number of
    /// bindings with a result.
    async fn step(&mut self, scenario: &Scenario) -> Result<usize, Error> {
        let bindings = scenario.objects().list(BINDING, "default").await?;
        let now = Instant::now();
        let scheduled = self.apply(&bindings, now);
        self.collect(scenario, now).await?;
        self.report(scenario, now).await?;
        tokio::time::sleep(LOOK).await;
        Ok(scheduled)
    }

    /// Runs the results of bindings. Returns how many there are.
    fn apply(&mut self, bindings: &[Value], now: Instant) -> usize {
        let scheduled: Vec<&Value> = bindings.iter().filter(|binding| !result(binding).is_empty()).collect();
        for binding in &scheduled {
            let name = binding["metadata"]["name"].as_str().unwrap_or_default();
            if self.runs.iter().any(|run| run.binding == name) {
                continue;
            }
            self.runs.extend(result(binding).into_iter().map(|(cluster, pods)| Run {
                binding: name.to_owned(),
                cluster,
                pods,
                created: now + APPLIED_AFTER,
                began: None,
            }));
        }
        for cluster in CLUSTERS {
            let mut running = self.usage(cluster, now).running;
            let waiting = self
                .runs
                .iter_mut()
                .filter(|run| run.cluster == cluster && run.began.is_none());
            for run in waiting.filter(|run| run.created <= now) {
                if running + run.pods <= CPU {
                    running += run.pods;
                    run.began = Some(now);
                }
            }
        }
        let waited = CLUSTERS.iter().map(|cluster| self.usage(cluster, now).waiting).sum();
        self.waited = self.waited.max(waited);
        scheduled.len()
    }

    fn usage(&self, cluster: &str, now: Instant) -> Usage {
        let runs = self
            .runs
            .iter()
            .filter(|run| run.cluster == cluster && run.created <= now && !self.has_ended(run, now));
        runs.fold(Usage::default(), |usage, run| match run.began {
            Some(_) => Usage {
                running: usage.running + run.pods,
                ..usage
            },
            None => Usage {
                waiting: usage.waiting + run.pods,
                ..usage
            },
        })
    }

    fn has_ended(&self, run: &Run, now: Instant) -> bool {
        let (Some(began), Some(runs_for)) = (run.began, self.runs_for) else {
            return false;
        };
        now.saturating_duration_since(began) >= runs_for
    }

    /// Sends the states of workloads that have changed, and writes those that arrive.
    async fn collect(&mut self, scenario: &Scenario, now: Instant) -> Result<(), Error> {
        let mut states: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
        for run in self.runs.iter().filter(|run| run.created <= now) {
            let status = match (self.runs_for, self.has_ended(run, now)) {
                (None, _) => json!({"replicas": run.pods}),
                (Some(_), false) => json!({"active": run.pods}),
                (Some(_), true) => {
                    json!({"succeeded": run.pods, "conditions": [{"type": "Complete", "status": "True"}]})
                }
            };
            let entry = json!({"clusterName": run.cluster, "applied": true, "status": status});
            states.entry(&run.binding).or_default().push(entry);
        }
        for (name, state) in states {
            let state = Value::Array(state);
            if self.states.get(name) != Some(&state) {
                self.states.insert(name.to_owned(), state.clone());
                self.states_ever += 1;
                let delay = Duration::from_millis(50) * (1 + self.states_ever * 7 % LATE_MAX);
                self.late.push((now + delay, name.to_owned(), state));
            }
        }
        let (due, late): (Vec<_>, Vec<_>) = std::mem::take(&mut self.late)
            .into_iter()
            .partition(|(at, ..)| *at <= now);
        self.late = late;
        for (_, name, state) in due {
            let patch = json!({"status": {"aggregatedStatus": state}});
            scenario
                .objects()
                .merge_status(BINDING, "default", &name, &patch)
                .await?;
        }
        Ok(())
    }

    /// Writes the reports of clusters that are due and that have changed.
    async fn report(&mut self, scenario: &Scenario, now: Instant) -> Result<(), Error> {
        for index in 0..self.reports.len() {
            let usage = self.usage(self.reports[index].cluster, now);
            let report = &mut self.reports[index];
            if report.due > now {
                continue;
            }
            report.due += REPORT_PERIOD;
            // Karmada does not write a report that is equal to the last.
            if std::mem::replace(&mut report.usage, usage) == usage {
                continue;
            }
            let list = |pods: i64| json!({"cpu": pods.to_string(), "pods": pods.to_string()});
            let summary = json!({"allocated": list(usage.running), "allocating": list(usage.waiting)});
            let patch = json!({"status": {"resourceSummary": summary}});
            let cluster = report.cluster;
            scenario.objects().merge_status(CLUSTER, "", cluster, &patch).await?;
        }
        Ok(())
    }
}

/// A scheduler under the profile `default` that leads, over members that report at twice the speed.
async fn fleet() -> Result<(TempDir, Scenario), Error> {
    let folder = folder()?;
    let clusters = CLUSTERS.map(|name| {
        Cluster::new(name)
            .cpu(u32::try_from(CPU).unwrap_or(u32::MAX))
            .serving("batch/v1", "Job")
    });
    let mut scenario = Scenario::new(folder.path(), &clusters).await?;
    let mut configuration = scenario.configuration(SCHEDULER);
    configuration.profile = "default".into();
    let limits = ["--cluster-report-period=5s", "--holding-limit=30s"];
    configuration.further.extend(limits.map(str::to_owned));
    scenario.start_scheduler_with(&configuration)?;
    // It leads once it has decided something: a binding that fits nowhere.
    let leading = workload("leading", "Deployment", 1_000);
    scenario.bind(&leading).await?;
    scenario
        .wait_for_binding("leading", "decided", |binding| {
            condition(binding, "Scheduled")["status"] == "False"
        })
        .await?;
    scenario.objects().delete(BINDING, "default", "leading").await?;
    Ok((folder, scenario))
}

/// The binding of a workload whose pods request one CPU each.
fn workload(name: &str, kind: &str, pods: i64) -> Value {
    let mut binding = templates::binding(name, pods, templates::divided_by_room(json!({})));
    let spec = &mut binding["spec"];
    if kind == "Job" {
        spec["resource"]["apiVersion"] = "batch/v1".into();
    }
    spec["resource"]["kind"] = kind.into();
    spec["replicaRequirements"] = json!({"resourceRequest": {"cpu": "1"}});
    binding
}

/// At full speed: a Job of ten pods each second, which run for 15 seconds, with room for 19 Jobs. karmada-scheduler has given 35 of 40 a
/// result after 42 seconds; half of each time is as many after 21.
#[tokio::test]
async fn short_jobs_that_begin_while_others_end_are_scheduled_as_room_appears() -> Result<(), Error> {
    const JOBS: u32 = 40;
    const EVERY: Duration = Duration::from_millis(500);
    let (_folder, scenario) = fleet().await?;
    let mut members = Members::new(Some(Duration::from_millis(7_500)));
    let start = Instant::now();
    let (mut created, mut scheduled) = (0, 0);
    while start.elapsed() < Duration::from_secs(21) {
        while created < JOBS && start.elapsed() >= EVERY * created {
            scenario.bind(&workload(&format!("job-{created}"), "Job", 10)).await?;
            created += 1;
        }
        scheduled = members.step(&scenario).await?;
    }
    assert_eq!(created, JOBS);
    assert!(scheduled >= 35, "{scheduled} of {created} Jobs");
    assert_eq!(members.waited, 0, "pods have waited for room");
    Ok(())
}

/// 270 CPU into 192: with karmada-scheduler, 78 pods have no room.
#[tokio::test]
async fn a_burst_of_more_than_there_is_room_for_leaves_no_pod_without_room() -> Result<(), Error> {
    let (_folder, scenario) = fleet().await?;
    let mut members = Members::new(None);
    for number in 0..45 {
        scenario
            .bind(&workload(&format!("web-{number}"), "Deployment", 6))
            .await?;
    }
    let start = Instant::now();
    let mut scheduled = 0;
    // By then each cluster has reported twice since everything has been applied, and nothing is held any more.
    while start.elapsed() < 3 * REPORT_PERIOD + Duration::from_secs(1) {
        scheduled = members.step(&scenario).await?;
    }
    assert_eq!((scheduled, members.waited), (32, 0));
    Ok(())
}
