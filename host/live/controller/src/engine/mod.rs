//! The state of the scheduler and its transitions, without any I/O.
//!
//! The engine receives changes of objects and outcomes of writes, and returns writes. It belongs to one thread, which makes
//! all decisions in the order of the queue and books the capacity that each takes before it makes the next. It reads no
//! clock: every call that depends on time takes a [`Moment`].
//!
//! - [`observe`](self): changes of objects, and the bindings that they wake.
//! - `question`: the estimators that are asked before a decision.
//! - `schedule`: takes the next binding, decides it, and plans the write.
//! - `outcome`: the writes that follow from decisions.
//! - `held`: capacity that results hold, and its effect on decisions.
//! - `moves`: results that are written in steps.
//! - `confirmations`: the observed generation of what Karmada evicts.
//! - `complete`: consequences of the outcome of a write.
//! - `pauses`: waits after failures of plugins.
//! - `peers`: placements of other bindings, and the bindings that wait for them.
//! - `report`: log lines about failed decisions.
//! - `exchange`: another profile, between two decisions.
//! - `shadow`: deciding beside another scheduler without writing.
//! - `stray_rows`: rows of tables for clusters that do not exist.

mod candidate;
mod complete;
mod confirmations;
mod exchange;
mod held;
mod moves;
mod observe;
mod outcome;
mod partials;
mod pauses;
mod peers;
mod question;
mod report;
mod schedule;
mod shadow;
mod stray_rows;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Deref;
use std::sync::Arc;
use std::time::Instant;

use self::confirmations::Confirmations;
use self::exchange::Recent;
pub use self::exchange::Trial;
use self::held::HeldMessages;
use self::moves::Moves;
use self::partials::Partials;
use self::pauses::Pauses;
use self::report::FailureLines;
use self::shadow::Shadow;
use self::stray_rows::StrayRows;
use divvy_karmada::api::{BindingScope, ObjectReference, TargetCluster, Timestamp};
use divvy_profile::ProfileConfiguration;
use divvy_scheduler::cycle::Cycle;
use divvy_scheduler::fleet::estimate::Demand;
use divvy_scheduler::fleet::{Fleet, FleetSnapshot};
use divvy_scheduler::plugin::CallObserver;
use divvy_scheduler::profile::{ConfiguredProfile, Profile};
use ring::digest::{Context, SHA256};

use crate::assumed::AssumedResults;
use crate::condition::{Cause, Failure};
use crate::estimates::EstimateJob;
use crate::guard::LossGuard;
use crate::holdings::{DecisionNumber, HeldPart, HoldingLimits, Holdings};
use crate::lease::Term;
use crate::objects::{BindingKey, Kind};
use crate::observe::{IncomingEvent, Metrics, QueuePart};
use crate::panel::{Panel, Published};
use crate::placements::LivePlacements;
use crate::queue::{Depth, Expiries, Queue};
use crate::store::{BindingStore, ClusterStore, Divided, PolicyStore};
use crate::takings::Takings;
use crate::write::WriteJob;
use divvy_scheduler::decide::rules::Reason;

/// A point in time, on both clocks.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    /// For durations.
    pub instant: Instant,
    /// For what is written, in whole seconds.
    pub wall: Timestamp,
    /// For plugins, in milliseconds since 1970.
    pub milliseconds: i64,
}

/// The profile that decides. It is used like the [`ConfiguredProfile`] in it.
#[derive(Debug, Clone)]
pub struct ActiveProfile {
    configured: ConfiguredProfile,
    /// Hash of the profile's text, with everything that it extends, and of the files of its plugins and tables.
    pub(crate) hash: String,
}

impl ActiveProfile {
    /// A constructed profile with the settings of its configuration.
    ///
    /// # Errors
    ///
    /// The error of `serde_json` if the configuration cannot be written, so that the profile has no hash.
    pub fn new(profile: Arc<Profile>, configuration: &ProfileConfiguration) -> Result<Self, serde_json::Error> {
        Ok(Self {
            hash: hash(&profile, configuration)?,
            configured: ConfiguredProfile::new(profile, configuration),
        })
    }
}

