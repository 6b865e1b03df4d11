//! `divvy.io/quorum` in a control plane: a part is scheduled, is settled, and is topped up once a cluster has room.

use std::time::Duration;

use divvy_controller::write::WriteOutcome;
use serde_json::{Value, json};

use super::holding::{by_room, plain};
use super::simulation::Simulation;
use super::{clusters, is_scheduled, plain_policy};

/// The policy that claims every binding, with a quorum.
fn policy(quorum: &str) -> Value {
    let mut policy = plain_policy();
    policy["metadata"]["annotations"] = json!({"divvy.io/quorum": quorum});
    policy
}

/// Decisions so far that ended, by the scheduler's metrics.
fn decided(simulation: &Simulation) -> usize {
    let attempts = simulation.scraped("karmada_scheduler_schedule_attempts_total{");
    let count = |line: &String| line.rsplit(' ').next().and_then(|count| count.parse::<usize>().ok());
    attempts.iter().filter_map(count).sum()
}

/// A scheduler over clusters with these CPUs, under a policy with a quorum.
fn with_quorum(quorum: &str, fleet: &[(&str, i64)]) -> Simulation {
    let fleet: Vec<Value> = fleet.iter().map(|&(name, cpu)| plain(name, cpu, 0)).collect();
    let mut simulation = Simulation::new(&fleet);
    simulation.policy(&policy(quorum));
    simulation
}

fn with_priority(mut specification: Value, priority: i32) -> Value {
    specification["schedulePriority"] = json!({"priority": priority});
    specification
}

#[test]
fn a_part_is_scheduled_and_says_what_is_missing() {
    let mut simulation = with_quorum("60%", &[("a", 40), ("b", 20)]);
    simulation.create("web", by_room(100));
    assert_eq!(simulation.result("web"), clusters(&[("a", 40), ("b", 20)]));
    assert!(is_scheduled(&simulation, "web"));
    let expected = "Binding has been scheduled in part: 60 of 100 replicas, 40 missing; 61 were refused: 61 replicas requested, 60 fit";
    assert!(
        simulation.message("web").starts_with(expected),
        "{}",
        simulation.message("web")
    );
    let event = &simulation.announcements().last().expect("an event").message;
    assert!(
        event.starts_with(expected) && event.ends_with("Result: {a:40, b:20}"),
        "{event}"
    );
    let explained = simulation.explanation("web");
    assert!(
        explained["partial"]
            .as_str()
            .is_some_and(|text| text.starts_with("60 of 100 replicas")),
        "{explained}"
    );
    assert_eq!(simulation.writes("web"), (1, 1));
}

#[test]
fn a_part_is_settled_until_a_cluster_has_room_and_is_then_topped_up() {
    let mut simulation = with_quorum("60%", &[("a", 40), ("b", 20)]);
    simulation.create("web", by_room(100));
    let (decisions, writes) = (decided(&simulation), simulation.writes("web"));
    // The pods are reported, and what was held for them is settled; then time passes.
    simulation.cluster(&plain("a", 40, 40));
    simulation.cluster(&plain("b", 20, 20));
    simulation.pass(Duration::from_secs(3000));
    assert_eq!((decided(&simulation), simulation.writes("web")), (decisions, writes));
    simulation.cluster(&plain("b", 30, 20));
    assert_eq!(simulation.result("web"), clusters(&[("a", 40), ("b", 30)]));
    assert!(
        simulation.message("web").contains("70 of 100 replicas, 30 missing"),
        "{}",
        simulation.message("web")
    );
    // Half a replica has no room.
    let decisions = decided(&simulation);
    simulation.cluster(&plain("b", 30, 30));
    let mut half = plain("b", 30, 30);
    half["status"]["resourceSummary"]["allocatable"]["cpu"] = json!("30500m");
    simulation.cluster(&half);
    assert_eq!(decided(&simulation), decisions);
    simulation.cluster(&plain("a", 200, 40));
    assert_eq!(simulation.result("web").values().sum::<i64>(), 100);
    assert_eq!(simulation.message("web"), "Binding has been scheduled successfully.");
    assert!(
        simulation.binding("web")["metadata"]["annotations"]["divvy.io/applied-policy"]
            .as_str()
            .is_some_and(|text| !text.contains("partialOf"))
    );
}

