//! Inputs and answers of any plugin: preferences, metadata, priority, the time, and the deadline of an answer. Tested with
//! libraries from outside the workspace.

use divvy_recordings::{CaseRunner, Expectation, recorded_case, recorded_fleet, recorded_header};
use divvy_scheduler::decision::{Decision, Scheduler, decide};
use serde_json::{Value, json};

use crate::artifacts::fixture;
use crate::manifests::{binding, cluster, list};
use crate::scheduling::{Host, configuration, name_libraries, read, told};

/// A point in time, in milliseconds since 1970.
const NOON: i64 = 1_800_000_000_000;
const HOUR: i64 = 3_600_000;

/// The lines of a profile that uses the filter and score `windows`.
const LINES: &str = "filters = ['windows', 'cluster-affinity']\nscores = [{ plugin = 'windows', weight = 1 }]\n";

/// The preferences that close a region for the hour after noon.
fn closed(region: &str) -> Value {
    json!({ "closed": [{ "region": region, "from": NOON, "until": NOON + HOUR }] })
}

fn clusters() -> [Value; 2] {
    [cluster("a", 4).region("eu").into(), cluster("b", 4).region("us").into()]
}

/// The decisions on these objects and the two clusters, as of a time.
fn decided(host: &Host, objects: impl IntoIterator<Item = Value>, time: Option<i64>) -> Vec<Decision> {
    let (bindings, fleet) = read(&list(clusters().into_iter().chain(objects)));
    let mut scheduler = host.scheduler().deciding_at(time).explaining(true);
    decide(&mut scheduler, &bindings, &fleet)
}

/// The decision on a binding, and the time until which it holds.
fn told_at(host: &Host, object: Value, time: Option<i64>) -> (String, Option<i64>) {
    let decisions = decided(host, [object], time);
    (told(&decisions[0]), decisions[0].valid_until)
}

fn web() -> crate::manifests::Binding {
    binding("web", 2)
        .strategy("Duplicated")
        .annotation("divvy.io/preferences.windows", &closed("eu").to_string())
}

#[test]
fn a_filter_reads_its_preferences_the_time_and_the_priority() {
    let host = Host::extending(LINES);
    let both = "a=2 b=2".to_owned();
    let cases = [
        (NOON - HOUR, both.clone(), Some(NOON)),
        (NOON, "b=2".to_owned(), Some(NOON + HOUR)),
        (NOON + HOUR - 1, "b=2".to_owned(), Some(NOON + HOUR)),
        (NOON + HOUR, both.clone(), None),
    ];
    for (time, result, valid_until) in cases {
        assert_eq!(
            told_at(&host, web().into(), Some(time)),
            (result, valid_until),
            "{time}"
        );
    }
    let urgent = web().spec("schedulePriority", json!({ "priority": 100 }));
    assert_eq!(told_at(&host, urgent.into(), Some(NOON)), (both, None));
    // A failure holds for a limited time as well.
    let eu =
        json!({ "fieldSelector": { "matchExpressions": [{ "key": "region", "operator": "In", "values": ["eu"] }] } });
    let (result, valid_until) = told_at(&host, web().placement("clusterAffinity", eu).into(), Some(NOON));
    assert!(result.starts_with("NoClusterFit: "), "{result}");
    assert_eq!(valid_until, Some(NOON + HOUR));
}

/// A policy with the labels, and the workload that it claims.
fn policy_and_workload(labels: Value, annotations: Value) -> [Value; 2] {
    [
        json!({
            "apiVersion": "policy.karmada.io/v1alpha1",
            "kind": "PropagationPolicy",
            "metadata": {
                "name": "policy",
                "namespace": "default",
                "labels": labels,
                "annotations": { "divvy.io/preferences.windows": closed("nowhere").to_string() },
            },
            "spec": {
                "resourceSelectors": [{ "apiVersion": "apps/v1", "kind": "Deployment" }],
                "placement": { "spreadConstraints": [{ "spreadByField": "cluster", "maxGroups": 1 }] },
            },
        }),
        json!({
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": { "name": "web", "namespace": "default", "annotations": annotations },
            "spec": { "replicas": 1 },
        }),
    ]
}

#[test]
fn a_score_reads_labels_of_the_policy_and_annotations_of_the_workload() {
    let host = Host::extending(LINES);
    for (labels, annotations, expected) in [
        (json!({ "home": "us" }), json!({ "home": "eu" }), "b=1"),
        (json!({ "home": "eu" }), json!({ "home": "us" }), "a=1"),
        (json!({}), json!({ "home": "us" }), "b=1"),
    ] {
        let decisions = decided(&host, policy_and_workload(labels, annotations), Some(NOON));
        assert_eq!(told(&decisions[0]), expected);
        assert_eq!(decisions[0].valid_until, Some(NOON + HOUR));
    }
    // An unknown value is not the same as an empty one.
    let note = |decision: &Decision| {
        let explanation = decision.explanation.as_ref().expect("it was requested");
        let note = explanation.notes.iter().find(|note| note.plugin == "windows");
        note.expect("the plugin says what it saw").text.clone()
    };
    let unknown = decided(&host, [binding("web", 1).into()], Some(NOON));
    assert_eq!(note(&unknown[0]), "policy None, workload None");
    let empty = decided(&host, policy_and_workload(json!({}), json!({})), Some(NOON));
    let said = note(&empty[0]);
    assert!(
        said.ends_with("workload Some(Metadata { labels: [], annotations: [] })"),
        "{said}"
    );
}