impl Deref for ActiveProfile {
    type Target = ConfiguredProfile;

    fn deref(&self) -> &ConfiguredProfile {
        &self.configured
    }
}

/// Twelve hexadecimal digits, which differ if anything that affects decisions differs.
fn hash(profile: &Profile, configuration: &ProfileConfiguration) -> Result<String, serde_json::Error> {
    let mut hasher = Context::new(&SHA256);
    hasher.update(&serde_json::to_vec(configuration)?);
    for plugin in profile.plugins() {
        hasher.update(plugin.library().checksum().as_bytes());
    }
    for table in profile.tables().map_or(&[][..], |tables| tables.tables()) {
        hasher.update(table.source().version.as_bytes());
    }
    let digest = hasher.finish();
    Ok(digest
        .as_ref()
        .iter()
        .take(6)
        .map(|byte| format!("{byte:02x}"))
        .collect())
}

/// The scheduler's state.
pub struct Engine {
    active: ActiveProfile,
    bindings: BindingStore,
    clusters: ClusterStore,
    policies: PolicyStore,
    fleet: Fleet,
    /// The snapshot of the fleet, until a cluster changes.
    snapshot: Option<FleetSnapshot>,
    /// Changes of the set of clusters.
    cluster_sets: u64,
    /// Rows of tables without a cluster that were reported.
    stray_rows: StrayRows,
    /// Time of the last check for transitions that only time causes.
    ticked: Option<Instant>,
    queue: Queue<Arc<BindingKey>, Cause>,
    /// Times until which results hold, according to plugins.
    expiries: Expiries<Arc<BindingKey>>,
    in_flight: HashMap<Arc<BindingKey>, InFlight>,
    /// Capacity that results have taken and clusters do not report yet.
    holdings: Holdings,
    /// Messages of the bindings that wait for held capacity.
    held_messages: HeldMessages,
    /// Bindings with missing replicas that wait for room.
    partials: Partials,
    /// Such bindings that are being decided again, because a cluster may have room.
    unsettled: Partials,
    /// True once a binding or its policy has had a quorum. Until then, no room has to be looked at.
    knows_quorums: bool,
    /// Placements of bindings in workload affinity groups; `None` if no plugin needs them.
    placements: Option<LivePlacements>,
    /// Recently assigned replicas, for answers of estimators; empty if none are asked.
    takings: Takings,
    /// Results that requests to estimators list; empty unless they do.
    assumed: AssumedResults,
    guard: LossGuard,
    cycle: Cycle,
    /// Kinds whose first list is complete.
    synced: BTreeSet<Kind>,
    /// The term in which this process leads; `None` while it may not decide.
    term: Option<Term>,
    /// Bindings that quota refused, by namespace.
    refused_by_quota: HashMap<String, BTreeSet<Arc<BindingKey>>>,
    /// Waits after failures of plugins.
    pauses: Pauses,
    /// Results that are written in steps.
    moves: Moves,
    /// The observed generations of bindings that Karmada evicts.
    confirmations: Confirmations,
    /// Bindings whose decision was put off once because their policy was not known.
    awaited_policy: HashSet<Arc<BindingKey>>,
    announcements: Vec<Announcement>,
    panel: Arc<Panel>,
    /// True if estimators are asked before decisions.
    asks_estimators: bool,
    /// True if requests to them list replicas that were assigned and do not run yet.
    assumes_workloads: bool,
    /// Bindings whose estimates are being fetched, with true if something changed meanwhile.
    estimating: HashMap<Arc<BindingKey>, bool>,
    /// Kinds that are listed again because a new profile reads more of them, with true once such a list began.
    relisting: BTreeMap<Kind, bool>,
    /// Warnings about bindings that were reported.
    warned: HashMap<Arc<BindingKey>, Vec<String>>,
    /// Failures that were reported in the log.
    failure_lines: FailureLines,
    /// The last decisions, for the trial of a new profile.
    recent: Recent,
    /// Decisions to compare, in shadow mode.
    shadow: Option<Shadow>,
}

