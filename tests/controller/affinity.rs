//! Workload affinity on a control plane: decisions in flight, failed writes, and the bindings that are woken.

use std::time::Duration;

use divvy_controller::write::WriteOutcome;
use serde_json::{Value, json};

use super::simulation::Simulation;
use super::{cluster, clusters, divided, is_scheduled};
use crate::scheduling::filters_with;

/// The lines of a profile with both filters.
fn lines() -> String {
    filters_with(&["workload-affinity", "workload-anti-affinity"])
}

fn plane(clusters: &[Value]) -> Simulation {
    Simulation::with_profile(&lines(), clusters)
}

fn grouped(kind: &str, replicas: i32) -> Value {
    let mut specification = divided(replicas);
    specification["workloadAffinityGroups"] = json!({ kind: "app=shop" });
    specification
}

fn apart(replicas: i32) -> Value {
    grouped("antiAffinityGroup", replicas)
}

#[test]
fn workloads_that_are_kept_apart_go_to_different_clusters() {
    let mut simulation = plane(&[cluster("a", 10), cluster("b", 5)]);
    simulation.create("v", apart(2));
    simulation.create("w", apart(2));
    assert_eq!(simulation.result("v"), clusters(&[("a", 2)]));
    assert_eq!(simulation.result("w"), clusters(&[("b", 2)]));
}

/// Two decisions before the first write ends.
#[test]
fn a_decision_that_is_not_written_yet_counts() {
    let mut simulation = plane(&[cluster("a", 10), cluster("b", 5)]);
    simulation.hold_writes();
    simulation.create("v", apart(2));
    simulation.create("w", apart(2));
    simulation.release_writes();
    assert_eq!(simulation.result("v"), clusters(&[("a", 2)]));
    assert_eq!(simulation.result("w"), clusters(&[("b", 2)]));
}

#[test]
fn a_write_that_fails_takes_the_placement_back() {
    let mut simulation = plane(&[cluster("a", 10)]);
    simulation.fail_next_write(WriteOutcome::Failed("unreachable".to_owned()));
    simulation.create("v", apart(2));
    assert_eq!(simulation.result("v"), clusters(&[]));
    // `v` backs off, so its cluster is free.
    simulation.create("w", apart(2));
    assert_eq!(simulation.result("w"), clusters(&[("a", 2)]));
    simulation.pass(Duration::from_secs(1));
    assert_eq!(
        simulation.condition("v"),
        ("False".to_owned(), "NoClusterFit".to_owned())
    );
}

#[test]
fn a_binding_that_waits_for_a_cluster_is_woken_when_a_peer_leaves_it() {
    let mut simulation = plane(&[cluster("a", 10)]);
    simulation.create("v", apart(2));
    simulation.create("w", apart(2));
    assert_eq!(
        simulation.condition("w"),
        ("False".to_owned(), "NoClusterFit".to_owned())
    );
    // Its backoff is over, so it only waits for an event.
    simulation.pass(Duration::from_secs(2));
    let writes = simulation.writes("w");
    // A change that no peer sees wakes no binding.
    simulation.patch("v", &json!({"metadata": {"annotations": {"some": "note"}}}));
    assert_eq!(simulation.writes("w"), writes);
    simulation.delete("v");
    assert_eq!(simulation.result("w"), clusters(&[("a", 2)]));
    assert!(is_scheduled(&simulation, "w"));
}

#[test]
fn a_binding_that_waits_is_woken_when_a_peer_leaves_the_group_or_moves() {
    for patch in [
        json!({"spec": {"workloadAffinityGroups": null}}),
        json!({"spec": {"workloadAffinityGroups": {"antiAffinityGroup": "app=other"}}}),
        json!({"spec": {"clusters": [{"name": "elsewhere", "replicas": 2}]}}),
    ] {
        let mut simulation = plane(&[cluster("a", 10)]);
        simulation.create("v", apart(2));
        simulation.create("w", apart(2));
        simulation.pass(Duration::from_secs(2));
        assert_eq!(simulation.result("w"), clusters(&[]));
        simulation.patch("v", &patch);
        assert_eq!(simulation.result("w"), clusters(&[("a", 2)]), "{patch}");
    }
}

