//! The state of the scheduler and its transitions, without any I/O.
//!
//! The engine receives changes of objects and outcomes of writes, and returns writes. It belongs to one thread, which makes
//! all decisions in the order of the queue and books the capacity that each takes before it makes the next. It reads no
//! clock: every call that depends on time takes a [`Moment`].
//!
//! - `life`: what deciding one binding has left behind, and what is under way for it.
//! - `lives`: all lives, and what finds them.
//! - `fleet`: the fleet that decisions read, and its snapshot.
//! - [`observe`](self): changes of objects, and the bindings that they wake.
//! - `question`: the estimators that are asked before a decision.
//! - `schedule`: takes the next binding, decides it, and plans the write.
//! - `effects`: what follows from a change, a look or an answer.
//! - `apply`: the outcome of a look, and what alone carries out outcomes and effects.
//! - `outcome`: the writes that follow from decisions.
//! - `held`: capacity that results hold, and its effect on decisions.
//! - `jointly`: bursts that are decided as one plan, and what is ready to leave.
//! - `moves`: results that are written in steps.
//! - `confirmations`: the observed generation of what Karmada evicts.
//! - `complete`: consequences of the outcome of a write.
//! - `pauses`: waits after failures of plugins.
//! - `peers`: placements of other bindings, and the bindings that wait for them.
//! - `report`: log lines about failed decisions.
//! - `exchange`: another profile, between two decisions.
//! - `shadow`: deciding beside another scheduler without writing.
//! - `leftovers`: what tests look for of bindings that are not decided here.
//! - `stray_rows`: rows of tables for clusters that do not exist.

mod apply;
mod candidate;
mod complete;
mod confirmations;
mod effects;
mod exchange;
mod fleet;
mod held;
mod jointly;
mod leftovers;
mod life;
mod lives;
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

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::sync::Arc;
use std::time::Instant;

use self::exchange::Recent;
pub use self::exchange::Trial;
use self::fleet::SharedFleet;
use self::jointly::Outbox;
use self::lives::{Group, Lives};
use self::pauses::Pauses;
use self::report::FailureLines;
use self::shadow::Shadow;
use self::stray_rows::StrayRows;
use divvy_karmada::api::{BindingScope, ObjectReference, Timestamp};
use divvy_profile::ProfileConfiguration;
use divvy_scheduler::cycle::Cycle;
use divvy_scheduler::fleet::Fleet;
use divvy_scheduler::plugin::CallObserver;
use divvy_scheduler::profile::{ConfiguredProfile, Profile};
use ring::digest::{Context, SHA256};

use crate::assumed::AssumedResults;
use crate::estimates::EstimateJob;
use crate::guard::LossGuard;
use crate::holdings::{HeldPart, HoldingLimits, Holdings};
use crate::lease::Term;
use crate::objects::{BindingKey, Kind};
use crate::observe::{Metrics, QueuePart};
use crate::panel::{Panel, Published};
use crate::placements::LivePlacements;
use crate::queue::Depth;
use crate::store::{BindingStore, ClusterStore, PolicyStore};
use crate::takings::Takings;
use crate::write::WriteJob;

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
    fleet: SharedFleet,
    /// What deciding bindings has left behind, and what is under way.
    lives: Lives,
    /// Capacity that results have taken and nobody reports yet.
    capacity: Capacity,
    /// Placements of bindings in workload affinity groups; `None` if no plugin needs them.
    placements: Option<LivePlacements>,
    guard: LossGuard,
    cycle: Cycle,
    listing: Listing,
    /// The term in which this process leads; `None` while it may not decide.
    term: Option<Term>,
    /// Waits of plugins after their failures.
    pauses: Pauses,
    estimators: Estimators,
    /// Time of the last check for transitions that only time causes.
    ticked: Option<Instant>,
    lines: Lines,
    /// Events and writes that are ready to leave.
    outbox: Outbox,
    panel: Arc<Panel>,
    /// The last decisions, for the trial of a new profile.
    recent: Recent,
    /// The comparison with another scheduler, in shadow mode.
    shadow: Option<Shadow>,
}

/// Capacity that results have taken, for each of those who do not see it yet.
#[derive(Default)]
struct Capacity {
    /// What clusters do not report yet.
    holdings: Holdings,
    /// What answers of estimators do not reflect; empty if none are asked.
    takings: Takings,
    /// What requests to estimators list; empty unless they do.
    assumed: AssumedResults,
}

/// The use of estimators.
#[derive(Default)]
struct Estimators {
    /// True if they are asked before decisions.
    are_asked: bool,
    /// True if requests to them list replicas that were assigned and do not run yet.
    know_assumed: bool,
}

/// Progress of the lists of objects.
#[derive(Default)]
struct Listing {
    /// Kinds whose first list is complete.
    synced: BTreeSet<Kind>,
    /// Kinds that are listed again because a new profile reads more of them, with true once such a list began.
    again: BTreeMap<Kind, bool>,
}

/// Lines of the log that are not repeated.
#[derive(Default)]
struct Lines {
    /// Rows of tables without a cluster.
    stray_rows: StrayRows,
    /// Failures.
    failures: FailureLines,
}

