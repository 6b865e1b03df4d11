//! The scheduler of a control plane without one: its engine against an API server in memory, with real plugins.
//!
//! Each test is a sequence of events and of the scheduler's writes. The rules come from karmada-scheduler; where Divvy
//! deliberately does better, the test says so.

mod affinity;
mod both_ways;
mod defects;
mod estimators;
mod evictions;
mod expiry;
mod explanations;
mod forgotten;
mod holding;
mod jobs;
mod jointly;
mod members;
mod moves;
mod pauses;
mod quorum;
mod rescheduling;
mod shadow;
mod simulation;
mod stored;
mod tables;
mod windows;

use std::collections::BTreeMap;
use std::time::Duration;

use divvy_controller::condition::ScheduledReason;
use divvy_controller::engine::News;
use divvy_controller::objects::Kind;
use divvy_controller::serve::Unconfirmed;
use divvy_controller::write::WriteOutcome;
use serde_json::{Value, json};

use crate::artifacts;
use simulation::Simulation;

fn cluster(name: &str, cpu: u32) -> Value {
    json!({
        "metadata": {"name": name, "generation": 1, "resourceVersion": "1", "labels": {"tier": "gold"}},
        "status": {
            "apiEnablements": [{"groupVersion": "apps/v1", "resources": [{"name": "deployments", "kind": "Deployment"}]}],
            "resourceSummary": {"allocatable": {"cpu": cpu.to_string(), "pods": "100"}},
        },
    })
}

/// The policy that claims every binding: without it, each would be put off once, to wait for it.
fn plain_policy() -> Value {
    let labels = json!({"propagationpolicy.karmada.io/permanent-id": "policy"});
    json!({"metadata": {"name": "p", "namespace": "default", "labels": labels}})
}

/// A binding that is divided over all clusters by room.
fn divided(replicas: i32) -> Value {
    json!({
        "replicas": replicas,
        "replicaRequirements": {"resourceRequest": {"cpu": "1"}},
        "placement": {"replicaScheduling": {
            "replicaSchedulingType": "Divided",
            "replicaDivisionPreference": "Aggregated",
        }},
    })
}

fn duplicated(selector: Value) -> Value {
    json!({
        "replicas": 2,
        "replicaRequirements": {"resourceRequest": {"cpu": "1"}},
        "placement": {"clusterAffinity": selector, "replicaScheduling": {"replicaSchedulingType": "Duplicated"}},
    })
}

fn clusters(pairs: &[(&str, i64)]) -> BTreeMap<String, i64> {
    pairs
        .iter()
        .map(|(name, replicas)| ((*name).to_owned(), *replicas))
        .collect()
}

fn is_scheduled(simulation: &Simulation, name: &str) -> bool {
    simulation.condition(name) == ("True".to_owned(), "Success".to_owned())
}

#[test]
fn a_binding_is_scheduled_by_two_patches_which_wake_nothing() {
    let mut simulation = Simulation::new(&[cluster("a", 10)]);
    simulation.create("web", divided(3));
    assert_eq!(simulation.result("web"), clusters(&[("a", 3)]));
    let binding = simulation.binding("web");
    assert_eq!(
        binding["status"]["schedulerObservedGeneration"],
        binding["metadata"]["generation"]
    );
    assert_eq!(binding["status"]["lastScheduledTime"], "2027-01-15T08:00:00Z");
    assert!(
        binding["metadata"]["annotations"]
            .get("divvy.io/applied-policy")
            .is_none()
    );
    assert_eq!(simulation.writes("web"), (1, 1));
    simulation.pass(Duration::from_secs(1000));
    assert_eq!(simulation.writes("web"), (1, 1));
}

#[test]
fn a_satisfied_binding_is_not_moved_by_clusters() {
    let mut simulation = Simulation::new(&[cluster("a", 10)]);
    simulation.create("web", divided(3));
    let mut tainted = cluster("a", 10);
    tainted["spec"] = json!({"taints": [{"key": "x", "effect": "NoSchedule"}]});
    tainted["metadata"]["generation"] = json!(2);
    simulation.cluster(&tainted);
    simulation.cluster(&cluster("b", 100));
    assert_eq!(simulation.result("web"), clusters(&[("a", 3)]));
    assert_eq!(simulation.writes("web"), (1, 1));
}

