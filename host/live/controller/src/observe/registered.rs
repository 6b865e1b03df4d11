//! Every metric in one table: its kind, labels, buckets, name and help text.

use std::sync::atomic::AtomicU64;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Metric, Registry};

use super::buckets;
use super::labels::{
    AttemptLabels, EndLabels, EstimateLabels, EventLabels, HeldLabels, IncomingEvent, MoveLabels, OccasionLabels,
    PartLabels, PluginLabels, PointLabels, ProfileLabels, QuarantineLabels, QueuePart, ReasonLabels, ReloadLabels,
    ReloadResult, ResultLabels, RightLabels, ScheduleResult, ScheduleType, ShadowLabels, StepLabels, WriteLabels,
};

/// Type of a metric, by its kind and labels. A gauge in `seconds` is a fraction, any other a whole number.
macro_rules! metric_type {
    (counter) => { Counter };
    (gauge) => { Gauge };
    (seconds) => { Gauge<f64, AtomicU64> };
    (histogram) => { Histogram };
    (histogram $labels:ident) => { Family<$labels, Histogram, fn() -> Histogram> };
    ($kind:ident $labels:ident) => { Family<$labels, metric_type!($kind)> };
}

/// A metric that has not counted yet, by its labels and buckets.
macro_rules! metric {
    ($(by $labels:ident)?) => {
        Default::default()
    };
    (in $buckets:ident) => {
        Histogram::new(buckets::$buckets())
    };
    (by $labels:ident in $buckets:ident) => {
        Family::new_with_constructor((|| metric!(in $buckets)) as fn() -> Histogram)
    };
}

/// Declares metrics: `KIND FIELD [by LABELS] [in BUCKETS] = NAME, HELP;`.
macro_rules! metrics {
    ($( $kind:ident $field:ident $(by $labels:ident)? $(in $buckets:ident)? = $name:literal, $help:literal; )+) => {
        /// All metrics that are counted here. Those of estimators and of the process are looked up during a scrape.
        #[derive(Debug)]
        pub(super) struct Registered {
            $( pub(super) $field: metric_type!($kind $($labels)?), )+
        }

        impl Registered {
            fn register(registry: &mut Registry) -> Self {
                Self {
                    $( $field: add(registry, $name, $help, metric!($(by $labels)? $(in $buckets)?)), )+
                }
            }
        }
    };
}

