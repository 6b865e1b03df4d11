//! Replicas that left a cluster against their policy's wish, and go back once it has been Ready for long enough.

use std::time::Duration;

use divvy_karmada::api::Timestamp;
use divvy_world::plane::EPOCH;
use serde_json::{Value, json};

use super::super::simulation::{Simulation, active_profile};
use super::{SURGE, binding, clusters, mark, ready_cluster, report, report_ready, said, weighted};

const MINUTE: u64 = 60;

fn lines() -> String {
    format!("{SURGE}failback = '10m'\n")
}

/// A scheduler over `a`, `b` and `c`, and a binding of these replicas in `a` and `b`, which are ready.
fn in_both(lines: &str, replicas: i64) -> Simulation {
    let mut simulation = Simulation::with_profile(lines, &["a", "b", "c"].map(ready_cluster));
    simulation.create("web", binding(replicas, &[("a", 1), ("b", 1)]));
    let half = replicas / 2;
    assert_eq!(simulation.result("web"), clusters(&[("a", half), ("b", half)]));
    report(&mut simulation, &[("a", half, half), ("b", half, half)]);
    simulation
}

/// A time so many seconds after the beginning.
fn time(seconds: u64) -> Value {
    let at = EPOCH + i64::try_from(seconds).expect("a short test");
    json!(Timestamp::from_seconds(at))
}

/// Cluster `a` is Ready or not since a time, with a taint while it is not.
fn set_ready(simulation: &mut Simulation, is_ready: bool, since: u64) {
    let mut cluster = ready_cluster("a");
    let status = if is_ready { "True" } else { "False" };
    let condition = json!({"type": "Ready", "status": status, "lastTransitionTime": time(since)});
    cluster["status"]["conditions"] = json!([condition]);
    cluster["metadata"]["generation"] = json!(1 + since);
    if !is_ready {
        cluster["spec"]["taints"] = json!([{"key": "cluster.karmada.io/not-ready", "effect": "NoExecute"}]);
    }
    simulation.cluster(&cluster);
}

/// The taint manager takes everything out of `a`.
fn evict(simulation: &mut Simulation, producer: &str, at: u64) {
    let result = simulation.result("web");
    let rest = result.iter().filter(|(name, _)| *name != "a");
    let rest: Vec<Value> = rest
        .map(|(name, replicas)| json!({"name": name, "replicas": replicas}))
        .collect();
    let task = json!({
        "fromCluster": "a", "replicas": result["a"], "producer": producer, "creationTimestamp": time(at),
    });
    simulation.patch(
        "web",
        &json!({"spec": {"clusters": rest, "gracefulEvictionTasks": [task]}}),
    );
}

/// Everything that is given becomes ready, and Karmada has nothing more to evict.
fn settle(simulation: &mut Simulation) {
    for _ in 0..12 {
        report_ready(simulation);
        simulation.patch("web", &json!({"spec": {"gracefulEvictionTasks": null}}));
    }
    simulation.pass(Duration::from_secs(61));
    simulation.pass(Duration::from_secs(1));
    assert_eq!(mark(simulation), None, "{:?}", simulation.result("web"));
}

fn departures(simulation: &Simulation) -> Option<Value> {
    let text = simulation.binding("web")["metadata"]["annotations"]["divvy.io/failback"].as_str();
    text.map(|text| serde_json::from_str(text).expect("the annotation is JSON"))
}

/// Cluster `a` is lost at once, and its replicas are in `b`.
fn lost(lines: &str, replicas: i64) -> Simulation {
    let mut simulation = in_both(lines, replicas);
    set_ready(&mut simulation, false, 0);
    assert_eq!(
        simulation.result("web"),
        clusters(&[("a", replicas / 2), ("b", replicas / 2)]),
        "NotReady alone decides nothing"
    );
    evict(&mut simulation, "TaintManager", 0);
    assert_eq!(simulation.result("web"), clusters(&[("b", replicas)]));
    simulation
}