#[test]
fn a_profile_may_let_clusters_move_satisfied_bindings() {
    let mut simulation = Simulation::with_profile("when-clusters-change = 'reschedule'", &[cluster("a", 10)]);
    let mut everywhere = divided(2);
    everywhere["placement"]["replicaScheduling"] =
        json!({"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted"});
    simulation.create("web", everywhere);
    assert_eq!(simulation.result("web"), clusters(&[("a", 2)]));
    simulation.cluster(&cluster("b", 10));
    assert_eq!(simulation.result("web"), clusters(&[("a", 1), ("b", 1)]));
}

#[test]
fn a_write_that_failed_lets_clusters_move_a_binding_all_the_same() {
    let mut simulation = Simulation::with_profile("when-clusters-change = 'reschedule'", &[cluster("a", 10)]);
    let mut everywhere = divided(2);
    everywhere["placement"]["replicaScheduling"] =
        json!({"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted"});
    simulation.create("web", everywhere);
    simulation.fail_next_write(WriteOutcome::Failed("lost".to_owned()));
    simulation.cluster(&cluster("b", 10));
    assert_eq!(simulation.result("web"), clusters(&[("a", 2)]));
    simulation.pass(Duration::from_secs(20));
    assert_eq!(simulation.result("web"), clusters(&[("a", 1), ("b", 1)]));
}

#[test]
fn duplicated_bindings_follow_the_clusters() {
    let mut simulation = Simulation::new(&[cluster("a", 10), cluster("b", 10)]);
    simulation.create(
        "web",
        duplicated(json!({"labelSelector": {"matchLabels": {"tier": "gold"}}})),
    );
    assert_eq!(simulation.result("web"), clusters(&[("a", 2), ("b", 2)]));
    let mut silver = cluster("b", 10);
    silver["metadata"]["labels"] = json!({"tier": "silver"});
    simulation.cluster(&silver);
    assert_eq!(simulation.result("web"), clusters(&[("a", 2)]));
    // A cluster that the affinity never matched wakes nothing.
    let before = simulation.writes("web");
    let mut iron = cluster("c", 10);
    iron["metadata"]["labels"] = json!({"tier": "iron"});
    simulation.cluster(&iron);
    assert_eq!(simulation.writes("web"), before);
}

#[test]
fn what_does_not_fit_is_tried_when_room_appears_and_not_before() {
    let mut simulation = Simulation::new(&[cluster("a", 2)]);
    simulation.create("web", divided(5));
    assert_eq!(simulation.condition("web").1, "Unschedulable");
    assert_eq!(
        simulation.binding("web")["status"].get("schedulerObservedGeneration"),
        None
    );
    let mut heartbeat = cluster("a", 2);
    heartbeat["metadata"]["resourceVersion"] = json!("2");
    simulation.pass(Duration::from_secs(5));
    simulation.cluster(&heartbeat);
    assert_eq!(simulation.engine().depth().parked, 1);
    simulation.cluster(&cluster("a", 8));
    assert_eq!(simulation.result("web"), clusters(&[("a", 5)]));
    assert!(is_scheduled(&simulation, "web"));
}

#[test]
fn if_no_cluster_fits_the_result_is_cleared_or_kept() {
    let nowhere = json!({"spec": {"placement": {"clusterAffinity": {"clusterNames": ["nowhere"]}}}});
    for (lines, expected) in [
        ("", clusters(&[])),
        ("when-no-cluster-fits = 'keep'", clusters(&[("a", 3)])),
    ] {
        let mut simulation = Simulation::with_profile(lines, &[cluster("a", 10)]);
        simulation.create("web", divided(3));
        simulation.patch("web", &nowhere);
        assert_eq!(simulation.result("web"), expected, "{lines}");
        assert_eq!(
            simulation.condition("web"),
            ("False".to_owned(), "NoClusterFit".to_owned())
        );
        // The scheduler's own write raised the generation, but it is not decided a second time.
        let writes = simulation.writes("web");
        simulation.pass(Duration::from_secs(20));
        assert_eq!(simulation.writes("web"), writes, "{lines}");
    }
}

#[test]
fn later_decisions_see_what_earlier_ones_took() {
    let mut simulation = Simulation::new(&[cluster("a", 10)]);
    simulation.create("one", divided(6));
    simulation.create("two", divided(6));
    assert!(is_scheduled(&simulation, "one"));
    assert_eq!(simulation.condition("two").1, "Unschedulable");
    // Without a report from the cluster, the room is given back after a minute.
    simulation.pass(Duration::from_secs(60));
    assert!(is_scheduled(&simulation, "two"));
}

