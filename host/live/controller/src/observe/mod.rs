//! Metrics for Prometheus.
//!
//! A metric that means the same as one of karmada-scheduler's has its name, labels and bucket bounds, so that dashboards
//! and alerts keep working; finer buckets below are ours, because decisions take microseconds here. Everything else begins
//! with `divvy_`. `examples/deploy/METRICS.md` lists all of them, and a test compares it with the exposed ones.
//!
//! - [`Metrics`]: one method per event. All of them are cheap and may be called from any thread.
//! - [`Metrics::render`]: the text for a scrape.
//!
//! Source of the names: Karmada v1.19-rc, `pkg/scheduler/metrics`. Nothing here reads a clock: durations are passed in.

mod buckets;
mod estimators;
mod labels;
mod plugins;
mod process;
mod registered;
mod text;

#[cfg(test)]
mod tests;

pub(crate) use labels::{
    Agreement, BurstEnd, CallOutcome, ExtensionPoint, IncomingEvent, PlanEnd, QueuePart, ReloadResult, ScheduleResult,
    ScheduleStep, ScheduleType, WriteKind, WriteResult,
};

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use divvy_estimator::{Estimate, Estimators, Unanswered};
use divvy_scheduler::moves::step::{Occasion, Reason as Wait};
use divvy_scheduler::plugin::MetricFigures;
use prometheus_client::registry::Registry;

use labels::{
    AttemptLabels, EndLabels, EstimateLabels, EventLabels, HeldLabels, MoveLabels, OccasionLabels, PartLabels,
    PluginLabels, PointLabels, ProfileLabels, QuarantineLabels, ReasonLabels, ReloadLabels, ResultLabels, RightLabels,
    ShadowLabels, StepLabels, WriteLabels,
};
use registered::Registered;

use crate::condition::ScheduledReason;
use crate::holdings::HeldPart;

/// Target of the spans of decisions: `schedule` with its steps `decide`, `estimate` and `write`, and the binding as a field.
pub const CYCLE: &str = "divvy::cycle";

/// Bindings that are moved in steps.
#[derive(Debug, Default)]
pub(crate) struct MoveCounts {
    /// Those that have begun, and have a claim on budgets.
    pub(crate) under_way: usize,
    /// Those that have not begun, or have released their claim.
    pub(crate) waiting: usize,
    /// Those whose result has more or fewer replicas than are asked for.
    pub(crate) unsettled: usize,
    /// Bindings by the word of what they wait for, with the longest wait.
    pub(crate) waits: BTreeMap<&'static str, (usize, Duration)>,
}

/// The metrics of one process.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    plugins: plugins::PluginSource,
    registered: Registered,
    /// Clusters and resources with held capacity.
    held: Mutex<Vec<HeldLabels>>,
}

impl Metrics {
    /// Metrics that count from zero. `version` is the program's.
    ///
    /// `estimators` are read during each scrape; `None` if accurate estimators are off.
    pub fn new(version: &str, estimators: Option<Arc<Estimators>>) -> Self {
        let mut registry = Registry::default();
        let registered = Registered::new(&mut registry, version);
        registry.register_collector(Box::new(process::ProcessCollector));
        let plugins = plugins::PluginSource::default();
        registry.register_collector(Box::new(plugins.clone()));
        if let Some(estimators) = estimators {
            registry.register_collector(Box::new(estimators::EstimatorCollector(estimators)));
        }
        Self {
            registry,
            plugins,
            registered,
            held: Mutex::default(),
        }
    }

    /// The text for a scrape, in the format [`Self::CONTENT_TYPE`].
    pub fn render(&self) -> String {
        text::render(&self.registry)
    }

    /// The media type of [`Self::render`].
    pub(crate) const CONTENT_TYPE: &'static str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

    /// A binding was taken from the queue and decided, successfully or not. `duration` is from taking it to knowing the
    /// outcome of its write.
    pub(crate) fn attempt(&self, schedule_type: ScheduleType, result: ScheduleResult, duration: Duration) {
        let labels = AttemptLabels {
            result: result.word(),
            schedule_type: schedule_type.word(),
        };
        self.registered.attempts.get_or_create(&labels).inc();
        let durations = self.registered.e2e_durations.get_or_create(&labels);
        durations.observe(duration.as_secs_f64());
    }