#[test]
fn a_top_up_goes_to_the_highest_priority_first() {
    let mut simulation = with_quorum("1", &[("a", 6)]);
    for (name, priority) in [("low", 1), ("high", 9), ("middle", 5)] {
        simulation.create(name, with_priority(by_room(2), priority));
    }
    assert_eq!(simulation.result("low"), clusters(&[("a", 2)]));
    for (name, priority) in [("low", 1), ("high", 9), ("middle", 5)] {
        simulation.patch(name, &json!({"spec": with_priority(by_room(10), priority)}));
        assert!(
            simulation.message(name).contains("2 of 10 replicas"),
            "{}",
            simulation.message(name)
        );
    }
    simulation.cluster(&plain("a", 16, 6));
    let results = ["high", "middle", "low"].map(|name| simulation.result(name)["a"]);
    assert_eq!(results, [10, 4, 2]);
}

/// Below the quorum, what runs stays, and the binding is unschedulable until there is room.
#[test]
fn below_the_quorum_everything_stays() {
    let mut simulation = with_quorum("60%", &[("a", 40)]);
    simulation.create("web", by_room(40));
    simulation.cluster(&plain("a", 40, 40));
    simulation.patch("web", &json!({"spec": {"replicas": 100}}));
    assert_eq!(
        simulation.condition("web"),
        ("False".to_owned(), "Unschedulable".to_owned())
    );
    assert!(
        simulation
            .message("web")
            .ends_with("the quorum of 60 does not fit either"),
        "{}",
        simulation.message("web")
    );
    assert_eq!(simulation.result("web"), clusters(&[("a", 40)]));
    simulation.pass(Duration::from_secs(20));
    simulation.cluster(&plain("a", 65, 40));
    assert_eq!(simulation.result("web"), clusters(&[("a", 65)]));
    assert!(is_scheduled(&simulation, "web"));
}

#[test]
fn a_change_of_the_binding_or_its_policy_and_a_reschedule_decide_a_part_again() {
    let mut simulation = with_quorum("60%", &[("a", 60)]);
    simulation.create("web", by_room(100));
    let before = decided(&simulation);
    simulation.patch("web", &json!({"spec": {"replicas": 90}}));
    assert!(
        simulation.message("web").contains("60 of 90 replicas"),
        "{}",
        simulation.message("web")
    );
    simulation.patch(
        "web",
        &json!({"spec": {"rescheduleTriggeredAt": "2027-01-15T08:10:00Z"}}),
    );
    assert_eq!(decided(&simulation), before + 2);
    simulation.policy(&policy("80%"));
    assert_eq!(
        simulation.condition("web"),
        ("False".to_owned(), "Unschedulable".to_owned())
    );
    simulation.policy(&policy("60%"));
    assert!(is_scheduled(&simulation, "web"));
    simulation.patch("web", &json!({"spec": {"replicas": 60}}));
    assert_eq!(simulation.message("web"), "Binding has been scheduled successfully.");
    assert_eq!(simulation.result("web"), clusters(&[("a", 60)]));
}

/// The next process does not know what room there was, decides once, and writes nothing.
#[test]
fn a_new_leader_and_a_new_profile_decide_a_part_once() {
    let mut simulation = with_quorum("60%", &[("a", 60)]);
    simulation.create("web", by_room(100));
    simulation.cluster(&plain("a", 60, 60));
    let (decisions, writes) = (decided(&simulation), simulation.writes("web"));
    simulation.lead(2);
    assert_eq!(
        (decided(&simulation), simulation.writes("web")),
        (decisions + 1, writes)
    );
    simulation.exchange("seed = 7");
    simulation.pass(Duration::from_secs(1));
    assert_eq!(
        (decided(&simulation), simulation.writes("web")),
        (decisions + 2, writes)
    );
    simulation.pass(Duration::from_secs(3000));
    assert_eq!(decided(&simulation), decisions + 2);
    simulation.cluster(&plain("a", 70, 60));
    assert_eq!(simulation.result("web"), clusters(&[("a", 70)]));
}