#[test]
fn a_write_that_failed_gives_back_what_it_took() {
    let mut simulation = Simulation::new(&[cluster("a", 10)]);
    simulation.fail_next_write(WriteOutcome::Failed("lost".to_owned()));
    simulation.create("one", divided(6));
    simulation.create("two", divided(6));
    assert!(is_scheduled(&simulation, "two"));
    assert_eq!(simulation.result("one"), clusters(&[]));
    assert_eq!(simulation.engine().depth().backoff, 1);
}

#[test]
fn clusters_that_vanish_take_no_replicas_with_them() {
    let mut simulation = Simulation::new(&[cluster("a", 10), cluster("b", 10)]);
    simulation.create("web", duplicated(json!({})));
    simulation.remove_cluster("b");
    simulation.patch("web", &json!({"spec": {"replicas": 1}}));
    assert_eq!(simulation.result("web"), clusters(&[("a", 2), ("b", 2)]));
    assert_eq!(
        simulation.condition("web"),
        ("False".to_owned(), "SchedulerError".to_owned())
    );
    assert_eq!(simulation.engine().missing_clusters(), ["b"]);
    // More replicas are harmless.
    simulation.create("new", duplicated(json!({})));
    assert_eq!(simulation.result("new"), clusters(&[("a", 2)]));
    simulation.pass(Duration::from_secs(300));
    assert_eq!(simulation.result("web"), clusters(&[("a", 1)]));

    simulation.remove_cluster("a");
    simulation.patch("new", &json!({"spec": {"replicas": 1}}));
    assert_eq!(simulation.result("new"), clusters(&[("a", 2)]));
    let now = simulation.now();
    let mut confirm = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        simulation.engine_mut().confirm_missing_clusters(&names, now)
    };
    assert!(matches!(confirm(&["a", "b"]), Err(Unconfirmed::NotMissing { cluster, .. }) if cluster == "b"));
    assert_eq!(confirm(&["a"]), Ok(()));
    simulation.pass(Duration::from_secs(1));
    assert_eq!(simulation.result("new"), clusters(&[]));
}

#[test]
fn replicas_leave_a_cluster_whose_deletion_begins() {
    let mut simulation = Simulation::new(&[cluster("a", 10), cluster("b", 4)]);
    simulation.create("web", divided(3));
    assert_eq!(simulation.result("web"), clusters(&[("a", 3)]));
    let mut deleting = cluster("a", 10);
    deleting["metadata"]["deletionTimestamp"] = json!("2027-01-01T00:00:00Z");
    simulation.cluster(&deleting);
    assert_eq!(simulation.result("web"), clusters(&[("b", 3)]));
    simulation.remove_cluster("a");
    assert!(simulation.engine().missing_clusters().is_empty());
}

#[test]
fn replicas_leave_a_cluster_whose_deletion_begins_while_their_result_is_written() {
    let mut simulation = Simulation::new(&[cluster("a", 10), cluster("b", 4)]);
    simulation.hold_writes();
    simulation.create("web", divided(3));
    let mut deleting = cluster("a", 10);
    deleting["metadata"]["deletionTimestamp"] = json!("2027-01-01T00:00:00Z");
    simulation.cluster(&deleting);
    simulation.release_writes();
    assert_eq!(simulation.result("web"), clusters(&[("b", 3)]));
}

#[test]
fn a_reschedule_request_is_answered_whatever_the_clocks_say() {
    let mut simulation = Simulation::new(&[cluster("a", 3), cluster("b", 10)]);
    simulation.create("web", divided(3));
    // In the second of the last scheduling, and by a clock that is ahead by minutes.
    let same = simulation.binding("web")["status"]["lastScheduledTime"].clone();
    // In whole seconds, only a later time says that the request in the same second is answered.
    for (request, answer) in [
        (same, "2027-01-15T08:00:01Z"),
        (json!("2027-01-15T08:10:00Z"), "2027-01-15T08:10:00Z"),
    ] {
        let writes = simulation.writes("web").1;
        simulation.patch("web", &json!({"spec": {"rescheduleTriggeredAt": request}}));
        assert_eq!(simulation.writes("web").1, writes + 1, "{request}");
        let status = &simulation.binding("web")["status"];
        assert_eq!(status["lastScheduledTime"], answer);
        simulation.pass(Duration::from_secs(60));
        assert_eq!(simulation.writes("web").1, writes + 1, "{request} was answered twice");
    }
}

