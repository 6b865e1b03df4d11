//! Every metric with its name and help text.

use std::sync::atomic::AtomicU64;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Metric, Registry};

use super::buckets;
use super::labels::{
    AttemptLabels, EstimateLabels, EventLabels, HeldLabels, IncomingEvent, PartLabels, PluginLabels, PointLabels,
    ProfileLabels, QuarantineLabels, QueuePart, ReasonLabels, ReloadLabels, ReloadResult, ResultLabels, RightLabels,
    ScheduleResult, ScheduleType, ShadowLabels, StepLabels, WriteLabels,
};

/// A metric per label set, made by the same function each time.
pub(super) type Histograms<L> = Family<L, Histogram, fn() -> Histogram>;

/// All metrics that are counted here. Those of estimators and of the process are looked up during a scrape.
#[derive(Debug)]
pub(super) struct Registered {
    pub(super) attempts: Family<AttemptLabels, Counter>,
    pub(super) e2e_durations: Histograms<AttemptLabels>,
    pub(super) step_durations: Histograms<StepLabels>,
    pub(super) incoming: Family<EventLabels, Counter>,
    pub(super) point_durations: Histograms<PointLabels>,
    pub(super) plugin_durations: Histograms<PluginLabels>,
    pub(super) pending: Family<PartLabels, Gauge>,
    pub(super) plugin_rejections: Family<ResultLabels, Counter>,
    pub(super) plugin_errors: Family<ResultLabels, Counter>,
    pub(super) plugin_panics: Family<ResultLabels, Counter>,
    pub(super) plugin_hangs: Family<QuarantineLabels, Counter>,
    pub(super) quarantined: Family<QuarantineLabels, Gauge>,
    pub(super) queue_age: Gauge<f64, AtomicU64>,
    pub(super) queue_waits: Histogram,
    pub(super) bindings: Gauge,
    pub(super) clusters: Gauge,
    pub(super) missing_clusters: Gauge,
    pub(super) unscheduled: Family<ReasonLabels, Gauge>,
    pub(super) missing_rights: Family<RightLabels, Gauge>,
    pub(super) profile_waiting: Gauge,
    pub(super) held_capacity: Family<HeldLabels, Gauge>,
    pub(super) holdings_given_up: Counter,
    pub(super) held_back: Counter,
    pub(super) estimates: Family<EstimateLabels, Counter>,
    pub(super) estimate_durations: Histogram,
    pub(super) write_durations: Histograms<WriteLabels>,
    pub(super) writes_under_way: Gauge,
    pub(super) conflicts: Counter,
    pub(super) superseded: Counter,
    pub(super) repairs: Counter,
    pub(super) replicas_moved: Counter,
    pub(super) leader: Gauge,
    pub(super) standby: Gauge,
    pub(super) term: Gauge,
    pub(super) reloads: Family<ReloadLabels, Counter>,
    pub(super) profile: Family<ProfileLabels, Gauge>,
    pub(super) shadow: Family<ShadowLabels, Counter>,
}

/// Registers a metric and returns it. The registry adds `_total` to counters.
fn add<M: Metric + Clone>(registry: &mut Registry, name: &str, help: &str, metric: M) -> M {
    registry.register(name, help, metric.clone());
    metric
}

impl Registered {
    pub(super) fn new(registry: &mut Registry, version: &str) -> Self {
        let build = Info::new([("version", version.to_owned())]);
        registry.register("divvy_build", "Version of the program", build);
        let registered = Self::register(registry);
        registered.begin_at_zero();
        registered
    }

