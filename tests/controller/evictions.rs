//! Graceful evictions: Karmada removes the old copy once the scheduler has observed the generation and everything that the result names is
//! Healthy by its last report. So the generation is observed only once reports show the result.

use std::time::Duration;

use serde_json::{Value, json};

use super::simulation::{Simulation, active_profile};
use super::{cluster, clusters, duplicated, is_scheduled, plain_policy};

/// Nine replicas over `m1`, `m2` and `m3`, which run and are reported.
fn spread() -> Simulation {
    spread_under("")
}

fn spread_under(lines: &str) -> Simulation {
    let mut simulation = Simulation::with_profile(lines, &["m1", "m2", "m3"].map(|name| cluster(name, 100)));
    let weight = |name: &str| json!({"targetCluster": {"clusterNames": [name]}, "weight": 1});
    let placement = json!({"replicaScheduling": {
        "replicaSchedulingType": "Divided",
        "replicaDivisionPreference": "Weighted",
        "weightPreference": {"staticWeightList": [weight("m1"), weight("m2"), weight("m3")]},
    }});
    simulation.create("web", json!({"replicas": 9, "placement": placement}));
    assert_eq!(simulation.result("web"), clusters(&[("m1", 3), ("m2", 3), ("m3", 3)]));
    report(&mut simulation, &[("m1", 3), ("m2", 3), ("m3", 3)]);
    simulation.pass(Duration::from_secs(600));
    simulation
}

/// Clusters report this many replicas, all of them ready.
fn report(simulation: &mut Simulation, states: &[(&str, i64)]) {
    let states = states.iter().map(|(name, ready)| {
        json!({"clusterName": name, "applied": true, "health": "Healthy", "status": {"replicas": ready, "readyReplicas": ready}})
    });
    simulation.patch(
        "web",
        &json!({"status": {"aggregatedStatus": states.collect::<Vec<_>>()}}),
    );
}

fn task(cluster: &str) -> Value {
    json!({"fromCluster": cluster, "replicas": 3, "producer": "TaintManager", "reason": "TaintUntolerated"})
}

