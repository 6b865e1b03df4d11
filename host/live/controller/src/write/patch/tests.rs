//! The bodies of patches, as tables.

use std::sync::Arc;

use divvy_karmada::api::{ResourceBindingStatus, TargetCluster, Timestamp};
use serde_json::{Value, json};

use super::{is_applied, specification_patch, status_patch};
use crate::condition::{SUCCESS_MESSAGE, ScheduledReason};
use crate::objects::{Kind, Object};
use crate::store::BindingStore;
use crate::write::{SpecificationPatch, StatusWanted, WriteJob};

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn success() -> StatusWanted {
    StatusWanted {
        condition: Some((ScheduledReason::Success, SUCCESS_MESSAGE.to_owned())),
        observes: true,
        notes_generation: false,
        scheduled_at: Some(time("2026-01-01T00:00:10Z")),
        stamps: false,
        affinity: None,
        now: time("2026-01-01T00:00:11Z"),
    }
}

fn job(clusters: Vec<TargetCluster>) -> (WriteJob, SpecificationPatch) {
    let patch = SpecificationPatch {
        clusters: Some(clusters),
        applied_placement: Some("{}".to_owned()),
        applied_policy: Some(None),
        ..SpecificationPatch::default()
    };
    let metadata = json!({"namespace": "default", "name": "web", "uid": "u", "generation": 1, "resourceVersion": "7"});
    let object = serde_json::from_value(json!({"metadata": metadata})).unwrap();
    let Ok(Object::Binding(document)) = Object::read(Kind::Binding, object) else {
        panic!("it is a binding");
    };
    let mut store = BindingStore::default();
    let (key, _) = store.upsert(*document, true, false);
    let job = WriteJob {
        span: tracing::Span::none(),
        base: Arc::new(store.stored(&key, None).unwrap()),
        key,
        term: crate::lease::Term(1),
        specification: Some(patch.clone()),
        status: success(),
        is_step: false,
    };
    (job, patch)
}

fn status(status: &Value) -> ResourceBindingStatus {
    serde_json::from_value(status.clone()).unwrap()
}

fn target(name: &str, replicas: i32) -> TargetCluster {
    TargetCluster {
        name: name.to_owned(),
        replicas,
        ..TargetCluster::default()
    }
}

#[test]
fn a_result_is_one_patch_with_its_annotations_and_preconditions() {
    let (job, patch) = job(vec![target("m1", 2)]);
    let expected = json!({
        "metadata": {
            "uid": "u",
            "resourceVersion": "7",
            "annotations": {"policy.karmada.io/applied-placement": "{}", "divvy.io/applied-policy": null},
        },
        "spec": {"clusters": [{"name": "m1", "replicas": 2}]},
    });
    assert_eq!(specification_patch(&job, &patch, "7"), expected);
}

#[test]
fn no_result_is_null() {
    let (job, patch) = job(Vec::new());
    assert_eq!(
        specification_patch(&job, &patch, "7")["spec"],
        json!({"clusters": null})
    );
}

#[test]
fn the_status_is_one_patch_that_keeps_the_conditions_of_others() {
    // An empty message is required like any other.
    let current = json!({"conditions": [
        {"type": "FullyApplied", "status": "True", "reason": "FullyAppliedSuccess", "message": "", "lastTransitionTime": "2025-01-01T00:00:00Z"},
        {"type": "Other", "status": "False", "reason": "Else", "message": "z", "observedGeneration": 3, "lastTransitionTime": "2025-01-01T00:00:00Z"},
        {"type": "Scheduled", "status": "False", "reason": "Unschedulable", "message": "x", "lastTransitionTime": "2025-01-01T00:00:00Z"},
    ]});
    let expected = json!({
        "metadata": {"uid": "u", "resourceVersion": "8"},
        "status": {
            "conditions": [
                current["conditions"][0],
                current["conditions"][1],
                {"type": "Scheduled", "status": "True", "reason": "Success", "message": SUCCESS_MESSAGE, "lastTransitionTime": "2026-01-01T00:00:11Z"},
            ],
            "schedulerObservedGeneration": 2,
            "lastScheduledTime": "2026-01-01T00:00:10Z",
        },
    });
    assert_eq!(status_patch("u", "8", 2, &status(&current), &success()), Some(expected));
}

