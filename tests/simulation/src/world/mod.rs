//! The world: an API server, Karmada's controllers, member clusters, and the scheduler's processes, under virtual time.
//!
//! One loop takes events from the agenda in the order of their time. The real writer runs beside it as tasks of the same thread,
//! on a clock that advances only when everything waits, so that its waits and deadlines cost nothing.

mod apply;
mod estimators;
mod lease;
mod network;
mod plans;
mod processes;
mod streams;
mod view;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use divvy_controller::engine::Moment;
use divvy_controller::objects::{BindingKey, Kind};
use divvy_controller::write::Written;
use divvy_karmada::api::Timestamp;
use divvy_world::agenda::{Agenda, Millis};
use divvy_world::lease::LeaseRecord;
use divvy_world::member::Member;
use divvy_world::plane::{ControlPlane, Estimating, Happening, REPORT_PERIOD};
use divvy_world::random::Random;
use divvy_world::server::{Faults, Reply, Request};
use tokio::sync::{mpsc, oneshot};

use crate::profiles::Profiles;
use crate::rules::{Books, Verdict};
use crate::script::{ProfileName, Script};
use crate::story::Log;

pub(crate) use self::lease::LeaseEvent;
pub(crate) use self::processes::Process;
pub(crate) use self::streams::Seen;
pub(crate) use self::view::View;

use self::estimators::Question;
use self::network::InFlight;

/// Seconds after which an eviction ends although its replacement is not healthy.
pub(crate) const GRACE: u32 = 40;

/// Time of the first look at whether everything that fits is placed, after all troubles have ended. It covers the longest time
/// for which capacity is held without a report (60 s), a report, and the longest back-off.
pub(crate) const SETTLED_AFTER: Millis = 120_000;

/// Time after which nothing happens any more: every parked binding was flushed twice, and everything held is given up.
pub(crate) const REST_AFTER: Millis = 760_000;

/// Further time until rest under profiles with moves: budgets let few bindings move at once, and each step waits for reports.
const MOVES_TAKE: Millis = 1_800_000;

/// Time before rest in which nothing may be written.
pub(crate) const QUIET: Millis = 100_000;

/// Something that comes from the writer's tasks.
#[derive(Debug)]
pub(crate) enum Inbound {
    /// A request to the API server.
    Request(Request, oneshot::Sender<Reply>),
    /// The outcome of a write of a process.
    Written(u64, Arc<BindingKey>, Box<Written>),
}

/// An event of the agenda.
#[derive(Debug)]
pub(crate) enum Event {
    /// A step of the script.
    Step(usize),
    /// All troubles end.
    Heal,
    /// Everything that fits must be placed.
    Settled,
    /// From now on nothing may be written.
    Quiet,
    /// Everything is at rest.
    Rest,
    /// Karmada's controllers and the members do a second of work.
    Second,
    /// A cluster reports.
    Report(usize),
    /// A report that was under way arrives.
    Reported(usize, serde_json::Value),
    /// A cluster is reachable again.
    Reachable(usize),
    /// The policy of a binding appears.
    Policy(usize),
    /// A request reaches the API server.
    Arrive(u64),
    /// Its answer reaches the writer.
    Answer(u64),
    /// A process starts.
    Start(usize),
    /// A process lists a kind.
    List(u64, Kind),
    /// A process gets the next page of a list.
    Page(u64, Kind),
    /// A process sees changes of a kind.
    Deliver(u64, Kind),
    /// A process looks at the clock.
    Wake(u64),
    /// A process sees the outcome of a write that ended while it stood still.
    Written(u64, Arc<BindingKey>, Box<Written>),
    /// Something about the lease.
    Lease(u64, LeaseEvent),
    /// Estimators answer a process.
    Estimated(u64, Box<Question>),
}

