//! The rules as tables: a binding, and the reason to decide it.

use divvy_karmada::api::{Placement, ResourceBinding};
use serde_json::{Value, json};

use super::{Reason, Standing, Sum, reason_to_decide};
use crate::decide::policy::{AppliedPolicy, Request};

/// Changes to a satisfied binding: JSON pointers and their new values. `/applied` is the applied placement as an object.
fn reason(changes: Value, is_pending: bool, policy: Request, applied: Option<AppliedPolicy>) -> Option<Reason> {
    reason_with_room(changes, is_pending, policy, applied, false)
}

/// As [`reason`]; `has_room_grown` is true if a cluster may have more room.
fn reason_with_room(
    changes: Value,
    is_pending: bool,
    policy: Request,
    applied: Option<AppliedPolicy>,
    has_room_grown: bool,
) -> Option<Reason> {
    let placement = json!({"clusterAffinity": {"clusterNames": ["m1", "m2"]},
        "replicaScheduling": {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted"}});
    let mut value = json!({
        "placement": placement,
        "applied": placement,
        "binding": {
            "metadata": {"annotations": {}},
            "spec": {"replicas": 3, "clusters": [{"name": "m1", "replicas": 1}, {"name": "m2", "replicas": 2}]},
            "status": {},
        },
    });
    for (path, change) in changes.as_object().unwrap() {
        match value.pointer_mut(path) {
            Some(value) => *value = change.clone(),
            None => {
                let (parent, key) = path.rsplit_once('/').unwrap();
                value.pointer_mut(parent).unwrap()[key] = change.clone();
            }
        }
    }
    let applied_placement = match &value["applied"] {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        applied => Some(applied.to_string()),
    };
    let binding: ResourceBinding = serde_json::from_value(value["binding"].clone()).unwrap();
    let placement: Placement = serde_json::from_value(value["placement"].clone()).unwrap();
    let standing = Standing {
        replicas: binding.spec.replicas.unwrap_or(0).into(),
        last: &binding.spec.clusters,
        observed_affinity: &binding.status.scheduler_observed_affinity_name,
        own: &Request::from_annotations(&binding.metadata.annotations),
        placement: &placement,
        placement_text: &value["placement"].to_string(),
        applied_placement: applied_placement.as_deref(),
        sum: Sum::from_placement(&placement),
        policy: &policy,
        applied: applied.as_ref(),
        is_reschedule_pending: is_pending,
        time: Some(1000),
        is_moved_by_clusters: false,
        has_room_grown,
        is_moving: value["isMoving"] == true,
    };
    reason_to_decide(&standing, |name| name == "gone")
}

#[track_caller]
fn check(changes: Value, expected: Option<Reason>) {
    assert_eq!(
        reason(changes.clone(), false, Request::default(), None),
        expected,
        "{changes}"
    );
}

fn groups(first: &str, second: &str) -> Value {
    json!([{"affinityName": "one", "clusterNames": [first]}, {"affinityName": "two", "clusterNames": [second]}])
}

#[test]
fn a_satisfied_binding_is_left_alone() {
    check(json!({}), None);
}

/// A result on the way to another one need not add up. Every other rule applies.
#[test]
fn a_binding_on_its_way_is_decided_for_other_reasons_than_its_sum() {
    let five = json!({"/binding/spec/replicas": 5});
    check(five, Some(Reason::ReplicasChanged));
    check(json!({"/binding/spec/replicas": 5, "/isMoving": true}), None);
    let deleting = json!({"/binding/spec/clusters/0/name": "gone", "/isMoving": true});
    check(deleting, Some(Reason::ClusterDeleting));
}

#[test]
fn a_changed_placement_decides() {
    let changed = Some(Reason::PlacementChanged);
    check(json!({"/applied": null}), changed);
    check(json!({"/applied": ""}), changed);
    check(json!({"/placement/clusterAffinity": {"clusterNames": ["m1"]}}), changed);
    check(
        json!({"/placement/clusterTolerations": [{"key": "x", "operator": "Exists"}]}),
        changed,
    );
    check(
        json!({"/placement/spreadConstraints": [{"spreadByField": "cluster", "minGroups": 1}]}),
        changed,
    );
    check(
        json!({"/placement/replicaScheduling/replicaDivisionPreference": "Aggregated"}),
        changed,
    );
    // The order of keys is not a difference.
    check(
        json!({"/applied": r#"{"replicaScheduling":{"replicaDivisionPreference":"Weighted","replicaSchedulingType":"Divided"},"clusterAffinity":{"clusterNames":["m1","m2"]}}"#}),
        None,
    );
}

#[test]
fn an_unreadable_annotation_counts_as_unchanged() {
    check(json!({"/applied": "{"}), None);
    check(json!({"/applied": "[]"}), None);
}

#[test]
fn only_the_observed_one_of_several_groups_counts() {
    let placement =
        |groups: Value| json!({"clusterAffinities": groups, "replicaScheduling": {"replicaSchedulingType": "Divided"}});
    let cases = [
        // Applied groups, current groups, observed group, expected.
        (groups("a", "b"), groups("a", "c"), "one", None),
        (
            groups("a", "b"),
            groups("a", "c"),
            "two",
            Some(Reason::PlacementChanged),
        ),
        (groups("a", "b"), groups("a", "c"), "", Some(Reason::PlacementChanged)),
        (
            groups("a", "b"),
            groups("a", "c"),
            "three",
            Some(Reason::PlacementChanged),
        ),
        (groups("a", "b"), groups("a", "b"), "", None),
    ];
    for (applied, current, observed, expected) in cases {
        check(
            json!({
                "/placement": placement(current),
                "/applied": placement(applied),
                "/binding/status/schedulerObservingAffinityName": observed,
            }),
            expected,
        );
    }
}

#[test]
fn workload_affinity_counts_only_without_an_observed_group() {
    let affinity = json!({"affinity": {"groupByLabelKey": "app"}});
    check(
        json!({"/placement/workloadAffinity": affinity, "/binding/status/schedulerObservingAffinityName": ""}),
        Some(Reason::PlacementChanged),
    );
    let placement =
        json!({"clusterAffinities": groups("a", "b"), "replicaScheduling": {"replicaSchedulingType": "Divided"}});
    let mut with = placement.clone();
    with["workloadAffinity"] = affinity;
    check(
        json!({"/placement": with, "/applied": placement, "/binding/status/schedulerObservingAffinityName": "one"}),
        None,
    );
}

#[test]
fn replicas_that_do_not_add_up_decide() {
    let changed = Some(Reason::ReplicasChanged);
    check(json!({"/binding/spec/replicas": 4}), changed);
    check(json!({"/binding/spec/clusters": []}), changed);
    let duplicated = json!({"replicaScheduling": {"replicaSchedulingType": "Duplicated"}});
    check(json!({"/placement": duplicated, "/applied": duplicated}), changed);
    // An empty list adds up for duplicated replicas, so only the last rule but one applies.
    check(
        json!({"/placement": duplicated, "/applied": duplicated, "/binding/spec/clusters": []}),
        Some(Reason::GoesEverywhere),
    );
    // Without `replicaScheduling`, nothing is expected of the replicas.
    check(json!({"/placement": {}, "/applied": {}}), Some(Reason::GoesEverywhere));
}

/// A result with fewer replicas than requested is satisfied until there is room, as long as the same number is requested.
#[test]
fn a_part_is_decided_again_if_room_grew_or_another_number_is_requested() {
    let part = |of: i64| {
        Some(AppliedPolicy {
            partial_of: Some(of),
            ..AppliedPolicy::default()
        })
    };
    let cases = [
        // Requested now, requested then, reschedule requested, room grew, reason.
        (5, part(5), false, false, None),
        (5, part(5), false, true, Some(Reason::RoomGrew)),
        (5, part(5), true, true, Some(Reason::RescheduleRequested)),
        (6, part(5), false, false, Some(Reason::ReplicasChanged)),
        (5, None, false, false, Some(Reason::ReplicasChanged)),
        // It adds up by now, but its condition says that replicas are missing.
        (3, part(5), false, false, Some(Reason::ReplicasChanged)),
        (3, None, false, true, None),
    ];
    for (replicas, applied, is_pending, has_room_grown, expected) in cases {
        let changes = json!({"/binding/spec/replicas": replicas});
        let found = reason_with_room(changes, is_pending, Request::default(), applied, has_room_grown);
        assert_eq!(found, expected, "{replicas} {is_pending} {has_room_grown}");
    }
    // Duplicated replicas have no part.
    let duplicated = json!({"replicaScheduling": {"replicaSchedulingType": "Duplicated"}});
    let changes = json!({"/binding/spec/replicas": 5, "/placement": duplicated, "/applied": duplicated});
    assert_eq!(
        reason_with_room(changes, false, Request::default(), part(5), false),
        Some(Reason::ReplicasChanged)
    );
}

#[test]
fn a_pending_reschedule_decides() {
    let found = reason(json!({}), true, Request::default(), None);
    assert_eq!(found, Some(Reason::RescheduleRequested));
}

#[test]
fn what_goes_everywhere_is_always_decided() {
    check(
        json!({"/binding/spec": {"clusters": [{"name": "m1"}]}}),
        Some(Reason::GoesEverywhere),
    );
}

#[test]
fn a_cluster_that_is_being_deleted_decides() {
    check(
        json!({"/binding/spec/clusters": [{"name": "gone", "replicas": 3}]}),
        Some(Reason::ClusterDeleting),
    );
}

#[test]
fn strategy_and_preferences_are_compared_too() {
    let average = || Request {
        strategy: Some("Average".to_owned()),
        ..Request::default()
    };
    let applied = |policy: Request| {
        Some(AppliedPolicy {
            policy,
            ..AppliedPolicy::default()
        })
    };
    let changed = Some(Reason::PolicyChanged);
    let cases = [
        (average(), None, changed),
        (average(), applied(average()), None),
        (average(), applied(Request::default()), changed),
        (Request::default(), applied(average()), changed),
        (Request::default(), None, None),
    ];
    for (policy, applied, expected) in cases {
        let found = reason(json!({}), false, policy.clone(), applied.clone());
        assert_eq!(found, expected, "{policy:?} {applied:?}");
    }
    let own = json!({"/binding/metadata/annotations": {"divvy.io/strategy": "Average"}});
    assert_eq!(reason(own, false, Request::default(), None), changed);
}

#[test]
fn a_result_that_no_longer_holds_decides() {
    let expired = Some(Reason::ResultExpired);
    for (valid_until, expected) in [
        (None, None),
        (Some(1001), None),
        (Some(1000), expired),
        (Some(0), expired),
    ] {
        let applied = AppliedPolicy {
            valid_until,
            ..AppliedPolicy::default()
        };
        let found = reason(json!({}), false, Request::default(), Some(applied));
        assert_eq!(found, expected, "{valid_until:?}");
    }
}
