//! Named cases, and a comparison with the rule over names.

use divvy_framework::testing::{ClusterBuilder, PeerBuilder, Scenario};
use proptest::prelude::*;

use crate::WorkloadAntiAffinity;

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

fn fleet() -> Scenario {
    let clusters = NAMES.map(ClusterBuilder::new);
    let fleet = Scenario::new().anti_affinity_group("app=shop");
    clusters.into_iter().fold(fleet, Scenario::cluster)
}

fn peer(name: &str, clusters: &[&str]) -> PeerBuilder {
    let peer = PeerBuilder::in_anti_affinity_group(name);
    clusters.iter().fold(peer, |peer, cluster| peer.on(cluster, 1))
}

#[track_caller]
fn check(scenario: &Scenario, feasible: &[&str]) {
    assert_eq!(scenario.feasible(&WorkloadAntiAffinity).expect("it filters"), feasible);
}

#[test]
fn without_peers_every_cluster_passes() {
    check(&fleet(), &NAMES);
    check(&fleet().peer(peer("web", &[])), &NAMES);
    check(&fleet().peer(peer("web", &["gone"])), &NAMES);
}

#[test]
fn no_peer_may_be_on_a_cluster() {
    let one = fleet().peer(peer("web", &["a", "b"]));
    check(&one, &["c", "d"]);
    check(&one.peer(peer("db", &["b", "c"])), &["d"]);
}

#[test]
fn clusters_of_the_last_result_pass() {
    let scenario = fleet().cluster(ClusterBuilder::new("a").last(2));
    check(&scenario.peer(peer("web", &["a", "b"])), &["a", "c", "d"]);
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
    let scenario = fleet().peer(peer("web", &["a", "b"])).peer(peer("db", &["b"]));
    let (_, rejected) = scenario.filter(&WorkloadAntiAffinity).expect("it filters");
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
        let mut scenario = fleet();
        for (number, clusters) in peers.iter().enumerate() {
            let clusters: Vec<&str> = clusters.iter().map(|&cluster| names[cluster]).collect();
            scenario = scenario.peer(peer(&format!("peer-{number}"), &clusters));
        }
        for &listed in &last {
            scenario = scenario.cluster(ClusterBuilder::new(names[listed]).last(1));
        }
        let expected: Vec<&str> = (0..4)
            .filter(|cluster| last.contains(cluster) || peers.iter().all(|clusters| !clusters.contains(cluster)))
            .map(|cluster| names[cluster])
            .collect();
        prop_assert_eq!(scenario.feasible(&WorkloadAntiAffinity).unwrap(), expected);
    }
}
