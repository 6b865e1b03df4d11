//! The scheduler's processes: an engine, a writer, an election, and their view of the control plane.

use std::sync::Arc;

use divvy_controller::engine::{ActiveProfile, Engine, Task};
use divvy_controller::lease::{Clock, Election, Fence, LeaseName, LeaseOptions, LeaseTiming, Role};
use divvy_controller::objects::{BindingKey, Kind, ObjectKey};
use divvy_controller::observe::Metrics;
use divvy_controller::panel::Panel;
use divvy_controller::write::Written;
use divvy_controller::write::execute::Writer;
use divvy_judge::MoveRule;
use divvy_world::agenda::Millis;
use divvy_world::server::client;
use tokio::task::AbortHandle;

use super::streams::{Seen, Streams};
use super::{Event, Inbound, View, World};
use crate::script::ProfileName;

/// Longest time for which a process does not look at the clock.
const IDLE_MAX: Millis = 1_000;

/// A process of the scheduler.
pub(crate) struct Process {
    /// Number that no other process ever has.
    pub(crate) incarnation: u64,
    /// Its state, which is what is tested.
    pub(crate) engine: Engine,
    /// What it shows. Its memory counts as the engine's.
    pub(crate) panel: Arc<Panel>,
    /// The profile that decides.
    pub(crate) profile: ProfileName,
    /// The objects as it has seen them.
    pub(crate) view: View,
    pub(super) streams: Streams,
    pub(super) fence: Fence,
    pub(super) election: Election,
    pub(super) role: Role,
    pub(super) lease_fails_until: Millis,
    writer: Writer,
    tasks: Vec<AbortHandle>,
    pub(super) stalled_until: Millis,
    /// A new profile that waits for lists.
    pending: Option<ProfileName>,
    wakes_at: Option<Millis>,
}

impl Process {
    /// The versions of the API server of which it has seen clusters.
    pub(crate) fn clusters_seen(&self) -> Seen {
        self.streams
            .get(&Kind::Cluster)
            .map_or_else(Seen::default, |stream| stream.seen)
    }