// Karmada's names first, then ours. The registry adds `_total` to counters.
metrics! {
    counter attempts by AttemptLabels =
        "karmada_scheduler_schedule_attempts",
        "Attempts to schedule a binding";
    histogram e2e_durations by AttemptLabels in attempts =
        "karmada_scheduler_e2e_scheduling_duration_seconds",
        "Time from taking a binding from the queue to knowing the outcome of its write";
    histogram step_durations by StepLabels in attempts =
        "karmada_scheduler_scheduling_algorithm_duration_seconds",
        "Time of each step of a decision";
    counter incoming by EventLabels =
        "karmada_scheduler_queue_incoming_bindings",
        "Bindings that entered the queue, by event";
    histogram point_durations by PointLabels in extension_points =
        "karmada_scheduler_framework_extension_point_duration_seconds",
        "Time of all plugins of an extension point for one binding";
    histogram plugin_durations by PluginLabels in plugins =
        "karmada_scheduler_plugin_execution_duration_seconds",
        "Time of one plugin call";
    gauge pending by PartLabels =
        "scheduler_pending_bindings",
        "Bindings that wait for a decision, by part of the queue";
    counter plugin_rejections by ResultLabels =
        "divvy_plugin_rejections",
        "Clusters that a filter rejected, or bindings that a selector or strategy rejected";
    counter plugin_errors by ResultLabels =
        "divvy_plugin_errors",
        "Plugin calls that failed or returned a result that breaks a rule";
    counter plugin_panics by ResultLabels =
        "divvy_plugin_panics",
        "Plugin calls that panicked";
    counter plugin_hangs by QuarantineLabels =
        "divvy_plugin_hangs",
        "Plugin calls that exceeded the watchdog's limit";
    gauge quarantined by QuarantineLabels =
        "divvy_plugin_quarantined",
        "1 for a plugin that is no longer called after repeated panics";
    seconds queue_age =
        "divvy_queue_age_seconds",
        "Time for which the next binding has waited";
    histogram queue_waits in waits =
        "divvy_queue_wait_duration_seconds",
        "Time for which bindings waited until they were taken from the queue";
    gauge bindings =
        "divvy_bindings",
        "Bindings in memory";
    gauge clusters =
        "divvy_clusters",
        "Clusters in memory";
    gauge missing_clusters =
        "divvy_missing_clusters",
        "Clusters that vanished without being deleted; while there are any, no replicas are taken away";
    gauge unscheduled by ReasonLabels =
        "divvy_unscheduled_bindings",
        "Bindings whose last decision failed, by the reason of the condition";
    gauge missing_rights by RightLabels =
        "divvy_missing_right",
        "1 for a right that the API server has refused for more than a minute while it answered other requests";
    gauge profile_waiting =
        "divvy_profile_waiting",
        "1 while a changed profile waits that was refused; the next start would fail with it";
    gauge held_capacity by HeldLabels =
        "divvy_held_capacity",
        "Capacity that results have taken and the cluster does not report yet: thousandths for cpu, whole units for the rest";
    counter holdings_given_up =
        "divvy_holdings_given_up",
        "Results on a cluster whose capacity was held until a time limit, because no report showed it";
    counter held_back =
        "divvy_held_back_decisions",
        "Decisions that were held back while clusters were missing";
    counter estimates by EstimateLabels =
        "divvy_estimates",
        "Estimates asked of accurate estimators, by result";
    histogram estimate_durations in requests =
        "divvy_estimate_duration_seconds",
        "Time until the estimators of all clusters of a binding had answered or failed";
    histogram write_durations by WriteLabels in requests =
        "divvy_write_duration_seconds",
        "Time of requests that write";
    gauge writes_under_way =
        "divvy_writes_under_way",
        "Bindings whose result is being written";
    counter conflicts =
        "divvy_write_conflicts",
        "Writes that met another version than they were made for";
    counter superseded =
        "divvy_superseded_decisions",
        "Decisions that were dropped because their binding, or for those of a burst the clusters, changed meanwhile";
    counter repairs =
        "divvy_repairs",
        "Bindings whose incomplete write was completed";
    counter replicas_moved =
        "divvy_replicas_moved",
        "Replicas that results took from one cluster and gave to another";
    gauge moves by MoveLabels =
        "divvy_moves",
        "Bindings whose result changes in steps: under way, or waiting without a claim on budgets";
    gauge unsettled_moves =
        "divvy_unsettled_moves",
        "Moves whose result has more or fewer replicas than requested, which another scheduler would change";
    gauge move_waits by ReasonLabels =
        "divvy_move_waits",
        "Bindings whose next step waits, by what it waits for";
    gauge move_wait_seconds by ReasonLabels =
        "divvy_move_wait_seconds",
        "Longest time for which a binding's next step has waited, by what it waits for";
    counter move_writes by OccasionLabels =
        "divvy_move_writes",
        "Writes of moves: steps, what is written at once, claims that are released, ends, and what is cancelled";
    counter planned_targets by EndLabels =
        "divvy_planned_targets",
        "Bindings that have reached the target of a plan, or have left the plan";
    counter bursts by EndLabels =
        "divvy_bursts",
        "Times at which many bindings were decided at once, by a plan or one after another";
    gauge leader =
        "divvy_leader",
        "1 for the scheduler that leads";
    gauge standby =
        "divvy_standby",
        "1 while another process is seen to hold the lease: not if it has expired, cannot be read, or names this process, which lost it";
    gauge term =
        "divvy_leader_term",
        "Number of times that this process has begun to lead";
    counter reloads by ReloadLabels =
        "divvy_reloads",
        "Changed profiles, tables and plugin files, by result";
    gauge profile by ProfileLabels =
        "divvy_profile",
        "1 for the profile that decides, with a hash of its text and its plugins";
    counter shadow by ShadowLabels =
        "divvy_shadow_decisions",
        "Decisions in shadow mode, by strategy and agreement with the scheduler in charge";
}

/// Registers a metric and returns it.
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
