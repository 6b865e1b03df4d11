//! An API server in memory, as far as one scheduler can tell: generations, resource versions, merge patches.

mod faults;

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use divvy_controller::engine::{ActiveProfile, Announcement, Engine, Moment, Task, Trial};
use divvy_controller::estimates::{Answer, Answers, EstimateJob};
use divvy_controller::lease::Term;
use divvy_controller::objects::{BindingKey, Fetched, Kind, Object, ObjectKey};
use divvy_controller::observe::Metrics;
use divvy_controller::panel::Panel;
use divvy_controller::serve::{Insight, ObjectPath};
use divvy_controller::watch::Change;
use divvy_controller::write::patch::{specification_patch, status_patch};
use divvy_controller::write::{WriteJob, WriteOutcome, Written};
use divvy_karmada::api::Timestamp;
use serde_json::{Value, json};

use super::merge::merge;
use super::plain_policy;
use crate::scheduling::{Host, configuration};

/// A control plane with one scheduler.
pub(super) struct Simulation {
    engine: Engine,
    metrics: Arc<Metrics>,
    panel: Arc<Panel>,
    bindings: BTreeMap<String, Value>,
    version: u64,
    start: Instant,
    elapsed: Duration,
    /// Patches that were written, by binding: of the specification and of the status.
    writes: BTreeMap<String, (usize, usize)>,
    /// The scheduler's own keys of bindings that it wrote.
    keys: BTreeMap<String, Weak<BindingKey>>,
    /// Clusters and policies as they were applied last, for relists.
    others: BTreeMap<(Kind, String), Value>,
    announcements: Vec<Announcement>,
    /// Outcome of the next writes instead of success.
    failures: Vec<WriteOutcome>,
    /// True if the next patch of a status is refused.
    refuses_status: bool,
    /// Writes that are held back; `None` while they are carried out at once.
    held: Option<Vec<WriteJob>>,
    /// Changes that the watch has not repeated yet; `None` while it repeats them before the answers.
    late: Option<Vec<Object>>,
    /// The answer of every estimator; `None` if none are asked.
    estimate: Option<i64>,
    /// Time of the question to which estimators that are gone gave their last answer; `None` while they answer.
    asked_last: Option<Instant>,
}

/// Seconds since 1970 at which simulations begin.
pub(super) const EPOCH: i64 = 1_800_000_000;

impl Simulation {
    /// A scheduler that leads, over these clusters.
    pub(super) fn new(clusters: &[Value]) -> Self {
        Self::with_profile("", clusters)
    }

    /// A scheduler whose profile has these lines of TOML added.
    pub(super) fn with_profile(lines: &str, clusters: &[Value]) -> Self {
        Self::with_active(active_profile(lines), clusters)
    }

    /// A scheduler with a profile that is loaded.
    pub(super) fn with_active(active: ActiveProfile, clusters: &[Value]) -> Self {
        let metrics = Arc::new(Metrics::new("test", None));
        let panel = Arc::new(Panel::new(Arc::clone(&metrics)));
        let mut simulation = Self {
            engine: Engine::new(active, Arc::clone(&panel)),
            metrics,
            panel,
            bindings: BTreeMap::new(),
            version: 0,
            start: Instant::now(),
            elapsed: Duration::ZERO,
            writes: BTreeMap::new(),
            keys: BTreeMap::new(),
            others: BTreeMap::new(),
            announcements: Vec::new(),
            failures: Vec::new(),
            refuses_status: false,
            held: None,
            late: None,
            estimate: None,
            asked_last: None,
        };
        for kind in Kind::ALL {
            simulation.observe(Change::ListBegins(kind));
            match kind {
                Kind::Cluster => clusters.iter().for_each(|cluster| simulation.cluster(cluster)),
                Kind::Policy => simulation.policy(&plain_policy()),
                _ => {}
            }
            simulation.observe(Change::ListEnds(kind));
        }
        simulation.lead(1);
        simulation
    }

    /// Has estimators asked from now on, which all answer this.
    pub(super) fn asking_estimators(mut self, count: i64) -> Self {
        self.estimate = Some(count);
        self.engine = self.engine.asking_estimators(true);
        self
    }