#[test]
fn conditions_of_other_controllers_are_kept() {
    let mut simulation = Simulation::new(&[cluster("a", 10)]);
    simulation.create("web", divided(3));
    let other = json!({"type": "FullyApplied", "status": "True", "reason": "FullyAppliedSuccess", "message": ""});
    let own = simulation.binding("web")["status"]["conditions"][0].clone();
    simulation.patch("web", &json!({"status": {"conditions": [other, own]}}));
    simulation.patch("web", &json!({"spec": {"replicas": 100}}));
    let conditions = &simulation.binding("web")["status"]["conditions"];
    assert_eq!(conditions[0], other);
    assert_eq!(conditions[1]["reason"], "Unschedulable");
}

#[test]
fn half_of_a_write_is_completed_in_the_next_term() {
    let mut simulation = Simulation::new(&[cluster("a", 10)]);
    simulation.create("web", divided(3));
    // As after a crash between the two patches.
    simulation.patch("web", &json!({"status": null}));
    simulation.lead(2);
    assert!(is_scheduled(&simulation, "web"));
    let binding = simulation.binding("web");
    assert_eq!(
        binding["status"]["schedulerObservedGeneration"],
        binding["metadata"]["generation"]
    );
    assert!(!binding["status"]["lastScheduledTime"].is_null());
    assert_eq!(simulation.writes("web").0, 1);
}

#[test]
fn a_changed_workload_costs_a_satisfied_binding_one_status_patch() {
    let mut simulation = Simulation::new(&[cluster("a", 10)]);
    simulation.create("web", divided(3));
    simulation.patch("web", &json!({"spec": {"resource": {"resourceVersion": "2"}}}));
    assert_eq!(simulation.writes("web"), (1, 2));
    let binding = simulation.binding("web");
    assert_eq!(
        binding["status"]["schedulerObservedGeneration"],
        binding["metadata"]["generation"]
    );
}

#[test]
fn a_stale_failure_ends_with_its_cause() {
    // Karmada leaves the condition as it is until the next real decision.
    let mut simulation = Simulation::new(&[cluster("a", 10)]);
    simulation.create("web", divided(3));
    simulation.patch("web", &json!({"spec": {"replicas": 30}}));
    assert_eq!(simulation.condition("web").0, "False");
    simulation.patch("web", &json!({"spec": {"replicas": 3}}));
    assert!(is_scheduled(&simulation, "web"));
}

#[test]
fn the_group_that_fitted_is_recorded_in_both_places() {
    let mut simulation = Simulation::new(&[cluster("a", 10)]);
    let mut grouped = divided(3);
    grouped["placement"]["clusterAffinities"] = json!([
        {"affinityName": "one", "clusterNames": ["nowhere"]},
        {"affinityName": "two", "clusterNames": ["a"]},
    ]);
    simulation.create("web", grouped);
    assert_eq!(
        simulation.binding("web")["status"]["schedulerObservingAffinityName"],
        "two"
    );
    let failed = simulation
        .announcements()
        .iter()
        .filter(|event| event.news == News::Failed);
    assert!(
        failed
            .map(|event| &event.message)
            .any(|message| message.contains("`one`"))
    );
    // Lost with the second patch, it is known from the first.
    simulation.patch("web", &json!({"status": null}));
    simulation.lead(2);
    assert_eq!(
        simulation.binding("web")["status"]["schedulerObservingAffinityName"],
        "two"
    );
    assert_eq!(simulation.result("web"), clusters(&[("a", 3)]));
}

#[test]
fn what_is_not_supported_is_refused_visibly() {
    let mut simulation = Simulation::new(&[cluster("a", 10)]);
    let mut grouped = divided(3);
    grouped["workloadAffinityGroups"] = json!({"affinityGroup": "x"});
    simulation.create("web", grouped);
    assert_eq!(
        simulation.condition("web"),
        ("False".to_owned(), "SchedulerError".to_owned())
    );
    assert_eq!(simulation.result("web"), clusters(&[]));
    assert!(simulation.announcements()[0].message.contains("workloadAffinityGroups"));
}

