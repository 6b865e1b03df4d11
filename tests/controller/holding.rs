//! Capacity that results have taken and clusters do not report yet: it counts once, never takes running replicas away, and is
//! visible.

use std::time::Duration;

use divvy_world::plane::EPOCH;
use serde_json::{Value, json};

use super::simulation::Simulation;
use super::{clusters, is_scheduled};

pub(super) const HOLD: &str = "";
pub(super) const IGNORE: &str =
    "while-capacity-is-unreported = 'ignore'\nwhen-no-cluster-fits = 'clear-by-first-group'";

/// A cluster that reports CPUs of pods that are bound to nodes, and of pods that wait for one. With models, its nodes have one free CPU
/// for each that no pod is bound to.
fn reporting(name: &str, cpu: i64, bound: i64, waiting: i64, has_models: bool) -> Value {
    let list = |count: i64| json!({"cpu": count.to_string(), "pods": count.to_string()});
    let mut cluster = json!({
        "metadata": {"name": name, "generation": 1},
        "status": {
            "apiEnablements": [{"groupVersion": "apps/v1", "resources": [{"name": "deployments", "kind": "Deployment"}]}],
            "resourceSummary": {
                "allocatable": {"cpu": cpu.to_string(), "pods": "10000"},
                "allocated": list(bound),
                "allocating": list(waiting),
            },
        },
    });
    if has_models {
        let range = |min: &str, max: &str| json!([{"name": "cpu", "min": min, "max": max}]);
        cluster["spec"] = json!({"resourceModels": [
            {"grade": 0, "ranges": range("0", "1")}, {"grade": 1, "ranges": range("1", "9223372036854775807")},
        ]});
        cluster["status"]["resourceSummary"]["allocatableModelings"] =
            json!([{"grade": 0, "count": 0}, {"grade": 1, "count": cpu - bound}]);
    }
    cluster
}

pub(super) fn plain(name: &str, cpu: i64, bound: i64) -> Value {
    reporting(name, cpu, bound, 0, false)
}

/// A binding that is divided by room.
fn divided(preference: Value, replicas: i32) -> Value {
    let mut scheduling = json!({"replicaSchedulingType": "Divided"});
    for (key, value) in preference.as_object().into_iter().flatten() {
        scheduling[key] = value.clone();
    }
    json!({
        "replicas": replicas,
        "replicaRequirements": {"resourceRequest": {"cpu": "1"}},
        "placement": {"replicaScheduling": scheduling},
    })
}

pub(super) fn by_room(replicas: i32) -> Value {
    let preference =
        json!({"replicaDivisionPreference": "Weighted", "weightPreference": {"dynamicWeight": "AvailableReplicas"}});
    divided(preference, replicas)
}

fn aggregated(replicas: i32) -> Value {
    divided(json!({"replicaDivisionPreference": "Aggregated"}), replicas)
}

/// A status by which clusters have applied a resource, with these replicas.
fn applied(entries: &[(&str, i64)]) -> Value {
    let entry = |(cluster, replicas): &(&str, i64)| json!({"clusterName": cluster, "applied": true, "status": {"replicas": replicas}});
    json!({"status": {"aggregatedStatus": entries.iter().map(entry).collect::<Vec<Value>>()}})
}

#[test]
fn what_clusters_report_is_not_counted_again() {
    for lines in [HOLD, IGNORE] {
        for has_models in [false, true] {
            let fleet = |bound, waiting| ["a", "b"].map(|name| reporting(name, 100, bound, waiting, has_models));
            let mut simulation = Simulation::with_profile(lines, &fleet(0, 0));
            simulation.create("first", by_room(100));
            assert_eq!(simulation.result("first"), clusters(&[("a", 50), ("b", 50)]));
            // The pods are seen while they wait for a node, and once they are bound.
            for (bound, waiting) in [(0, 50), (50, 0)] {
                fleet(bound, waiting)
                    .iter()
                    .for_each(|cluster| simulation.cluster(cluster));
            }
            simulation.create("second", by_room(60));
            let expected = clusters(&[("a", 30), ("b", 30)]);
            assert_eq!(simulation.result("second"), expected, "{lines:?}, models: {has_models}");
        }
    }
}