    /// Has all estimators be gone from now on, so that their last answers are used.
    pub(super) fn stop_estimators(&mut self) {
        self.asked_last = Some(self.now());
    }

    /// Writes nothing from now on, and compares with another scheduler.
    pub(super) fn in_shadow(mut self) -> Self {
        self.engine = self.engine.in_shadow();
        self
    }

    /// The comparison with the other scheduler, as the scheduler's address shows it.
    pub(super) fn shadow(&self) -> Value {
        Insight::shadow(self.panel.as_ref()).expect("something was compared")
    }

    /// Lets the scheduler lead in a term, as after a restart.
    pub(super) fn lead(&mut self, term: u64) {
        let moment = self.moment();
        self.engine.lead(Some(Term(term)), &moment);
        self.run();
    }

    /// Takes the lease away from the scheduler.
    pub(super) fn stop_leading(&mut self) {
        let moment = self.moment();
        self.engine.lead(None, &moment);
        self.run();
    }

    /// Lets time pass while the scheduler does nothing, as before a start.
    pub(super) fn wait(&mut self, time: Duration) {
        self.elapsed += time;
    }

    /// Lets time pass.
    pub(super) fn pass(&mut self, time: Duration) {
        self.elapsed += time;
        self.engine.tick(self.moment().instant);
        self.run();
    }

    /// Creates or replaces a cluster.
    pub(super) fn cluster(&mut self, cluster: &Value) {
        self.apply_other(Kind::Cluster, cluster);
    }

    /// Removes a cluster.
    pub(super) fn remove_cluster(&mut self, name: &str) {
        let key = ObjectKey {
            namespace: String::new(),
            name: name.to_owned(),
        };
        self.others.remove(&(Kind::Cluster, name.to_owned()));
        self.observe(Change::Deleted(Kind::Cluster, key));
    }

    /// Creates or replaces a policy.
    pub(super) fn policy(&mut self, policy: &Value) {
        self.apply_other(Kind::Policy, policy);
    }

    fn apply_other(&mut self, kind: Kind, object: &Value) {
        let name = object["metadata"]["name"].as_str().expect("a name").to_owned();
        let key = (kind, name);
        self.version += 1;
        self.others.insert(key.clone(), object.clone());
        let object = self.others.get_mut(&key).expect("it was inserted");
        object["metadata"]["resourceVersion"] = json!(self.version.to_string());
        let object = Object::read(kind, fetched(object)).expect("an object of this kind");
        self.observe(Change::Applied(kind, object));
    }

    /// Changes a cluster by a merge patch without telling the scheduler.
    pub(super) fn change_unseen(&mut self, name: &str, patch: &Value) {
        self.version += 1;
        let key = (Kind::Cluster, name.to_owned());
        let cluster = self.others.get_mut(&key).expect("a cluster");
        merge(cluster, patch);
        cluster["metadata"]["resourceVersion"] = json!(self.version.to_string());
    }

    /// Lists a kind again, as after a watch that expired.
    pub(super) fn relist(&mut self, kind: Kind) {
        self.observe(Change::ListBegins(kind));
        let listed = self.others.iter().filter(|((of, _), _)| *of == kind);
        let listed: Vec<Value> = listed.map(|(_, object)| object.clone()).collect();
        for object in listed {
            let object = Object::read(kind, fetched(&object)).expect("an object of this kind");
            self.observe(Change::Listed(kind, object));
        }
        self.observe(Change::ListEnds(kind));
    }

    /// Has the watch, and then a list, name a version of a binding that cannot be read.
    pub(super) fn break_binding(&mut self, name: &str) {
        let mut broken = self.bindings[name].clone();
        broken["spec"]["replicas"] = json!("three");
        let error = Object::read(Kind::Binding, fetched(&broken)).expect_err("it is not a binding");
        assert!(
            error
                .to_string()
                .starts_with(&format!("ResourceBinding `default/{name}` cannot be read: "))
        );
        let unreadable = || Change::Unreadable(Kind::Binding, error.key.clone());
        self.observe(unreadable());
        self.observe(Change::ListBegins(Kind::Binding));
        self.observe(unreadable());
        self.observe(Change::ListEnds(Kind::Binding));
    }