/// The next request of the engine.
#[derive(Debug)]
pub enum Task {
    /// Write a binding, then call [`Engine::complete`].
    Write(Box<WriteJob>),
    /// Ask estimators, then call [`Engine::estimated`].
    Estimate(EstimateJob),
}

/// A write that is under way.
#[derive(Debug)]
struct InFlight {
    /// Number of the decision, if it holds capacity, which is released if the write fails.
    taken: Option<DecisionNumber>,
    /// Clusters before the decision.
    last: Vec<TargetCluster>,
    /// Status that the result will get; `None` for a decision without one.
    divided: Option<Divided>,
    /// The failure that the decision ended with.
    failure: Option<Failure>,
    /// True for a step of a move.
    is_step: bool,
    /// True if the binding is looked at again once it is written: the next step of a move may be possible at once.
    looks_again: bool,
    /// True if the mark of a move is removed.
    ends_move: bool,
    /// Clusters of the decision; `None` if the binding stays where it is.
    placed: Option<Vec<TargetCluster>>,
    /// Demand of one replica, if the binding has fewer than requested and is then settled.
    partial: Option<Demand>,
    /// True if something changed meanwhile, so that the binding has to be looked at again.
    is_outdated: bool,
    /// Events to send once it is written.
    announcements: Vec<Announcement>,
    /// The rule by which it was decided; `None` if it was not.
    reason: Option<Reason>,
    /// Time at which the decision began.
    started: Instant,
}

impl InFlight {
    /// A write of a decision that took no capacity and announces nothing.
    fn new(reason: Option<Reason>, moment: &Moment) -> Self {
        Self {
            taken: None,
            last: Vec::new(),
            divided: None,
            failure: None,
            is_step: false,
            looks_again: false,
            ends_move: false,
            placed: None,
            partial: None,
            is_outdated: false,
            announcements: Vec::new(),
            reason,
            started: moment.instant,
        }
    }
}

/// An event for people, about a binding and the object that it propagates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Announcement {
    /// The binding.
    pub key: Arc<BindingKey>,
    /// UID of the binding.
    pub(crate) uid: String,
    /// The propagated object.
    pub(crate) resource: ObjectReference,
    /// The subject of the event.
    pub news: News,
    /// Text.
    pub message: String,
}

/// Subject of an event about a binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum News {
    /// It was scheduled.
    Scheduled,
    /// It was not scheduled, or not in one of its affinity groups.
    Failed,
    /// It contains a mistake that was tolerated.
    Warning,
}

impl Announcement {
    /// Reason of the event. Karmada has the first two.
    pub(crate) fn reason(&self) -> &'static str {
        match self.news {
            News::Scheduled => "ScheduleBindingSucceed",
            News::Failed => "ScheduleBindingFailed",
            News::Warning => "ScheduleBindingWarning",
        }
    }

    /// Type of the event.
    pub(crate) fn event_type(&self) -> &'static str {
        match self.news {
            News::Scheduled => "Normal",
            News::Failed | News::Warning => "Warning",
        }
    }
}

/// From now on, serves the counters of a profile's plugins.
fn measure_plugins(panel: &Panel, profile: &Arc<Profile>) {
    let profile = Arc::clone(profile);
    panel.metrics.measured_by_plugins(move || {
        let plugins = profile.plugins();
        plugins.map(|plugin| (plugin.name(), plugin.metrics())).collect()
    });
}

