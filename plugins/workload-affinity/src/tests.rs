//! Named cases, and a comparison with the rule over names.

use divvy_framework::testing::{ClusterBuilder, PeerBuilder, Scenario};
use proptest::prelude::*;

use crate::WorkloadAffinity;

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

fn peer(name: &str) -> PeerBuilder {
    PeerBuilder::in_affinity_group(name)
}

fn fleet() -> Scenario {
    let fleet = Scenario::new().affinity_group("app=shop");
    fleet.clusters(NAMES.map(ClusterBuilder::new))
}

#[track_caller]
fn check(scenario: &Scenario, feasible: &[&str]) {
    assert_eq!(
        scenario.feasible_checked(&WorkloadAffinity).expect("it filters"),
        feasible
    );
}

#[test]
fn the_first_workload_of_a_group_goes_anywhere() {
    check(&fleet(), &NAMES);
}

#[test]
fn every_peer_must_be_on_a_cluster() {
    let one = fleet().peer(peer("web").on_each(["a", "b"]));
    check(&one, &["a", "b"]);
    check(&one.clone().peer(peer("db").on_each(["b", "c"])), &["b"]);
    check(&one.peer(peer("db").on_each(["c"])), &[]);
}

#[test]
fn a_peer_without_clusters_does_not_count() {
    check(&fleet().peer(peer("web")).peer(peer("db").on_each(["c"])), &["c"]);
}

#[test]
fn a_peer_whose_clusters_are_gone_has_clusters() {
    check(&fleet().peer(peer("web").on_each(["gone"])), &[]);
    check(&fleet().peer(peer("web").on_each(["gone", "c"])), &["c"]);
}

#[test]
fn clusters_of_the_last_result_pass() {
    let scenario = fleet().cluster(ClusterBuilder::new("d").last(2));
    check(&scenario.clone().peer(peer("web").on_each(["a"])), &["a", "d"]);
    // Even with 0 replicas.
    let scenario = scenario.cluster(ClusterBuilder::new("d").last(0));
    check(&scenario.peer(peer("web").on_each(["a"])), &["a", "d"]);
}

#[test]
fn other_groups_do_not_matter() {
    check(&Scenario::new().cluster(ClusterBuilder::new("a")), &["a"]);
    let apart = PeerBuilder::in_anti_affinity_group("web").on("a", 1);
    check(&fleet().peer(apart), &NAMES);
    let both = PeerBuilder::in_both_groups("web").on("a", 1);
    check(&fleet().peer(both), &["a"]);
}

#[test]
fn a_reason_names_a_peer_that_is_missing_and_the_group() {
    let scenario = fleet()
        .peer(peer("web").on_each(["a", "b"]))
        .peer(peer("db").on_each(["b"]));
    let rejected = scenario.rejections_checked(&WorkloadAffinity).expect("it filters");
    let reasons: Vec<(&str, &str)> = rejected
        .iter()
        .map(|(name, reason)| (name.as_str(), reason.as_str()))
        .collect();
    let without = "cluster(s) did not have `db` of the affinity group `app=shop`";
    assert_eq!(reasons, [("a", without), ("c", without), ("d", without)]);
}

proptest! {
    #[test]
    fn a_cluster_passes_if_it_has_every_placed_peer_or_is_listed(
        peers in prop::collection::vec(prop::collection::btree_set(0..5_usize, 0..5), 0..5),
        last in prop::collection::btree_set(0..4_usize, 0..3),
    ) {
        // The fifth is gone.
        let names = ["a", "b", "c", "d", "gone"];
        let placed_peers = peers.iter().enumerate().map(|(number, clusters)| {
            peer(&format!("peer-{number}")).on_each(clusters.iter().map(|&cluster| names[cluster]))
        });
        let listed: Vec<(&str, i64)> = last.iter().map(|&cluster| (names[cluster], 1)).collect();
        let scenario = fleet().last_result(&listed).peers(placed_peers);
        let placed = || peers.iter().filter(|clusters| !clusters.is_empty());
        let expected: Vec<&str> = (0..4)
            .filter(|cluster| last.contains(cluster) || placed().all(|clusters| clusters.contains(cluster)))
            .map(|cluster| names[cluster])
            .collect();
        prop_assert_eq!(scenario.feasible_checked(&WorkloadAffinity).unwrap(), expected);
    }
}