    /// Creates a binding, and lets the scheduler act.
    pub(super) fn create(&mut self, name: &str, specification: Value) {
        let binding = new_binding(name, &specification, &json!({}));
        self.bindings.insert(name.to_owned(), binding);
        self.changed(name);
    }

    /// Lists a binding with a status, as after a start.
    pub(super) fn found(&mut self, name: &str, specification: Value, status: &Value) {
        self.found_all(&[name.to_owned()], &specification, status);
    }

    /// Lists bindings with one specification and a status, as after a start.
    pub(super) fn found_all(&mut self, names: &[String], specification: &Value, status: &Value) {
        self.observe(Change::ListBegins(Kind::Binding));
        for name in names {
            let binding = new_binding(name, specification, status);
            self.bindings.insert(name.clone(), binding);
            let object = self.stored(name);
            self.observe(Change::Listed(Kind::Binding, object));
        }
        self.observe(Change::ListEnds(Kind::Binding));
    }

    /// Deletes a binding, and forgets what was written to it.
    pub(super) fn delete(&mut self, name: &str) {
        self.bindings.remove(name);
        self.writes.remove(name);
        let key = ObjectKey {
            namespace: "default".to_owned(),
            name: name.to_owned(),
        };
        self.observe(Change::Deleted(Kind::Binding, key));
    }

    /// Changes a binding by a merge patch as another controller would, and lets the scheduler act.
    pub(super) fn patch(&mut self, name: &str, patch: &Value) {
        self.apply(name, patch);
        self.changed(name);
    }

    /// Makes the next write end like this, before it changes anything.
    pub(super) fn fail_next_write(&mut self, outcome: WriteOutcome) {
        self.failures.push(outcome);
    }

    /// Has the API server refuse the next status, after the specification that is written before it.
    pub(super) fn refuse_next_status(&mut self) {
        self.refuses_status = true;
    }

    /// The watch repeats a version of a cluster.
    pub(super) fn repeat_cluster(&mut self, version: &Value) {
        let object = Object::read(Kind::Cluster, fetched(version)).expect("a cluster");
        self.observe(Change::Applied(Kind::Cluster, object));
    }

    /// A cluster as the API server has it.
    pub(super) fn stored_cluster(&self, name: &str) -> Value {
        self.others[&(Kind::Cluster, name.to_owned())].clone()
    }

    /// Holds writes back, so that decisions are made while others are in flight.
    pub(super) fn hold_writes(&mut self) {
        self.held = Some(Vec::new());
    }

