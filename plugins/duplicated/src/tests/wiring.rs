//! Tests of the plugin through the contexts that the host uses: the result and its explanation.

use divvy_framework::testing::{ClusterBuilder, Scenario};

use crate::Duplicated;

fn plugin() -> Duplicated {
    Duplicated
}

#[test]
fn every_candidate_gets_the_full_count_with_an_explanation() {
    let scenario = Scenario::new()
        .replicas(3)
        .duplicated(true)
        .cluster(ClusterBuilder::new("member1").fits_now(1))
        .cluster(ClusterBuilder::new("member2").last(9));
    let (counts, said) = scenario.assign_explained(&plugin()).expect("it cannot fail");
    assert_eq!(counts, [3, 3]);
    assert_eq!(said.explanations[1].1, "every candidate gets the full count of 3");
    scenario.check_promises(&plugin()).expect("the promises hold");
}