#[test]
fn what_is_not_declared_cannot_be_read() {
    let profile = |reads: &str| {
        Host::extending(&format!(
            "filters = ['curious']\n[profile.plugin.curious]\npath = '{}'\nconfiguration = {{ reads = '{reads}' }}\n",
            fixture("windows").display()
        ))
    };
    for (reads, value, need) in [
        ("time", "the time of the decision", "time"),
        ("priority", "the priority of the binding", "metadata"),
        ("policy", "the metadata of the policy", "metadata"),
        ("workload", "the metadata of the workload", "metadata"),
    ] {
        let (told, _) = told_at(&profile(reads), binding("web", 2).into(), Some(NOON));
        let expected = format!("Error: plugin `curious` failed: reads {value} without declaring `Needs::{need}`");
        assert_eq!(told, expected);
    }
    let declared = profile("declared-time");
    assert_eq!(told_at(&declared, binding("web", 2).into(), Some(NOON)).0, "a=2 b=2");
    assert_eq!(
        told_at(&declared, binding("web", 2).into(), None).0,
        "Error: plugin `curious` needs the time of the decision, which is not known"
    );
}

#[test]
fn invalid_preferences_name_policy_annotation_plugin_and_path() {
    let host = Host::extending(LINES);
    let wrong = json!({ "closed": [{ "region": "eu", "from": "noon", "until": 1 }] });
    let mut objects = policy_and_workload(json!({}), json!({}));
    objects[0]["metadata"]["annotations"]["divvy.io/preferences.windows"] = wrong.to_string().into();
    let decisions = decided(&host, objects, Some(NOON));
    assert_eq!(
        told(&decisions[0]),
        "Error: PropagationPolicy default/policy's `divvy.io/preferences.windows`: plugin `windows`: closed[0].from: \
         expected a whole number from -9223372036854775808 to 9223372036854775807, got the string \"noon\""
    );
    // A plugin that reads none refuses all, by the same rule.
    let affinity = binding("web", 2).annotation("divvy.io/preferences.cluster-affinity", r#"{"strict": true}"#);
    assert_eq!(
        told_at(&host, affinity.into(), Some(NOON)).0,
        "Error: the binding's `divvy.io/preferences.cluster-affinity`: plugin `cluster-affinity`: unknown key `strict`"
    );
}

#[test]
fn preferences_for_the_strategys_plugin_are_given_once() {
    let host = Host::extending(LINES);
    let twice = binding("web", 2)
        .strategy("Average")
        .preferences(&json!({}))
        .annotation("divvy.io/preferences.average", "{}");
    assert_eq!(
        told_at(&host, twice.into(), Some(NOON)).0,
        "Error: preferences for the plugin `average` are given twice: in the binding's `divvy.io/preferences` and in the \
         binding's `divvy.io/preferences.average`"
    );
    let weights = crate::manifests::weights([("a", 1), ("b", 3)]);
    let once = binding("web", 4)
        .strategy("StaticWeight")
        .annotation("divvy.io/preferences.static-weight", &weights.to_string());
    assert_eq!(told_at(&host, once.into(), Some(NOON)).0, "a=1 b=3");
}

#[test]
fn preferences_for_an_unknown_plugin_are_a_warning_with_the_nearest_name() {
    let host = Host::extending(LINES);
    let misspelt = binding("web", 2).annotation("divvy.io/preferences.window", "{}");
    let decisions = decided(&host, [misspelt.into()], Some(NOON));
    assert_eq!(told(&decisions[0]), "a=2 b=2");
    let plan = decisions[0].plan.as_ref().as_ref().expect("it has a plan");
    let [warning] = plan.warnings.as_slice() else {
        panic!("expected one warning: {:?}", plan.warnings);
    };
    assert_eq!(
        warning.message,
        "the binding's `divvy.io/preferences.window`: the profile has no plugin `window`; ignoring it"
    );
    assert_eq!(
        warning.hint.as_deref(),
        Some("did you mean `divvy.io/preferences.windows`?")
    );
}

/// A replay sees what was seen, time and metadata included; without the time it decides nothing.
#[test]
fn a_recording_has_everything_that_plugins_saw() {
    let mut configuration = configuration(&format!("extends = 'default'\n{LINES}"));
    name_libraries(&mut configuration);
    let host = Host::new(&configuration, &divvy_loader::PluginDirectories::default()).expect("a profile");
    let objects = list(
        clusters()
            .into_iter()
            .chain(policy_and_workload(json!({}), json!({ "home": "us" }))),
    );
    let (manifests, detected) = crate::scheduling::detected(&objects);
    let (_, fleet) = read(&objects);
    let mut scheduler = Scheduler::new(host.shared()).deciding_at(Some(NOON));
    let decision = scheduler.schedule(&detected.bindings[0], &fleet);
    assert_eq!(told(&decision), "b=1");
    let expect = Expectation::from_counts([("b", 1)].into_iter());
    let objects = manifests.clusters.iter().map(|cluster| cluster.object.clone());
    let lines = [
        recorded_header(host.profile(), &configuration).expect("the profile is TOML"),
        recorded_fleet("fleet", objects.collect()).expect("it is JSON"),
        recorded_case(&detected.bindings[0], &decision, "fleet", expect.clone()).expect("it is JSON"),
    ];
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), lines.join("\n")).expect("the recording can be written");
    let mut recording = divvy_recordings::read_recording(file.path()).expect("the recording can be read");
    let mut runner = CaseRunner::new(host.shared());
    let case = &mut recording.cases[0];
    assert_eq!(case.time, Some(NOON));
    let prepared = runner.prepare(case);
    assert_eq!(runner.decide(&prepared, &fleet), (expect, String::new()));
    // A recording of an older version has no time.
    case.time = None;
    let prepared = runner.prepare(case);
    let error = runner
        .try_decide(&prepared, &fleet)
        .expect_err("the plugin needs the time");
    assert_eq!(
        error.to_string(),
        "plugin `windows` needs the time of the decision, which is not known"
    );
}