    /// Its role, as the engine knows it.
    pub(crate) fn role(&self) -> &Role {
        &self.role
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

/// The clock of leases, which is the virtual one.
struct VirtualClock(tokio::time::Instant);

impl Clock for VirtualClock {
    fn now(&self) -> divvy_controller::lease::Moment {
        divvy_controller::lease::Moment::new(self.0.elapsed())
    }
}

impl World<'_> {
    /// The slot of a process that runs.
    pub(crate) fn slot_of(&self, incarnation: u64) -> Option<usize> {
        let mut slots = self.processes.iter();
        slots.position(|process| {
            process
                .as_ref()
                .is_some_and(|process| process.incarnation == incarnation)
        })
    }

    /// A process that runs.
    pub(crate) fn process(&mut self, incarnation: u64) -> Option<&mut Process> {
        let mut running = self.processes.iter_mut().flatten();
        running.find(|process| process.incarnation == incarnation)
    }

    /// Puts an event off that reaches a process which stands still. Returns true if it does.
    pub(super) fn put_off(&mut self, incarnation: u64, event: impl FnOnce(u64) -> Event) -> bool {
        let now = self.now;
        let until = self.process(incarnation).map(|process| process.stalled_until);
        match until.filter(|until| *until > now) {
            Some(until) => {
                self.enter(until - now, event(incarnation));
                true
            }
            None => false,
        }
    }

    /// Starts a process, unless one runs there.
    pub(super) fn start(&mut self, slot: usize) {
        if self.processes[slot].is_some() {
            return;
        }
        self.incarnations += 1;
        let incarnation = self.incarnations;
        self.note(|| format!("p{slot} starts as number {incarnation}"));
        let active: ActiveProfile = self.profiles.active(self.profile);
        let metrics = Arc::new(Metrics::new("simulated", None));
        let panel = Arc::new(Panel::new(Arc::clone(&metrics)));
        let fence = Fence::new(Arc::new(VirtualClock(self.started)));
        let world = self.to_world.clone();
        let client = client(incarnation, move |request, sender| {
            // The world is gone only if the life is over.
            let _over = world.send(Inbound::Request(request, sender));
        });
        let options = LeaseOptions {
            name: LeaseName::for_scheduler("default-scheduler"),
            identity: format!("p{slot}-{incarnation}"),
            timing: LeaseTiming::default(),
        };
        self.processes[slot] = Some(Process {
            incarnation,
            engine: Engine::new(active, Arc::clone(&panel)).asking_estimators(self.script.setup.asks_estimators),
            panel,
            profile: self.profile,
            view: View::default(),
            streams: Streams::new(),
            writer: Writer::new(client, fence.clone(), metrics),
            fence,
            election: Election::new(options),
            role: Role::Standby { holder: None },
            lease_fails_until: 0,
            tasks: Vec::new(),
            stalled_until: 0,
            pending: None,
            wakes_at: None,
        });
        for kind in Kind::ALL {
            let delay = self.network.between(1, 300);
            self.enter(delay, Event::List(incarnation, kind));
        }
        self.begin_election(incarnation);
    }

    /// Kills a process, and starts another one after a time.
    pub(super) fn kill(&mut self, slot: usize, millis: Millis) {
        if let Some(process) = self.processes.get_mut(slot).and_then(Option::take) {
            drop(process);
            self.enter(millis, Event::Start(slot));
        }
    }

    /// Lets a process stand still.
    pub(super) fn stall(&mut self, slot: usize, millis: Millis) {
        let until = self.now + millis;
        if let Some(process) = self.processes.get_mut(slot).and_then(Option::as_mut) {
            process.stalled_until = until;
        }
    }

    /// A process looks at the clock.
    pub(super) fn wake(&mut self, incarnation: u64) {
        let now = self.now;
        let Some(process) = self.process(incarnation) else {
            return;
        };
        if process.wakes_at.is_some_and(|at| at > now) {
            return;
        }
        process.wakes_at = None;
        if !self.put_off(incarnation, Event::Wake) {
            self.pump(incarnation);
        }
    }

    /// Lets a process do what its thread does between two messages: look at the clock, and decide.
    pub(super) fn pump(&mut self, incarnation: u64) {
        let moment = self.moment();
        let limit = self.script.setup.concurrency * 4;
        let Some(process) = self.process(incarnation) else {
            return;
        };
        process.engine.tick(moment.instant);
        while self.verdict.is_none()
            && let Some(process) = self.process(incarnation)
            && process.engine.tasks_under_way() < limit
            && let Some(task) = process.engine.next(&moment)
        {
            self.hand_out(incarnation, task);
        }
        self.judge_memory(incarnation);
        self.sleep(incarnation);
    }

    /// Enters the next look at the clock.
    fn sleep(&mut self, incarnation: u64) {
        let now = self.now;
        let Some(process) = self.process(incarnation) else {
            return;
        };
        let _sent = process.engine.take_announcements();
        let due = process.engine.next_due();
        let due = due.map_or(now + IDLE_MAX, |due| self.millis_at(due).clamp(now, now + IDLE_MAX));
        let Some(process) = self.process(incarnation) else {
            return;
        };
        // What is ready but has no worker is taken up when a task ends.
        let due = due.max(now + 1);
        if process.wakes_at.is_none_or(|at| at > due || at <= now) {
            process.wakes_at = Some(due);
            self.enter(due - now, Event::Wake(incarnation));
        }
    }

    /// Hands a task of an engine to the writer or to the estimators.
    pub(super) fn hand_out(&mut self, incarnation: u64, task: Task) {
        match task {
            Task::Write(job) => {
                self.judge_decision(incarnation, &job);
                let world = self.to_world.clone();
                let Some(process) = self.process(incarnation) else {
                    return;
                };
                let writer = process.writer.clone();
                let task = tokio::spawn(async move {
                    let written = writer.write(&job).await;
                    // The world is gone only if the life is over.
                    let _over = world.send(Inbound::Written(incarnation, job.key, Box::new(written)));
                });
                process.tasks.retain(|task| !task.is_finished());
                process.tasks.push(task.abort_handle());
            }
            Task::Estimate(job) => self.ask(incarnation, job),
        }
    }

    /// A write has ended.
    pub(super) fn written(&mut self, incarnation: u64, key: Arc<BindingKey>, written: Box<Written>) {
        let now = self.now;
        let until = self.process(incarnation).map_or(0, |process| process.stalled_until);
        if until > now {
            self.enter(until - now, Event::Written(incarnation, key, written));
            return;
        }
        let moment = self.moment();
        let version = written
            .latest
            .as_ref()
            .map(|latest| latest.metadata.resource_version.clone());
        let version = version.and_then(|version| version.parse().ok());
        let answered = version.and_then(|version| self.plane.server.at_version(Kind::Binding, version).cloned());
        let Some(process) = self.process(incarnation) else {
            return;
        };
        let object = ObjectKey {
            namespace: key.namespace.clone(),
            name: key.name.clone(),
        };
        // A binding that is known to be gone, or another one by now, does not come back with an answer.
        let known = process
            .view
            .get(Kind::Binding, &object)
            .map(|known| known["metadata"]["uid"].clone());
        if let Some(answered) = answered
            && known.is_some_and(|known| known == answered["metadata"]["uid"])
        {
            process.view.see(Kind::Binding, &object, &answered);
        }
        process.engine.complete(&key, *written, &moment);
        self.pump(incarnation);
    }

    /// Exchanges the profile of all processes.
    pub(super) fn reload(&mut self, profile: ProfileName) {
        self.profile = profile;
        self.books.moves = MoveRule::default();
        self.books.exchanged_at = self.now;
        let new = self.profiles.active(profile);
        let mut relists = Vec::new();
        for process in self.processes.iter_mut().flatten() {
            let kinds = process.engine.prepare(&new.profile);
            process.pending = Some(profile);
            relists.extend(kinds.into_iter().map(|kind| (process.incarnation, kind)));
        }
        for (incarnation, kind) in relists {
            self.enter(5, Event::List(incarnation, kind));
        }
        let running: Vec<u64> = self
            .processes
            .iter()
            .flatten()
            .map(|process| process.incarnation)
            .collect();
        for incarnation in running {
            self.try_pending_profile(incarnation);
            self.pump(incarnation);
        }
    }

    /// Tries a new profile once everything that it reads is listed.
    pub(super) fn try_pending_profile(&mut self, incarnation: u64) {
        let moment = self.moment();
        let profiles = self.profiles;
        let Some(process) = self.process(incarnation) else {
            return;
        };
        if !process.engine.is_prepared() {
            return;
        }
        let Some(name) = process.pending.take() else { return };
        let trial = process.engine.exchange(profiles.active(name), moment.instant);
        if trial.refusal.is_none() {
            process.profile = name;
        }
        self.note(|| format!("number {incarnation} tries the profile {}: {:?}", name, trial.refusal));
    }

    /// A person confirms that missing clusters are gone.
    pub(super) fn confirm(&mut self) {
        let instant = self.moment().instant;
        for process in self.processes.iter_mut().flatten() {
            let missing = process.engine.missing_clusters();
            // A standby refuses, as it does in a control plane.
            let confirmed = process.engine.confirm_missing_clusters(&missing, instant);
            if confirmed.is_ok() {
                process.view.confirm();
            }
        }
    }
}