/// A report of nothing that follows another is not believed at once, so an older report must not come in between again.
#[test]
fn a_watch_that_repeats_old_reports_hides_no_growth() {
    let mut simulation = Simulation::new(&[plain("a", 100, 0)]);
    simulation.cluster(&plain("a", 100, 30));
    let old = simulation.stored_cluster("a");
    simulation.cluster(&plain("a", 100, 0));
    let new = simulation.stored_cluster("a");
    simulation.pass(Duration::from_secs(60));
    simulation.repeat_cluster(&old);
    simulation.repeat_cluster(&new);
    simulation.create("first", by_room(20));
    simulation.cluster(&plain("a", 100, 20));
    simulation.create("second", by_room(80));
    assert_eq!(simulation.result("second"), clusters(&[("a", 80)]));
}

/// The first write never arrives. The report shows the pods of the second.
#[test]
fn a_report_is_that_of_results_that_are_written() {
    let mut simulation = Simulation::new(&[plain("a", 100, 0)]);
    simulation.hold_writes();
    simulation.create("lost", by_room(40));
    let lost = simulation.take_held();
    simulation.create("web", by_room(30));
    simulation.release_writes();
    simulation.cluster(&plain("a", 100, 30));
    simulation.fail_held(lost, "the request is lost");
    simulation.create("late", by_room(70));
    assert_eq!(simulation.result("late"), clusters(&[("a", 70)]));
}

#[test]
fn a_burst_that_fits_is_scheduled_whether_clusters_report_meanwhile_or_not() {
    for reports in [false, true] {
        let mut simulation = Simulation::new(&[plain("a", 1500, 0), plain("b", 1500, 0)]);
        for number in 1..=30 {
            let name = format!("burst-{number}");
            simulation.create(&name, by_room(100));
            assert!(
                is_scheduled(&simulation, &name),
                "{name}: {}",
                simulation.message(&name)
            );
            if reports && number % 7 == 0 {
                simulation.cluster(&plain("a", 1500, number * 50));
                simulation.cluster(&plain("b", 1500, number * 50));
            }
        }
        simulation.create("one-too-many", by_room(1));
        assert_eq!(simulation.condition("one-too-many").1, "Unschedulable");
    }
}

/// A binding whose first affinity group matches nothing runs in the second, and is rescheduled. Its own pods count once, before and
/// after they are reported.
#[test]
fn a_running_workload_is_not_emptied_by_its_own_pods() {
    for lines in [HOLD, IGNORE] {
        let mut simulation = Simulation::with_profile(lines, &[plain("a", 100, 0), plain("b", 100, 0)]);
        let mut web = by_room(200);
        web["placement"]["clusterAffinities"] = json!([
            {"affinityName": "nowhere", "clusterNames": ["nowhere"]},
            {"affinityName": "here", "clusterNames": ["a", "b"]},
        ]);
        simulation.create("web", web);
        let expected = clusters(&[("a", 100), ("b", 100)]);
        assert_eq!(simulation.result("web"), expected);
        simulation.patch("web", &applied(&[("a", 100), ("b", 100)]));
        simulation.cluster(&plain("a", 100, 100));
        simulation.cluster(&plain("b", 100, 100));
        simulation.pass(Duration::from_secs(5));
        simulation.patch(
            "web",
            &json!({"spec": {"rescheduleTriggeredAt": "2027-01-15T08:00:05Z"}}),
        );
        simulation.pass(Duration::from_secs(20));
        assert_eq!(simulation.result("web"), expected, "{lines:?}");
        assert!(is_scheduled(&simulation, "web"), "{}", simulation.message("web"));
    }
}

