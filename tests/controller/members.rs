//! Members with nodes and pods, in virtual time: reports of clusters every ten seconds, states of workloads that arrive late, and
//! the scheduler between them. Pods have one CPU each.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Value, json};

use super::simulation::Simulation;

/// Milliseconds since the beginning.
type Millis = u64;

const STEP: Millis = 100;
const REPORT_PERIOD: Millis = 10_000;
/// Time until a report that was made arrives.
const REPORT_DELAY: Millis = 300;
/// Time until a member has the pods of a result.
const APPLIED_AFTER: Millis = 700;

const CLUSTERS: [&str; 3] = ["m1", "m2", "m3"];
const NODES: usize = 4;
const NODE_CPU: i64 = 16;

/// CPU of all members.
pub(super) const CPU: i64 = 12 * NODE_CPU;

/// Minimum of CPU of Karmada's default resource models, up to the largest node here.
const GRADES: [i64; 6] = [0, 1, 2, 4, 8, 16];

/// A scheduler with three members.
pub(super) struct Fleet {
    pub(super) simulation: Simulation,
    now: Millis,
    members: Vec<Member>,
    has_models: bool,
    /// Bindings, with the time that their pods run; `None` for workloads that run until they are deleted.
    workloads: BTreeMap<String, Option<Millis>>,
    /// Results that members have not applied yet, with the time of that.
    dispatched: BTreeMap<String, (Millis, BTreeMap<String, i64>)>,
    applied: BTreeMap<String, BTreeMap<String, i64>>,
    /// States of workloads that are on their way to the scheduler.
    states: Vec<(Millis, String, Value)>,
    last_states: BTreeMap<String, Value>,
    reports: Vec<(Millis, Value)>,
    /// Pods that found no node at once.
    pub(super) without_room: usize,
    states_ever: u64,
}

#[derive(Default)]
struct Member {
    pods: Vec<Pod>,
    last_report: Value,
}

struct Pod {
    workload: String,
    node: Option<usize>,
    ends_at: Option<Millis>,
    has_ended: bool,
}

impl Member {
    fn free(&self) -> [i64; NODES] {
        let mut free = [NODE_CPU; NODES];
        for pod in self.pods.iter().filter(|pod| !pod.has_ended) {
            if let Some(node) = pod.node {
                free[node] -= 1;
            }
        }
        free
    }

    /// Lets pods end, and binds those that wait to the emptiest nodes.
    fn step(&mut self, now: Millis, workloads: &BTreeMap<String, Option<Millis>>) {
        for pod in &mut self.pods {
            pod.has_ended |= pod.ends_at.is_some_and(|end| end <= now);
        }
        let mut free = self.free();
        for pod in self.pods.iter_mut().filter(|pod| pod.node.is_none()) {
            let emptiest = (0..NODES).max_by_key(|node| free[*node]).filter(|node| free[*node] > 0);
            if let Some(node) = emptiest {
                free[node] -= 1;
                pod.node = Some(node);
                pod.ends_at = workloads.get(&pod.workload).copied().flatten().map(|time| now + time);
            }
        }
    }

    fn count(&self, workload: &str, is_counted: impl Fn(&Pod) -> bool) -> i64 {
        let pods = self
            .pods
            .iter()
            .filter(|pod| pod.workload == workload && is_counted(pod));
        i64::try_from(pods.count()).expect("few pods")
    }

