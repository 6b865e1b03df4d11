//! Targets that a plan gives bindings: reached in steps, waited for, given up.

use serde_json::{Value, json};

use super::super::simulation::Simulation;
use super::super::{clusters, is_scheduled};
use super::{SURGE, in_a, mark, ready_cluster, report_ready};

/// Long after everything here.
const LATER: i64 = 4_102_444_800_000;

fn generation(simulation: &Simulation, name: &str) -> i64 {
    simulation.binding(name)["metadata"]["generation"]
        .as_i64()
        .expect("a binding has a generation")
}

fn by_name(counts: &[(&str, i64)]) -> Value {
    counts
        .iter()
        .map(|(name, replicas)| ((*name).to_owned(), json!(replicas)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

fn annotate(simulation: &mut Simulation, name: &str, planned: &Value) {
    let annotations = json!({"divvy.io/planned-target": planned.to_string()});
    simulation.patch(name, &json!({"metadata": {"annotations": annotations}}));
}

/// Gives a binding the target of a plan that was made of its present version.
fn plan(simulation: &mut Simulation, name: &str, target: &[(&str, i64)]) {
    let from = simulation.result(name);
    let planned = json!({
        "version": 1,
        "plan": "p-1",
        "generation": generation(simulation, name),
        "from": from,
        "target": by_name(target),
        "until": LATER,
    });
    annotate(simulation, name, &planned);
}

fn is_planned(simulation: &Simulation, name: &str) -> bool {
    simulation.binding(name)["metadata"]["annotations"]["divvy.io/planned-target"].is_string()
}

/// Events about plans, in their order.
fn said(simulation: &Simulation) -> Vec<String> {
    let messages = simulation
        .announcements()
        .iter()
        .map(|announcement| announcement.message.clone());
    messages.filter(|message| message.contains("plan")).collect()
}

/// Reports what was given as ready until nothing changes, and returns the results on the way.
fn settle(simulation: &mut Simulation) -> Vec<std::collections::BTreeMap<String, i64>> {
    let mut results = vec![simulation.result("web")];
    for _ in 0..20 {
        report_ready(simulation);
        simulation.pass(std::time::Duration::from_secs(61));
        let result = simulation.result("web");
        if results.last() != Some(&result) {
            results.push(result);
        }
    }
    results
}

#[test]
fn a_running_binding_reaches_its_target_in_steps_and_stays_there() {
    let mut simulation = in_a(SURGE);
    plan(&mut simulation, "web", &[("a", 4), ("b", 6)]);
    // The first step: a surge of three.
    assert_eq!(simulation.result("web"), clusters(&[("a", 10), ("b", 3)]));
    assert!(mark(&simulation).is_some() && is_planned(&simulation, "web"));
    let results = settle(&mut simulation);
    assert!(results.len() > 2, "{results:?}");
    assert_eq!(simulation.result("web"), clusters(&[("a", 4), ("b", 6)]));
    assert!(mark(&simulation).is_none() && !is_planned(&simulation, "web"));
    assert!(is_scheduled(&simulation, "web"));
    assert_eq!(said(&simulation), ["it has the result that the plan `p-1` wants"]);
}

/// What is under way is on the binding alone.
#[test]
fn another_process_goes_on_with_a_plan() {
    let mut simulation = in_a(SURGE);
    plan(&mut simulation, "web", &[("a", 4), ("b", 6)]);
    simulation.stop_leading();
    simulation.lead(2);
    settle(&mut simulation);
    assert_eq!(simulation.result("web"), clusters(&[("a", 4), ("b", 6)]));
    assert!(!is_planned(&simulation, "web"));
}

/// A plan that is given up gives what is on its way the result from before as its target.
#[test]
fn a_binding_on_its_way_goes_back_if_its_target_says_so() {
    let mut simulation = in_a(SURGE);
    plan(&mut simulation, "web", &[("b", 10)]);
    report_ready(&mut simulation);
    let on_its_way = simulation.result("web");
    assert_ne!(on_its_way, clusters(&[("b", 10)]));
    plan(&mut simulation, "web", &[("a", 10)]);
    let results = settle(&mut simulation);
    assert_eq!(simulation.result("web"), clusters(&[("a", 10)]));
    // The floor: never fewer than ten less none.
    for result in results {
        assert!(result.values().sum::<i64>() >= 10, "{result:?}");
    }
    assert!(mark(&simulation).is_none() && !is_planned(&simulation, "web"));
}

#[test]
fn a_binding_that_changes_leaves_its_plan_and_is_decided_as_any_other() {
    for is_under_way in [false, true] {
        // Without hours, a move does not begin.
        let closed = format!("{SURGE}hours = ['Mon 00:00-00:01 UTC']\n");
        let mut simulation = in_a(if is_under_way { SURGE } else { &closed });
        plan(&mut simulation, "web", &[("a", 4), ("b", 6)]);
        assert_eq!(mark(&simulation).is_some(), is_under_way);
        assert!(is_planned(&simulation, "web"));
        simulation.patch("web", &json!({"spec": {"replicas": 12}}));
        settle(&mut simulation);
        assert_eq!(simulation.result("web"), clusters(&[("a", 12)]), "{is_under_way}");
        assert!(!is_planned(&simulation, "web"));
        let said = said(&simulation);
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].starts_with("it leaves its plan: "), "{said:?}");
    }
}

#[test]
fn what_does_not_fit_its_binding_is_removed_with_its_cause() {
    let right = |simulation: &Simulation| {
        json!({
            "version": 1,
            "plan": "p-1",
            "generation": generation(simulation, "web"),
            "from": {"a": 10},
            "target": {"a": 4, "b": 6},
            "until": LATER,
        })
    };
    let changed = |key: &'static str, value: Value| move |planned: &mut Value| planned[key] = value;
    type Change = Box<dyn FnOnce(&mut Value)>;
    let cases: Vec<(Change, &str)> = vec![
        (Box::new(changed("version", json!(2))), "has version 2, expected 1"),
        (Box::new(changed("until", json!(1))), "its time has passed"),
        (
            Box::new(changed("from", json!({"a": 9, "b": 1}))),
            "it has another result",
        ),
        (
            Box::new(changed("generation", json!(99))),
            "its specification has changed",
        ),
        (
            Box::new(changed("target", json!({"a": 4}))),
            "has 4 replicas, expected 10",
        ),
        (
            Box::new(changed("target", json!({"a": 4, "x": 6}))),
            "cluster `x` of the planned target is gone",
        ),
        (
            Box::new(changed("target", json!({"a": -4, "b": 14}))),
            "gives cluster `a` -4 replicas",
        ),
        (
            Box::new(|planned: &mut Value| *planned = json!([])),
            "annotation `divvy.io/planned-target`: ",
        ),
        // `tainted` is there, and its filters do not let the binding use it.
        (
            Box::new(changed("target", json!({"a": 4, "tainted": 6}))),
            "its filters do not let it use cluster `tainted`",
        ),
    ];
    for (change, cause) in cases {
        let mut simulation = in_a(SURGE);
        let mut tainted = ready_cluster("tainted");
        tainted["spec"]["taints"] = json!([{"key": "k", "effect": "NoSchedule"}]);
        simulation.cluster(&tainted);
        let mut planned = right(&simulation);
        change(&mut planned);
        annotate(&mut simulation, "web", &planned);
        assert!(!is_planned(&simulation, "web"), "{cause}");
        let said = said(&simulation);
        assert!(said.len() == 1 && said[0].contains(cause), "{cause}: {said:?}");
        assert_eq!(simulation.result("web"), clusters(&[("a", 10)]), "{cause}");
    }
}

/// A profile without moves would take replicas away before others are ready.
#[test]
fn without_moves_no_plan_is_carried_out() {
    let mut simulation = in_a("");
    plan(&mut simulation, "web", &[("a", 4), ("b", 6)]);
    assert!(!is_planned(&simulation, "web"));
    assert_eq!(simulation.result("web"), clusters(&[("a", 10)]));
    assert!(
        said(&simulation)[0].contains("no `[profile.moves]`"),
        "{:?}",
        said(&simulation)
    );
}

#[test]
fn what_waits_is_placed_as_planned_once_the_room_is_there() {
    let cluster = |name: &str, cores: &str| {
        let mut cluster = ready_cluster(name);
        cluster["status"]["resourceSummary"]["allocatable"]["cpu"] = json!(cores);
        cluster
    };
    let mut simulation = Simulation::with_profile(SURGE, &[cluster("a", "0"), cluster("c", "0")]);
    let waiting = json!({
        "replicas": 10,
        "replicaRequirements": {"resourceRequest": {"cpu": "1"}},
        "placement": {
            "replicaScheduling": {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"},
        },
    });
    simulation.create("web", waiting);
    assert!(!is_scheduled(&simulation, "web"));
    plan(&mut simulation, "web", &[("a", 6), ("c", 4)]);
    assert!(is_planned(&simulation, "web"));
    // Without the plan, all of it would go to `c`.
    simulation.cluster(&cluster("c", "100"));
    simulation.wait(std::time::Duration::from_secs(30));
    assert_eq!(simulation.result("web"), clusters(&[]));
    let message = simulation.message("web");
    assert!(
        message.contains("it waits for the room that the plan `p-1` gives it: {a:6, c:4}"),
        "{message}"
    );
    simulation.cluster(&cluster("a", "6"));
    simulation.wait(std::time::Duration::from_secs(30));
    assert_eq!(simulation.result("web"), clusters(&[("a", 6), ("c", 4)]));
    assert!(!is_planned(&simulation, "web"));
}

/// What Karmada's WorkloadRebalancer asks for is divided from scratch, and goes there in steps, one binding after another under a budget, although
/// the scheduler is killed on the way.
#[test]
fn what_a_workload_rebalancer_names_goes_in_steps_under_the_budgets() {
    const NAMES: [&str; 3] = ["api", "mail", "web"];
    let lines = format!("{SURGE}[profile.moves.budgets]\nbindings = 1\n");
    let mut simulation = in_a(&lines);
    for name in ["api", "mail"] {
        simulation.create(name, super::binding(10, &[("a", 1)]));
    }
    let report = |simulation: &mut Simulation, name: &str| {
        let states = simulation.result(name).into_iter().map(|(cluster, replicas)| {
            let status = json!({"replicas": replicas, "readyReplicas": replicas});
            json!({"clusterName": cluster, "applied": true, "status": status})
        });
        let states: Value = states.collect();
        simulation.patch(name, &json!({"status": {"aggregatedStatus": states}}));
    };
    let settle = |simulation: &mut Simulation| {
        for _ in 0..20 {
            NAMES.iter().for_each(|name| report(simulation, name));
            simulation.pass(std::time::Duration::from_secs(61));
        }
    };
    for name in NAMES {
        simulation.patch(
            name,
            &json!({"spec": {"placement": super::weighted(&[("a", 1), ("b", 1)])}}),
        );
    }
    settle(&mut simulation);
    for name in NAMES {
        assert_eq!(simulation.result(name), clusters(&[("a", 5), ("b", 5)]), "{name}");
        // A person's division adds up, so that it stays.
        let all_in_a = json!([{"name": "a", "replicas": 10}]);
        simulation.patch(name, &json!({"spec": {"clusters": all_in_a}}));
    }
    settle(&mut simulation);
    for name in NAMES {
        assert_eq!(simulation.result(name), clusters(&[("a", 10)]), "{name}");
        simulation.patch(
            name,
            &json!({"spec": {"rescheduleTriggeredAt": "2027-03-01T00:00:00Z"}}),
        );
    }
    let begun = |simulation: &Simulation| {
        let begun = NAMES.iter().filter(|name| simulation.result(name).len() > 1);
        begun.count()
    };
    assert_eq!(begun(&simulation), 1, "the budget lets one begin");
    simulation.kill(&super::active_profile(&lines));
    assert_eq!(begun(&simulation), 1, "the next process knows what is under way");
    for _ in 0..20 {
        for name in NAMES {
            report(&mut simulation, name);
            let sum: i64 = simulation.result(name).values().sum();
            assert!(sum >= 10, "{name} has {sum} of ten");
        }
        simulation.pass(std::time::Duration::from_secs(61));
    }
    for name in NAMES {
        assert_eq!(simulation.result(name), clusters(&[("a", 5), ("b", 5)]), "{name}");
    }
}

#[test]
fn a_workload_rebalancer_takes_a_binding_out_of_its_plan() {
    // Without hours, the plan does not begin.
    let closed = format!("{SURGE}hours = ['Mon 00:00-00:01 UTC']\n");
    let mut simulation = in_a(&closed);
    plan(&mut simulation, "web", &[("b", 10)]);
    assert!(is_planned(&simulation, "web"));
    simulation.patch(
        "web",
        &json!({"spec": {"rescheduleTriggeredAt": "2027-03-01T00:00:00Z"}}),
    );
    settle(&mut simulation);
    assert!(!is_planned(&simulation, "web"));
    assert_eq!(simulation.result("web"), clusters(&[("a", 10)]));
    assert_eq!(
        said(&simulation),
        ["it leaves its plan: its specification has changed since the plan was made"]
    );
}