/// Groups that fail for different reasons: the result is removed if no group has a cluster at all, and as in Karmada if the first has
/// none.
#[test]
fn a_result_is_cleared_only_by_the_rule_of_the_profile() {
    let nowhere = json!({"affinityName": "nowhere", "clusterNames": ["nowhere"]});
    let here = json!({"affinityName": "here", "clusterNames": ["a"]});
    for (lines, groups, estimate, is_cleared) in [
        (HOLD, json!([nowhere, here]), None, false),
        (HOLD, json!([nowhere, here]), Some(0), false),
        (HOLD, json!([nowhere]), None, true),
        (IGNORE, json!([nowhere, here]), None, true),
        (IGNORE, json!([nowhere, here]), Some(0), true),
        (IGNORE, json!([here, nowhere]), None, false),
    ] {
        let mut simulation = Simulation::with_profile(lines, &[plain("a", 10, 0)]);
        simulation.create("web", by_room(5));
        assert_eq!(simulation.result("web"), clusters(&[("a", 5)]));
        // Everything else on the cluster is taken by pods that nobody here knows.
        simulation.cluster(&plain("a", 10, 10));
        simulation.pass(Duration::from_secs(60));
        if let Some(count) = estimate {
            simulation.cluster(&plain("a", 100, 10));
            simulation = simulation.asking_estimators(count);
        }
        simulation.patch(
            "web",
            &json!({"spec": {"replicas": 50, "placement": {"clusterAffinities": groups}}}),
        );
        let expected = if is_cleared {
            clusters(&[])
        } else {
            clusters(&[("a", 5)])
        };
        assert_eq!(simulation.result("web"), expected, "{lines:?} {groups} {estimate:?}");
        let events = simulation.announcements().iter();
        let has_said = events
            .filter(|event| event.message.ends_with("; its result is removed: {a:5}"))
            .count();
        assert_eq!(has_said, usize::from(is_cleared), "{:#?}", simulation.announcements());
        assert_eq!(simulation.explanation("web")["clears"] == true, is_cleared);
    }
}

#[test]
fn a_group_that_lacks_room_is_tried_again_when_there_is_room_whatever_the_first_lacks() {
    let mut simulation = Simulation::new(&[plain("a", 10, 8)]);
    let mut web = by_room(5);
    web["placement"]["clusterAffinities"] = json!([
        {"affinityName": "nowhere", "clusterNames": ["nowhere"]},
        {"affinityName": "here", "clusterNames": ["a"]},
    ]);
    simulation.create("web", web);
    assert_eq!(simulation.result("web"), clusters(&[]));
    simulation.pass(Duration::from_secs(5));
    simulation.cluster(&plain("a", 10, 3));
    assert_eq!(simulation.result("web"), clusters(&[("a", 5)]));
}

/// With nothing held, the reschedule would leave the workload where it is. It waits instead of moving, and is answered when the cluster
/// has reported.
#[test]
fn holding_takes_nothing_that_runs() {
    let mut simulation = Simulation::new(&[plain("a", 100, 0), plain("b", 90, 0)]);
    simulation.create("web", aggregated(60));
    assert_eq!(simulation.result("web"), clusters(&[("a", 60)]));
    simulation.patch("web", &applied(&[("a", 60)]));
    simulation.cluster(&plain("a", 100, 60));
    // A person gives `a` to another workload, whose pods are not reported yet.
    let mut other = aggregated(30);
    other["placement"]["clusterAffinity"] = json!({"clusterNames": ["a"]});
    simulation.create("other", other);
    assert_eq!(simulation.result("other"), clusters(&[("a", 30)]));
    let writes = simulation.writes("web").0;
    simulation.pass(Duration::from_secs(1));
    simulation.patch(
        "web",
        &json!({"spec": {"rescheduleTriggeredAt": "2027-01-15T08:00:01Z"}}),
    );
    assert_eq!(simulation.result("web"), clusters(&[("a", 60)]));
    assert_eq!(simulation.writes("web").0, writes);
    assert_eq!(
        simulation.condition("web"),
        ("False".to_owned(), "Unschedulable".to_owned())
    );
    let message =
        "a result that moves replicas waits; held for results that clusters do not report yet: cpu 30, pods 30";
    assert_eq!(simulation.message("web"), message);
    let held = &simulation.explanation("web")["held"];
    assert_eq!(
        (&held["waits"], &held["parts"][0]),
        (
            &json!(true),
            &json!({"cluster": "a", "binding": "default/other", "since": "2027-01-15T08:00:00Z", "resources": ["cpu 30", "pods 30"]})
        )
    );
    // The pods of `other` turn out to be elsewhere: a person removed it.
    simulation.delete("other");
    simulation.pass(Duration::from_secs(2));
    assert_eq!(simulation.result("web"), clusters(&[("a", 60)]));
    assert!(is_scheduled(&simulation, "web"), "{}", simulation.message("web"));
}

