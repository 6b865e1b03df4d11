//! Moves that wait for budgets begin, and give more, as soon as the budgets permit it: nothing else looks at them.

use std::time::Duration;

use divvy_controller::write::WriteOutcome;
use serde_json::{Value, json};

use super::super::simulation::{Simulation, active_profile};
use super::{
    binding, clusters, fitting, in_a, mark, place, plain_policy, ready_cluster, report, report_ready, weighted,
};

/// A scheduler whose moves have these budgets and a surge of four replicas, and a binding of ten that all run in `a`.
fn budgeted(budgets: &str) -> Simulation {
    in_a(&lines(budgets))
}

/// The lines of its profile.
fn lines(budgets: &str) -> String {
    format!("[profile.moves]\npace = 'surge'\nmax-surge = 4\nfederated-hpa = false\n[profile.moves.budgets]\n{budgets}")
}

/// Creates a further binding of four replicas, which run in `a`.
fn create(simulation: &mut Simulation, name: &str) {
    simulation.create(name, binding(4, &[("a", 1)]));
    let state = json!([{"clusterName": "a", "applied": true, "status": {"replicas": 4, "readyReplicas": 4}}]);
    simulation.patch(name, &json!({"status": {"aggregatedStatus": state}}));
}

/// Wants a binding in one cluster.
fn want(simulation: &mut Simulation, name: &str, cluster: &str) {
    simulation.patch(name, &json!({"spec": {"placement": weighted(&[(cluster, 1)])}}));
}

/// What a binding's move waits for.
fn waits(simulation: &Simulation, name: &str) -> String {
    let explanation = simulation.explanation(name);
    let text = explanation["move"].as_str().unwrap_or_default();
    text.split_once("waits for ").map_or("", |(_, wait)| wait).to_owned()
}

/// Nothing fits, and then a cluster does, but another move is under way: the condition is no longer that of the failure, and says of no generation
/// that it was observed.
#[test]
fn what_waits_to_begin_does_not_keep_the_condition_of_a_failure() {
    let mut simulation = budgeted("bindings = 1\n");
    create(&mut simulation, "api");
    place(&mut simulation, &[("b", 1)]);
    let mut nowhere = weighted(&[("b", 1)]);
    nowhere["clusterAffinity"] = json!({"clusterNames": ["nowhere"]});
    simulation.patch("api", &json!({"spec": {"placement": nowhere}}));
    assert_eq!(simulation.condition("api").0, "False");
    simulation.patch("api", &json!({"spec": {"placement": {"clusterAffinity": null}}}));
    assert_eq!(waits(&simulation, "api"), "the budget of all moves");
    assert_eq!(simulation.condition("api"), ("True".to_owned(), "Success".to_owned()));
    assert_eq!(simulation.result("api"), clusters(&[("a", 4)]));
    let status = &simulation.binding("api")["status"];
    assert_ne!(
        status["schedulerObservedGeneration"],
        simulation.binding("api")["metadata"]["generation"]
    );
    let writes = simulation.writes("api");
    simulation.pass(Duration::from_secs(30));
    assert_eq!(simulation.writes("api"), writes);
}

/// As many replicas become ready in one cluster as fail in another. The sum of those that are not ready stays the same.
#[test]
fn what_becomes_ready_in_a_cluster_is_given_there_by_a_move_that_waits_for_it() {
    let mut simulation = budgeted("replicas-per-cluster = 2\n");
    create(&mut simulation, "api");
    place(&mut simulation, &[("b", 1), ("c", 4)]);
    assert_eq!(simulation.result("web"), clusters(&[("a", 10), ("b", 2), ("c", 2)]));
    want(&mut simulation, "api", "b");
    assert_eq!(waits(&simulation, "api"), "the budget of cluster `b`");
    report(&mut simulation, &[("a", 10, 10), ("b", 2, 0), ("c", 2, 2)]);
    assert_eq!(simulation.result("web"), clusters(&[("a", 8), ("b", 2), ("c", 4)]));
    assert_eq!(
        simulation.result("api"),
        clusters(&[("a", 4)]),
        "`b` has two that are not ready"
    );
    report(&mut simulation, &[("a", 8, 8), ("b", 2, 1), ("c", 4, 1)]);
    assert_eq!(simulation.result("web"), clusters(&[("a", 8), ("b", 2), ("c", 4)]));
    assert_eq!(simulation.result("api"), clusters(&[("a", 4), ("b", 1)]));
}

