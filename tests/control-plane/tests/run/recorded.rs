//! Recorded decisions of Karmada's scheduler, pushed through the API server.
//!
//! Every case is a binding and a fleet. The binding is created suspended, gets its recorded status, and is then released; its
//! result must be the recorded one. Cases run one after the other, because each was recorded on an idle fleet. Cases with
//! several affinity groups are left out: the group in use is part of the status that the scheduler itself keeps.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader};

use divvy_control_plane_tests::objects::{BINDING, CLUSTER, NAMESPACE};
use divvy_control_plane_tests::scenario::{condition, result};
use divvy_control_plane_tests::users::SCHEDULER;
use divvy_control_plane_tests::{Error, Scenario, source_folder};
use flate2::read::MultiGzDecoder;
use serde_json::{Value, json};

use crate::folder;

/// Environment variable with another number of fleets of each recording, the first ones.
const FLEETS_VARIABLE: &str = "DIVVY_RECORDED_FLEETS";

/// A recording in the repository.
struct Recording {
    file: &'static str,
    /// The profile that decides as the scheduler did when it was recorded.
    profile: &'static str,
}

/// A recording: fleets by name, and cases by fleet.
#[derive(Default)]
struct Recorded {
    fleets: BTreeMap<String, Vec<Value>>,
    cases: BTreeMap<String, Vec<Value>>,
}

