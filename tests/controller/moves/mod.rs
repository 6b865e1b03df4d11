//! Results that are written in steps: the scheduler between a binding, its clusters' reports, a quota, people and its own end.

mod budgets;
mod changes;
mod cost;
mod deletions;
mod failback;
mod histories;
mod memory;
mod planned;

use std::time::Duration;

use divvy_controller::condition::ScheduledReason;
use divvy_controller::write::WriteOutcome;
use serde_json::{Value, json};

use super::forgotten::unscheduled;
use super::simulation::{Simulation, active_profile};
use super::{clusters, is_scheduled, plain_policy};

const SURGE: &str = "[profile.moves]\npace = 'surge'\nmax-surge = '30%'\nfederated-hpa = false\n";

/// A Ready cluster with room for whatever is tried here.
fn ready_cluster(name: &str) -> Value {
    json!({
        "metadata": {"name": name, "generation": 1},
        "spec": {"region": if name < "c" { "east" } else { "west" }},
        "status": {
            "conditions": [{"type": "Ready", "status": "True"}],
            "apiEnablements": [{"groupVersion": "apps/v1", "resources": [
                {"name": "deployments", "kind": "Deployment"}, {"name": "statefulsets", "kind": "StatefulSet"},
            ]}, {"groupVersion": "flink.apache.org/v1beta1", "resources": [
                {"name": "flinkdeployments", "kind": "FlinkDeployment"},
            ]}],
            "resourceSummary": {"allocatable": {"cpu": "10000", "pods": "10000"}},
        },
    })
}

/// A division by fixed weights.
fn weighted(weights: &[(&str, i64)]) -> Value {
    let list = weights
        .iter()
        .map(|(name, weight)| json!({"targetCluster": {"clusterNames": [name]}, "weight": weight}));
    json!({"replicaScheduling": {
        "replicaSchedulingType": "Divided",
        "replicaDivisionPreference": "Weighted",
        "weightPreference": {"staticWeightList": list.collect::<Vec<_>>()},
    }})
}