    /// A step of a decision ended.
    pub(crate) fn step(&self, step: ScheduleStep, duration: Duration) {
        let labels = StepLabels {
            schedule_step: step.word(),
        };
        let durations = self.registered.step_durations.get_or_create(&labels);
        durations.observe(duration.as_secs_f64());
    }

    /// A binding entered the queue.
    pub(crate) fn incoming(&self, event: IncomingEvent) {
        let labels = EventLabels { event: event.word() };
        self.registered.incoming.get_or_create(&labels).inc();
    }

    /// All plugins of an extension point were called for a binding.
    pub(crate) fn extension_point(&self, point: ExtensionPoint, outcome: CallOutcome, duration: Duration) {
        let labels = PointLabels {
            extension_point: point.word(),
            result: outcome.word(),
        };
        let durations = self.registered.point_durations.get_or_create(&labels);
        durations.observe(duration.as_secs_f64());
    }

    /// A plugin was called. Counts its error or panic as well.
    pub(crate) fn plugin_call(
        &self,
        plugin: &'static str,
        point: ExtensionPoint,
        outcome: CallOutcome,
        duration: Duration,
    ) {
        let labels = PluginLabels {
            plugin,
            extension_point: point.word(),
            result: outcome.word(),
        };
        let durations = self.registered.plugin_durations.get_or_create(&labels);
        durations.observe(duration.as_secs_f64());
        let labels = ResultLabels {
            plugin,
            extension_point: point.word(),
        };
        match outcome {
            CallOutcome::Error => {
                self.registered.plugin_errors.get_or_create(&labels).inc();
            }
            CallOutcome::Panic => {
                self.registered.plugin_panics.get_or_create(&labels).inc();
            }
            CallOutcome::Success | CallOutcome::Unschedulable => {}
        }
    }

    /// A plugin rejected clusters (Filter) or bindings (Select, Assign).
    pub(crate) fn plugin_rejections(&self, plugin: &'static str, point: ExtensionPoint, rejected: u64) {
        let labels = ResultLabels {
            plugin,
            extension_point: point.word(),
        };
        self.registered
            .plugin_rejections
            .get_or_create(&labels)
            .inc_by(rejected);
    }

    /// A plugin was quarantined after repeated panics, or a reload gave it another chance.
    pub(crate) fn plugin_quarantined(&self, plugin: &'static str, quarantined: bool) {
        let labels = QuarantineLabels { plugin };
        self.registered
            .quarantined
            .get_or_create(&labels)
            .set(i64::from(quarantined));
    }

    /// A plugin call exceeded the watchdog's limit.
    pub(crate) fn plugin_hangs(&self, plugin: &'static str) {
        let labels = QuarantineLabels { plugin };
        self.registered.plugin_hangs.get_or_create(&labels).inc();
    }

    /// Sets the number of bindings in a part of the queue.
    pub(crate) fn queue_depth(&self, part: QueuePart, bindings: usize) {
        let labels = PartLabels { queue: part.word() };
        self.registered.pending.get_or_create(&labels).set(signed(bindings));
    }

    /// Sets the time for which the next binding has waited; zero if the queue is empty.
    pub(crate) fn queue_age(&self, age: Duration) {
        self.registered.queue_age.set(age.as_secs_f64());
    }

    /// A binding left the queue after this wait.
    pub(crate) fn queue_wait(&self, wait: Duration) {
        self.registered.queue_waits.observe(wait.as_secs_f64());
    }

    /// Sets the number of bindings and clusters in memory.
    pub(crate) fn sizes(&self, bindings: usize, clusters: usize) {
        self.registered.bindings.set(signed(bindings));
        self.registered.clusters.set(signed(clusters));
    }

