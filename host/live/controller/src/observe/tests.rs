//! The exposed text, read back by a small parser of the format.

mod documents;
mod parsed;

use std::sync::Arc;
use std::time::Duration;

use divvy_estimator::{Estimate, EstimatorOptions, Estimators, NoServices, Request, Target, Unanswered};

use divvy_scheduler::plugin::PluginMetrics;

use super::*;
use parsed::parse;

const TIME: Duration = Duration::from_millis(3);

/// Metrics in which each event has occurred once.
async fn everything() -> Metrics {
    let options = EstimatorOptions {
        deadline: Duration::from_millis(20),
        ..EstimatorOptions::default()
    };
    let estimators = Arc::new(Estimators::new(options, Arc::new(NoServices)));
    let request = Request::replicas(&Default::default()).expect("a request");
    let estimates = estimators.estimate(&[Target::new("m1")], &request).await;
    let metrics = Metrics::new("1.2.3", Some(estimators));
    metrics.estimates(&estimates, TIME);
    metrics.attempt(ScheduleType::Scale, ScheduleResult::Scheduled, TIME);
    metrics.step(ScheduleStep::Assign, TIME);
    metrics.incoming(IncomingEvent::BindingAdd);
    metrics.extension_point(ExtensionPoint::Filter, CallOutcome::Success, TIME);
    metrics.plugin_call("average", ExtensionPoint::Assign, CallOutcome::Panic, TIME);
    metrics.plugin_call("average", ExtensionPoint::Assign, CallOutcome::Error, TIME);
    metrics.plugin_rejections("taint-toleration", ExtensionPoint::Filter, 12);
    metrics.plugin_quarantined("average", true);
    metrics.plugin_hangs("average");
    metrics.queue_depth(QueuePart::Active, 7);
    metrics.queue_age(Duration::from_millis(1_500));
    metrics.queue_wait(TIME);
    metrics.sizes(10, 20);
    metrics.missing_clusters(2);
    let key = std::sync::Arc::new(crate::objects::BindingKey {
        scope: divvy_karmada::api::BindingScope::Namespaced,
        namespace: "shop".to_owned(),
        name: "web".to_owned(),
    });
    let part = |resources| HeldPart {
        binding: &key,
        cluster: "m1",
        began: divvy_karmada::api::Timestamp::from_seconds(0),
        resources,
    };
    metrics.held_capacity([part(vec![("cpu", 1500), ("gpu", 1)]), part(vec![("cpu", 500)])].into_iter());
    metrics.held_capacity([part(vec![("cpu", 1500)]), part(vec![("cpu", 500)])].into_iter());
    metrics.holdings_given_up(2);
    metrics.missing_right("resourcebindings", true);
    metrics.unscheduled(&BTreeMap::from([("Unschedulable", 3)]));
    metrics.profile_waiting(true);
    metrics.held_back(1);
    let mut counts = MoveCounts {
        under_way: 2,
        waiting: 1,
        unsettled: 1,
        ..MoveCounts::default()
    };
    counts.waits.insert("quota", (1, Duration::from_secs(90)));
    metrics.moves(&counts);
    metrics.move_write(Occasion::Step);
    metrics.plan_end(PlanEnd::Reached);
    metrics.burst(BurstEnd::Planned);
    metrics.write(WriteKind::Status, WriteResult::Written, TIME);
    metrics.writes_under_way(4);
    metrics.conflicts(2);
    metrics.superseded(1);
    metrics.repairs(1);
    metrics.replicas_moved(5);
    metrics.leader(Some(3));
    metrics.standby(true);
    metrics.reload(ReloadResult::Refused);
    metrics.profile("default", "abc");
    metrics.shadow("Aggregated", Agreement::Different);
    metrics.measured_by_plugins(|| {
        let counted = PluginMetrics::default();
        counted.count("cache_hits", 3).expect("it is counted");
        counted.observe("groups", 2.0).expect("it is recorded");
        counted.observe("groups", 5e6).expect("it is recorded");
        vec![
            ("zones", counted.figures()),
            ("zones", counted.figures()),
            ("silent", MetricFigures::default()),
        ]
    });
    metrics
}