#[test]
fn a_binding_that_waits_for_reports_is_reported_once() {
    let mut simulation = Simulation::new(&[plain("a", 100, 0)]);
    simulation.create("first", by_room(50));
    simulation.create("second", by_room(40));
    simulation.create("third", by_room(60));
    let message = simulation.message("third");
    assert!(
        message.ends_with("; held for results that clusters do not report yet: cpu 90, pods 90"),
        "{message}"
    );
    let writes = simulation.writes("third");
    // A report shows a part of it, which is not enough.
    simulation.pass(Duration::from_secs(5));
    simulation.cluster(&plain("a", 100, 20));
    simulation.pass(Duration::from_secs(5));
    assert_eq!(
        (simulation.message("third"), simulation.writes("third")),
        (message, writes)
    );
    let events = simulation
        .announcements()
        .iter()
        .filter(|event| event.key.name == "third");
    assert_eq!(events.count(), 1);
    assert_eq!(
        simulation.scraped("divvy_held_capacity"),
        Vec::<String>::new(),
        "figures are published by the clock"
    );
    simulation.engine().publish(simulation.now());
    let mut scraped = simulation.scraped("divvy_held_capacity");
    scraped.sort();
    assert_eq!(
        scraped,
        [
            "divvy_held_capacity{cluster=\"a\",resource=\"cpu\"} 70000",
            "divvy_held_capacity{cluster=\"a\",resource=\"pods\"} 70"
        ]
    );
    // The rest is the cluster's own, so the reason is another one.
    simulation.cluster(&plain("a", 100, 90));
    simulation.pass(Duration::from_secs(10));
    assert!(
        !simulation.message("third").contains("held"),
        "{}",
        simulation.message("third")
    );
}

#[test]
fn a_result_that_any_scheduler_shrinks_frees_its_holding_and_one_that_grows_takes_more() {
    let mut simulation = Simulation::new(&[plain("a", 100, 0), plain("b", 100, 0)]);
    simulation.create("web", by_room(100));
    simulation.create("next", by_room(140));
    assert_eq!(simulation.condition("next").1, "Unschedulable");
    simulation.pass(Duration::from_secs(5));
    // The taint manager takes it from one cluster. What Divvy decides next is as much again.
    let suspended = json!({"spec": {"suspension": {"scheduling": true}, "clusters": [{"name": "a", "replicas": 50}]}});
    simulation.patch("web", &suspended);
    assert!(is_scheduled(&simulation, "next"), "{}", simulation.message("next"));
    simulation.delete("next");
    // Another scheduler's growth is not there for anyone else either.
    simulation.patch(
        "web",
        &json!({"spec": {"clusters": [{"name": "a", "replicas": 95}, {"name": "b", "replicas": 95}]}}),
    );
    simulation.create("late", by_room(11));
    assert_eq!(simulation.condition("late").1, "Unschedulable");
    simulation.create("small", by_room(10));
    assert!(is_scheduled(&simulation, "small"));
}

#[test]
fn after_a_start_only_what_cannot_be_reported_yet_is_held() {
    for (age, entries, expected) in [
        // Nothing is known of its pods.
        (5, json!(null), "cpu 60"),
        // Of 60 replicas, 45 exist.
        (5, applied(&[("a", 45)])["status"]["aggregatedStatus"].clone(), "cpu 15"),
        (5, applied(&[("a", 60)])["status"]["aggregatedStatus"].clone(), ""),
        (25, json!(null), ""),
    ] {
        let mut simulation = Simulation::new(&[plain("a", 100, 0)]);
        let scheduled = divvy_karmada::api::Timestamp::from_seconds(EPOCH - age).to_string();
        let mut web = by_room(60);
        web["clusters"] = json!([{"name": "a", "replicas": 60}]);
        web["suspension"] = json!({"scheduling": true});
        simulation.found(
            "web",
            web,
            &json!({"lastScheduledTime": scheduled, "aggregatedStatus": entries}),
        );
        let held: Vec<String> = simulation.engine().held().map(|part| part.to_string()).collect();
        let held = held.join("; ");
        assert!(
            held.starts_with(expected) && held.is_empty() == expected.is_empty(),
            "{age} {entries}: {held}"
        );
    }
}

/// The answer to a write is lost, but the write was not: the watch shows what it took.
#[test]
fn a_write_whose_answer_is_lost_still_takes_its_room() {
    let mut simulation = Simulation::new(&[plain("a", 100, 0)]);
    simulation.hold_writes();
    simulation.create("web", by_room(60));
    simulation.lose_answers();
    simulation.create("next", by_room(60));
    assert_eq!(simulation.result("web"), clusters(&[("a", 60)]));
    assert_eq!(simulation.condition("next").1, "Unschedulable");
}