/// Replicas in one cluster, as long as they fit there.
fn fitting(cluster: &str) -> Value {
    json!({
        "clusterAffinity": {"clusterNames": [cluster]},
        "replicaScheduling": {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"},
    })
}

/// A binding of a Deployment with these weights.
fn binding(replicas: i64, weights: &[(&str, i64)]) -> Value {
    json!({
        "replicas": replicas,
        "replicaRequirements": {"resourceRequest": {"cpu": "1"}},
        "placement": weighted(weights),
    })
}

/// A scheduler with this profile over `a`, `b` and `c`, and a binding of ten replicas that all run in `a`.
fn in_a(lines: &str) -> Simulation {
    let mut simulation = Simulation::with_profile(lines, &["a", "b", "c"].map(ready_cluster));
    simulation.create("web", binding(10, &[("a", 1)]));
    assert_eq!(simulation.result("web"), clusters(&[("a", 10)]));
    report(&mut simulation, &[("a", 10, 10)]);
    simulation
}

/// The clusters report replicas and ready replicas.
fn report(simulation: &mut Simulation, states: &[(&str, i64, i64)]) {
    let states = states.iter().map(|(name, replicas, ready)| {
        json!({"clusterName": name, "applied": true, "status": {"replicas": replicas, "readyReplicas": ready}})
    });
    let states: Vec<Value> = states.collect();
    simulation.patch("web", &json!({"status": {"aggregatedStatus": states}}));
}

/// Everything that the clusters were given is ready.
fn report_ready(simulation: &mut Simulation) {
    let result = simulation.result("web");
    let states: Vec<(&str, i64, i64)> = result
        .iter()
        .map(|(name, replicas)| (name.as_str(), *replicas, *replicas))
        .collect();
    report(simulation, &states);
}

fn place(simulation: &mut Simulation, weights: &[(&str, i64)]) {
    simulation.patch("web", &json!({"spec": {"placement": weighted(weights)}}));
}

fn mark(simulation: &Simulation) -> Option<Value> {
    let mark = simulation.binding("web")["metadata"]["annotations"]["divvy.io/move"].as_str();
    mark.map(|mark| serde_json::from_str(mark).expect("a mark is JSON"))
}

/// What an explanation says of the move.
fn said(simulation: &Simulation) -> String {
    let explanation = simulation.explanation("web");
    explanation["move"].as_str().unwrap_or_default().to_owned()
}

fn is_observed(simulation: &Simulation) -> bool {
    let binding = simulation.binding("web");
    binding["status"]["schedulerObservedGeneration"] == binding["metadata"]["generation"]
}

/// With three replicas beyond the total, five go from `a` to `b` in three steps, which no rule allows to be fewer.
#[test]
fn an_undisturbed_move_takes_the_fewest_steps() {
    let mut simulation = in_a(SURGE);
    let writes = simulation.writes("web").0;
    place(&mut simulation, &[("a", 1), ("b", 1)]);
    assert_eq!(simulation.result("web"), clusters(&[("a", 10), ("b", 3)]));
    assert!(is_scheduled(&simulation, "web") && is_observed(&simulation));
    let message = simulation.message("web");
    assert!(message.ends_with("is moved in steps to {a:5, b:5}."), "{message}");
    assert!(
        said(&simulation).contains("waits for replicas to become ready"),
        "{}",
        said(&simulation)
    );
    report(&mut simulation, &[("a", 10, 10), ("b", 3, 1)]);
    assert_eq!(simulation.result("web"), clusters(&[("a", 9), ("b", 4)]));
    report(&mut simulation, &[("a", 9, 9), ("b", 4, 1)]);
    assert_eq!(simulation.result("web"), clusters(&[("a", 9), ("b", 4)]));
    report(&mut simulation, &[("a", 9, 9), ("b", 4, 4)]);
    assert_eq!(simulation.result("web"), clusters(&[("a", 6), ("b", 5)]));
    report(&mut simulation, &[("a", 6, 6), ("b", 5, 5)]);
    assert_eq!(simulation.result("web"), clusters(&[("a", 5), ("b", 5)]));
    assert!(mark(&simulation).is_some(), "reports may be old");
    report(&mut simulation, &[("a", 5, 5), ("b", 5, 5)]);
    simulation.pass(Duration::from_secs(61));
    assert_eq!(mark(&simulation), None);
    assert_eq!(simulation.message("web"), "Binding has been scheduled successfully.");
    assert!(is_observed(&simulation));
    let steps = simulation.writes("web").0 - writes;
    assert_eq!(steps, 5, "four steps, and one write that ends the move");

    // Where every step becomes ready at once, there is one step less.
    let writes = simulation.writes("web").0;
    place(&mut simulation, &[("a", 1)]);
    let mut steps = 0;
    while simulation.result("web") != clusters(&[("a", 10)]) {
        steps += 1;
        assert!(steps < 9, "{:?}", simulation.result("web"));
        report_ready(&mut simulation);
    }
    assert_eq!(simulation.writes("web").0 - writes, 3);
}

#[test]
fn without_a_profile_for_moves_nothing_is_written_in_steps() {
    let mut simulation = in_a("");
    let writes = simulation.writes("web");
    place(&mut simulation, &[("a", 1), ("b", 1)]);
    assert_eq!(simulation.result("web"), clusters(&[("a", 5), ("b", 5)]));
    assert_eq!((simulation.writes("web").0 - writes.0, mark(&simulation)), (1, None));
    report(&mut simulation, &[("a", 5, 5), ("b", 5, 0)]);
    assert_eq!(simulation.writes("web").0 - writes.0, 1);
}

/// There is nothing to move to, so that clearing the result would take everything.
#[test]
fn a_result_that_moves_in_steps_stays_if_no_cluster_fits() {
    let placed = |cluster| json!({"spec": {"placement": fitting(cluster)}});
    let mut simulation = in_a(SURGE);
    simulation.patch("web", &placed("nowhere"));
    assert_eq!(simulation.result("web"), clusters(&[("a", 10)]));
    assert_eq!(simulation.condition("web").1, "NoClusterFit");
    simulation.patch("web", &placed("b"));
    assert_eq!(simulation.result("web"), clusters(&[("a", 10), ("b", 3)]));

    for lines in ["", &format!("when-no-cluster-fits = 'clear'\n{SURGE}")] {
        let mut simulation = in_a(lines);
        simulation.patch("web", &placed("nowhere"));
        assert_eq!(simulation.result("web"), clusters(&[]), "{lines}");
    }
}

/// Its sum is beyond any surge, so that no step would reach it.
#[test]
fn a_placement_that_duplicates_replaces_a_move_at_once() {
    let mut simulation = in_a(SURGE);
    place(&mut simulation, &[("a", 1), ("b", 1)]);
    assert_eq!(simulation.result("web"), clusters(&[("a", 10), ("b", 3)]));
    let duplicated = json!({
        "clusterAffinity": {"clusterNames": ["a", "b"]},
        "replicaScheduling": {"replicaSchedulingType": "Duplicated"},
    });
    simulation.patch("web", &json!({"spec": {"placement": duplicated}}));
    assert_eq!(simulation.result("web"), clusters(&[("a", 10), ("b", 10)]));
    assert_eq!(mark(&simulation), None);
    assert!(is_scheduled(&simulation, "web") && is_observed(&simulation));
}

/// A killed process, a new leader, and one that knows nothing go on from the mark.
#[test]
fn another_process_goes_on_with_a_move() {
    let active = active_profile(SURGE);
    let mut simulation = in_a(SURGE);
    place(&mut simulation, &[("a", 1), ("b", 1)]);
    let writes = simulation.writes("web");
    simulation.kill(&active);
    assert_eq!(simulation.writes("web"), writes, "no step is repeated");
    let said = "it is moved in steps from {a:10, b:3} to {a:5, b:5}, and waits for ";
    let explanation = simulation.explanation("web");
    assert!(
        explanation["move"].as_str().is_some_and(|text| text.starts_with(said)),
        "{explanation}"
    );
    report(&mut simulation, &[("a", 10, 10), ("b", 3, 3)]);
    assert_eq!(simulation.result("web"), clusters(&[("a", 7), ("b", 5)]));
    simulation.lead(2);
    report(&mut simulation, &[("a", 7, 7), ("b", 5, 5)]);
    assert_eq!(simulation.result("web"), clusters(&[("a", 5), ("b", 5)]));
}

/// Nothing is decided at the end of a move, and the binding is not looked at afterwards.
#[test]
fn a_binding_whose_move_ends_after_a_write_that_failed_does_not_count_as_unscheduled() {
    let mut simulation = in_a(SURGE);
    place(&mut simulation, &[("a", 1), ("b", 1)]);
    for _ in 0..6 {
        report_ready(&mut simulation);
    }
    assert_eq!(simulation.result("web"), clusters(&[("a", 5), ("b", 5)]));
    assert!(mark(&simulation).is_some());
    simulation.fail_next_write(WriteOutcome::Failed("the connection broke".to_owned()));
    simulation.pass(Duration::from_secs(61));
    assert!(mark(&simulation).is_some(), "the write that ends the move failed");
    assert_eq!(unscheduled(&simulation), 1);
    simulation.pass(Duration::from_secs(10));
    assert_eq!((mark(&simulation), unscheduled(&simulation)), (None, 0));
}

#[test]
fn a_change_by_someone_else_voids_the_mark_and_the_binding_is_decided_anew() {
    let mut simulation = in_a(SURGE);
    place(&mut simulation, &[("a", 1), ("b", 1)]);
    assert_eq!(simulation.result("web"), clusters(&[("a", 10), ("b", 3)]));
    // An autoscaler wants fewer. What is ready in `a` is enough for all of them.
    simulation.patch("web", &json!({"spec": {"replicas": 4}}));
    report(&mut simulation, &[("a", 10, 10), ("b", 3, 0)]);
    for _ in 0..6 {
        report_ready(&mut simulation);
        simulation.pass(Duration::from_secs(61));
    }
    assert_eq!(simulation.result("web"), clusters(&[("a", 2), ("b", 2)]));
    assert_eq!(mark(&simulation), None);
    // A person breaks the mark of the next move.
    place(&mut simulation, &[("c", 1)]);
    assert!(mark(&simulation).is_some());
    simulation.patch(
        "web",
        &json!({"metadata": {"annotations": {"divvy.io/move": "{"}, "labels": {"x": "y"}}}),
    );
    assert_eq!(simulation.result("web"), clusters(&[("a", 2), ("b", 2), ("c", 2)]));
    report(&mut simulation, &[("a", 2, 2), ("b", 2, 2), ("c", 2, 2)]);
    assert!(mark(&simulation).is_some(), "it is decided anew, with a mark");
    assert_eq!(simulation.result("web")["c"], 4);
}

#[test]
fn a_quota_that_refuses_a_surge_is_waited_for_or_a_swap_is_made() {
    let refused = || WriteOutcome::Refused(ScheduledReason::QuotaExceeded, "quota".to_owned());
    let mut simulation = in_a(SURGE);
    simulation.fail_next_write(refused());
    place(&mut simulation, &[("b", 1)]);
    assert_eq!(simulation.result("web"), clusters(&[("a", 10)]));
    assert!(is_scheduled(&simulation, "web"), "what runs is as it was");
    assert!(said(&simulation).contains("waits for a quota"), "{}", said(&simulation));
    simulation.publish();
    assert!(
        simulation
            .scraped("divvy_move_waits")
            .contains(&"divvy_move_waits{reason=\"quota\"} 1".to_owned())
    );
    let warned = simulation
        .announcements()
        .iter()
        .any(|event| event.message.contains("waits for a quota"));
    assert!(warned, "an event says so");
    simulation.quota_changes();
    assert_eq!(simulation.result("web"), clusters(&[("a", 10), ("b", 3)]));

    let mut simulation = in_a("[profile.moves]\npace = 'surge'\nmax-unavailable = 2\nfederated-hpa = false\n");
    simulation.fail_next_write(refused());
    place(&mut simulation, &[("b", 1)]);
    assert_eq!(simulation.result("web"), clusters(&[("a", 8), ("b", 2)]));
}

#[test]
fn suspended_dispatching_and_closed_hours_are_waited_for() {
    let mut simulation = in_a(SURGE);
    simulation.patch("web", &json!({"spec": {"suspension": {"dispatching": true}}}));
    place(&mut simulation, &[("b", 1)]);
    assert_eq!(simulation.result("web"), clusters(&[("a", 10)]));
    assert!(said(&simulation).contains("dispatching"), "{}", said(&simulation));
    simulation.patch("web", &json!({"spec": {"suspension": null}}));
    assert_eq!(simulation.result("web"), clusters(&[("a", 10), ("b", 3)]));

    // The simulation begins on a Friday at 08:00 UTC.
    let mut simulation =
        in_a("[profile.moves]\npace = 'surge'\nfederated-hpa = false\nhours = ['Mon-Fri 10:00-12:00 UTC']\n");
    place(&mut simulation, &[("b", 1)]);
    assert_eq!(simulation.result("web"), clusters(&[("a", 10)]));
    assert!(said(&simulation).contains("the hours"), "{}", said(&simulation));
    simulation.pass(Duration::from_secs(3600));
    assert_eq!(simulation.result("web"), clusters(&[("a", 10)]));
    simulation.pass(Duration::from_secs(3600));
    assert_eq!(simulation.result("web"), clusters(&[("a", 10), ("b", 3)]));
}

#[test]
fn what_is_not_moved_in_steps_is_written_at_once_and_says_why() {
    let mut simulation = Simulation::with_profile(SURGE, &["a", "b"].map(ready_cluster));
    let mut set = binding(4, &[("a", 1)]);
    set["resource"] = json!({"kind": "StatefulSet"});
    simulation.create("web", set);
    place(&mut simulation, &[("b", 1)]);
    assert_eq!(simulation.result("web"), clusters(&[("b", 4)]));
    assert!(said(&simulation).contains("same ordinals"), "{}", said(&simulation));
    // Its policy asks for steps.
    let mut policy = plain_policy();
    policy["metadata"]["annotations"] = json!({"divvy.io/moves": r#"{"include": ["StatefulSet"], "maxSurge": 1}"#});
    simulation.policy(&policy);
    report(&mut simulation, &[("b", 4, 4)]);
    place(&mut simulation, &[("a", 1)]);
    assert_eq!(simulation.result("web"), clusters(&[("a", 1), ("b", 4)]));
    // A mistake in it stops the move, and nothing else.
    policy["metadata"]["annotations"] = json!({"divvy.io/moves": r#"{"maxSurge": 0, "maxUnavailable": 0}"#});
    simulation.policy(&policy);
    assert_eq!(simulation.result("web"), clusters(&[("a", 1), ("b", 4)]));
    assert_eq!(simulation.condition("web").0, "False");
    assert!(
        simulation.message("web").contains("`divvy.io/moves` of its policy"),
        "{}",
        simulation.message("web")
    );
}

/// A set of components is in one cluster as a whole, by the spread constraint without which Karmada places no sets.
#[test]
fn a_set_of_components_moves_at_once_whatever_its_policy_includes_and_says_so() {
    let lines = format!("multiple-pod-templates = true\n{SURGE}");
    let mut simulation = Simulation::with_profile(&lines, &["a", "b"].map(ready_cluster));
    let mut policy = plain_policy();
    let words = r#"{"include": ["StatefulSet", "WithoutReadiness"], "maxUnavailable": "100%"}"#;
    policy["metadata"]["annotations"] = json!({"divvy.io/moves": words});
    simulation.policy(&policy);
    let placed = |cluster: &str| {
        json!({
            "clusterAffinity": {"clusterNames": [cluster]},
            "spreadConstraints": [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}],
            "replicaScheduling": {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"},
        })
    };
    let component =
        |name: &str| json!({"name": name, "replicas": 2, "replicaRequirements": {"resourceRequest": {"cpu": "1"}}});
    let set = json!({
        "resource": {"apiVersion": "flink.apache.org/v1beta1", "kind": "FlinkDeployment"},
        "components": [component("jobmanager"), component("taskmanager")],
        "placement": placed("a"),
    });
    simulation.create("web", set);
    assert_eq!(simulation.result("web"), clusters(&[("a", 0)]));
    let state = json!([{"clusterName": "a", "applied": true, "health": "Healthy"}]);
    simulation.patch("web", &json!({"status": {"aggregatedStatus": state}}));
    simulation.patch("web", &json!({"spec": {"placement": placed("b")}}));
    let target = &simulation.binding("web")["spec"]["clusters"];
    let components = json!([{"name": "jobmanager", "replicas": 2}, {"name": "taskmanager", "replicas": 2}]);
    assert_eq!(*target, json!([{"name": "b", "components": components}]));
    assert_eq!(mark(&simulation), None);
    let reason = "not moved in steps: its components are one set";
    assert!(said(&simulation).starts_with(reason), "{}", said(&simulation));
    // A set is decided again with every change of the clusters. What is said of it stays.
    let mut labelled = ready_cluster("b");
    labelled["metadata"]["labels"] = json!({"tier": "gold"});
    simulation.cluster(&labelled);
    assert!(said(&simulation).starts_with(reason), "{}", said(&simulation));
}

/// A budget of one binding: the second waits until the first has ended, without a mark of its own.
#[test]
fn moves_wait_for_budgets_and_follow_each_other() {
    let lines = "[profile.moves]\npace = 'surge'\nfederated-hpa = false\n[profile.moves.budgets]\nbindings = 1\n";
    let mut simulation = in_a(lines);
    simulation.create("api", binding(4, &[("a", 1)]));
    let state = |name: &str, replicas: i64| json!({"clusterName": name, "applied": true, "status": {"replicas": replicas, "readyReplicas": replicas}});
    simulation.patch("api", &json!({"status": {"aggregatedStatus": [state("a", 4)]}}));
    place(&mut simulation, &[("b", 1)]);
    simulation.patch("api", &json!({"spec": {"placement": weighted(&[("b", 1)])}}));
    assert_eq!(simulation.result("api"), clusters(&[("a", 4)]));
    let explanation = simulation.explanation("api");
    assert!(
        explanation["move"]
            .as_str()
            .is_some_and(|text| text.contains("the budget of all moves")),
        "{explanation}"
    );
    for _ in 0..8 {
        report_ready(&mut simulation);
    }
    assert_eq!(simulation.result("web"), clusters(&[("b", 10)]));
    assert_eq!(simulation.result("api"), clusters(&[("a", 4), ("b", 1)]));
}

/// A profile without moves brings the sums back, so that any other scheduler finds valid results.
#[test]
fn a_profile_without_moves_settles_those_under_way() {
    let mut simulation = in_a(SURGE);
    place(&mut simulation, &[("b", 1)]);
    report(&mut simulation, &[("a", 10, 10), ("b", 3, 2)]);
    let sum = |simulation: &Simulation| simulation.result("web").values().sum::<i64>();
    assert!(sum(&simulation) > 10, "{:?}", simulation.result("web"));
    let unsettled = |simulation: &Simulation| {
        simulation.publish();
        simulation.scraped("divvy_unsettled_moves")
    };
    assert_eq!(unsettled(&simulation), ["divvy_unsettled_moves 1"]);
    assert_eq!(simulation.exchange("").refusal, None);
    assert_eq!(sum(&simulation), 10);
    // Another scheduler may take over at once: the mark, which it ignores, stays until reports are as new as it is.
    assert_eq!(unsettled(&simulation), ["divvy_unsettled_moves 0"]);
    assert!(mark(&simulation).is_some());
    simulation.pass(Duration::from_secs(61));
    simulation.pass(Duration::from_secs(1));
    assert_eq!((sum(&simulation), mark(&simulation)), (10, None));
}

/// A change that still waits to move anything is made at once without moves, as another scheduler would make it.
#[test]
fn a_profile_without_moves_makes_at_once_what_waited_to_begin() {
    let mut simulation = in_a("[profile.moves]\npace = 'surge'\n");
    place(&mut simulation, &[("b", 1)]);
    assert_eq!(simulation.result("web"), clusters(&[("a", 10)]));
    assert_eq!(simulation.exchange("").refusal, None);
    assert_eq!(simulation.result("web"), clusters(&[("b", 10)]));
    simulation.publish();
    assert_eq!(simulation.scraped("divvy_unsettled_moves"), ["divvy_unsettled_moves 0"]);
}

/// Nothing that Karmada still keeps is given up before everything that was evicted is there again.
#[test]
fn an_eviction_is_replaced_at_once_and_observed_with_the_whole_sum() {
    let mut simulation = in_a(SURGE);
    place(&mut simulation, &[("a", 1), ("b", 1)]);
    assert_eq!(simulation.result("web"), clusters(&[("a", 10), ("b", 3)]));
    let task = json!({"fromCluster": "a", "replicas": 10, "producer": "TaintManager"});
    let mut tainted = ready_cluster("a");
    tainted["metadata"]["generation"] = json!(2);
    tainted["spec"]["taints"] = json!([{"key": "x", "effect": "NoSchedule"}]);
    simulation.cluster(&tainted);
    simulation.patch(
        "web",
        &json!({"spec": {"clusters": [{"name": "b", "replicas": 3}], "gracefulEvictionTasks": [task]}}),
    );
    assert_eq!(simulation.result("web"), clusters(&[("b", 10)]));
    assert!(!is_observed(&simulation), "no report shows it yet");
    report(&mut simulation, &[("a", 10, 10), ("b", 10, 10)]);
    assert!(is_observed(&simulation));
}

/// Unless someone says that no FederatedHPA scales a workload, a surge stays below its tolerance.
#[test]
fn a_surge_is_smaller_than_what_an_autoscaler_notices() {
    let mut simulation = in_a("[profile.moves]\npace = 'surge'\n");
    place(&mut simulation, &[("b", 1)]);
    assert_eq!(simulation.result("web"), clusters(&[("a", 10)]));
    assert!(said(&simulation).contains("FederatedHPA"), "{}", said(&simulation));
    let mut policy = plain_policy();
    policy["metadata"]["annotations"] = json!({"divvy.io/moves": r#"{"federatedHPA": false}"#});
    simulation.policy(&policy);
    assert_eq!(simulation.result("web"), clusters(&[("a", 10), ("b", 3)]));
    policy["metadata"]["annotations"] = json!({"divvy.io/moves": r#"{"steps": false}"#});
    simulation.policy(&policy);
    assert_eq!(simulation.result("web"), clusters(&[("b", 10)]));
    assert!(said(&simulation).contains("its policy has"), "{}", said(&simulation));
}

/// A request is answered by the first step. What it decided stays the target.
#[test]
fn a_workload_rebalancer_is_answered_by_the_first_step() {
    let active = active_profile(SURGE);
    let mut simulation = in_a(SURGE);
    place(&mut simulation, &[("a", 1), ("b", 1)]);
    for _ in 0..6 {
        report_ready(&mut simulation);
    }
    simulation.pass(Duration::from_secs(61));
    assert_eq!(mark(&simulation), None);
    // A person undoes the division, which adds up.
    simulation.patch("web", &json!({"spec": {"clusters": [{"name": "a", "replicas": 10}]}}));
    report_ready(&mut simulation);
    assert_eq!(simulation.result("web"), clusters(&[("a", 10)]));
    let request = "2027-01-15T08:10:00Z";
    simulation.patch("web", &json!({"spec": {"rescheduleTriggeredAt": request}}));
    assert_eq!(simulation.result("web"), clusters(&[("a", 10), ("b", 3)]));
    let answered = simulation.binding("web")["status"]["lastScheduledTime"].clone();
    assert!(answered.as_str().is_some_and(|time| time >= request), "{answered}");
    let writes = simulation.writes("web");
    simulation.kill(&active);
    assert_eq!(simulation.writes("web"), writes, "the request is not answered twice");
    for _ in 0..6 {
        report_ready(&mut simulation);
    }
    assert_eq!(simulation.result("web"), clusters(&[("a", 5), ("b", 5)]));
}