#[tokio::test]
async fn the_text_parses_and_has_every_figure() {
    let metrics = everything().await;
    let parsed = parse(&metrics.render());
    for (name, labels, expected) in [
        (
            "karmada_scheduler_schedule_attempts_total",
            &[("result", "scheduled"), ("schedule_type", "ScaleSchedule")][..],
            1.0,
        ),
        (
            "karmada_scheduler_schedule_attempts_total",
            &[("result", "error"), ("schedule_type", "ReconcileSchedule")],
            0.0,
        ),
        (
            "karmada_scheduler_e2e_scheduling_duration_seconds_count",
            &[("result", "scheduled"), ("schedule_type", "ScaleSchedule")],
            1.0,
        ),
        (
            "karmada_scheduler_scheduling_algorithm_duration_seconds_sum",
            &[("schedule_step", "AssignReplicas")],
            0.003,
        ),
        (
            "karmada_scheduler_queue_incoming_bindings_total",
            &[("event", "BindingAdd")],
            1.0,
        ),
        (
            "karmada_scheduler_framework_extension_point_duration_seconds_count",
            &[("extension_point", "Filter"), ("result", "Success")],
            1.0,
        ),
        (
            "karmada_scheduler_plugin_execution_duration_seconds_count",
            &[
                ("plugin", "average"),
                ("extension_point", "Assign"),
                ("result", "Panic"),
            ],
            1.0,
        ),
        ("scheduler_pending_bindings", &[("queue", "active")], 7.0),
        ("scheduler_pending_bindings", &[("queue", "backoff")], 0.0),
        (
            "divvy_plugin_rejections_total",
            &[("plugin", "taint-toleration"), ("extension_point", "Filter")],
            12.0,
        ),
        (
            "divvy_plugin_counter_total",
            &[("plugin", "zones"), ("name", "cache_hits")],
            6.0,
        ),
        (
            "divvy_plugin_histogram_count",
            &[("plugin", "zones"), ("name", "groups")],
            4.0,
        ),
        (
            "divvy_plugin_histogram_bucket",
            &[("plugin", "zones"), ("name", "groups"), ("le", "3")],
            2.0,
        ),
        (
            "divvy_plugin_errors_total",
            &[("plugin", "average"), ("extension_point", "Assign")],
            1.0,
        ),
        (
            "divvy_plugin_panics_total",
            &[("plugin", "average"), ("extension_point", "Assign")],
            1.0,
        ),
        ("divvy_plugin_hangs_total", &[("plugin", "average")], 1.0),
        ("divvy_plugin_quarantined", &[("plugin", "average")], 1.0),
        ("divvy_queue_age_seconds", &[], 1.5),
        ("divvy_queue_wait_duration_seconds_count", &[], 1.0),
        ("divvy_bindings", &[], 10.0),
        ("divvy_clusters", &[], 20.0),
        ("divvy_missing_clusters", &[], 2.0),
        ("divvy_held_capacity", &[("cluster", "m1"), ("resource", "cpu")], 2000.0),
        ("divvy_holdings_given_up_total", &[], 2.0),
        (
            "divvy_missing_right",
            &[("resource", "resourcebindings"), ("verb", "patch")],
            1.0,
        ),
        ("divvy_unscheduled_bindings", &[("reason", "Unschedulable")], 3.0),
        ("divvy_unscheduled_bindings", &[("reason", "NoClusterFit")], 0.0),
        ("divvy_profile_waiting", &[], 1.0),
        ("divvy_held_back_decisions_total", &[], 1.0),
        ("divvy_moves", &[("state", "under_way")], 2.0),
        ("divvy_moves", &[("state", "waiting")], 1.0),
        ("divvy_unsettled_moves", &[], 1.0),
        ("divvy_move_waits", &[("reason", "quota")], 1.0),
        ("divvy_move_waits", &[("reason", "room")], 0.0),
        ("divvy_move_wait_seconds", &[("reason", "quota")], 90.0),
        ("divvy_planned_targets_total", &[("end", "reached")], 1.0),
        ("divvy_bursts_total", &[("end", "planned")], 1.0),
        ("divvy_move_writes_total", &[("occasion", "step")], 1.0),
        ("divvy_estimates_total", &[("result", "failed")], 1.0),
        ("divvy_estimate_duration_seconds_count", &[], 1.0),
        ("divvy_estimator_breaker", &[("cluster", "m1")], 0.0),
        (
            "divvy_write_duration_seconds_count",
            &[("kind", "status"), ("result", "written")],
            1.0,
        ),
        ("divvy_writes_under_way", &[], 4.0),
        ("divvy_write_conflicts_total", &[], 2.0),
        ("divvy_superseded_decisions_total", &[], 1.0),
        ("divvy_repairs_total", &[], 1.0),
        ("divvy_replicas_moved_total", &[], 5.0),
        ("divvy_leader", &[], 1.0),
        ("divvy_standby", &[], 1.0),
        ("divvy_leader_term", &[], 3.0),
        ("divvy_reloads_total", &[("result", "refused")], 1.0),
        ("divvy_reloads_total", &[("result", "applied")], 0.0),
        ("divvy_profile", &[("profile", "default"), ("hash", "abc")], 1.0),
        (
            "divvy_shadow_decisions_total",
            &[("strategy", "Aggregated"), ("agreement", "different")],
            1.0,
        ),
        ("divvy_build_info", &[("version", "1.2.3")], 1.0),
    ] {
        assert_eq!(parsed.value(name, labels), Some(expected), "{name} {labels:?}");
    }
    // It is no longer held.
    assert_eq!(
        parsed.value("divvy_held_capacity", &[("cluster", "m1"), ("resource", "gpu")]),
        None
    );
    assert!(
        parsed
            .value("process_cpu_seconds_total", &[])
            .is_some_and(|seconds| seconds >= 0.0)
    );
    assert!(
        parsed
            .value("process_resident_memory_bytes", &[])
            .is_some_and(|bytes| bytes > 1e6)
    );
}

