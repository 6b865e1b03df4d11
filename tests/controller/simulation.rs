//! One engine over the API server of `tests/world`, without a network: each change is shown to it at once, and each write is carried out before
//! the next decision, unless a test says otherwise.
//!
//! Karmada's controllers and the members are not in it: a test says what they do, word for word. Histories of moves bring their own.

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
use divvy_world::agenda::Millis;
use divvy_world::plane::EPOCH;
use divvy_world::server::{Request, Server, Verb, key_of, version_of, write};
use serde_json::{Value, json};

use super::plain_policy;
use crate::scheduling::{Host, configuration};

/// A control plane with one scheduler.
pub(super) struct Simulation {
    engine: Engine,
    metrics: Arc<Metrics>,
    panel: Arc<Panel>,
    server: Server,
    start: Instant,
    elapsed: Duration,
    /// Patches that were written, by binding: of the specification and of the status.
    writes: BTreeMap<String, (usize, usize)>,
    /// The scheduler's own keys of bindings that it wrote.
    keys: BTreeMap<String, Weak<BindingKey>>,
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
            server: Server::default(),
            start: Instant::now(),
            elapsed: Duration::ZERO,
            writes: BTreeMap::new(),
            keys: BTreeMap::new(),
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
        let key = cluster_key(name);
        self.server.delete(self.millis(), Kind::Cluster, &key);
        self.observe(Change::Deleted(Kind::Cluster, key));
    }

    /// Creates or replaces a policy.
    pub(super) fn policy(&mut self, policy: &Value) {
        self.apply_other(Kind::Policy, policy);
    }

    fn apply_other(&mut self, kind: Kind, object: &Value) {
        self.server.apply(self.millis(), kind, object.clone());
        self.show(kind, &key_of(object));
    }

    /// Changes a cluster by a merge patch without telling the scheduler.
    pub(super) fn change_unseen(&mut self, name: &str, patch: &Value) {
        self.server
            .patch(self.millis(), Kind::Cluster, &cluster_key(name), patch);
    }

    /// Lists a kind again, as after a watch that expired.
    pub(super) fn relist(&mut self, kind: Kind) {
        self.observe(Change::ListBegins(kind));
        let listed: Vec<_> = self
            .server
            .of_kind(kind)
            .map(|(_, object)| Arc::clone(object))
            .collect();
        for object in listed {
            let object = Object::read(kind, fetched(&object)).expect("an object of this kind");
            self.observe(Change::Listed(kind, object));
        }
        self.observe(Change::ListEnds(kind));
    }

    /// Has the watch, and then a list, name a version of a binding that cannot be read.
    pub(super) fn break_binding(&mut self, name: &str) {
        let mut broken = self.binding(name).clone();
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
        self.insert(name, &specification, &json!({}));
        self.show(Kind::Binding, &binding_key(name));
    }

    /// Lists a binding with a status, as after a start.
    pub(super) fn found(&mut self, name: &str, specification: Value, status: &Value) {
        self.found_all(&[name.to_owned()], &specification, status);
    }

    /// Lists bindings with one specification and a status, as after a start.
    pub(super) fn found_all(&mut self, names: &[String], specification: &Value, status: &Value) {
        self.observe(Change::ListBegins(Kind::Binding));
        for name in names {
            self.insert(name, specification, status);
            let object = self.stored(Kind::Binding, &binding_key(name));
            self.observe(Change::Listed(Kind::Binding, object));
        }
        self.observe(Change::ListEnds(Kind::Binding));
    }

    /// Deletes a binding, and forgets what was written to it.
    pub(super) fn delete(&mut self, name: &str) {
        let key = binding_key(name);
        self.server.delete(self.millis(), Kind::Binding, &key);
        self.writes.remove(name);
        self.observe(Change::Deleted(Kind::Binding, key));
    }

    /// Changes a binding by a merge patch as another controller would, and lets the scheduler act.
    pub(super) fn patch(&mut self, name: &str, patch: &Value) {
        let key = binding_key(name);
        self.server.patch(self.millis(), Kind::Binding, &key, patch);
        self.show(Kind::Binding, &key);
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
        let cluster = self.server.get(Kind::Cluster, &cluster_key(name));
        Value::clone(cluster.expect("a cluster"))
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
        let binding = self.server.get(Kind::Binding, &binding_key(name));
        binding.unwrap_or_else(|| panic!("there is no binding `{name}`"))
    }

    /// The result of a binding.
    pub(super) fn result(&self, name: &str) -> BTreeMap<String, i64> {
        let targets = self.binding(name)["spec"]["clusters"]
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
        let conditions = &self.binding(name)["status"]["conditions"];
        let mut conditions = conditions.as_array().into_iter().flatten();
        let found = conditions.find(|condition| condition["type"] == "Scheduled");
        let message = found.and_then(|condition| condition["message"].as_str());
        message.unwrap_or_default().to_owned()
    }

    /// Status and reason of the condition `Scheduled`.
    pub(super) fn condition(&self, name: &str) -> (String, String) {
        let conditions = self.binding(name)["status"]["conditions"]
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

    /// Milliseconds since the beginning.
    fn millis(&self) -> Millis {
        Millis::try_from(self.elapsed.as_millis()).expect("a short test")
    }

    /// Creates a binding, or makes it anew.
    fn insert(&mut self, name: &str, specification: &Value, status: &Value) {
        let now = self.millis();
        self.server.delete(now, Kind::Binding, &binding_key(name));
        self.server
            .create(now, Kind::Binding, new_binding(name, specification, status));
    }

    /// Shows an object to the scheduler as it is now.
    fn show(&mut self, kind: Kind, key: &ObjectKey) {
        // Nobody asks for a change again, and tests of memory make very many.
        self.server.forget_history();
        let object = self.stored(kind, key);
        self.observe(Change::Applied(kind, object));
    }

    /// An object as a client reads it.
    fn stored(&self, kind: Kind, key: &ObjectKey) -> Object {
        let object = self.server.get(kind, key).expect("it is stored");
        Object::read(kind, fetched(object)).expect("an object of this kind")
    }

    fn observe(&mut self, change: Change) {
        let moment = self.moment();
        self.engine.observe(change, &moment);
        self.run();
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
            generation: Some(job.decided().generation()),
            ..Written::default()
        };
        if !self.failures.is_empty() {
            written.outcome = self.failures.remove(0);
            return written;
        }
        let BindingKey { name, .. } = &*job.key;
        if let Some(patch) = &job.specification {
            let version = version_of(self.binding(name)).to_string();
            assert_eq!(version, job.decided().resource_version(), "decided from an old version");
            self.carry_patch(name, Verb::Patch, specification_patch(job, patch, &version));
            self.writes.entry(name.clone()).or_default().0 += 1;
            written.wrote_specification = true;
            written.generation = self.binding(name)["metadata"]["generation"].as_i64();
        }
        let binding = self.binding(name);
        if self.refuses_status {
            written.latest = Some(fetched(binding));
            written.outcome = WriteOutcome::HalfWritten("the status is invalid".to_owned());
            self.refuses_status = false;
            return written;
        }
        let generation = binding["metadata"]["generation"].as_i64().unwrap_or(0);
        let version = version_of(binding).to_string();
        let uid = job.decided().uid();
        let status = fetched(binding).status().expect("a status");
        if let Some(body) = status_patch(uid, &version, generation, &status, &job.status) {
            self.carry_patch(name, Verb::PatchStatus, body);
            self.writes.entry(name.clone()).or_default().1 += 1;
            written.wrote_status = true;
        }
        written.latest = Some(fetched(self.binding(name)));
        written
    }

    /// Carries out one patch of the scheduler's, and reports it back by the watch.
    fn carry_patch(&mut self, name: &str, verb: Verb, body: Value) {
        let request = Request {
            process: 1,
            verb,
            kind: Kind::Binding,
            key: binding_key(name),
            body,
        };
        let now = self.millis();
        let reply = write(&mut self.server, now, &request);
        assert_eq!(reply.code, 200, "{}: {}", reply.body, request.body);
        self.server.forget_history();
        let object = self.stored(Kind::Binding, &request.key);
        if let Some(late) = &mut self.late {
            late.push(object);
            return;
        }
        let moment = self.moment();
        self.engine.observe(Change::Applied(Kind::Binding, object), &moment);
    }
}

/// Identity of a binding by its name.
fn binding_key(name: &str) -> ObjectKey {
    ObjectKey {
        namespace: "default".to_owned(),
        name: name.to_owned(),
    }
}

/// Identity of a cluster by its name.
fn cluster_key(name: &str) -> ObjectKey {
    ObjectKey {
        namespace: String::new(),
        name: name.to_owned(),
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
    json_patch::merge(&mut binding["spec"], specification);
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