/// The answer to a write is lost, and Karmada evicts from one of the result's clusters before the next attempt, so that no version has the
/// result as it was decided. What is left of it is reported by then, and not held once more.
#[test]
fn what_is_left_of_a_result_whose_answer_is_lost_is_not_held_once_more() {
    let mut simulation = Simulation::new(&[plain("a", 100, 0), plain("b", 100, 0)]);
    simulation.hold_writes();
    simulation.create("web", by_room(60));
    let lost = simulation.take_held();
    simulation.patch("web", &json!({"spec": {"clusters": [{"name": "a", "replicas": 30}]}}));
    simulation.cluster(&plain("a", 100, 30));
    simulation.fail_held(lost, "the answer is lost");
    let held: Vec<_> = simulation.engine().held().filter(|part| part.cluster == "a").collect();
    assert!(held.is_empty(), "{held:?}");
    // What another scheduler wrote instead is held as ever.
    let mut simulation = Simulation::new(&[plain("a", 100, 0), plain("b", 100, 0)]);
    simulation.hold_writes();
    simulation.create("web", by_room(60));
    let lost = simulation.take_held();
    simulation.patch(
        "web",
        &json!({"spec": {"clusters": [{"name": "a", "replicas": 50}, {"name": "b", "replicas": 10}]}}),
    );
    simulation.fail_held(lost, "the request is lost");
    let held: Vec<_> = simulation.engine().held().map(|part| part.to_string()).collect();
    assert!(held.iter().any(|part| part.starts_with("cpu 50 ")), "{held:?}");
}

/// The answer to a write is seen before the watch repeats it. What the result adds is held once, not as an unknown change as well.
#[test]
fn a_result_is_held_once_whichever_shows_it_first() {
    for is_late in [false, true] {
        let mut simulation = Simulation::new(&[plain("a", 100, 0)]);
        simulation.create("web", by_room(30));
        simulation.cluster(&plain("a", 100, 30));
        if is_late {
            simulation.watch_late();
        }
        simulation.patch("web", &json!({"spec": {"replicas": 40}}));
        assert_eq!(simulation.result("web"), clusters(&[("a", 40)]));
        let held = |simulation: &Simulation| {
            let parts = simulation.engine().held().flat_map(|part| part.resources);
            parts.fold(0, |sum, (resource, quantity)| {
                sum + if resource == "pods" { quantity } else { 0 }
            })
        };
        assert_eq!(held(&simulation), 10, "late: {is_late}");
        simulation.catch_up();
        assert_eq!(held(&simulation), 10, "late: {is_late}");
        simulation.cluster(&plain("a", 100, 40));
        assert_eq!(held(&simulation), 0, "late: {is_late}");
    }
}

#[test]
fn shadow_mode_names_holding_as_the_cause_of_a_difference() {
    let status = |reason: &str, status: &str| json!({"conditions": [{"type": "Scheduled", "status": status, "reason": reason, "message": ""}]});
    let mut written = status("Success", "True");
    written["lastScheduledTime"] = json!("2027-01-15T08:00:00Z");
    // As Karmada writes a result: the clusters with the placement, then the status.
    let result = |placement: &Value| {
        json!({
            "metadata": {"annotations": {"policy.karmada.io/applied-placement": placement.to_string()}},
            "spec": {"clusters": [{"name": "a", "replicas": 60}]},
        })
    };
    let mut simulation = Simulation::new(&[plain("a", 100, 0)]).in_shadow();
    // The other one does not hold what the first has taken.
    for name in ["first", "second"] {
        let specification = by_room(60);
        simulation.create(name, specification.clone());
        simulation.patch(name, &result(&specification["placement"]));
        simulation.patch(name, &json!({"status": written}));
    }
    simulation.create("third", by_room(200));
    simulation.patch("third", &json!({"status": status("NoClusterFit", "False")}));
    let page = simulation.shadow();
    assert_eq!(
        (&page["agreed"], &page["differed"], &page["differedByHolding"]),
        (&json!(1), &json!(2), &json!(1)),
        "{page:#}"
    );
    let causes: Vec<&Value> = page["differences"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|difference| &difference["cause"])
        .collect();
    assert_eq!(
        causes,
        [&json!("capacity is held here until clusters report it"), &json!(null)]
    );
}