impl Engine {
    /// An engine that knows nothing yet.
    pub fn new(active: ActiveProfile, panel: Arc<Panel>) -> Self {
        let observer: Arc<dyn CallObserver> = Arc::clone(&panel.watchdog) as _;
        active.profile.observe(&observer);
        panel.metrics.profile(active.profile.name(), &active.hash);
        measure_plugins(&panel, &active.profile);
        Self {
            panel,
            fleet: Fleet::new(active.profile.needs_raw_clusters()),
            policies: PolicyStore::default().keeping_metadata(active.profile.needs_metadata()),
            placements: active.profile.needs_placements().then(LivePlacements::default),
            active,
            bindings: BindingStore::default(),
            clusters: ClusterStore::default(),
            snapshot: None,
            cluster_sets: 0,
            stray_rows: StrayRows::default(),
            ticked: None,
            queue: Queue::default(),
            expiries: Expiries::default(),
            in_flight: HashMap::new(),
            holdings: Holdings::default(),
            held_messages: HeldMessages::default(),
            partials: Partials::default(),
            unsettled: Partials::default(),
            knows_quorums: false,
            pauses: Pauses::default(),
            moves: Moves::default(),
            confirmations: Confirmations::default(),
            takings: Takings::default(),
            assumed: AssumedResults::default(),
            guard: LossGuard::default(),
            cycle: Cycle::new(),
            synced: BTreeSet::new(),
            term: None,
            asks_estimators: false,
            assumes_workloads: false,
            estimating: HashMap::new(),
            relisting: BTreeMap::new(),
            warned: HashMap::new(),
            failure_lines: FailureLines::default(),
            recent: Recent::default(),
            shadow: None,
            refused_by_quota: HashMap::new(),
            awaited_policy: HashSet::new(),
            announcements: Vec::new(),
        }
    }

    /// Asks estimators before each decision about replicas.
    #[must_use]
    pub fn asking_estimators(mut self, asks: bool) -> Self {
        self.asks_estimators = asks;
        self
    }

    /// Lists replicas that were assigned to a cluster and do not run there yet in requests to its estimator.
    #[must_use]
    pub(crate) fn assuming_workloads(mut self, assumes: bool) -> Self {
        self.assumes_workloads = assumes;
        self
    }

    /// Ends holdings by these limits. Nothing may be held yet.
    #[must_use]
    pub(crate) fn holding_within(mut self, limits: HoldingLimits) -> Self {
        self.holdings = Holdings::new(limits);
        self
    }