#[test]
fn a_refused_result_is_tried_again() {
    let mut simulation = Simulation::new(&[cluster("a", 10)]);
    for _ in 0..3 {
        simulation.fail_next_write(WriteOutcome::Refused(
            ScheduledReason::QuotaExceeded,
            "quota".to_owned(),
        ));
    }
    simulation.create("web", divided(3));
    for seconds in [1, 2] {
        assert_eq!(simulation.result("web"), clusters(&[]));
        simulation.pass(Duration::from_secs(seconds));
    }
    assert_eq!(simulation.result("web"), clusters(&[]));
    simulation.pass(Duration::from_secs(4));
    assert_eq!(simulation.result("web"), clusters(&[("a", 3)]));
}

#[test]
fn the_policys_strategy_is_remembered_and_compared() {
    let policy = |annotations: Value, preference: Value| {
        json!({
            "metadata": {"name": "p", "namespace": "default", "annotations": annotations,
                "labels": {"propagationpolicy.karmada.io/permanent-id": "policy"}},
            "spec": {"activationPreference": preference},
        })
    };
    let average = json!({"divvy.io/strategy": "Average"});
    let mut simulation = Simulation::new(&[cluster("a", 10), cluster("b", 10)]);
    simulation.policy(&policy(json!({}), Value::Null));
    simulation.create("web", divided(4));
    assert_eq!(simulation.result("web").len(), 1);
    simulation.policy(&policy(average.clone(), Value::Null));
    assert_eq!(simulation.result("web"), clusters(&[("a", 2), ("b", 2)]));
    let writes = simulation.writes("web");
    simulation.lead(2);
    assert_eq!(simulation.writes("web"), writes);
    let applied = |simulation: &Simulation| {
        simulation.binding("web")["metadata"]["annotations"]["divvy.io/applied-policy"].clone()
    };
    assert!(
        applied(&simulation)
            .as_str()
            .is_some_and(|applied| applied.contains("Average"))
    );
    // A lazy policy waits for its workload.
    simulation.policy(&policy(json!({}), json!("Lazy")));
    assert!(applied(&simulation).is_string());
    simulation.patch("web", &json!({"spec": {"resource": {"resourceVersion": "2"}}}));
    // Aggregated leaves replicas that add up where they are, but the decision was made by it.
    assert_eq!(applied(&simulation), Value::Null);
}

#[test]
fn a_changed_profile_is_tried_before_it_decides() {
    let mut simulation = Simulation::new(&[cluster("a", 10)]);
    simulation.create("web", divided(3));
    let nowhere = json!({"spec": {"placement": {"clusterAffinity": {"clusterNames": ["nowhere"]}}}});
    // It serves no strategy that the last binding can be divided by.
    let trial = simulation.exchange("assign = ['duplicated']");
    assert_eq!(trial.decisions, 1);
    assert!(trial.refusal.is_some_and(|refusal| refusal.contains("default/web")));
    let trial = simulation.exchange("scheduler-name = 'other'");
    assert!(trial.refusal.is_some_and(|refusal| refusal.contains("restarted")));
    let trial = simulation.exchange("when-no-cluster-fits = 'keep'");
    assert_eq!((trial.decisions, trial.differences, trial.refusal), (1, 0, None));
    simulation.patch("web", &nowhere);
    assert_eq!(simulation.result("web"), clusters(&[("a", 3)]));
}

/// The JSON of clusters is kept only for plugins that read it, so it must be listed again first.
#[test]
fn a_profile_that_begins_to_read_the_json_of_clusters_sees_that_of_every_cluster() {
    let lines = &format!(
        "filters = ['curious', 'cluster-affinity']\n\
         plugin = {{ curious = {{ path = '{}', configuration = {{ reads = 'declared-clusters' }} }} }}",
        artifacts::fixture("windows").display()
    );
    let mut simulation = Simulation::new(&[cluster("a", 10), cluster("b", 10)]);
    let trial = simulation.exchange_with(lines, |simulation| {
        // Until then the old profile decides.
        simulation.create("before", duplicated(json!({})));
        assert!(is_scheduled(simulation, "before"));
        // A cluster that comes between is one of them.
        simulation.cluster(&cluster("c", 10));
    });
    assert_eq!((trial.decisions, trial.refusal), (2, None));
    simulation.create("after", duplicated(json!({})));
    assert_eq!(simulation.result("after"), clusters(&[("a", 2), ("b", 2), ("c", 2)]));
}