    /// Karmada's names first, then ours.
    fn register(registry: &mut Registry) -> Self {
        let attempts = || Histogram::new(buckets::attempts());
        let requests = || Histogram::new(buckets::requests());
        Self {
            attempts: add(
                registry,
                "karmada_scheduler_schedule_attempts",
                "Attempts to schedule a binding",
                Family::default(),
            ),
            e2e_durations: add(
                registry,
                "karmada_scheduler_e2e_scheduling_duration_seconds",
                "Time from taking a binding from the queue to knowing the outcome of its write",
                Family::new_with_constructor(attempts as fn() -> Histogram),
            ),
            step_durations: add(
                registry,
                "karmada_scheduler_scheduling_algorithm_duration_seconds",
                "Time of each step of a decision",
                Family::new_with_constructor(attempts as fn() -> Histogram),
            ),
            incoming: add(
                registry,
                "karmada_scheduler_queue_incoming_bindings",
                "Bindings that entered the queue, by event",
                Family::default(),
            ),
            point_durations: add(
                registry,
                "karmada_scheduler_framework_extension_point_duration_seconds",
                "Time of all plugins of an extension point for one binding",
                Family::new_with_constructor((|| Histogram::new(buckets::extension_points())) as fn() -> Histogram),
            ),
            plugin_durations: add(
                registry,
                "karmada_scheduler_plugin_execution_duration_seconds",
                "Time of one plugin call",
                Family::new_with_constructor((|| Histogram::new(buckets::plugins())) as fn() -> Histogram),
            ),
            pending: add(
                registry,
                "scheduler_pending_bindings",
                "Bindings that wait for a decision, by part of the queue",
                Family::default(),
            ),
            plugin_rejections: add(
                registry,
                "divvy_plugin_rejections",
                "Clusters that a filter rejected, or bindings that a selector or strategy rejected",
                Family::default(),
            ),
            plugin_errors: add(
                registry,
                "divvy_plugin_errors",
                "Plugin calls that failed or returned a result that breaks a rule",
                Family::default(),
            ),
            plugin_panics: add(
                registry,
                "divvy_plugin_panics",
                "Plugin calls that panicked",
                Family::default(),
            ),
            plugin_hangs: add(
                registry,
                "divvy_plugin_hangs",
                "Plugin calls that exceeded the watchdog's limit",
                Family::default(),
            ),
            quarantined: add(
                registry,
                "divvy_plugin_quarantined",
                "1 for a plugin that is no longer called after repeated panics",
                Family::default(),
            ),
            queue_age: add(
                registry,
                "divvy_queue_age_seconds",
                "Time for which the next binding has waited",
                Gauge::default(),
            ),
            queue_waits: add(
                registry,
                "divvy_queue_wait_duration_seconds",
                "Time for which bindings waited until they were taken from the queue",
                Histogram::new(buckets::waits()),
            ),
            bindings: add(registry, "divvy_bindings", "Bindings in memory", Gauge::default()),
            clusters: add(registry, "divvy_clusters", "Clusters in memory", Gauge::default()),
            missing_clusters: add(
                registry,
                "divvy_missing_clusters",
                "Clusters that vanished without being deleted; while there are any, no replicas are taken away",
                Gauge::default(),
            ),
            unscheduled: add(
                registry,
                "divvy_unscheduled_bindings",
                "Bindings whose last decision failed, by the reason of the condition",
                Family::default(),
            ),
            missing_rights: add(
                registry,
                "divvy_missing_right",
                "1 for a right that the API server has refused for more than a minute while it answered other requests",
                Family::default(),
            ),
            profile_waiting: add(
                registry,
                "divvy_profile_waiting",
                "1 while a changed profile waits that was refused; the next start would fail with it",
                Gauge::default(),
            ),
            held_capacity: add(
                registry,
                "divvy_held_capacity",
                "Capacity that results have taken and the cluster does not report yet: thousandths for cpu, whole units for the rest",
                Family::default(),
            ),
            holdings_given_up: add(
                registry,
                "divvy_holdings_given_up",
                "Results on a cluster whose capacity was held until a time limit, because no report showed it",
                Counter::default(),
            ),
            held_back: add(
                registry,
                "divvy_held_back_decisions",
                "Decisions that were held back while clusters were missing",
                Counter::default(),
            ),
            estimates: add(
                registry,
                "divvy_estimates",
                "Estimates asked of accurate estimators, by result",
                Family::default(),
            ),
            estimate_durations: add(
                registry,
                "divvy_estimate_duration_seconds",
                "Time until the estimators of all clusters of a binding had answered or failed",
                requests(),
            ),
            write_durations: add(
                registry,
                "divvy_write_duration_seconds",
                "Time of requests that write",
                Family::new_with_constructor(requests as fn() -> Histogram),
            ),
            writes_under_way: add(
                registry,
                "divvy_writes_under_way",
                "Bindings whose result is being written",
                Gauge::default(),
            ),
            conflicts: add(
                registry,
                "divvy_write_conflicts",
                "Writes that met another version than they were made for",
                Counter::default(),
            ),
            superseded: add(
                registry,
                "divvy_superseded_decisions",
                "Decisions that were dropped because their binding changed meanwhile",
                Counter::default(),
            ),
            repairs: add(
                registry,
                "divvy_repairs",
                "Bindings whose incomplete write was completed",
                Counter::default(),
            ),
            replicas_moved: add(
                registry,
                "divvy_replicas_moved",
                "Replicas that results took from one cluster and gave to another",
                Counter::default(),
            ),
            leader: add(
                registry,
                "divvy_leader",
                "1 for the scheduler that leads",
                Gauge::default(),
            ),
            standby: add(
                registry,
                "divvy_standby",
                "1 while another process holds the lease",
                Gauge::default(),
            ),
            term: add(
                registry,
                "divvy_leader_term",
                "Number of times that this process has begun to lead",
                Gauge::default(),
            ),
            reloads: add(
                registry,
                "divvy_reloads",
                "Changed profiles, tables and plugin files, by result",
                Family::default(),
            ),
            profile: add(
                registry,
                "divvy_profile",
                "1 for the profile that decides, with a hash of its text and its plugins",
                Family::default(),
            ),
            shadow: add(
                registry,
                "divvy_shadow_decisions",
                "Decisions in shadow mode, by strategy and agreement with the scheduler in charge",
                Family::default(),
            ),
        }
    }

    /// Exposes counters before they first count, so that a rate over their first increase is not lost.
    fn begin_at_zero(&self) {
        for result in ScheduleResult::ALL {
            for schedule_type in ScheduleType::ALL {
                drop(self.attempts.get_or_create(&AttemptLabels {
                    result: result.word(),
                    schedule_type: schedule_type.word(),
                }));
            }
        }
        for event in IncomingEvent::ALL {
            drop(self.incoming.get_or_create(&EventLabels { event: event.word() }));
        }
        for part in QueuePart::ALL {
            drop(self.pending.get_or_create(&PartLabels { queue: part.word() }));
        }
        for result in ReloadResult::ALL {
            drop(self.reloads.get_or_create(&ReloadLabels { result: result.word() }));
        }
    }
}