/// The same by regions: `a` and `b` are in one, `c` in another.
#[test]
fn what_becomes_ready_in_a_region_is_given_there_by_a_move_that_waits_for_it() {
    let mut simulation = budgeted("replicas-per-region = 2\n");
    create(&mut simulation, "api");
    place(&mut simulation, &[("b", 1), ("c", 4)]);
    assert_eq!(simulation.result("web"), clusters(&[("a", 10), ("b", 2), ("c", 2)]));
    want(&mut simulation, "api", "b");
    assert_eq!(waits(&simulation, "api"), "the budget of region `east`");
    report(&mut simulation, &[("a", 10, 10), ("b", 2, 0), ("c", 2, 2)]);
    report(&mut simulation, &[("a", 8, 8), ("b", 2, 1), ("c", 4, 1)]);
    assert_eq!(simulation.result("api"), clusters(&[("a", 4), ("b", 1)]));
}

/// One that could give nothing would keep others from beginning elsewhere.
#[test]
fn a_move_that_no_budget_of_replicas_lets_begin_leaves_its_turn_to_others() {
    let mut simulation = budgeted("bindings = 2\nreplicas-per-cluster = 2\n");
    create(&mut simulation, "api");
    create(&mut simulation, "zoo");
    place(&mut simulation, &[("b", 1)]);
    assert_eq!(simulation.result("web"), clusters(&[("a", 10), ("b", 2)]));
    want(&mut simulation, "api", "b");
    assert_eq!(waits(&simulation, "api"), "the budget of cluster `b`");
    want(&mut simulation, "zoo", "c");
    assert_eq!(simulation.result("zoo"), clusters(&[("a", 4), ("c", 2)]));
    assert_eq!(simulation.result("api"), clusters(&[("a", 4)]));
}

/// A write that met another version gave nothing. It is tried again after a while, in which others need not wait.
#[test]
fn what_was_not_written_uses_no_budget() {
    let mut simulation = budgeted("bindings = 1\n");
    create(&mut simulation, "api");
    simulation.hold_writes();
    place(&mut simulation, &[("b", 1)]);
    want(&mut simulation, "api", "b");
    assert_eq!(
        waits(&simulation, "api"),
        "the budget of all moves",
        "`web` is being written"
    );
    simulation.fail_next_write(WriteOutcome::Superseded);
    let jobs = simulation.take_held();
    assert_eq!(jobs.len(), 1);
    simulation.deliver(&jobs[0]);
    simulation.release_writes();
    assert_eq!(simulation.result("web"), clusters(&[("a", 10)]));
    assert_eq!(simulation.result("api"), clusters(&[("a", 4), ("b", 4)]));
}

/// Unless it is known that nothing was written.
#[test]
fn what_may_be_written_uses_its_budget() {
    let mut simulation = budgeted("bindings = 1\n");
    create(&mut simulation, "api");
    simulation.hold_writes();
    place(&mut simulation, &[("b", 1)]);
    want(&mut simulation, "api", "b");
    simulation.fail_next_write(WriteOutcome::Failed("no answer".to_owned()));
    let jobs = simulation.take_held();
    simulation.deliver(&jobs[0]);
    simulation.release_writes();
    assert_eq!(simulation.result("api"), clusters(&[("a", 4)]));
}

/// What a step frees is used until it is known to be written: if it met another version, both moves would be in one cluster.
#[test]
fn what_a_step_leaves_is_used_until_it_is_written() {
    let mut simulation = budgeted("bindings-per-cluster = 1\n");
    create(&mut simulation, "api");
    place(&mut simulation, &[("b", 1)]);
    for _ in 0..2 {
        report_ready(&mut simulation);
    }
    assert_eq!(simulation.result("web"), clusters(&[("a", 2), ("b", 10)]));
    want(&mut simulation, "api", "c");
    assert_eq!(waits(&simulation, "api"), "the budget of cluster `a`");
    simulation.hold_writes();
    report_ready(&mut simulation);
    let jobs = simulation.take_held();
    assert_eq!(jobs.len(), 1, "`web` leaves `a`, and `api` waits for it");
    simulation.fail_next_write(WriteOutcome::Superseded);
    simulation.deliver(&jobs[0]);
    assert_eq!(simulation.take_held().len(), 0, "`web` is still in `a`");
    simulation.release_writes();
    simulation.pass(Duration::from_secs(10));
    assert_eq!(simulation.result("web"), clusters(&[("b", 10)]));
    assert_eq!(simulation.result("api"), clusters(&[("a", 4), ("c", 4)]));
}