/// The next request of the engine.
#[derive(Debug)]
pub enum Task {
    /// Write a binding, then call [`Engine::complete`].
    Write(Box<WriteJob>),
    /// Ask estimators, then call [`Engine::estimated`].
    Estimate(EstimateJob),
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

/// From now on, shows the profile that decides, and serves the counters of its plugins.
fn show_profile(panel: &Panel, active: &ActiveProfile) {
    let observer: Arc<dyn CallObserver> = Arc::clone(&panel.watchdog) as _;
    active.profile.observe(&observer);
    panel.metrics.profile(active.profile.name(), &active.hash);
    let profile = Arc::clone(&active.profile);
    panel.metrics.measured_by_plugins(move || {
        let plugins = profile.plugins();
        plugins.map(|plugin| (plugin.name(), plugin.metrics())).collect()
    });
}

impl Engine {
    /// An engine that knows nothing yet.
    pub fn new(active: ActiveProfile, panel: Arc<Panel>) -> Self {
        show_profile(&panel, &active);
        Self {
            panel,
            fleet: SharedFleet::new(Fleet::new(active.profile.needs_raw_clusters())),
            policies: PolicyStore::default().keeping_metadata(active.profile.needs_metadata()),
            placements: active.profile.needs_placements().then(LivePlacements::default),
            active,
            bindings: BindingStore::default(),
            clusters: ClusterStore::default(),
            lives: Lives::default(),
            capacity: Capacity::default(),
            guard: LossGuard::default(),
            cycle: Cycle::new(),
            listing: Listing::default(),
            term: None,
            pauses: Pauses::default(),
            estimators: Estimators::default(),
            ticked: None,
            lines: Lines::default(),
            outbox: Outbox::default(),
            recent: Recent::default(),
            shadow: None,
        }
    }

    /// Asks estimators before each decision about replicas.
    #[must_use]
    pub fn asking_estimators(mut self, asks: bool) -> Self {
        self.estimators.are_asked = asks;
        self
    }

    /// Lists replicas that were assigned to a cluster and do not run there yet in requests to its estimator.
    #[must_use]
    pub(crate) fn assuming_workloads(mut self, assumes: bool) -> Self {
        self.estimators.know_assumed = assumes;
        self
    }

    /// Ends holdings by these limits. Nothing may be held yet.
    #[must_use]
    pub(crate) fn holding_within(mut self, limits: HoldingLimits) -> Self {
        self.capacity.holdings = Holdings::new(limits);
        self
    }

    /// Capacity that results hold, by cluster and in the order of the decisions.
    pub fn held(&self) -> impl Iterator<Item = HeldPart<'_>> {
        self.capacity.holdings.parts()
    }

    /// Writes of a burst that nobody has asked for yet. What their results take is held already.
    pub fn unsent(&self) -> impl Iterator<Item = &WriteJob> {
        let tasks = self.outbox.tasks.iter();
        tasks.filter_map(|task| match task {
            Task::Write(job) => Some(&**job),
            _ => None,
        })
    }

    /// True once every kind has been listed. No decision is made before.
    pub(crate) fn is_synced(&self) -> bool {
        self.listing.synced.len() == Kind::ALL.len()
    }

    /// Kinds whose first list is not complete.
    pub(crate) fn unsynced(&self) -> impl Iterator<Item = Kind> {
        Kind::ALL.into_iter().filter(|kind| !self.listing.synced.contains(kind))
    }

    /// True if decisions are made: everything is listed, and this process leads.
    pub(crate) fn is_deciding(&self) -> bool {
        self.term.is_some() && self.is_synced()
    }

    /// Number of bindings in each part of the queue.
    pub fn depth(&self) -> Depth {
        self.lives.queue.depth()
    }

    /// True if a task is ready, or a binding is ready to be decided.
    pub fn has_ready(&self) -> bool {
        !self.outbox.tasks.is_empty() || self.is_deciding() && self.lives.queue.has_active()
    }

    /// Writes under way, without those that nobody has asked for yet.
    pub fn writes_under_way(&self) -> usize {
        self.lives
            .keys(Group::InFlight)
            .len()
            .saturating_sub(self.outbox.tasks.len())
    }

    /// Writes and questions to estimators under way.
    pub fn tasks_under_way(&self) -> usize {
        self.writes_under_way() + self.lives.keys(Group::Estimating).len()
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
        std::mem::take(&mut self.outbox.announcements)
    }

    /// Time of the next transition that only time causes.
    pub fn next_due(&self) -> Option<Instant> {
        let look = self.lives.next_due().filter(|_| self.is_deciding());
        let others = self.lives.queue.next_due().into_iter().chain(self.guard.next_due());
        others.chain(look).min()
    }

    /// Publishes figures and state for probes and metrics.
    pub fn publish(&self, now: Instant) {
        let metrics = self.metrics();
        let Depth {
            active,
            backoff,
            parked,
        } = self.lives.queue.depth();
        metrics.queue_depth(QueuePart::Active, active);
        metrics.queue_depth(QueuePart::Backoff, backoff);
        metrics.queue_depth(QueuePart::Unschedulable, parked);
        metrics.queue_age(self.lives.queue.head_age(now));
        metrics.sizes(self.bindings.len(), self.clusters.len());
        metrics.writes_under_way(self.writes_under_way());
        let missing_clusters = self.missing_clusters();
        metrics.missing_clusters(missing_clusters.len());
        metrics.unscheduled(self.lives.failures());
        metrics.held_capacity(self.capacity.holdings.parts());
        self.publish_moves(metrics, now);
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
}

/// The scope of the bindings of a kind; `None` for other kinds.
fn binding_scope(kind: Kind) -> Option<BindingScope> {
    match kind {
        Kind::Binding => Some(BindingScope::Namespaced),
        Kind::ClusterBinding => Some(BindingScope::Cluster),
        _ => None,
    }
}
