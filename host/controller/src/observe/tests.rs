//! The exposed text, read back by a small parser of the format.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use divvy_estimator::{Estimate, EstimatorOptions, Estimators, NoServices, Request, Target, Unanswered};

use super::*;

/// A line: name, labels, value.
type Sample = (String, BTreeMap<String, String>, f64);

/// A text that was parsed: metric families with their types, and samples.
struct Parsed {
    families: BTreeMap<String, String>,
    samples: Vec<Sample>,
}

/// Parses the text and panics at whatever the format does not allow.
fn parse(text: &str) -> Parsed {
    let mut parsed = Parsed {
        families: BTreeMap::new(),
        samples: Vec::new(),
    };
    let body = text.strip_suffix("# EOF\n").expect("the text ends with `# EOF`");
    let mut helps = BTreeSet::new();
    for line in body.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            let (name, text) = help.split_once(' ').expect("a help text");
            assert!(!text.is_empty() && helps.insert(name.to_owned()), "{line}");
        } else if let Some(family) = line.strip_prefix("# TYPE ") {
            let (name, kind) = family.split_once(' ').expect("a type");
            assert!(helps.contains(name), "{name} has no help text");
            let previous = parsed.families.insert(name.to_owned(), kind.to_owned());
            assert!(previous.is_none(), "{name} occurs twice");
        } else {
            parsed.samples.push(sample(line));
        }
    }
    for (name, _, _) in &parsed.samples {
        assert!(parsed.family_of(name).is_some(), "{name} has no type");
    }
    parsed
}

fn sample(line: &str) -> Sample {
    let (series, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("no value: {line}"));
    let value = value.parse().unwrap_or_else(|error| panic!("{line}: {error}"));
    let Some((name, labels)) = series.split_once('{') else {
        return (series.to_owned(), BTreeMap::new(), value);
    };
    let labels = labels
        .strip_suffix('}')
        .unwrap_or_else(|| panic!("labels do not end: {line}"));
    let labels = labels.split(',').filter(|label| !label.is_empty()).map(|label| {
        let (name, value) = label.split_once('=').unwrap_or_else(|| panic!("no label: {line}"));
        let value = value.trim_matches('"');
        (name.to_owned(), value.to_owned())
    });
    (name.to_owned(), labels.collect(), value)
}

impl Parsed {
    fn family_of(&self, sample: &str) -> Option<&str> {
        let bases = ["", "_total", "_bucket", "_sum", "_count", "_info"].map(|suffix| sample.strip_suffix(suffix));
        bases.into_iter().flatten().find_map(|base| {
            let (name, _) = self.families.get_key_value(base)?;
            Some(name.as_str())
        })
    }

    /// The value of the series with exactly these labels.
    fn value(&self, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
        let wanted: BTreeMap<String, String> = labels
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let found = self
            .samples
            .iter()
            .find(|(known, labels, _)| known == name && *labels == wanted);
        found.map(|(_, _, value)| *value)
    }

    fn bounds(&self, name: &str) -> Vec<String> {
        let bucket = format!("{name}_bucket");
        let buckets = self.samples.iter().filter(|(known, _, _)| *known == bucket);
        buckets.map(|(_, labels, _)| labels["le"].clone()).collect()
    }
}

const TIME: Duration = Duration::from_millis(3);

/// Metrics of which each has happened once.
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
    metrics.held_back(1);
    metrics.write(WriteKind::Status, WriteResult::Written, TIME);
    metrics.writes_under_way(4);
    metrics.conflicts(2);
    metrics.superseded(1);
    metrics.repairs(1);
    metrics.replicas_moved(5);
    metrics.leader(Some(3));
    metrics.reload(ReloadResult::Refused);
    metrics.profile("default", "abc");
    metrics.shadow("Aggregated", false);
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
        ("divvy_held_back_decisions_total", &[], 1.0),
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