    fn report(&self, name: &str, has_models: bool) -> Value {
        let running = self.pods.iter().filter(|pod| !pod.has_ended);
        let (bound, waiting): (Vec<_>, Vec<_>) = running.partition(|pod| pod.node.is_some());
        let list = |count: usize| json!({"cpu": count.to_string(), "pods": count.to_string()});
        let mut cluster = json!({
            "metadata": {"name": name, "generation": 1},
            "status": {
                "apiEnablements": [
                    {"groupVersion": "apps/v1", "resources": [{"name": "deployments", "kind": "Deployment"}]},
                    {"groupVersion": "batch/v1", "resources": [{"name": "jobs", "kind": "Job"}]},
                ],
                "resourceSummary": {
                    "allocatable": {"cpu": "64", "pods": "440"},
                    "allocated": list(bound.len()),
                    "allocating": list(waiting.len()),
                },
            },
        });
        if has_models {
            let ends = GRADES.iter().skip(1).copied().chain([i64::MAX]);
            let model = |(grade, (min, max)): (usize, (&i64, i64))| json!({"grade": grade, "ranges": [{"name": "cpu", "min": min.to_string(), "max": max.to_string()}]});
            let models = GRADES.iter().zip(ends).enumerate().map(model);
            cluster["spec"] = json!({"resourceModels": models.collect::<Vec<_>>()});
            let mut counts = [0_i64; GRADES.len()];
            for free in self.free() {
                counts[GRADES.iter().rposition(|min| free >= *min).unwrap_or(0)] += 1;
            }
            let counts = counts.iter().enumerate();
            let counts = counts.map(|(grade, count)| json!({"grade": grade, "count": count}));
            cluster["status"]["resourceSummary"]["allocatableModelings"] = counts.collect();
        }
        cluster
    }
}

impl Fleet {
    pub(super) fn new(lines: &str, has_models: bool) -> Self {
        let mut members: Vec<Member> = CLUSTERS.iter().map(|_| Member::default()).collect();
        for (name, member) in CLUSTERS.iter().zip(&mut members) {
            member.last_report = member.report(name, has_models);
        }
        let clusters: Vec<Value> = members.iter().map(|member| member.last_report.clone()).collect();
        Self {
            simulation: Simulation::with_profile(lines, &clusters),
            now: 0,
            members,
            has_models,
            workloads: BTreeMap::new(),
            dispatched: BTreeMap::new(),
            applied: BTreeMap::new(),
            states: Vec::new(),
            last_states: BTreeMap::new(),
            reports: Vec::new(),
            without_room: 0,
            states_ever: 0,
        }
    }

    /// Creates a Job whose pods end some time after they began.
    pub(super) fn create_job(&mut self, name: &str, specification: Value, runs_for: Duration) {
        let millis = Millis::try_from(runs_for.as_millis()).expect("a short test");
        self.create_workload(name, specification, ("batch/v1", "Job"), Some(millis));
    }

    /// Creates a Deployment.
    pub(super) fn create_deployment(&mut self, name: &str, specification: Value) {
        self.create_workload(name, specification, ("apps/v1", "Deployment"), None);
    }

    fn create_workload(&mut self, name: &str, mut specification: Value, kind: (&str, &str), runs_for: Option<Millis>) {
        specification["resource"] = json!({"apiVersion": kind.0, "kind": kind.1, "namespace": "default", "name": name});
        self.workloads.insert(name.to_owned(), runs_for);
        self.simulation.create(name, specification);
    }

    /// Pods that results assign.
    pub(super) fn assigned(&self) -> i64 {
        let workloads = self.workloads.keys();
        workloads
            .map(|name| self.simulation.result(name).values().sum::<i64>())
            .sum()
    }

    /// Workloads that have a result.
    pub(super) fn scheduled(&self) -> usize {
        let workloads = self.workloads.keys();
        workloads
            .filter(|name| !self.simulation.result(name).is_empty())
            .count()
    }

    /// Lets time pass.
    pub(super) fn pass(&mut self, time: Duration) {
        let until = self.now + Millis::try_from(time.as_millis()).expect("a short test");
        while self.now < until {
            self.now += STEP;
            self.simulation.pass(Duration::from_millis(STEP));
            self.dispatch();
            for member in &mut self.members {
                let before: BTreeSet<usize> = waiting(member).collect();
                member.step(self.now, &self.workloads);
                // Pods that wait for longer than a step lack a node.
                self.without_room += waiting(member).filter(|pod| !before.contains(pod)).count();
            }
            self.collect();
            self.report();
        }
    }

