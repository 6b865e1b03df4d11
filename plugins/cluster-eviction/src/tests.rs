//! Named cases, and a comparison with a list of names.

use divvy_framework::testing::{ClusterBuilder, Scenario};
use proptest::prelude::*;

use crate::{ClusterEviction, REASON};

fn fleet() -> Scenario {
    Scenario::new()
        .cluster(ClusterBuilder::new("a"))
        .cluster(ClusterBuilder::new("b").last(3))
        .cluster(ClusterBuilder::new("c"))
}

#[test]
fn an_evicted_cluster_is_rejected_even_if_the_last_result_lists_it() {
    let (feasible, rejected) = fleet().eviction("b").filter(&ClusterEviction).expect("it filters");
    assert_eq!(feasible, ["a", "c"]);
    assert_eq!(rejected, [("b".to_owned(), REASON.to_owned())]);
}

#[test]
fn without_evictions_every_cluster_passes() {
    assert_eq!(fleet().feasible(&ClusterEviction).expect("it filters"), ["a", "b", "c"]);
}

#[test]
fn unknown_and_repeated_clusters_are_harmless() {
    let scenario = fleet().eviction("gone").eviction("c").eviction("c");
    assert_eq!(scenario.feasible(&ClusterEviction).expect("it filters"), ["a", "b"]);
}

proptest! {
    #[test]
    fn exactly_the_named_clusters_are_rejected(evictions in prop::collection::vec(0..5_usize, 0..6)) {
        const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];
        let mut scenario = fleet();
        for &eviction in &evictions {
            scenario = scenario.eviction(NAMES[eviction]);
        }
        let expected: Vec<&str> = (0..3).filter(|index| !evictions.contains(index)).map(|index| NAMES[index]).collect();
        prop_assert_eq!(scenario.feasible(&ClusterEviction).unwrap(), expected);
    }
}
