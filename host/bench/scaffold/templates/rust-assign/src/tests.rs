//! Tests of the plugin as ordinary Rust: no library is loaded, and no scheduler runs.

use divvy_framework::testing::{ClusterBuilder, Scenario, json};

use super::*;

type Tested = PluginName;

fn plugin(keep_free: u32) -> Tested {
    Tested { keep_free }
}

/// Two clusters with room for 3 and 5 replicas. Results are in the order of their names.
fn scenario(replicas: i64) -> Scenario {
    Scenario::new()
        .replicas(replicas)
        .cluster(ClusterBuilder::new("a").fits_now(3))
        .cluster(ClusterBuilder::new("b").fits_now(5))
}

#[test]
fn the_roomiest_cluster_is_filled_first() {
    // `assign_checked` also checks what PROMISES promises.
    let shares = scenario(6).assign_checked(&plugin(0)).unwrap();
    assert_eq!(shares, [1, 5]);
    let shares = scenario(6).assign_checked(&plugin(1)).unwrap();
    assert_eq!(shares, [2, 4]);
}

#[test]
fn too_little_room_is_an_outcome_and_not_an_error_of_the_plugin() {
    let failure = scenario(9).assign(&plugin(0)).unwrap_err();
    assert_eq!(failure, Failure::too_small(9, 8));
}

#[test]
fn a_misspelt_setting_names_the_nearest() {
    let error = Tested::read(&json!({ "keep-fre": 1 })).err().unwrap();
    assert_eq!(error.hint().unwrap(), "did you mean `keep-free`?");
}

#[test]
fn the_rule_is_a_pure_function() {
    let tie_key = |cluster| cluster as u64;
    assert_eq!(rule::divide(4, &[2, 3, 2], tie_key), Ok(vec![1, 3, 0]));
    assert_eq!(rule::divide(8, &[2, 3, 2], tie_key), Err(7));
    assert_eq!(rule::divide(0, &[], tie_key), Ok(vec![]));
}