impl Parsed {
    /// The family of a name as queries use it: with the suffix that its type requires.
    fn exposes(&self, name: &str) -> bool {
        let suffixes: [(&str, &[&str]); 4] = [
            ("counter", &["_total"]),
            ("gauge", &[""]),
            ("histogram", &["_bucket", "_count", "_sum"]),
            ("info", &["_info"]),
        ];
        suffixes.iter().any(|(kind, suffixes)| {
            suffixes.iter().any(|suffix| {
                let family = name.strip_suffix(suffix).and_then(|family| self.families.get(family));
                family.is_some_and(|known| known == kind)
            })
        })
    }

    /// Every family under the name that a person looks for.
    fn names(&self) -> BTreeSet<String> {
        let names = self.families.iter().map(|(name, kind)| match kind.as_str() {
            "counter" => format!("{name}_total"),
            "info" => format!("{name}_info"),
            _ => name.clone(),
        });
        names.collect()
    }
}

/// A file of the folder for operators.
fn deployed(file: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples/deploy")
        .join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Names of metrics in a query, by their prefixes.
fn queried(query: &str) -> impl Iterator<Item = &str> {
    let words = query.split(|character: char| !character.is_ascii_alphanumeric() && character != '_');
    let prefixes = ["divvy_", "karmada_", "scheduler_", "process_"];
    words.filter(move |word| prefixes.iter().any(|prefix| word.starts_with(prefix)))
}

/// Every text under a key, anywhere in a document.
fn texts<'a>(document: &'a serde_json::Value, key: &str, found: &mut Vec<&'a str>) {
    match document {
        serde_json::Value::Object(fields) => {
            for (name, value) in fields {
                match value.as_str() {
                    Some(text) if name == key => found.push(text),
                    _ => texts(value, key, found),
                }
            }
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| texts(item, key, found)),
        _ => {}
    }
}

#[tokio::test]
async fn the_page_for_operators_lists_exactly_what_is_exposed() {
    let parsed = parse(&everything().await.render());
    let page = deployed("METRICS.md");
    let rows = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    let listed: BTreeSet<String> = rows
        .map(|(name, _)| name.to_owned())
        .filter(|name| queried(name).next().is_some())
        .collect();
    assert_eq!(listed, parsed.names());
}

#[tokio::test]
async fn every_metric_of_the_dashboard_exists() {
    let parsed = parse(&everything().await.render());
    let dashboard: serde_json::Value = serde_json::from_str(&deployed("monitoring/dashboard.json")).expect("JSON");
    let mut queries = Vec::new();
    texts(&dashboard, "expr", &mut queries);
    texts(&dashboard, "definition", &mut queries);
    assert!(queries.len() > 30, "the dashboard has {} queries", queries.len());
    let mut used = BTreeSet::new();
    for query in queries {
        let names: Vec<&str> = queried(query).collect();
        assert!(!names.is_empty(), "{query}");
        for name in names {
            assert!(parsed.exposes(name), "`{name}` does not exist: {query}");
            used.insert(name.to_owned());
        }
    }
    // Every metric is on the dashboard, so that none is exposed in vain.
    for name in parsed.names() {
        assert!(
            used.iter().any(|known| known.starts_with(&name)),
            "`{name}` is not on the dashboard"
        );
    }
}

#[tokio::test]
async fn every_metric_of_the_alerts_exists() {
    let parsed = parse(&everything().await.render());
    let alerts = deployed("monitoring/alerts.yaml");
    let queries: Vec<&str> = alerts
        .lines()
        .filter_map(|line| line.trim().strip_prefix("expr: "))
        .collect();
    assert_eq!(
        queries.len(),
        alerts.matches("- alert: ").count(),
        "each alert has its query on one line"
    );
    for query in queries {
        let names: Vec<&str> = queried(query).collect();
        assert!(!names.is_empty(), "{query}");
        for name in names {
            assert!(parsed.exposes(name), "`{name}` does not exist: {query}");
        }
    }
}
