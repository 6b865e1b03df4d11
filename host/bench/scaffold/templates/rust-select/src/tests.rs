//! Tests of the plugin as ordinary Rust: no library is loaded, and no scheduler runs.

use divvy_framework::testing::{ClusterBuilder, Scenario, json};

use super::*;

type Tested = PluginName;

fn plugin(clusters: u32) -> Tested {
    Tested { clusters }
}

fn scenario() -> Scenario {
    let cluster = |name, score, room| ClusterBuilder::new(name).score(score).fits_now(room);
    Scenario::new()
        .cluster(cluster("a", 50, 4))
        .cluster(cluster("b", 50, 9))
        .cluster(cluster("c", 80, 1))
}

#[test]
fn the_best_score_comes_first_then_the_most_room() {
    assert_eq!(scenario().candidates(&plugin(2)).unwrap(), ["c", "b"]);
    assert_eq!(scenario().candidates(&plugin(9)).unwrap(), ["c", "b", "a"]);
}

#[test]
fn settings_are_checked_when_the_profile_is_loaded() {
    let error = Tested::read(&json!({ "cluster": 2 })).err().unwrap();
    assert_eq!(error.hint().unwrap(), "did you mean `clusters`?");
    let error = Tested::new(plugin(0)).err().unwrap();
    assert_eq!(error.to_string(), "`clusters` is 0: expected at least 1");
}

#[test]
fn the_rule_is_a_pure_function() {
    let mut clusters = vec![0, 1, 2];
    let offers = [(1, 5, 0), (1, 5, 9), (2, 0, 0)];
    rule::best(&mut clusters, 2, |&cluster| offers[cluster]);
    assert_eq!(clusters, [2, 0]);
}