#[test]
fn a_relist_of_clusters_that_did_not_change_changes_nothing() {
    let mut simulation = Simulation::new(&[cluster("a", 10), cluster("b", 10)]);
    simulation.create("web", divided(30));
    assert_eq!(simulation.condition("web").1, "Unschedulable");
    simulation.create("everywhere", duplicated(json!({})));
    let writes = simulation.writes("web");
    simulation.relist(Kind::Cluster);
    assert!(simulation.engine().missing_clusters().is_empty());
    assert_eq!(simulation.writes("web"), writes);
    // A change that only the list shows counts.
    simulation.change_unseen(
        "b",
        &json!({"status": {"resourceSummary": {"allocatable": {"cpu": "40"}}}}),
    );
    simulation.relist(Kind::Cluster);
    simulation.pass(Duration::from_secs(2));
    assert!(is_scheduled(&simulation, "web"));
}

#[test]
fn warnings_of_a_plan_are_reported_once() {
    let mut simulation = Simulation::new(&[cluster("a", 10)]);
    let warnings = |simulation: &Simulation| {
        let announcements = simulation.announcements().iter();
        let warnings = announcements.filter(|event| event.news == News::Warning);
        warnings.map(|event| event.message.clone()).collect::<Vec<_>>()
    };
    let annotated =
        |specification: Value, key: &str| json!({"spec": specification, "metadata": {"annotations": {key: "{}"}}});
    simulation.create("web", divided(3));
    assert_eq!(warnings(&simulation), Vec::<String>::new());
    simulation.patch(
        "web",
        &annotated(json!({"replicas": 4}), "divvy.io/preferences.no-such-plugin"),
    );
    let reported = warnings(&simulation);
    assert_eq!(reported.len(), 1, "{reported:?}");
    assert!(reported[0].contains("no-such-plugin"), "{reported:?}");
    assert!(is_scheduled(&simulation, "web"));
    // Further decisions say nothing new; another mistake does.
    simulation.patch("web", &json!({"spec": {"replicas": 5}}));
    assert_eq!(simulation.result("web"), clusters(&[("a", 5)]));
    assert_eq!(warnings(&simulation), reported);
    simulation.patch(
        "web",
        &annotated(json!({"replicas": 6}), "divvy.io/preferences.nor-this-one"),
    );
    assert_eq!(warnings(&simulation).len(), 2);
}

#[test]
fn sets_of_components_take_their_room() {
    let mut simulation =
        Simulation::with_profile("multiple-pod-templates = true", &[cluster("a", 10), cluster("b", 10)]);
    let component = |name: &str, replicas: i32| json!({"name": name, "replicas": replicas, "replicaRequirements": {"resourceRequest": {"cpu": "1"}}});
    let set = json!({
        "components": [component("manager", 1), component("worker", 5)],
        "placement": {
            "spreadConstraints": [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}],
            "replicaScheduling": {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"},
        },
    });
    for name in ["one", "two", "three"] {
        simulation.create(name, set.clone());
    }
    let of = |name: &str| simulation.result(name).into_keys().collect::<Vec<_>>();
    assert_ne!(of("one"), of("two"));
    assert_eq!((of("one").len(), of("two").len()), (1, 1));
    // Each cluster has room for one set.
    assert_eq!(of("three"), Vec::<String>::new());
    assert_eq!(simulation.condition("three").0, "False");
    // They are held after a restart as well, and given back after a time.
    simulation.lead(2);
    assert_eq!(simulation.condition("three").0, "False");
    simulation.pass(Duration::from_secs(300));
    assert!(is_scheduled(&simulation, "three"));
}

#[test]
fn what_plugins_count_is_served_and_a_reload_begins_anew() {
    let mut simulation = Simulation::new(&[cluster("a", 10), cluster("b", 10)]);
    let counted = |simulation: &Simulation| simulation.scraped("divvy_plugin_counter_total");
    assert_eq!(counted(&simulation), Vec::<String>::new());
    let narrow = "select = ['few-per-provider', 'spread-constraints']";
    assert_eq!(simulation.exchange(narrow).refusal, None);
    simulation.create("web", divided(3));
    assert_eq!(simulation.result("web"), clusters(&[("b", 3)]));
    let line = "divvy_plugin_counter_total{plugin=\"few-per-provider\",name=\"clusters_left_out\"} 1";
    assert_eq!(counted(&simulation), [line]);
    let histogram = simulation.scraped("divvy_plugin_histogram_count");
    assert_eq!(
        histogram,
        ["divvy_plugin_histogram_count{plugin=\"few-per-provider\",name=\"providers\"} 1"]
    );
    assert_eq!(simulation.exchange("").refusal, None);
    assert_eq!(counted(&simulation), Vec::<String>::new());
}