#[test]
fn room_that_grows_during_a_write_is_not_missed() {
    let mut simulation = with_quorum("60%", &[("a", 60)]);
    simulation.hold_writes();
    simulation.create("web", by_room(100));
    simulation.cluster(&plain("a", 80, 0));
    simulation.release_writes();
    assert_eq!(simulation.result("web"), clusters(&[("a", 80)]));
}

/// A write that fails takes nothing, so that its room is free for parts that were decided meanwhile.
#[test]
fn a_write_that_fails_leaves_no_binding_unsettled_or_stuck() {
    let mut simulation = with_quorum("60%", &[("a", 60)]);
    simulation.fail_next_write(WriteOutcome::Failed("the request is lost".to_owned()));
    simulation.create("web", by_room(100));
    simulation.pass(Duration::from_secs(5));
    assert_eq!(simulation.result("web"), clusters(&[("a", 60)]));
    simulation.cluster(&plain("a", 60, 60));
    let decisions = decided(&simulation);
    simulation.pass(Duration::from_secs(3000));
    assert_eq!(decided(&simulation), decisions);
}

/// Estimates of another time than the room of a cluster do not leave a part settled.
#[test]
fn parts_are_topped_up_where_estimators_are_asked() {
    let mut simulation = with_quorum("60%", &[("a", 60)]).asking_estimators(1000);
    simulation.create("web", by_room(100));
    assert_eq!(simulation.result("web"), clusters(&[("a", 60)]));
    simulation.cluster(&plain("a", 60, 60));
    simulation.cluster(&plain("a", 75, 60));
    assert_eq!(simulation.result("web"), clusters(&[("a", 75)]));
}

/// The room of a deleted binding is found, whether it was reported or not.
#[test]
fn a_binding_that_is_deleted_makes_room() {
    let mut simulation = with_quorum("60%", &[("a", 80)]);
    simulation.create("other", by_room(20));
    simulation.create("web", by_room(100));
    assert_eq!(simulation.result("web"), clusters(&[("a", 60)]));
    simulation.delete("other");
    assert_eq!(simulation.result("web"), clusters(&[("a", 80)]));
}

#[test]
fn thousands_of_parts_without_room_cost_no_decision_per_report() {
    const BINDINGS: usize = 5_000;
    let mut simulation = with_quorum("1", &[("a", 5_000), ("b", 10)]);
    simulation.cluster(&plain("a", 5_000, 5_000));
    simulation.cluster(&plain("b", 10, 10));
    let mut half = by_room(2);
    half["clusters"] = json!([{"name": "a", "replicas": 1}]);
    let names: Vec<String> = (0..BINDINGS).map(|number| format!("web-{number:04}")).collect();
    let status = json!({"lastScheduledTime": "2027-01-01T00:00:00Z"});
    simulation.found_all(&names, &half, &status);
    assert_eq!(decided(&simulation), BINDINGS);
    assert!(
        simulation.message("web-4999").contains("1 of 2 replicas, 1 missing"),
        "{}",
        simulation.message("web-4999")
    );
    // Pods come and go elsewhere, and less than a replica's room with them.
    for milli in [4_999_500, 5_000_000, 4_999_100, 4_999_900] {
        let mut report = plain("a", 5_000, 0);
        report["status"]["resourceSummary"]["allocated"]["cpu"] = json!(format!("{milli}m"));
        simulation.cluster(&report);
        simulation.cluster(&plain("b", 10, 10));
    }
    simulation.pass(Duration::from_secs(3000));
    assert_eq!(decided(&simulation), BINDINGS);
}
