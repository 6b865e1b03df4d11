//! Named cases, and the rule held against the last result.

use divvy_framework::testing::{ClusterBuilder, Scenario};
use proptest::prelude::*;

use crate::ClusterLocality;

#[test]
fn listed_clusters_score_whatever_their_replicas() {
    let scenario = Scenario::new()
        .cluster(ClusterBuilder::new("a").last(7))
        .cluster(ClusterBuilder::new("b").last(0))
        .cluster(ClusterBuilder::new("c"))
        .lost("gone", 2);
    assert_eq!(scenario.scores(&ClusterLocality), Ok(vec![100, 100, 0]));
}

#[test]
fn last_replicas_that_sum_up_to_nothing_count_too() {
    let scenario = Scenario::new()
        .cluster(ClusterBuilder::new("a"))
        .cluster(ClusterBuilder::new("b").last(0));
    assert_eq!(scenario.scores(&ClusterLocality), Ok(vec![0, 100]));
}

#[test]
fn a_first_scheduling_scores_nothing() {
    let scenario = Scenario::new()
        .cluster(ClusterBuilder::new("a"))
        .cluster(ClusterBuilder::new("b"));
    assert_eq!(scenario.scores(&ClusterLocality), Ok(vec![0, 0]));
}

proptest! {
    #[test]
    fn exactly_the_listed_clusters_score(last in prop::collection::vec(prop::option::of(0..3_i64), 0..10)) {
        let mut scenario = Scenario::new();
        for (place, last) in last.iter().enumerate() {
            let cluster = ClusterBuilder::new(&format!("member{place}"));
            scenario = scenario.cluster(match last {
                Some(last) => cluster.last(*last),
                None => cluster,
            });
        }
        let expected: Vec<i64> = last.iter().map(|last| if last.is_some() { 100 } else { 0 }).collect();
        prop_assert_eq!(scenario.scores(&ClusterLocality).unwrap(), expected);
    }
}