#[test]
fn what_was_evicted_goes_back_in_steps_once_the_cluster_was_ready_for_the_time() {
    let mut simulation = lost(&lines(), 10);
    let at = EPOCH * 1_000;
    assert_eq!(departures(&simulation), Some(json!({"a": {"replicas": 5, "at": at}})));
    settle(&mut simulation);
    assert_eq!(departures(&simulation), Some(json!({"a": {"replicas": 5, "at": at}})));
    assert!(
        said(&simulation).contains("5 replicas left `a`"),
        "{}",
        said(&simulation)
    );
    // It is back after two minutes, but flaps after another eight.
    simulation.pass(Duration::from_secs(MINUTE));
    set_ready(&mut simulation, true, 2 * MINUTE);
    simulation.pass(Duration::from_secs(8 * MINUTE));
    set_ready(&mut simulation, false, 10 * MINUTE);
    set_ready(&mut simulation, true, 11 * MINUTE);
    simulation.pass(Duration::from_secs(9 * MINUTE));
    assert_eq!(simulation.result("web"), clusters(&[("b", 10)]));
    // Another process waits for the rest of the time.
    simulation.kill(&active_profile(&lines()));
    assert_eq!(simulation.result("web"), clusters(&[("b", 10)]));
    simulation.pass(Duration::from_secs(2 * MINUTE));
    assert_eq!(simulation.result("web"), clusters(&[("a", 3), ("b", 10)]));
    settle(&mut simulation);
    assert_eq!(simulation.result("web"), clusters(&[("a", 5), ("b", 5)]));
    assert_eq!(departures(&simulation), None);
    assert_eq!(said(&simulation), "");
}

#[test]
fn a_cluster_that_flaps_causes_no_move() {
    let mut simulation = lost(&lines(), 10);
    settle(&mut simulation);
    let writes = simulation.writes("web");
    for round in 1..20 {
        set_ready(&mut simulation, true, round * 9 * MINUTE);
        simulation.pass(Duration::from_secs(9 * MINUTE - 60));
        set_ready(&mut simulation, false, round * 9 * MINUTE + 8 * MINUTE);
        simulation.pass(Duration::from_secs(MINUTE));
    }
    assert_eq!(simulation.result("web"), clusters(&[("b", 10)]));
    assert_eq!(simulation.writes("web"), writes);
}

#[test]
fn no_more_goes_back_than_left_and_nothing_else_moves() {
    let mut simulation = lost(&lines(), 10);
    settle(&mut simulation);
    // The policy wants ten in each by now, and a person has brought two to `c`, where it wants none.
    simulation.patch("web", &json!({"spec": {"replicas": 20}}));
    assert_eq!(simulation.result("web"), clusters(&[("b", 20)]));
    let spread = json!([{"name": "b", "replicas": 18}, {"name": "c", "replicas": 2}]);
    simulation.patch("web", &json!({"spec": {"clusters": spread}}));
    settle(&mut simulation);
    set_ready(&mut simulation, true, 10 * MINUTE);
    simulation.pass(Duration::from_secs(30 * MINUTE));
    settle(&mut simulation);
    assert_eq!(simulation.result("web"), clusters(&[("a", 5), ("b", 13), ("c", 2)]));
    assert_eq!(departures(&simulation), None);
}

#[test]
fn a_changed_placement_forgets_what_left() {
    let mut simulation = lost(&lines(), 10);
    settle(&mut simulation);
    simulation.patch("web", &json!({"spec": {"placement": weighted(&[("b", 1), ("c", 1)])}}));
    settle(&mut simulation);
    assert_eq!(simulation.result("web"), clusters(&[("b", 5), ("c", 5)]));
    assert_eq!(departures(&simulation), None);
}

#[test]
fn evictions_for_other_reasons_and_profiles_without_failback_note_nothing() {
    let mut simulation = lost(SURGE, 10);
    settle(&mut simulation);
    assert_eq!(departures(&simulation), None);
    let mut simulation = in_both(&lines(), 10);
    set_ready(&mut simulation, false, 0);
    evict(&mut simulation, "ApplicationFailover", 0);
    settle(&mut simulation);
    assert_eq!(simulation.result("web"), clusters(&[("b", 10)]));
    assert_eq!(departures(&simulation), None);
}

/// A move back waits for the budgets as any other does, and is decided again when they are free.
#[test]
fn a_return_waits_for_the_hours_of_moves() {
    // The simulation begins on a Friday at 08:00 UTC.
    let lines = format!("{}hours = ['Mon-Fri 12:00-13:00 UTC']\n", lines());
    let mut simulation = lost(&lines, 10);
    settle(&mut simulation);
    set_ready(&mut simulation, true, 5 * MINUTE);
    simulation.pass(Duration::from_secs(60 * MINUTE));
    assert_eq!(simulation.result("web"), clusters(&[("b", 10)]));
    assert!(said(&simulation).contains("the hours"), "{}", said(&simulation));
    simulation.pass(Duration::from_secs(180 * MINUTE));
    assert_eq!(simulation.result("web"), clusters(&[("a", 3), ("b", 10)]));
}