/// The world.
pub(crate) struct World<'a> {
    pub(crate) script: &'a Script,
    pub(crate) profiles: &'a Profiles,
    /// The profile that processes start with now.
    pub(crate) profile: ProfileName,
    pub(crate) now: Millis,
    base: std::time::Instant,
    started: tokio::time::Instant,
    agenda: Agenda<Event>,
    /// The API server, the rest of Karmada, and the members.
    pub(crate) plane: ControlPlane,
    pub(crate) processes: Vec<Option<Process>>,
    incarnations: u64,
    requests: BTreeMap<u64, InFlight>,
    requests_ever: u64,
    /// Connections on which no answer comes.
    silent: Vec<oneshot::Sender<Reply>>,
    faults: Faults,
    pub(crate) lease: LeaseRecord,
    estimating: Estimating,
    to_world: mpsc::UnboundedSender<Inbound>,
    pub(crate) network: Random,
    pub(crate) nature: Random,
    pub(crate) log: Log,
    pub(crate) books: Books,
    pub(crate) verdict: Option<Verdict>,
    /// True once all troubles have ended.
    pub(crate) is_healed: bool,
    /// Events so far, without the passing of time.
    pub(crate) events: u64,
    is_over: bool,
}

impl<'a> World<'a> {
    fn new(script: &'a Script, profiles: &'a Profiles, log: Log, to_world: mpsc::UnboundedSender<Inbound>) -> Self {
        let setup = &script.setup;
        Self {
            profile: setup.profile,
            now: 0,
            base: std::time::Instant::now(),
            started: tokio::time::Instant::now(),
            agenda: Agenda::default(),
            plane: ControlPlane::new(
                setup
                    .clusters
                    .iter()
                    .map(|plan| Member::new(&plan.nodes, plan.has_models))
                    .collect(),
                GRACE,
            ),
            processes: (0..setup.processes).map(|_| None).collect(),
            incarnations: 0,
            requests: BTreeMap::new(),
            requests_ever: 0,
            silent: Vec::new(),
            faults: Faults::default(),
            lease: LeaseRecord::default(),
            estimating: Estimating::Well,
            to_world,
            network: Random::new(setup.seed, "network"),
            nature: Random::new(setup.seed, "nature"),
            log,
            books: Books::default(),
            verdict: None,
            is_healed: false,
            events: 0,
            is_over: false,
            script,
            profiles,
        }
    }

    /// Lives a script to its end, or to the first breach of a rule.
    pub(crate) async fn live(script: &'a Script, profiles: &'a Profiles, log: Log) -> Self {
        let (to_world, mut inbound) = mpsc::unbounded_channel();
        let mut world = Self::new(script, profiles, log, to_world);
        world.begin();
        while !world.is_over && world.verdict.is_none() {
            let Some(next) = world.agenda.next_at() else { break };
            let due = world.started + Duration::from_millis(next);
            // What the writer asks for comes before the next event of the same moment.
            tokio::select! {
                biased;
                message = inbound.recv() => {
                    world.look_at_clock();
                    if let Some(message) = message {
                        world.take_in(message);
                    }
                }
                () = tokio::time::sleep_until(due) => {
                    world.look_at_clock();
                    if let Some(event) = world.agenda.take(world.now) {
                        world.happen(event);
                    }
                }
            }
        }
        world
    }

    fn look_at_clock(&mut self) {
        let elapsed = self.started.elapsed().as_millis();
        self.now = Millis::try_from(elapsed).unwrap_or(Millis::MAX);
        self.plane.now = self.now;
    }

    /// Enters everything that is known from the start.
    fn begin(&mut self) {
        for (number, plan) in self.script.setup.clusters.iter().enumerate() {
            if plan.is_there {
                self.join(number);
            }
            let offset = self.nature.between(0, 9_999);
            self.enter(offset, Event::Report(number));
        }
        for slot in 0..self.processes.len() {
            let delay = self.nature.between(0, 300);
            self.enter(delay, Event::Start(slot));
        }
        for (number, step) in self.script.steps.iter().enumerate() {
            self.agenda.enter(step.at, Event::Step(number));
        }
        let end = self.script.end() + 2_000;
        self.enter(500, Event::Second);
        self.agenda.enter(end, Event::Heal);
        self.agenda.enter(end + SETTLED_AFTER, Event::Settled);
        let rest = end + REST_AFTER + if self.script.setup.has_moves() { MOVES_TAKE } else { 0 };
        self.agenda.enter(rest - QUIET, Event::Quiet);
        self.agenda.enter(rest, Event::Rest);
    }