/// The taint manager evicts the binding from a cluster that is tainted.
fn evict(simulation: &mut Simulation, from: &str, tasks: &Value) {
    let mut tainted = cluster(from, 100);
    tainted["metadata"]["generation"] = json!(2);
    tainted["spec"] = json!({"taints": [{"key": "x", "effect": "NoExecute"}]});
    simulation.cluster(&tainted);
    let left = simulation.binding("web")["spec"]["clusters"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let left: Vec<Value> = left.into_iter().filter(|target| target["name"] != from).collect();
    simulation.patch(
        "web",
        &json!({"spec": {"clusters": left, "gracefulEvictionTasks": tasks}}),
    );
}

fn is_observed(simulation: &Simulation) -> bool {
    let binding = simulation.binding("web");
    binding["status"]["schedulerObservedGeneration"] == binding["metadata"]["generation"]
}

#[test]
fn the_generation_is_observed_once_reports_show_what_replaces_an_eviction() {
    for lines in ["", "while-capacity-is-unreported = 'ignore'"] {
        let mut simulation = spread_under(lines);
        let writes = simulation.writes("web");
        evict(&mut simulation, "m2", &json!([task("m2")]));
        let result = simulation.result("web");
        assert_eq!((result.values().sum::<i64>(), result.contains_key("m2")), (9, false));
        assert!(is_scheduled(&simulation, "web"));
        assert!(!is_observed(&simulation), "the reports are of before the result");
        assert_eq!(simulation.writes("web"), (writes.0 + 1, writes.1 + 1));
        // Nothing that is short of the result is enough, whatever it says of health.
        report(&mut simulation, &[("m1", 3), ("m2", 3), ("m3", 4)]);
        report(&mut simulation, &[("m1", result["m1"]), ("m2", 3)]);
        simulation.pass(Duration::from_secs(90));
        assert!(!is_observed(&simulation));
        assert_eq!(
            simulation.writes("web"),
            (writes.0 + 1, writes.1 + 1),
            "nothing is repeated"
        );
        report(&mut simulation, &[("m1", result["m1"]), ("m3", result["m3"])]);
        assert!(is_observed(&simulation));
        assert_eq!(simulation.writes("web"), (writes.0 + 1, writes.1 + 2));
        // Karmada stamps a task, which is another generation of the same result.
        let mut stamped = task("m2");
        stamped["creationTimestamp"] = json!("2027-01-15T08:12:00Z");
        simulation.patch("web", &json!({"spec": {"gracefulEvictionTasks": [stamped]}}));
        assert!(is_observed(&simulation));
        simulation.patch("web", &json!({"spec": {"gracefulEvictionTasks": null}}));
        assert!(is_observed(&simulation));
        assert_eq!(simulation.writes("web"), (writes.0 + 1, writes.1 + 4));
    }
}

/// It was given five a moment before, lost them and got them again: its report of five may be of the first time.
#[test]
fn an_entry_that_already_shows_the_result_counts_after_a_minute() {
    let mut simulation = spread();
    report(&mut simulation, &[("m1", 5), ("m2", 3), ("m3", 5)]);
    evict(&mut simulation, "m2", &json!([task("m2")]));
    assert!(!is_observed(&simulation));
    simulation.pass(Duration::from_secs(61));
    assert!(
        is_observed(&simulation),
        "by now, it would have changed if it were wrong"
    );
}

#[test]
fn the_generation_is_observed_after_half_of_the_grace_period_in_any_case() {
    let short = json!([{"fromCluster": "m2", "replicas": 3, "gracePeriodSeconds": 80}]);
    for (tasks, limit) in [(json!([task("m2")]), 300), (short, 40)] {
        let mut simulation = spread();
        evict(&mut simulation, "m2", &tasks);
        simulation.pass(Duration::from_secs(limit - 1));
        assert!(!is_observed(&simulation), "{limit}");
        simulation.pass(Duration::from_secs(1));
        assert!(is_observed(&simulation), "{limit}");
    }
    // A person decides about the old copy, so that nothing depends on the generation.
    for suppressed in [true, false] {
        let mut simulation = spread();
        let mut task = task("m2");
        task["suppressDeletion"] = json!(suppressed);
        evict(&mut simulation, "m2", &json!([task]));
        assert!(is_observed(&simulation));
    }
}

#[test]
fn another_process_goes_by_the_same_rule_and_decides_nothing_again() {
    let mut simulation = spread();
    evict(&mut simulation, "m2", &json!([task("m2")]));
    let (result, writes) = (simulation.result("web"), simulation.writes("web"));
    simulation.kill(&active_profile(""));
    simulation.lead(2);
    simulation.pass(Duration::from_secs(120));
    assert!(!is_observed(&simulation));
    assert_eq!(simulation.writes("web"), writes);
    simulation.kill(&active_profile(""));
    report(&mut simulation, &[("m1", result["m1"]), ("m3", result["m3"])]);
    assert!(is_observed(&simulation));
    assert_eq!(simulation.writes("web"), (writes.0, writes.1 + 1));
    // The limit is counted from the time of the result, which is on the binding in whole seconds: it may have been at the end of its second.
    let mut simulation = spread();
    evict(&mut simulation, "m2", &json!([task("m2")]));
    simulation.wait(Duration::from_secs(300));
    simulation.kill(&active_profile(""));
    assert!(!is_observed(&simulation));
    simulation.pass(Duration::from_secs(1));
    assert!(is_observed(&simulation));
}

#[test]
fn the_grace_period_is_counted_from_the_write_and_not_from_the_decision() {
    let mut simulation = spread();
    simulation.hold_writes();
    let tasks = json!([{"fromCluster": "m2", "replicas": 3, "gracePeriodSeconds": 80}]);
    evict(&mut simulation, "m2", &tasks);
    simulation.wait(Duration::from_secs(30));
    simulation.release_writes();
    simulation.pass(Duration::from_secs(39));
    assert!(!is_observed(&simulation));
    simulation.pass(Duration::from_secs(1));
    assert!(is_observed(&simulation));
}

/// A process writes what replaces an eviction and ends before it writes the status: the time of the last scheduling is that of the result
/// before, long ago. The limit is counted from when another process finds the result.
#[test]
fn a_result_whose_status_was_not_written_is_not_taken_for_an_old_one() {
    let mut simulation = spread();
    simulation.kill(&active_profile(""));
    let tasks = json!([{"fromCluster": "m2", "replicas": 3, "gracePeriodSeconds": 80}]);
    let result = json!([{"name": "m1", "replicas": 5}, {"name": "m3", "replicas": 4}]);
    simulation.patch(
        "web",
        &json!({"spec": {"clusters": result, "gracefulEvictionTasks": tasks}}),
    );
    simulation.lead(2);
    assert!(!is_observed(&simulation), "m1 has three of five");
    simulation.pass(Duration::from_secs(39));
    assert!(!is_observed(&simulation));
    simulation.pass(Duration::from_secs(1));
    assert!(is_observed(&simulation));
}

/// A binding that goes to every cluster is decided whenever it is looked at. What only confirms it is not such a look.
#[test]
fn what_goes_everywhere_is_confirmed_without_another_decision() {
    const DECIDED: &str = "karmada_scheduler_schedule_attempts_total";
    let mut simulation = Simulation::new(&[cluster("m1", 100), cluster("m2", 100)]);
    simulation.create("web", duplicated(json!({"clusterNames": ["m1", "m2", "m3"]})));
    report(&mut simulation, &[("m1", 2), ("m2", 2)]);
    simulation.pass(Duration::from_secs(600));
    simulation.cluster(&cluster("m3", 100));
    evict(&mut simulation, "m2", &json!([task("m2")]));
    assert_eq!(simulation.result("web"), clusters(&[("m1", 2), ("m3", 2)]));
    assert!(!is_observed(&simulation));
    simulation.publish();
    let before = simulation.scraped(DECIDED);
    report(&mut simulation, &[("m1", 2)]);
    report(&mut simulation, &[("m1", 2), ("m3", 2)]);
    assert!(is_observed(&simulation));
    simulation.publish();
    assert_eq!(simulation.scraped(DECIDED), before, "nothing was decided");
}

/// A lagging generation is not a change of the workload.
#[test]
fn a_lazy_policy_still_waits_for_its_workload() {
    let mut simulation = spread();
    let mut policy = plain_policy();
    policy["spec"] = json!({"activationPreference": "Lazy"});
    simulation.policy(&policy);
    evict(&mut simulation, "m2", &json!([task("m2")]));
    let result = simulation.result("web");
    assert!(!is_observed(&simulation));
    policy["metadata"]["annotations"] = json!({"divvy.io/strategy": "Aggregated"});
    policy["metadata"]["generation"] = json!(2);
    simulation.policy(&policy);
    assert_eq!(simulation.result("web"), result);
    report(&mut simulation, &[("m1", result["m1"]), ("m3", result["m3"])]);
    assert_eq!((simulation.result("web"), is_observed(&simulation)), (result, true));
}

#[test]
fn a_failure_is_not_confirmed_by_reports_or_time() {
    let mut simulation = spread();
    evict(&mut simulation, "m2", &json!([task("m2")]));
    let result = simulation.result("web");
    simulation.patch(
        "web",
        &json!({"spec": {"placement": {"clusterAffinity": {"clusterNames": ["nowhere"]}}}}),
    );
    assert_eq!(simulation.condition("web").0, "False");
    report(&mut simulation, &[("m1", result["m1"]), ("m3", result["m3"])]);
    simulation.pass(Duration::from_secs(299));
    assert!(!is_observed(&simulation));
}