    /// Capacity that results hold, by cluster and in the order of the decisions.
    pub fn held(&self) -> impl Iterator<Item = HeldPart<'_>> {
        self.holdings.parts()
    }

    /// True once every kind has been listed. No decision is made before.
    pub(crate) fn is_synced(&self) -> bool {
        self.synced.len() == Kind::ALL.len()
    }

    /// Kinds whose first list is not complete.
    pub(crate) fn unsynced(&self) -> impl Iterator<Item = Kind> {
        Kind::ALL.into_iter().filter(|kind| !self.synced.contains(kind))
    }

    /// True if decisions are made: everything is listed, and this process leads.
    pub(crate) fn is_deciding(&self) -> bool {
        self.term.is_some() && self.is_synced()
    }

    /// Number of bindings in each part of the queue.
    pub fn depth(&self) -> Depth {
        self.queue.depth()
    }

    /// True if a binding is ready to be decided.
    pub fn has_ready(&self) -> bool {
        self.is_deciding() && self.queue.has_active()
    }

    /// Writes under way.
    pub(crate) fn writes_under_way(&self) -> usize {
        self.in_flight.len()
    }

    /// Writes and questions to estimators under way.
    pub fn tasks_under_way(&self) -> usize {
        self.in_flight.len() + self.estimating.len()
    }

    /// Number of bindings and clusters in memory.
    pub fn sizes(&self) -> (usize, usize) {
        (self.bindings.len(), self.clusters.len())
    }

    /// True if a cluster exists, or is missing without having been deleted.
    pub(crate) fn may_come_back(&self, cluster: &str) -> bool {
        self.clusters.contains(cluster) || self.guard.is_missing(cluster)
    }

    /// The clusters that are missing; while there are any, no write takes replicas away.
    pub fn missing_clusters(&self) -> Vec<String> {
        self.guard.missing().map(ToOwned::to_owned).collect()
    }

    /// Events to send.
    pub fn take_announcements(&mut self) -> Vec<Announcement> {
        std::mem::take(&mut self.announcements)
    }

    /// Time of the next transition that only time causes.
    pub fn next_due(&self) -> Option<Instant> {
        let expiries = [
            self.expiries.next_due(),
            self.moves.next_due(),
            self.confirmations.next_due(),
        ];
        let expiry = expiries.into_iter().flatten().min().filter(|_| self.is_deciding());
        let others = self.queue.next_due().into_iter().chain(self.guard.next_due());
        others.chain(expiry).min()
    }

    /// Publishes figures and state for probes and metrics.
    pub fn publish(&self, now: Instant) {
        let metrics = self.metrics();
        let Depth {
            active,
            backoff,
            parked,
        } = self.queue.depth();
        metrics.queue_depth(QueuePart::Active, active);
        metrics.queue_depth(QueuePart::Backoff, backoff);
        metrics.queue_depth(QueuePart::Unschedulable, parked);
        metrics.queue_age(self.queue.head_age(now));
        metrics.sizes(self.bindings.len(), self.clusters.len());
        metrics.writes_under_way(self.in_flight.len());
        let missing_clusters = self.missing_clusters();
        metrics.missing_clusters(missing_clusters.len());
        metrics.unscheduled(&self.failure_lines.by_reason());
        metrics.held_capacity(self.holdings.parts());
        self.publish_moves(now);
        let plugins = || self.active.profile.plugins();
        for plugin in plugins() {
            metrics.plugin_quarantined(plugin.name(), plugin.is_quarantined());
        }
        self.panel.publish(Published {
            unsynced: self.unsynced().map(Kind::kind).collect(),
            quarantined: plugins()
                .filter(|plugin| plugin.is_quarantined())
                .map(|plugin| plugin.name())
                .collect(),
            missing_clusters,
        });
    }

    fn metrics(&self) -> &Metrics {
        &self.panel.metrics
    }

    fn wake(&mut self, key: &Arc<BindingKey>, now: Instant) {
        let Some(record) = self.bindings.get(key) else { return };
        if !record.is_ours {
            return;
        }
        self.confirmations.woken(key);
        if mark_outdated(&mut self.in_flight, &mut self.estimating, key) {
            return;
        }
        self.queue.wake(key, record.priority, now);
        self.panel.metrics.incoming(IncomingEvent::ClusterChanged);
    }

    fn add(&mut self, key: &Arc<BindingKey>, event: IncomingEvent, now: Instant) {
        let Some(record) = self.bindings.get(key) else { return };
        if !record.is_ours {
            return;
        }
        self.confirmations.woken(key);
        if mark_outdated(&mut self.in_flight, &mut self.estimating, key) {
            return;
        }
        self.queue.add(key, record.priority, now);
        self.panel.metrics.incoming(event);
    }
}

/// Marks a binding that is being written or estimated as changed, so that it is looked at again afterwards. Returns false if it is
/// neither; it then belongs into the queue.
fn mark_outdated(
    in_flight: &mut HashMap<Arc<BindingKey>, InFlight>,
    estimating: &mut HashMap<Arc<BindingKey>, bool>,
    key: &Arc<BindingKey>,
) -> bool {
    if let Some(in_flight) = in_flight.get_mut(key) {
        in_flight.is_outdated = true;
        return true;
    }
    // The decision reads the newest state anyway.
    estimating.get_mut(key).map(|is_outdated| *is_outdated = true).is_some()
}

/// The scope of the bindings of a kind; `None` for other kinds.
fn binding_scope(kind: Kind) -> Option<BindingScope> {
    match kind {
        Kind::Binding => Some(BindingScope::Namespaced),
        Kind::ClusterBinding => Some(BindingScope::Cluster),
        _ => None,
    }
}
