//! Reschedules whose second patch is refused, or whose answer is lost.

use std::time::Duration;

use serde_json::json;

use super::simulation::Simulation;
use super::{cluster, clusters, divided, duplicated};

/// The result of the reschedule is in the first group, while the status still names the second.
#[test]
fn a_result_whose_status_is_refused_stays_in_its_group() {
    let mut simulation = Simulation::new(&[cluster("b", 10)]);
    let mut grouped = duplicated(json!(null));
    grouped["placement"]["clusterAffinities"] = json!([
        {"affinityName": "one", "clusterNames": ["a"]},
        {"affinityName": "two", "clusterNames": ["b"]},
    ]);
    simulation.create("web", grouped);
    assert_eq!(simulation.result("web"), clusters(&[("b", 2)]));
    simulation.cluster(&cluster("a", 10));
    simulation.refuse_next_status();
    simulation.patch(
        "web",
        &json!({"spec": {"rescheduleTriggeredAt": "2027-01-15T08:10:00Z"}}),
    );
    assert_eq!(simulation.result("web"), clusters(&[("a", 2)]));
    let observed =
        |simulation: &Simulation| simulation.binding("web")["status"]["schedulerObservingAffinityName"].clone();
    assert_eq!(observed(&simulation), "two");
    simulation.pass(Duration::from_secs(60));
    assert_eq!(simulation.result("web"), clusters(&[("a", 2)]));
    assert_eq!(observed(&simulation), "one");
    assert_eq!(simulation.writes("web").0, 2, "it was moved once");
}

/// The watch shows the result after the write was given up, and by then another cluster has more room.
#[test]
fn a_reschedule_whose_answer_is_lost_is_divided_once() {
    let mut simulation = Simulation::new(&[cluster("a", 10), cluster("b", 4)]);
    simulation.create("web", divided(3));
    assert_eq!(simulation.result("web"), clusters(&[("a", 3)]));
    simulation.cluster(&cluster("b", 20));
    simulation.watch_late();
    simulation.hold_writes();
    simulation.patch(
        "web",
        &json!({"spec": {"rescheduleTriggeredAt": "2027-01-15T08:10:00Z"}}),
    );
    simulation.refuse_next_status();
    simulation.lose_answers();
    assert_eq!(simulation.result("web"), clusters(&[("b", 3)]));
    simulation.cluster(&cluster("a", 40));
    simulation.catch_up();
    simulation.pass(Duration::from_secs(60));
    assert_eq!(simulation.result("web"), clusters(&[("b", 3)]));
    let status = &simulation.binding("web")["status"];
    assert_eq!(status["lastScheduledTime"], "2027-01-15T08:10:00Z");
}
