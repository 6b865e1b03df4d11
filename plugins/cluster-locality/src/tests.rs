//! Named cases, and a comparison with the last result.

use divvy_framework::testing::{ClusterBuilder, Scenario};
use proptest::prelude::*;

use crate::ClusterLocality;

#[test]
fn listed_clusters_score_with_any_number_of_replicas() {
    let scenario = Scenario::new()
        .cluster(ClusterBuilder::new("a").last(7))
        .cluster(ClusterBuilder::new("b").last(0))
        .cluster(ClusterBuilder::new("c"))
        .lost("gone", 2);
    assert_eq!(scenario.scores(&ClusterLocality), Ok(vec![100, 100, 0]));
    let (_, said) = scenario.scores_explained(&ClusterLocality).expect("it scores");
    let lines: Vec<&str> = said.explanations.iter().map(|(_, line)| line.as_str()).collect();
    assert_eq!(
        lines,
        ["the last result lists it (last 7)", "the last result lists it (last 0)"]
    );
}

#[test]
fn listed_clusters_score_even_if_all_last_replicas_are_zero() {
    let scenario = Scenario::new()
        .cluster(ClusterBuilder::new("a"))
        .cluster(ClusterBuilder::new("b").last(0));
    assert_eq!(scenario.scores(&ClusterLocality), Ok(vec![0, 100]));
}

#[test]
fn all_scores_are_zero_without_a_last_result() {
    let scenario = Scenario::new()
        .cluster(ClusterBuilder::new("a"))
        .cluster(ClusterBuilder::new("b"));
    assert_eq!(scenario.scores(&ClusterLocality), Ok(vec![0, 0]));
}

proptest! {
    #[test]
    fn exactly_the_listed_clusters_score(last in prop::collection::vec(prop::option::of(0..3_i64), 0..10)) {
        let mut scenario = Scenario::new();
        for (index, last) in last.iter().enumerate() {
            let cluster = ClusterBuilder::new(&format!("member{index}"));
            scenario = scenario.cluster(match last {
                Some(last) => cluster.last(*last),
                None => cluster,
            });
        }
        let expected: Vec<i64> = last.iter().map(|last| if last.is_some() { 100 } else { 0 }).collect();
        prop_assert_eq!(scenario.scores(&ClusterLocality).unwrap(), expected);
    }
}