/// What its policy says of moves cannot be read, so that it cannot begin when it has its turn.
#[test]
fn a_move_that_cannot_be_judged_leaves_its_turn_to_others() {
    let mut simulation = budgeted("bindings = 1\n");
    let labels = json!({"propagationpolicy.karmada.io/permanent-id": "other"});
    let policy = |words: &str| -> Value {
        let mut policy = plain_policy();
        policy["metadata"]["name"] = json!("other");
        policy["metadata"]["labels"] = labels.clone();
        policy["metadata"]["annotations"] = json!({"divvy.io/moves": words});
        policy
    };
    simulation.policy(&policy("{}"));
    create(&mut simulation, "api");
    simulation.patch("api", &json!({"metadata": {"labels": labels}}));
    create(&mut simulation, "zoo");
    place(&mut simulation, &[("b", 1)]);
    want(&mut simulation, "api", "b");
    want(&mut simulation, "zoo", "b");
    simulation.policy(&policy(r#"{"maxSurge": "many"}"#));
    assert_eq!(simulation.condition("api").0, "False");
    for _ in 0..8 {
        report_ready(&mut simulation);
    }
    assert_eq!(simulation.result("web"), clusters(&[("b", 10)]));
    assert_eq!(simulation.result("zoo"), clusters(&[("a", 4), ("b", 4)]));
}

/// Everything that a binding was given is ready.
fn ready(simulation: &mut Simulation, name: &str) {
    let states = simulation.result(name).into_iter().map(|(cluster, replicas)| {
        let status = json!({"replicas": replicas, "readyReplicas": replicas});
        json!({"clusterName": cluster, "applied": true, "status": status})
    });
    let states: Vec<Value> = states.collect();
    simulation.patch(name, &json!({"status": {"aggregatedStatus": states}}));
}

/// Its last move has left a mark until all reports are new, so that the binding is not forgotten.
#[test]
fn a_move_whose_binding_cannot_be_decided_leaves_its_turn_to_others() {
    let mut simulation = budgeted("bindings = 1\n");
    create(&mut simulation, "api");
    create(&mut simulation, "zoo");
    place(&mut simulation, &[("b", 1)]);
    for _ in 0..6 {
        report_ready(&mut simulation);
    }
    assert_eq!(simulation.result("web"), clusters(&[("b", 10)]));
    assert!(mark(&simulation).is_some());
    want(&mut simulation, "api", "b");
    assert_eq!(simulation.result("api"), clusters(&[("a", 4), ("b", 4)]));
    place(&mut simulation, &[("c", 1)]);
    assert_eq!(waits(&simulation, "web"), "the budget of all moves");
    want(&mut simulation, "zoo", "b");
    simulation.patch("web", &json!({"spec": {"placement": fitting("nowhere")}}));
    assert_eq!(simulation.condition("web").0, "False");
    assert_eq!(waits(&simulation, "web"), "", "nothing is said of its move");
    for _ in 0..2 {
        ready(&mut simulation, "api");
    }
    assert_eq!(simulation.result("api"), clusters(&[("b", 4)]));
    assert_eq!(simulation.result("zoo"), clusters(&[("a", 4), ("b", 4)]));
}

/// Someone else has changed the result, so that the report of what a move gave may be older than that, for a minute. No further report comes,
/// and nothing is decided: no cluster fits.
#[test]
fn what_was_given_uses_no_budget_once_reports_are_new_although_its_binding_cannot_be_decided() {
    let budgets = "replicas-per-cluster = 2\n";
    for is_killed in [false, true] {
        let mut simulation = budgeted(budgets);
        create(&mut simulation, "api");
        place(&mut simulation, &[("b", 1)]);
        assert_eq!(simulation.result("web"), clusters(&[("a", 10), ("b", 2)]));
        let result = json!([{"name": "a", "replicas": 8}, {"name": "b", "replicas": 2}]);
        simulation.patch(
            "web",
            &json!({"spec": {"clusters": result, "placement": fitting("nowhere")}}),
        );
        assert_eq!(simulation.condition("web").0, "False");
        if is_killed {
            simulation.kill(&active_profile(&lines(budgets)));
        }
        want(&mut simulation, "api", "b");
        report(&mut simulation, &[("a", 8, 8), ("b", 2, 2)]);
        assert_eq!(waits(&simulation, "api"), "the budget of cluster `b`", "{is_killed}");
        simulation.pass(Duration::from_secs(61));
        assert_eq!(simulation.result("api"), clusters(&[("a", 4), ("b", 2)]), "{is_killed}");
    }
}

/// A cluster with room for a number of replicas.
fn small_cluster(name: &str, room: i64) -> Value {
    let mut cluster = ready_cluster(name);
    cluster["status"]["resourceSummary"]["allocatable"]["cpu"] = json!(room.to_string());
    cluster
}

/// A scheduler over `a`, and `b` with room for twelve replicas; and a binding of ten that leaves `a` for `b`, where it has three.
fn going_to_a_small_cluster() -> Simulation {
    let lines = "[profile.moves]\npace = 'surge'\nmax-surge = 3\nfederated-hpa = false\n";
    let mut simulation = Simulation::with_profile(lines, &[ready_cluster("a"), small_cluster("b", 12)]);
    let mut specification = binding(10, &[]);
    specification["placement"] = fitting("a");
    simulation.create("web", specification);
    report(&mut simulation, &[("a", 10, 10)]);
    simulation.patch("web", &json!({"spec": {"placement": fitting("b")}}));
    assert_eq!(simulation.result("web"), clusters(&[("a", 10), ("b", 3)]));
    simulation
}

/// Room that was held for another binding ends with it, before any cluster reports.
#[test]
fn a_move_that_lacks_room_goes_on_once_none_is_held_for_another_binding() {
    let mut simulation = going_to_a_small_cluster();
    let mut other = binding(8, &[]);
    other["placement"] = fitting("b");
    simulation.create("other", other);
    assert_eq!(simulation.result("other"), clusters(&[("b", 8)]));
    for _ in 0..3 {
        report_ready(&mut simulation);
    }
    assert_eq!(simulation.result("web"), clusters(&[("a", 6), ("b", 4)]));
    assert_eq!(waits(&simulation, "web"), "room");
    simulation.delete("other");
    assert_eq!(simulation.result("web"), clusters(&[("a", 6), ("b", 7)]));
}

/// It would go on once its own replicas are ready, and goes on earlier where there is room.
#[test]
fn a_move_that_waits_for_readiness_takes_room_that_grows() {
    let mut simulation = going_to_a_small_cluster();
    simulation.cluster(&small_cluster("b", 3));
    report(&mut simulation, &[("a", 10, 10), ("b", 3, 1)]);
    assert_eq!(simulation.result("web"), clusters(&[("a", 9), ("b", 3)]));
    assert_eq!(waits(&simulation, "web"), "replicas to become ready");
    simulation.cluster(&small_cluster("b", 12));
    assert_eq!(simulation.result("web"), clusters(&[("a", 9), ("b", 4)]));
}

/// The mark of the suspended move is void: nothing but its last decision says that the replicas that are not ready go again.
#[test]
fn replicas_that_a_waiting_move_takes_away_are_not_counted_as_given() {
    let mut simulation = in_a(
        "[profile.moves]\npace = 'surge'\nmax-surge = 4\nmax-unavailable = 2\nfederated-hpa = false\n[profile.moves.budgets]\nreplicas = 4\n",
    );
    create(&mut simulation, "api");
    create(&mut simulation, "boss");
    place(&mut simulation, &[("b", 1)]);
    for _ in 0..2 {
        report_ready(&mut simulation);
    }
    report(&mut simulation, &[("b", 10, 8)]);
    assert_eq!(simulation.result("web"), clusters(&[("b", 10)]));
    simulation.patch(
        "web",
        &json!({"spec": {"placement": weighted(&[("c", 1)]), "suspension": {"dispatching": true}}}),
    );
    assert_eq!(waits(&simulation, "web"), "dispatching, which is suspended");
    want(&mut simulation, "boss", "c");
    assert_eq!(simulation.result("boss"), clusters(&[("a", 2), ("c", 4)]));
    want(&mut simulation, "api", "c");
    assert_eq!(waits(&simulation, "api"), "the budget of all moves");
    report(&mut simulation, &[("b", 10, 7)]);
    let state = |name: &str, replicas: i64| {
        let status = json!({"replicas": replicas, "readyReplicas": 2});
        json!({"clusterName": name, "applied": true, "status": status})
    };
    let states = json!([state("a", 2), state("c", 4)]);
    simulation.patch("boss", &json!({"status": {"aggregatedStatus": states}}));
    assert_eq!(simulation.result("api"), clusters(&[("a", 2), ("c", 2)]));
}