#[test]
fn nothing_is_written_that_is_there_already() {
    let current = json!({
        "conditions": [{"type": "Scheduled", "status": "True", "reason": "Success", "message": SUCCESS_MESSAGE, "lastTransitionTime": "2025-01-01T00:00:00Z"}],
        "schedulerObservedGeneration": 2,
        "lastScheduledTime": "2025-01-01T00:00:00Z",
    });
    assert_eq!(status_patch("u", "8", 2, &status(&current), &success()), None);
    // A request that was answered is recorded even if nothing else changes.
    let answering = StatusWanted {
        stamps: true,
        ..success()
    };
    let patch = status_patch("u", "8", 2, &status(&current), &answering).unwrap();
    assert_eq!(patch["status"], json!({"lastScheduledTime": "2026-01-01T00:00:10Z"}));
}

#[test]
fn a_generation_that_is_not_observed_yet_is_noted_in_the_condition() {
    let noting = StatusWanted {
        observes: false,
        notes_generation: true,
        scheduled_at: None,
        ..success()
    };
    let current = |noted: i64| {
        json!({"conditions": [
            {"type": "Scheduled", "status": "True", "reason": "Success", "message": success().condition.unwrap().1,
             "observedGeneration": noted, "lastTransitionTime": "2025-01-01T00:00:00Z"},
        ]})
    };
    let patch = status_patch("u", "8", 7, &status(&current(6)), &noting).unwrap();
    assert_eq!(patch["status"], current(7));
    assert_eq!(status_patch("u", "8", 7, &status(&current(7)), &noting), None);
    let observing = StatusWanted {
        observes: true,
        notes_generation: false,
        ..noting
    };
    let patch = status_patch("u", "8", 7, &status(&current(7)), &observing).unwrap();
    assert_eq!(patch["status"], json!({"schedulerObservedGeneration": 7}));
}

#[test]
fn a_condition_keeps_its_transition_while_its_status_stays() {
    let current = json!({"conditions": [
        {"type": "Scheduled", "status": "False", "reason": "Unschedulable", "message": "x", "lastTransitionTime": "2025-01-01T00:00:00Z"},
    ]});
    let failed = StatusWanted {
        condition: Some((ScheduledReason::NoClusterFit, "y".to_owned())),
        observes: false,
        notes_generation: false,
        scheduled_at: None,
        ..success()
    };
    let patch = status_patch("u", "8", 2, &status(&current), &failed).unwrap();
    assert_eq!(
        patch["status"],
        json!({"conditions": [
            {"type": "Scheduled", "status": "False", "reason": "NoClusterFit", "message": "y", "lastTransitionTime": "2025-01-01T00:00:00Z"},
        ]})
    );
}

#[test]
fn a_patch_that_was_applied_is_recognised() {
    let (_, patch) = job(vec![target("m1", 2)]);
    let metadata = |annotations: Value| serde_json::from_value(json!({"annotations": annotations})).unwrap();
    let applied = json!({"policy.karmada.io/applied-placement": "{}"});
    let clusters = [target("m1", 2)];
    assert!(is_applied(&patch, &metadata(applied.clone()), &clusters));
    assert!(!is_applied(&patch, &metadata(json!({})), &clusters));
    assert!(!is_applied(&patch, &metadata(applied.clone()), &[]));
    let mut further = applied.clone();
    further["divvy.io/applied-policy"] = json!("{}");
    assert!(!is_applied(&patch, &metadata(further), &clusters));
    let (_, none) = job(Vec::new());
    assert!(is_applied(&none, &metadata(applied), &[]));
}