/// The fleets of a recording, and its cases with at most one affinity group.
fn read(file: &str) -> Recorded {
    let path = source_folder().join("../conformance").join(file);
    let file = File::open(path).expect("the recording is in the repository");
    let mut recorded = Recorded::default();
    for line in BufReader::new(MultiGzDecoder::new(file)).lines() {
        let line = line.expect("the recording is text");
        let mut record: Value = serde_json::from_str(&line).expect("every line is JSON");
        if record["kind"] == "Fleet" {
            let clusters = record["clusters"].as_array_mut().map(std::mem::take);
            recorded
                .fleets
                .insert(text(&record["name"]), clusters.unwrap_or_default());
            continue;
        }
        let groups = record.pointer("/binding/spec/placement/clusterAffinities");
        if groups.and_then(Value::as_array).is_none_or(|groups| groups.len() <= 1) {
            recorded.cases.entry(text(&record["fleet"])).or_default().push(record);
        }
    }
    recorded
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Creates the clusters of a fleet. One that was recorded while it was being deleted is deleted, which its finalizer delays.
async fn create_fleet(scenario: &Scenario, clusters: &[Value]) -> Result<(), Error> {
    for cluster in clusters {
        let mut cluster = cluster.clone();
        let metadata = &mut cluster["metadata"];
        let is_deleting = metadata["deletionTimestamp"].is_string();
        metadata["finalizers"] = json!(["karmada.io/cluster-controller"]);
        metadata["deletionTimestamp"] = Value::Null;
        metadata["resourceVersion"] = Value::Null;
        scenario.objects().create(CLUSTER, &cluster).await?;
        if is_deleting {
            scenario
                .objects()
                .delete(CLUSTER, "", &text(&cluster["metadata"]["name"]))
                .await?;
        }
    }
    Ok(())
}

/// Deletes all clusters, in the two steps that Karmada takes.
async fn delete_fleet(scenario: &Scenario) -> Result<(), Error> {
    for cluster in scenario.objects().list(CLUSTER, "").await? {
        let name = text(&cluster["metadata"]["name"]);
        scenario.objects().delete(CLUSTER, "", &name).await?;
        let release = json!({"metadata": {"finalizers": null}});
        scenario.objects().merge(CLUSTER, "", &name, &release).await?;
    }
    Ok(())
}

/// Has the scheduler decide a case. Returns the binding as it is then.
async fn decide(scenario: &Scenario, case: &Value) -> Result<Value, Error> {
    let mut binding = case["binding"].clone();
    let namespace = text(&binding["metadata"]["namespace"]);
    let name = text(&binding["metadata"]["name"]);
    let identifier = json!({"propagationpolicy.karmada.io/permanent-id": "5f0f5d3c-0000-4000-8000-000000000000"});
    binding["metadata"]["labels"] = identifier;
    binding["spec"]["schedulerName"] = "default-scheduler".into();
    binding["spec"]["suspension"] = json!({"scheduling": true});
    let objects = scenario.objects();
    objects.create(BINDING, &binding).await?;
    let release = json!({"spec": {"suspension": null}});
    objects.merge(BINDING, &namespace, &name, &release).await?;
    let decided = objects
        .wait(BINDING, &namespace, &name, "decided", |binding| {
            !condition(binding, "Scheduled").is_null()
        })
        .await?;
    objects.delete(BINDING, &namespace, &name).await?;
    Ok(decided)
}

/// The difference between a decision and the recorded one; `None` if there is none.
fn difference(case: &Value, decided: &Value) -> Option<String> {
    let reason = text(&condition(decided, "Scheduled")["reason"]);
    let (expected_reason, expected) = match case["expect"]["error"].as_str() {
        None => ("Success", result(&json!({"spec": case["expect"]}))),
        // The only failure that takes the last result away.
        Some("NoClusterFit") => ("NoClusterFit", BTreeMap::new()),
        Some(error) => (error, result(&case["binding"])),
    };
    let actual = result(decided);
    (reason != expected_reason || actual != expected).then(|| {
        format!(
            "{}: expected {expected_reason} {expected:?}, got {reason} {actual:?}: {}",
            text(&case["name"]),
            condition(decided, "Scheduled")["message"]
        )
    })
}

#[tokio::test]
async fn recorded_cases_end_in_the_recorded_clusters() -> Result<(), Error> {
    push(&Recording {
        file: "karmada-parity.jsonl.gz",
        profile: "karmada",
    })
    .await
}

#[tokio::test]
async fn recorded_cases_of_odd_shapes_end_in_the_recorded_clusters() -> Result<(), Error> {
    push(&Recording {
        file: "karmada-parity-odd.jsonl.gz",
        profile: "karmada",
    })
    .await
}

#[tokio::test]
async fn recorded_cases_of_components_end_in_the_recorded_clusters() -> Result<(), Error> {
    push(&Recording {
        file: "karmada-parity-components.jsonl.gz",
        profile: "karmada-alpha",
    })
    .await
}

#[tokio::test]
async fn recorded_cases_of_large_fleets_end_in_the_recorded_clusters() -> Result<(), Error> {
    push(&Recording {
        file: "karmada-parity-large.jsonl.gz",
        profile: "karmada",
    })
    .await
}

/// Pushes the cases of a recording through the API server, and compares their results.
async fn push(recording: &Recording) -> Result<(), Error> {
    let recorded = read(recording.file);
    let folder = folder()?;
    let mut scenario = Scenario::new(folder.path(), &[]).await?;
    let mut configuration = scenario.configuration(SCHEDULER);
    configuration.profile = recording.profile.into();
    scenario.start_scheduler_with(&configuration)?;
    let mut namespaces = BTreeSet::from(["default".to_owned()]);
    let (mut decided, mut with_clusters, mut different) = (0, 0, Vec::new());
    let fleets = match std::env::var(FLEETS_VARIABLE) {
        Ok(number) => number.parse().expect("DIVVY_RECORDED_FLEETS is a number"),
        // Every recorded case is decided offline, too.
        Err(_) => divvy_built::cases(1, 10),
    };
    let start = std::time::Instant::now();
    for (fleet, cases) in recorded.cases.iter().take(fleets) {
        create_fleet(&scenario, &recorded.fleets[fleet]).await?;
        for case in cases {
            let namespace = text(&case["binding"]["metadata"]["namespace"]);
            if namespaces.insert(namespace.clone()) {
                let namespace = json!({"metadata": {"name": namespace}});
                scenario.objects().create(NAMESPACE, &namespace).await?;
            }
            let binding = decide(&scenario, case).await?;
            different.extend(difference(case, &binding));
            decided += 1;
            with_clusters += usize::from(!result(&binding).is_empty());
        }
        delete_fleet(&scenario).await?;
    }
    let total: usize = recorded.cases.values().map(Vec::len).sum();
    eprintln!(
        "{}: {decided} of {total} recorded cases with one affinity group were decided in {:?}",
        recording.file,
        start.elapsed()
    );
    assert!(
        decided > 10 * fleets.min(recorded.cases.len()) && with_clusters * 3 > decided,
        "{decided}, {with_clusters} with clusters"
    );
    assert!(
        different.is_empty(),
        "{} of {decided} differ:\n{}",
        different.len(),
        different.join("\n")
    );
    Ok(())
}

#[test]
fn a_decision_that_differs_from_the_recorded_one_is_noticed() {
    let decided = |reason: &str, clusters: Value| {
        json!({
            "spec": {"clusters": clusters},
            "status": {"conditions": [{"type": "Scheduled", "reason": reason}]},
        })
    };
    let result = json!([{"name": "a", "replicas": 2}]);
    let before = json!({"spec": {"clusters": [{"name": "z", "replicas": 1}]}});
    let success = json!({"binding": before, "expect": {"clusters": result}});
    assert_eq!(difference(&success, &decided("Success", result.clone())), None);
    assert!(difference(&success, &decided("Success", json!([{"name": "a", "replicas": 3}]))).is_some());
    assert!(difference(&success, &decided("Unschedulable", result.clone())).is_some());
    let failure = json!({"binding": before, "expect": {"error": "Unschedulable"}});
    assert_eq!(
        difference(&failure, &decided("Unschedulable", before["spec"]["clusters"].clone())),
        None
    );
    assert!(difference(&failure, &decided("Unschedulable", Value::Null)).is_some());
    let nowhere = json!({"binding": before, "expect": {"error": "NoClusterFit"}});
    assert_eq!(difference(&nowhere, &decided("NoClusterFit", Value::Null)), None);
    assert!(difference(&nowhere, &decided("NoClusterFit", result)).is_some());
}
