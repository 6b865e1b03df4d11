//! Named cases, and a comparison with the rule over names.

use divvy_framework::testing::{ClusterBuilder, PeerBuilder, Scenario};
use proptest::prelude::*;

use crate::WorkloadAntiAffinity;

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

fn peer(name: &str) -> PeerBuilder {
    PeerBuilder::in_anti_affinity_group(name)
}

fn fleet() -> Scenario {
    let fleet = Scenario::new().anti_affinity_group("app=shop");
    fleet.clusters(NAMES.map(ClusterBuilder::new))
}

#[track_caller]
fn check(scenario: &Scenario, feasible: &[&str]) {
    assert_eq!(
        scenario.feasible_checked(&WorkloadAntiAffinity).expect("it filters"),
        feasible
    );
}

#[test]
fn without_peers_every_cluster_passes() {
    check(&fleet(), &NAMES);
    check(&fleet().peer(peer("web")), &NAMES);
    check(&fleet().peer(peer("web").on_each(["gone"])), &NAMES);
}

#[test]
fn no_peer_may_be_on_a_cluster() {
    let one = fleet().peer(peer("web").on_each(["a", "b"]));
    check(&one, &["c", "d"]);
    check(&one.peer(peer("db").on_each(["b", "c"])), &["d"]);
}

#[test]
fn clusters_of_the_last_result_pass() {
    let scenario = fleet().cluster(ClusterBuilder::new("a").last(2));
    check(&scenario.peer(peer("web").on_each(["a", "b"])), &["a", "c", "d"]);
}

#[test]
fn other_groups_do_not_matter() {
    check(&Scenario::new().cluster(ClusterBuilder::new("a")), &["a"]);
    let together = PeerBuilder::in_affinity_group("web").on("a", 1);
    check(&fleet().peer(together), &NAMES);
    let both = PeerBuilder::in_both_groups("web").on("a", 1);
    check(&fleet().peer(both), &["b", "c", "d"]);
}

#[test]
fn a_reason_names_a_peer_that_is_there_and_the_group() {
    let scenario = fleet()
        .peer(peer("web").on_each(["a", "b"]))
        .peer(peer("db").on_each(["b"]));
    let rejected = scenario.rejections_checked(&WorkloadAntiAffinity).expect("it filters");
    let had = |name: &str| format!("cluster(s) had `{name}` of the anti-affinity group `app=shop`");
    assert_eq!(rejected, [("a".to_owned(), had("web")), ("b".to_owned(), had("db"))]);
}

proptest! {
    #[test]
    fn a_cluster_passes_if_it_has_no_peer_or_is_listed(
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
        let expected: Vec<&str> = (0..4)
            .filter(|cluster| last.contains(cluster) || peers.iter().all(|clusters| !clusters.contains(cluster)))
            .map(|cluster| names[cluster])
            .collect();
        prop_assert_eq!(scenario.feasible_checked(&WorkloadAntiAffinity).unwrap(), expected);
    }
}