#[test]
fn a_binding_with_affinity_follows_the_first_and_waits_for_it() {
    let mut simulation = plane(&[cluster("a", 10), cluster("b", 5)]);
    let mut first = grouped("affinityGroup", 2);
    first["placement"]["clusterAffinity"] = json!({"clusterNames": ["b"]});
    simulation.create("v", first);
    simulation.create("w", grouped("affinityGroup", 2));
    assert_eq!(simulation.result("w"), clusters(&[("b", 2)]));
    // Both scale beyond the room of their cluster.
    simulation.patch("w", &json!({"spec": {"replicas": 30}}));
    assert_eq!(simulation.condition("w").0, "False");
    // A placed workload keeps its clusters whatever its peers do.
    simulation.patch("w", &json!({"spec": {"replicas": 3}}));
    assert_eq!(simulation.result("w"), clusters(&[("b", 3)]));
}

#[test]
fn what_no_filter_enforces_is_refused_until_a_profile_does() {
    let mut simulation = Simulation::new(&[cluster("a", 10)]);
    simulation.create("v", apart(2));
    assert_eq!(
        simulation.condition("v"),
        ("False".to_owned(), "SchedulerError".to_owned())
    );
    let said = &simulation.announcements()[0].message;
    assert!(
        said.contains("`spec.workloadAffinityGroups.antiAffinityGroup`"),
        "{said}"
    );
    assert!(said.contains("profile `test`"), "{said}");
    // It waits for its backoff and for no event.
    assert_eq!(simulation.exchange(&lines()).refusal, None);
    simulation.pass(Duration::from_secs(2));
    assert!(is_scheduled(&simulation, "v"));
    // A profile that enforces only one kind refuses the other.
    let only_affinity = filters_with(&["workload-affinity"]);
    assert_eq!(simulation.exchange(&only_affinity).refusal, None);
    simulation.create("w", apart(2));
    assert_eq!(
        simulation.condition("w"),
        ("False".to_owned(), "SchedulerError".to_owned())
    );
}

/// Decisions from before the profile needed placements keep the others away, both written ones and those in flight.
#[test]
fn a_profile_that_begins_to_read_placements_knows_those_of_before() {
    let anywhere = |mut specification: Value| {
        specification["placement"]["clusterAffinity"] = json!({"clusterNames": ["a", "b", "c"]});
        specification
    };
    let at = |cluster: &str| {
        let mut specification = apart(2);
        specification["placement"]["clusterAffinity"] = json!({ "clusterNames": [cluster] });
        specification
    };
    // Without groups until they are placed, since a profile that enforces none refuses them.
    let mut simulation = Simulation::new(&[cluster("a", 30), cluster("b", 20), cluster("c", 10)]);
    let grouped = json!({"spec": {"workloadAffinityGroups": {"antiAffinityGroup": "app=shop"}}});
    let lines_of_both = lines();
    let with_filters = |simulation: &mut Simulation| {
        assert_eq!(simulation.exchange(&lines_of_both).refusal, None);
    };
    simulation.create("v", {
        let mut specification = at("a");
        specification["workloadAffinityGroups"] = Value::Null;
        specification
    });
    assert_eq!(simulation.result("v"), clusters(&[("a", 2)]));
    simulation.patch("v", &grouped);
    with_filters(&mut simulation);
    simulation.hold_writes();
    simulation.create("w", at("b"));
    // Back and forth, while the decision about `w` is written.
    assert_eq!(simulation.exchange("").refusal, None);
    with_filters(&mut simulation);
    simulation.create("x", anywhere(apart(2)));
    simulation.release_writes();
    assert_eq!(simulation.result("w"), clusters(&[("b", 2)]));
    assert_eq!(simulation.result("x"), clusters(&[("c", 2)]));
}

/// A new term knows only what is on the control plane.
#[test]
fn a_new_term_begins_with_what_is_written() {
    let mut simulation = plane(&[cluster("a", 10), cluster("b", 5)]);
    simulation.create("v", apart(2));
    simulation.lead(2);
    simulation.create("w", apart(2));
    assert_eq!(simulation.result("w"), clusters(&[("b", 2)]));
}