    /// Enters an event that happens after a time.
    fn enter(&mut self, after: Millis, event: Event) {
        self.agenda.enter(self.now + after, event);
    }

    fn happen(&mut self, event: Event) {
        let passes = matches!(event, Event::Second | Event::Wake(_) | Event::Lease(..));
        self.events += u64::from(!passes);
        match event {
            Event::Step(number) => self.step(number),
            Event::Heal => self.heal(),
            Event::Settled => {
                self.judge_settled();
                self.plan_at_the_end();
            }
            Event::Quiet => self.books.quiet_since = Some(self.now),
            Event::Rest => {
                self.judge_rest();
                self.is_over = true;
            }
            Event::Second => self.second(),
            Event::Report(cluster) => self.report(cluster),
            Event::Reported(cluster, summary) => self.reported(cluster, &summary),
            Event::Reachable(cluster) => self.reachable(cluster),
            Event::Policy(binding) => self.create_policy(binding),
            Event::Arrive(request) => self.arrive(request),
            Event::Answer(request) => self.answer(request),
            Event::Start(slot) => self.start(slot),
            Event::List(process, kind) => self.list(process, kind),
            Event::Page(process, kind) => self.page(process, kind),
            Event::Deliver(process, kind) => self.deliver(process, kind),
            Event::Wake(process) => self.wake(process),
            Event::Written(process, key, written) => self.written(process, key, written),
            Event::Lease(process, event) => self.lease_event(process, event),
            Event::Estimated(process, question) => self.estimated(process, *question),
        }
    }

    fn take_in(&mut self, message: Inbound) {
        self.events += 1;
        match message {
            Inbound::Request(request, sender) => self.send(request, sender),
            Inbound::Written(process, key, written) => self.written(process, key, written),
        }
    }

    /// The present, as an engine takes it.
    pub(crate) fn moment(&self) -> Moment {
        self.plane.moment(self.base)
    }

    /// The present in seconds since 1970, as the API server writes it.
    pub(crate) fn wall(&self) -> Timestamp {
        self.plane.wall()
    }

    /// Milliseconds at which a moment of an engine comes, rounded up.
    fn millis_at(&self, instant: std::time::Instant) -> Millis {
        let since = instant.saturating_duration_since(self.base);
        Millis::try_from(since.as_nanos().div_ceil(1_000_000)).unwrap_or(Millis::MAX)
    }

    /// A second of work of Karmada's controllers and the members.
    fn second(&mut self) {
        self.enter(1_000, Event::Second);
        self.plane.second(&mut self.nature);
        self.take_happenings();
    }

    /// A cluster reports, if it can.
    fn report(&mut self, number: usize) {
        self.enter(REPORT_PERIOD, Event::Report(number));
        match self.plane.report(number) {
            None => {}
            Some((summary, 0)) => self.reported(number, &summary),
            Some((summary, delay)) => self.enter(delay, Event::Reported(number, summary)),
        }
    }

    /// A report arrives.
    fn reported(&mut self, number: usize, summary: &serde_json::Value) {
        self.plane.reported(number, summary);
        self.take_happenings();
    }

    /// A cluster is reachable again.
    fn reachable(&mut self, number: usize) {
        self.plane.reachable(number);
        self.take_happenings();
    }

    /// Judges what came of what the control plane did, and shows it to the processes.
    fn take_happenings(&mut self) {
        for happening in self.plane.happenings() {
            match happening {
                Happening::Said(sentence) => self.note(|| sentence),
                Happening::BindingChanged { key, before, after } => {
                    self.books
                        .note_foreign_write(&key, Some(&before), Some(&after), self.now);
                    self.publish_changes(Kind::Binding);
                }
                Happening::ClusterChanged => self.publish_changes(Kind::Cluster),
                Happening::Offered(version) => self.books.note_offer(version),
                Happening::PodsEnded(cluster) => self.books.note_end(&cluster, self.now),
                Happening::Replaced { key, binding, ready } => self.judge_eviction(&key, &binding, &ready),
            }
        }
    }

    /// Notes a sentence of the story.
    pub(crate) fn note(&mut self, sentence: impl FnOnce() -> String) {
        self.log.note(self.now, sentence);
    }
}