    /// Sets the number of clusters that vanished without being deleted.
    pub(crate) fn missing_clusters(&self, clusters: usize) {
        self.registered.missing_clusters.set(signed(clusters));
    }

    /// Sets the capacity that results hold on each cluster.
    pub(crate) fn held_capacity<'a>(&self, parts: impl Iterator<Item = HeldPart<'a>>) {
        let mut sums: BTreeMap<HeldLabels, i64> = BTreeMap::new();
        for part in parts {
            for (resource, quantity) in part.resources {
                let labels = HeldLabels {
                    cluster: part.cluster.to_owned(),
                    resource: resource.to_owned(),
                };
                let sum = sums.entry(labels).or_default();
                *sum = sum.saturating_add(quantity);
            }
        }
        let mut published = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        for labels in published.iter().filter(|labels| !sums.contains_key(labels)) {
            self.registered.held_capacity.remove(labels);
        }
        for (labels, sum) in &sums {
            self.registered.held_capacity.get_or_create(labels).set(*sum);
        }
        *published = sums.into_keys().collect();
    }

    /// Results were held on a cluster until a time limit, because no report showed them.
    pub(crate) fn holdings_given_up(&self, results: usize) {
        self.registered
            .holdings_given_up
            .inc_by(u64::try_from(results).unwrap_or(u64::MAX));
    }

    /// Decisions were held back because they would take replicas away while clusters are missing.
    pub(crate) fn held_back(&self, decisions: u64) {
        self.registered.held_back.inc_by(decisions);
    }

    /// Sets the number of bindings that are moved in steps, and of those that wait, with the longest wait.
    pub(crate) fn moves(&self, counts: &MoveCounts) {
        for (state, bindings) in [("under_way", counts.under_way), ("waiting", counts.waiting)] {
            self.registered
                .moves
                .get_or_create(&MoveLabels { state })
                .set(signed(bindings));
        }
        self.registered.unsettled_moves.set(signed(counts.unsettled));
        for reason in Wait::WORDS {
            let labels = ReasonLabels { reason };
            let (bindings, longest) = counts.waits.get(reason).copied().unwrap_or_default();
            self.registered.move_waits.get_or_create(&labels).set(signed(bindings));
            let seconds = i64::try_from(longest.as_secs()).unwrap_or(i64::MAX);
            self.registered.move_wait_seconds.get_or_create(&labels).set(seconds);
        }
    }

    /// A result or a mark of a move was planned.
    pub(crate) fn move_write(&self, occasion: Occasion) {
        let occasion = match occasion {
            Occasion::AtOnce => "at_once",
            Occasion::Step => "step",
            Occasion::Released => "released",
            Occasion::Ended => "ended",
            Occasion::Cancelled => "cancelled",
        };
        self.registered
            .move_writes
            .get_or_create(&OccasionLabels { occasion })
            .inc();
    }

    /// Estimators of a binding's clusters were asked. `duration` is that of the slowest.
    pub(crate) fn estimates(&self, estimates: &[Estimate], duration: Duration) {
        self.registered.estimate_durations.observe(duration.as_secs_f64());
        for estimate in estimates {
            let result = match estimate {
                Estimate::Answered(_) => "answered",
                Estimate::LastKnown { .. } => "last_known",
                Estimate::Absent(Unanswered::Excluded) => "excluded",
                Estimate::Absent(Unanswered::Declined) => "declined",
                Estimate::Absent(Unanswered::BreakerOpen) => "breaker_open",
                Estimate::Absent(Unanswered::Failed(_)) => "failed",
            };
            self.registered
                .estimates
                .get_or_create(&EstimateLabels { result })
                .inc();
        }
    }

    /// A request that writes ended.
    pub(crate) fn write(&self, kind: WriteKind, result: WriteResult, duration: Duration) {
        let labels = WriteLabels {
            kind: kind.word(),
            result: result.word(),
        };
        let durations = self.registered.write_durations.get_or_create(&labels);
        durations.observe(duration.as_secs_f64());
    }

    /// Sets the number of writes that are under way.
    pub(crate) fn writes_under_way(&self, writes: usize) {
        self.registered.writes_under_way.set(signed(writes));
    }

    /// Sets whether a right to patch a resource is missing.
    pub(crate) fn missing_right(&self, resource: &str, is_missing: bool) {
        let labels = RightLabels {
            resource: resource.to_owned(),
            verb: "patch",
        };
        self.registered
            .missing_rights
            .get_or_create(&labels)
            .set(i64::from(is_missing));
    }

    /// Sets the number of bindings whose last decision failed, by the reason of their condition.
    pub(crate) fn unscheduled(&self, bindings: &BTreeMap<&'static str, usize>) {
        for reason in ScheduledReason::FAILURES.map(ScheduledReason::as_str) {
            let count = bindings.get(reason).copied().unwrap_or(0);
            self.registered
                .unscheduled
                .get_or_create(&ReasonLabels { reason })
                .set(signed(count));
        }
    }

    /// Sets whether a changed profile waits that was refused.
    pub(crate) fn profile_waiting(&self, is_waiting: bool) {
        self.registered.profile_waiting.set(i64::from(is_waiting));
    }

    /// Writes met another version than they were made for.
    pub(crate) fn conflicts(&self, conflicts: u64) {
        self.registered.conflicts.inc_by(conflicts);
    }

    /// Decisions were dropped because their binding, or for those of a burst the clusters, changed meanwhile.
    pub(crate) fn superseded(&self, decisions: u64) {
        self.registered.superseded.inc_by(decisions);
    }

    /// A binding has reached the target of a plan, or leaves the plan.
    pub(crate) fn plan_end(&self, end: PlanEnd) {
        self.registered
            .planned_targets
            .get_or_create(&EndLabels { end: end.word() })
            .inc();
    }

    /// Bindings were decided at once.
    pub(crate) fn burst(&self, end: BurstEnd) {
        self.registered
            .bursts
            .get_or_create(&EndLabels { end: end.word() })
            .inc();
    }

    /// Bindings whose last write was incomplete were repaired.
    pub(crate) fn repairs(&self, bindings: u64) {
        self.registered.repairs.inc_by(bindings);
    }

    /// Results took replicas from one cluster and gave them to another.
    pub(crate) fn replicas_moved(&self, replicas: u64) {
        self.registered.replicas_moved.inc_by(replicas);
    }

    /// Sets whether this process leads; the term is counted from 1 by each process.
    pub(crate) fn leader(&self, term: Option<u64>) {
        self.registered.leader.set(i64::from(term.is_some()));
        if let Some(term) = term {
            self.registered.term.set(i64::try_from(term).unwrap_or(i64::MAX));
        }
    }

    /// Sets whether another process holds the lease.
    pub(crate) fn standby(&self, is_held: bool) {
        self.registered.standby.set(i64::from(is_held));
    }

    /// A changed profile or plugin file was loaded, or refused.
    pub(crate) fn reload(&self, result: ReloadResult) {
        let labels = ReloadLabels { result: result.word() };
        self.registered.reloads.get_or_create(&labels).inc();
    }

    /// Names the profile that decides, by a hash of its text and its plugins' files.
    pub(crate) fn profile(&self, profile: &str, hash: &str) {
        self.registered.profile.clear();
        let labels = ProfileLabels {
            profile: profile.to_owned(),
            hash: hash.to_owned(),
        };
        self.registered.profile.get_or_create(&labels).set(1);
    }

    /// From now on, a scrape asks this function for what plugins count themselves, by their names.
    pub(crate) fn measured_by_plugins(
        &self,
        source: impl Fn() -> Vec<(&'static str, MetricFigures)> + Send + Sync + 'static,
    ) {
        self.plugins.replace(source);
    }

    /// In shadow mode, a decision was compared with that of the scheduler in charge.
    pub(crate) fn shadow(&self, strategy: &str, agreement: Agreement) {
        let labels = ShadowLabels {
            strategy: strategy.to_owned(),
            agreement: agreement.word(),
        };
        self.registered.shadow.get_or_create(&labels).inc();
    }
}

fn signed(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