    /// Has members apply the results of some time ago.
    fn dispatch(&mut self) {
        for name in self.workloads.keys() {
            let result = self.simulation.result(name);
            let known = self.dispatched.get(name).map(|(_, result)| result);
            if known.or_else(|| self.applied.get(name)) != Some(&result) {
                self.dispatched.insert(name.clone(), (self.now + APPLIED_AFTER, result));
            }
        }
        let now = self.now;
        let due: Vec<String> = self
            .dispatched
            .iter()
            .filter(|(_, (at, _))| *at <= now)
            .map(|(name, _)| name.clone())
            .collect();
        for name in due {
            let Some((_, result)) = self.dispatched.remove(&name) else {
                continue;
            };
            for (cluster, member) in CLUSTERS.iter().zip(&mut self.members) {
                let wanted = result.get(*cluster).copied().unwrap_or(0);
                for _ in member.count(&name, |_| true)..wanted {
                    member.pods.push(Pod {
                        workload: name.clone(),
                        node: None,
                        ends_at: None,
                        has_ended: false,
                    });
                }
            }
            self.applied.insert(name, result);
        }
    }

    /// Sends the states of workloads, and lets those arrive whose time has come: 0.1 to 3 seconds after they changed.
    fn collect(&mut self) {
        for (name, result) in &self.applied {
            let is_job = self.workloads[name].is_some();
            let entries = CLUSTERS
                .iter()
                .zip(&self.members)
                .filter(|(cluster, _)| result.contains_key(**cluster));
            let entries = entries.map(|(cluster, member)| {
                let active = member.count(name, |pod| !pod.has_ended);
                let ready = member.count(name, |pod| pod.node.is_some() && !pod.has_ended);
                let succeeded = member.count(name, |pod| pod.has_ended);
                let mut status = match is_job {
                    true => json!({"active": active, "succeeded": succeeded}),
                    false => json!({"replicas": active, "readyReplicas": ready}),
                };
                if is_job && active == 0 && succeeded > 0 {
                    status["conditions"] = json!([{"type": "Complete", "status": "True"}]);
                }
                json!({"clusterName": cluster, "applied": true, "status": status})
            });
            let state = Value::Array(entries.collect());
            if self.last_states.get(name) != Some(&state) {
                self.last_states.insert(name.clone(), state.clone());
                self.states_ever += 1;
                let delay = STEP + STEP * (self.states_ever * 7 % 30);
                self.states.push((self.now + delay, name.clone(), state));
            }
        }
        let now = self.now;
        let (due, later) = std::mem::take(&mut self.states)
            .into_iter()
            .partition(|(at, ..)| *at <= now);
        self.states = later;
        let due: Vec<(Millis, String, Value)> = due;
        for (_, name, state) in due {
            // A watch shows no state that is older than one that it has shown.
            if !self.states.iter().any(|(_, later, _)| *later == name) || self.last_states[&name] == state {
                self.simulation
                    .patch(&name, &json!({"status": {"aggregatedStatus": state}}));
            }
        }
    }

    /// Makes the reports that are due, and lets those arrive that changed.
    fn report(&mut self) {
        for (number, (name, member)) in (0..).zip(CLUSTERS.iter().zip(&mut self.members)) {
            if self.now % REPORT_PERIOD == number * REPORT_PERIOD / 3 / STEP * STEP {
                let report = member.report(name, self.has_models);
                if report != member.last_report {
                    member.last_report = report.clone();
                    self.reports.push((self.now + REPORT_DELAY, report));
                }
            }
        }
        let now = self.now;
        let (due, later): (Vec<_>, Vec<_>) = std::mem::take(&mut self.reports)
            .into_iter()
            .partition(|(at, _)| *at <= now);
        self.reports = later;
        for (_, report) in due {
            self.simulation.cluster(&report);
        }
    }
}

/// Indices of the pods that wait for a node.
fn waiting(member: &Member) -> impl Iterator<Item = usize> {
    let pods = member.pods.iter().enumerate();
    pods.filter(|(_, pod)| pod.node.is_none()).map(|(index, _)| index)
}
