//! Members with nodes and pods, in virtual time: reports of clusters every ten seconds, states of workloads that arrive late, and
//! the scheduler between them. Pods have one CPU each. It measures how long capacity is held, and how long workloads wait for it.
//!
//! These members are not those of `tests/world`: their pods end, and each has a note of the report that contained it first, which is what is
//! measured. Nothing here is random or fails.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Value, json};

use super::simulation::Simulation;

/// Milliseconds since the beginning.
type Millis = u64;

const STEP: Millis = 100;
/// Time between two reports of a cluster.
pub(super) const REPORT_PERIOD: Duration = Duration::from_millis(PERIOD);
const PERIOD: Millis = 10_000;
/// Time between two measurements of what is held and what waits.
const MEASURED_EVERY: Millis = 1_000;
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
    reports: Vec<Sent>,
    /// Pods that found no node at once.
    pub(super) without_room: usize,
    /// Longest time for which a result has held capacity after the arrival of the first report that contains its pods.
    pub(super) longest_hold: Duration,
    /// Longest time for which a workload had no result although it had room by the last reports and by what they do not contain.
    pub(super) longest_wait: Duration,
    /// Workloads that wait although they have room, with the time since which.
    waiting_since: BTreeMap<String, Millis>,
    states_ever: u64,
    /// Varies the times of reports, and the delays of states.
    seed: u64,
}

/// A report that has not arrived.
struct Sent {
    arrives_at: Millis,
    made_at: Millis,
    /// Index of the cluster.
    member: usize,
    room: i64,
    /// `None` for a report that is equal to the last, which Karmada does not write.
    cluster: Option<Value>,
}

#[derive(Default)]
struct Member {
    pods: Vec<Pod>,
    last_report: Value,
    /// Room by the last report that has arrived, and the time at which that was made.
    reported_room: i64,
    reported_at: Millis,
    /// Time at which it had all pods of each result, and at which the first report that contains them arrived.
    complete: BTreeMap<String, (Millis, Option<Millis>)>,
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

    /// Pods that a report shows as room for, as the scheduler estimates: by models, each node as the smallest of its grade.
    fn room(&self, has_models: bool) -> i64 {
        let of_node = |free: i64| match has_models {
            true => GRADES[grade(free)],
            false => free,
        };
        let waiting = waiting(self).count();
        let unbound = if has_models {
            0
        } else {
            i64::try_from(waiting).expect("few pods")
        };
        self.free().into_iter().map(of_node).sum::<i64>() - unbound
    }

    /// Pods of results that are not in the last report that has arrived.
    fn unreported(&self, name: &str, assigned: i64) -> i64 {
        let is_reported = |(complete, _): &(Millis, Option<Millis>)| *complete <= self.reported_at;
        match self.complete.get(name).is_some_and(is_reported) {
            true => 0,
            false => assigned,
        }
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
                counts[grade(free)] += 1;
            }
            let counts = counts.iter().enumerate();
            let counts = counts.map(|(grade, count)| json!({"grade": grade, "count": count}));
            cluster["status"]["resourceSummary"]["allocatableModelings"] = counts.collect();
        }
        cluster
    }
}

impl Fleet {
    /// Members that report, and whose workloads do, at times that depend on a seed.
    pub(super) fn new(lines: &str, has_models: bool, seed: u64) -> Self {
        let mut members: Vec<Member> = CLUSTERS.iter().map(|_| Member::default()).collect();
        for (name, member) in CLUSTERS.iter().zip(&mut members) {
            member.last_report = member.report(name, has_models);
            member.reported_room = member.room(has_models);
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
            longest_hold: Duration::ZERO,
            longest_wait: Duration::ZERO,
            waiting_since: BTreeMap::new(),
            states_ever: 0,
            seed,
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
            if self.now.is_multiple_of(MEASURED_EVERY) {
                self.measure();
            }
        }
    }

    /// Measures how long capacity has been held, and how long workloads with room have waited.
    fn measure(&mut self) {
        for part in self.simulation.engine().held() {
            let member = CLUSTERS.iter().position(|cluster| *cluster == part.cluster);
            let member = &self.members[member.expect("a member")];
            if let Some((_, Some(shown))) = member.complete.get(&part.binding.name) {
                self.longest_hold = self.longest_hold.max(Duration::from_millis(self.now - shown));
            }
        }
        let mut room: i64 = 0;
        for (cluster, member) in CLUSTERS.iter().zip(&self.members) {
            let results = self
                .workloads
                .keys()
                .filter_map(|name| Some((name, *self.simulation.result(name).get(*cluster)?)));
            let unreported: i64 = results.map(|(name, pods)| member.unreported(name, pods)).sum();
            room += (member.reported_room - unreported).max(0);
        }
        for name in self.workloads.keys() {
            let replicas = self.simulation.binding(name)["spec"]["replicas"].as_i64().unwrap_or(0);
            if room < replicas || !self.simulation.result(name).is_empty() {
                self.waiting_since.remove(name);
                continue;
            }
            let since = *self.waiting_since.entry(name.clone()).or_insert(self.now);
            self.longest_wait = self.longest_wait.max(Duration::from_millis(self.now - since));
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
                if wanted > 0 {
                    member.complete.insert(name.clone(), (now, None));
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
                let delay = STEP + STEP * ((self.states_ever * 7 + self.seed * 11) % 30);
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
            let offset = (number * PERIOD / 3 + self.seed * 700) % PERIOD;
            if self.now % PERIOD == offset / STEP * STEP {
                let report = member.report(name, self.has_models);
                let has_changed = report != member.last_report;
                member.last_report = report.clone();
                self.reports.push(Sent {
                    arrives_at: self.now + REPORT_DELAY,
                    made_at: self.now,
                    member: usize::try_from(number).expect("three members"),
                    room: member.room(self.has_models),
                    cluster: has_changed.then_some(report),
                });
            }
        }
        let now = self.now;
        let (due, later): (Vec<_>, Vec<_>) = std::mem::take(&mut self.reports)
            .into_iter()
            .partition(|sent| sent.arrives_at <= now);
        self.reports = later;
        for sent in due {
            let member = &mut self.members[sent.member];
            (member.reported_room, member.reported_at) = (sent.room, sent.made_at);
            for (complete, shown) in member.complete.values_mut() {
                if *complete <= sent.made_at {
                    shown.get_or_insert(now);
                }
            }
            if let Some(report) = sent.cluster {
                self.simulation.cluster(&report);
            }
        }
    }
}

/// The grade of a node with this many free CPUs.
fn grade(free: i64) -> usize {
    GRADES.iter().rposition(|min| free >= *min).unwrap_or(0)
}

/// Indices of the pods that wait for a node.
fn waiting(member: &Member) -> impl Iterator<Item = usize> {
    let pods = member.pods.iter().enumerate();
    pods.filter(|(_, pod)| pod.node.is_none()).map(|(index, _)| index)
}