// Written by Go's `strconv.FormatFloat`, as Prometheus' Go library does, for Karmada's `ExponentialBuckets`.
const ATTEMPT_BOUNDS: [&str; 15] = [
    "0.001", "0.002", "0.004", "0.008", "0.016", "0.032", "0.064", "0.128", "0.256", "0.512", "1.024", "2.048",
    "4.096", "8.192", "16.384",
];
const EXTENSION_POINT_BOUNDS: [&str; 12] = [
    "0.0001", "0.0002", "0.0004", "0.0008", "0.0016", "0.0032", "0.0064", "0.0128", "0.0256", "0.0512", "0.1024",
    "0.2048",
];
const PLUGIN_BOUNDS: [&str; 20] = [
    "1e-05",
    "1.5000000000000002e-05",
    "2.2500000000000005e-05",
    "3.375000000000001e-05",
    "5.062500000000001e-05",
    "7.593750000000002e-05",
    "0.00011390625000000003",
    "0.00017085937500000006",
    "0.0002562890625000001",
    "0.00038443359375000017",
    "0.0005766503906250003",
    "0.0008649755859375004",
    "0.0012974633789062506",
    "0.0019461950683593758",
    "0.0029192926025390638",
    "0.004378938903808595",
    "0.006568408355712893",
    "0.009852612533569338",
    "0.014778918800354007",
    "0.02216837820053101",
];

#[tokio::test]
async fn every_bucket_of_karmada_is_there_in_its_own_spelling() {
    let parsed = parse(&everything().await.render());
    for (name, karmadas) in [
        ("karmada_scheduler_e2e_scheduling_duration_seconds", &ATTEMPT_BOUNDS[..]),
        (
            "karmada_scheduler_scheduling_algorithm_duration_seconds",
            &ATTEMPT_BOUNDS,
        ),
        (
            "karmada_scheduler_framework_extension_point_duration_seconds",
            &EXTENSION_POINT_BOUNDS,
        ),
        ("karmada_scheduler_plugin_execution_duration_seconds", &PLUGIN_BOUNDS),
    ] {
        // The test observes each with one set of labels, except for the calls of plugins, which it observes with two.
        let bounds = parsed.bounds(name);
        for bound in karmadas.iter().copied().chain(["+Inf"]) {
            assert!(
                bounds.iter().any(|known| known == bound),
                "{name} has no bucket {bound}: {bounds:?}"
            );
        }
        let numbers: Vec<f64> = bounds.iter().map(|bound| bound.parse().expect("a number")).collect();
        assert!(numbers[0] <= 1e-6, "{name} has finer buckets: {bounds:?}");
        let first = numbers
            .iter()
            .position(|bound| *bound == f64::INFINITY)
            .expect("a last bucket");
        assert!(
            numbers[..=first].is_sorted_by(|one, other| one < other),
            "{name}: {bounds:?}"
        );
    }
}

#[test]
fn a_profile_that_was_replaced_is_no_longer_exposed() {
    let metrics = Metrics::new("1", None);
    metrics.profile("default", "a");
    metrics.profile("default", "b");
    let parsed = parse(&metrics.render());
    assert_eq!(
        parsed.value("divvy_profile", &[("profile", "default"), ("hash", "a")]),
        None
    );
    assert_eq!(
        parsed.value("divvy_profile", &[("profile", "default"), ("hash", "b")]),
        Some(1.0)
    );
}

#[test]
fn a_standby_is_not_a_leader() {
    let metrics = Metrics::new("1", None);
    metrics.leader(Some(2));
    metrics.leader(None);
    let parsed = parse(&metrics.render());
    assert_eq!(parsed.value("divvy_leader", &[]), Some(0.0));
    assert_eq!(parsed.value("divvy_leader_term", &[]), Some(2.0));
}

#[test]
fn each_kind_of_estimate_is_counted() {
    let metrics = Metrics::new("1", None);
    let estimates = [
        Estimate::Answered(1),
        Estimate::LastKnown {
            count: 1,
            age: TIME,
            cause: Unanswered::BreakerOpen,
        },
        Estimate::Absent(Unanswered::Excluded),
        Estimate::Absent(Unanswered::Declined),
        Estimate::Absent(Unanswered::BreakerOpen),
    ];
    metrics.estimates(&estimates, TIME);
    let parsed = parse(&metrics.render());
    for result in ["answered", "last_known", "excluded", "declined", "breaker_open"] {
        assert_eq!(
            parsed.value("divvy_estimates_total", &[("result", result)]),
            Some(1.0),
            "{result}"
        );
    }
}
