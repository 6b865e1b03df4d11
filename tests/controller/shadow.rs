//! Shadow mode beside a scheduler that writes in two steps: the result, then the status.

use serde_json::{Value, json};

use super::simulation::Simulation;

/// A cluster with 100 CPUs, of which its report has these free.
fn with_room(name: &str, free: i64) -> Value {
    let allocated = (100 - free).to_string();
    json!({
        "metadata": {"name": name, "generation": 1},
        "status": {
            "apiEnablements": [{"groupVersion": "apps/v1", "resources": [{"name": "deployments", "kind": "Deployment"}]}],
            "resourceSummary": {
                "allocatable": {"cpu": "100", "pods": "10000"},
                "allocated": {"cpu": allocated, "pods": allocated},
            },
        },
    })
}

/// A reschedule that was decided again from the result of the other scheduler, before its time is written, would find the replicas of that
/// result movable, and so could end elsewhere.
#[test]
fn a_decision_is_not_made_again_from_half_of_the_others() {
    let placement = json!({
        "replicaScheduling": {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"},
    });
    let result = |clusters| {
        json!({
            "metadata": {"annotations": {"policy.karmada.io/applied-placement": placement.to_string()}},
            "spec": {"clusters": clusters},
        })
    };
    let scheduled = |time: &str| {
        let condition = json!({"type": "Scheduled", "status": "True", "reason": "Success", "message": ""});
        json!({"status": {"conditions": [condition], "lastScheduledTime": time}})
    };
    let lines = "while-capacity-is-unreported = 'ignore'";
    let fleet = [with_room("a", 0), with_room("b", 0), with_room("c", 10)];
    let mut simulation = Simulation::with_profile(lines, &fleet).in_shadow();
    simulation.create(
        "web",
        json!({
            "replicas": 10,
            "replicaRequirements": {"resourceRequest": {"cpu": "1"}},
            "placement": placement,
        }),
    );
    simulation.patch("web", &result(json!([{"name": "c", "replicas": 10}])));
    simulation.patch("web", &scheduled("2027-01-15T08:00:00Z"));
    for cluster in [with_room("a", 40), with_room("b", 30), with_room("c", 0)] {
        simulation.cluster(&cluster);
    }
    simulation.patch(
        "web",
        &json!({"spec": {"replicas": 60, "rescheduleTriggeredAt": "2027-01-15T08:00:10Z"}}),
    );
    let divided = json!([{"name": "a", "replicas": 35}, {"name": "b", "replicas": 25}]);
    simulation.patch("web", &result(divided));
    simulation.patch("web", &scheduled("2027-01-15T08:00:11Z"));
    let page = simulation.shadow();
    assert_eq!((&page["agreed"], &page["differed"]), (&json!(2), &json!(0)), "{page:#}");
}

/// An eviction changes a result, too, but not because the other scheduler decided.
#[test]
fn a_decision_is_made_again_after_an_eviction() {
    let placement = json!({"replicaScheduling": {"replicaSchedulingType": "Duplicated"}});
    let scheduled = |time: &str| {
        let condition = json!({"type": "Scheduled", "status": "True", "reason": "Success", "message": ""});
        json!({"status": {"conditions": [condition], "lastScheduledTime": time}})
    };
    let mut simulation = Simulation::new(&[with_room("a", 100), with_room("b", 100)]).in_shadow();
    simulation.create("web", json!({"replicas": 2, "placement": placement}));
    let both = json!([{"name": "a", "replicas": 2}, {"name": "b", "replicas": 2}]);
    simulation.patch(
        "web",
        &json!({
            "metadata": {"annotations": {"policy.karmada.io/applied-placement": placement.to_string()}},
            "spec": {"clusters": both},
        }),
    );
    simulation.patch("web", &scheduled("2027-01-15T08:00:00Z"));
    // It goes to every candidate, so that each change has it decided.
    simulation.patch("web", &json!({"metadata": {"labels": {"tier": "gold"}}}));
    let eviction = json!({"fromCluster": "b", "reason": "TaintUntolerated", "producer": "TaintManager"});
    simulation.patch(
        "web",
        &json!({"spec": {"clusters": [{"name": "a", "replicas": 2}], "gracefulEvictionTasks": [eviction]}}),
    );
    simulation.patch("web", &scheduled("2027-01-15T08:00:05Z"));
    let page = simulation.shadow();
    assert_eq!((&page["agreed"], &page["differed"]), (&json!(2), &json!(0)), "{page:#}");
}