    /// Takes the writes that were held back, to fail them later.
    pub(super) fn take_held(&mut self) -> Vec<WriteJob> {
        self.held.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Ends writes that never arrive.
    pub(super) fn fail_held(&mut self, jobs: Vec<WriteJob>, message: &str) {
        for job in jobs {
            let written = Written {
                outcome: WriteOutcome::Failed(message.to_owned()),
                ..Written::default()
            };
            let moment = self.moment();
            self.engine.complete(&job.key, written, &moment);
        }
        self.run();
    }

    /// Carries out the writes that were held back, and all that follows.
    pub(super) fn release_writes(&mut self) {
        for job in self.held.take().into_iter().flatten() {
            self.carry_out(&job);
        }
        self.run();
    }

    /// The scheduler's state.
    pub(super) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Tries another profile, which decides from then on unless it is refused. What it reads more than the present one is listed
    /// again first.
    pub(super) fn exchange(&mut self, lines: &str) -> Trial {
        self.exchange_with(lines, |_| ())
    }

    /// As [`Self::exchange`]. `meanwhile` happens before the lists.
    pub(super) fn exchange_with(&mut self, lines: &str, meanwhile: impl FnOnce(&mut Self)) -> Trial {
        let new = active_profile(lines);
        let kinds = self.engine.prepare(&new.profile);
        meanwhile(self);
        for kind in kinds {
            assert!(!self.engine.is_prepared());
            self.relist(kind);
        }
        assert!(self.engine.is_prepared());
        let now = self.now();
        let trial = self.engine.exchange(new, now);
        self.run();
        trial
    }

    /// The newest explanation of a binding, as the scheduler's address shows it.
    pub(super) fn explanation(&self, name: &str) -> Value {
        let object = ObjectPath {
            kind: "resourcebinding".to_owned(),
            namespace: Some("default".to_owned()),
            name: name.to_owned(),
        };
        let explanation = Insight::explain(self.panel.as_ref(), &object);
        explanation.unwrap_or_else(|unexplained| panic!("{unexplained}"))
    }

    /// The scheduler's state, to change it.
    pub(super) fn engine_mut(&mut self) -> &mut Engine {
        &mut self.engine
    }

    /// Now.
    pub(super) fn now(&self) -> Instant {
        self.start + self.elapsed
    }

    /// Now, in seconds since 1970.
    pub(super) fn seconds(&self) -> i64 {
        EPOCH + i64::try_from(self.elapsed.as_secs()).expect("a short test")
    }

    /// A binding.
    pub(super) fn binding(&self, name: &str) -> &Value {
        &self.bindings[name]
    }

    /// The result of a binding.
    pub(super) fn result(&self, name: &str) -> BTreeMap<String, i64> {
        let targets = self.bindings[name]["spec"]["clusters"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let pair = |target: &Value| {
            let replicas = target["replicas"].as_i64().unwrap_or(0);
            (target["name"].as_str().unwrap_or_default().to_owned(), replicas)
        };
        targets.iter().map(pair).collect()
    }

    /// Message of the condition `Scheduled`.
    pub(super) fn message(&self, name: &str) -> String {
        let conditions = &self.bindings[name]["status"]["conditions"];
        let mut conditions = conditions.as_array().into_iter().flatten();
        let found = conditions.find(|condition| condition["type"] == "Scheduled");
        let message = found.and_then(|condition| condition["message"].as_str());
        message.unwrap_or_default().to_owned()
    }

    /// Status and reason of the condition `Scheduled`.
    pub(super) fn condition(&self, name: &str) -> (String, String) {
        let conditions = self.bindings[name]["status"]["conditions"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let found = conditions
            .into_iter()
            .find(|condition| condition["type"] == "Scheduled");
        let text = |key: &str| {
            let found = found.as_ref().and_then(|condition| condition[key].as_str());
            found.unwrap_or_default().to_owned()
        };
        (text("status"), text("reason"))
    }

    /// Patches that were written to a binding: of the specification and of the status.
    pub(super) fn writes(&self, name: &str) -> (usize, usize) {
        self.writes.get(name).copied().unwrap_or_default()
    }

    /// Events so far.
    pub(super) fn announcements(&self) -> &[Announcement] {
        &self.announcements
    }

    fn moment(&self) -> Moment {
        Moment {
            instant: self.now(),
            wall: Timestamp::from_seconds(self.seconds()),
            milliseconds: self.seconds() * 1000,
        }
    }

    /// Raises versions after a change by someone else, and notifies the scheduler.
    fn changed(&mut self, name: &str) {
        let object = self.stored(name);
        self.observe(Change::Applied(Kind::Binding, object));
    }

    /// A binding after a change, with a version of its own.
    fn stored(&mut self, name: &str) -> Object {
        self.version += 1;
        let version = self.version;
        let binding = self.bindings.get_mut(name).expect("a binding");
        binding["metadata"]["resourceVersion"] = json!(version.to_string());
        Object::read(Kind::Binding, fetched(binding)).expect("a binding")
    }

    fn observe(&mut self, change: Change) {
        let moment = self.moment();
        self.engine.observe(change, &moment);
        self.run();
    }

    /// Applies a merge patch. A changed specification raises the generation.
    fn apply(&mut self, name: &str, patch: &Value) {
        let binding = self.bindings.get_mut(name).expect("a binding");
        let before = binding["spec"].clone();
        merge(binding, patch);
        if binding["spec"] != before {
            let generation = binding["metadata"]["generation"].as_i64().unwrap_or(0);
            binding["metadata"]["generation"] = json!(generation + 1);
        }
    }

    /// Carries out everything that the scheduler wants. The watch repeats each write before its answer arrives, unless it is late.
    fn run(&mut self) {
        loop {
            let moment = self.moment();
            let Some(task) = self.engine.next(&moment) else { break };
            let task = match task {
                Task::Estimate(job) => self.answer(&job),
                task => Some(task),
            };
            if let Some(Task::Write(job)) = &task {
                self.keys.insert(job.key.name.clone(), Arc::downgrade(&job.key));
            }
            match (task, &mut self.held) {
                (Some(Task::Write(job)), Some(held)) => held.push(*job),
                (Some(Task::Write(job)), None) => self.carry_out(&job),
                _ => {}
            }
        }
        self.announcements.extend(self.engine.take_announcements());
    }

    /// Answers for all estimators that a question names.
    fn answer(&mut self, job: &EstimateJob) -> Option<Task> {
        let count = self.estimate.expect("no estimators are asked");
        let moment = self.moment();
        let answer = Answer {
            count,
            asked: self.asked_last.unwrap_or(moment.instant),
        };
        let answers = Answers {
            request: job.request.clone(),
            fits: job.clusters.iter().map(|asked| (asked.name.clone(), answer)).collect(),
        };
        self.engine.estimated(&job.key, &answers, &moment)
    }

    fn carry_out(&mut self, job: &WriteJob) {
        let written = self.write(job);
        let moment = self.moment();
        self.engine.complete(&job.key, written, &moment);
    }

    fn write(&mut self, job: &WriteJob) -> Written {
        let mut written = Written {
            generation: Some(job.decided().metadata.generation),
            ..Written::default()
        };
        if !self.failures.is_empty() {
            written.outcome = self.failures.remove(0);
            return written;
        }
        let BindingKey { name, .. } = &*job.key;
        if let Some(patch) = &job.specification {
            let version = self.bindings[name]["metadata"]["resourceVersion"]
                .as_str()
                .unwrap_or_default()
                .to_owned();
            assert_eq!(
                version,
                job.decided().metadata.resource_version,
                "decided from an old version"
            );
            let mut body = specification_patch(job, patch, &version);
            body["metadata"]
                .as_object_mut()
                .expect("metadata")
                .remove("resourceVersion");
            self.apply(name, &body);
            self.echo(name);
            self.writes.entry(name.clone()).or_default().0 += 1;
            written.wrote_specification = true;
            written.generation = self.bindings[name]["metadata"]["generation"].as_i64();
        }
        let binding = &self.bindings[name];
        if std::mem::take(&mut self.refuses_status) {
            written.latest = Some(fetched(binding));
            written.outcome = WriteOutcome::HalfWritten("the status is invalid".to_owned());
            return written;
        }
        let generation = binding["metadata"]["generation"].as_i64().unwrap_or(0);
        let uid = &job.decided().metadata.uid;
        let status = fetched(binding).status().expect("a status");
        if let Some(body) = status_patch(uid, "", generation, &status, &job.status) {
            self.apply(name, &json!({"status": body["status"]}));
            self.echo(name);
            self.writes.entry(name.clone()).or_default().1 += 1;
            written.wrote_status = true;
        }
        written.latest = Some(fetched(&self.bindings[name]));
        written
    }

    /// Reports the scheduler's own write back to it.
    fn echo(&mut self, name: &str) {
        let object = self.stored(name);
        if let Some(late) = &mut self.late {
            late.push(object);
            return;
        }
        let moment = self.moment();
        self.engine.observe(Change::Applied(Kind::Binding, object), &moment);
    }
}

fn new_binding(name: &str, specification: &Value, status: &Value) -> Value {
    let mut binding = json!({
        "metadata": {
            "name": name,
            "namespace": "default",
            "uid": format!("uid-{name}"),
            "generation": 1,
            "labels": {"propagationpolicy.karmada.io/permanent-id": "policy"},
        },
        "spec": {
            "schedulerName": "default-scheduler",
            "resource": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "default", "name": name},
        },
        "status": status,
    });
    merge(&mut binding["spec"], specification);
    binding
}

/// The built-in profile with these lines of TOML added.
pub(super) fn active_profile(lines: &str) -> ActiveProfile {
    let configuration = configuration(lines);
    ActiveProfile::new(Host::extending(lines).shared(), &configuration).expect("the configuration is JSON")
}

fn fetched(object: &Value) -> Fetched {
    serde_json::from_value(object.clone()).expect("an object")
}
