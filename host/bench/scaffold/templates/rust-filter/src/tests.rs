//! Tests of the plugin as ordinary Rust: no library is loaded, and no scheduler runs.

use divvy_framework::testing::{ClusterBuilder, Scenario, json};

use super::*;

type Tested = PluginName;

fn plugin(region: &str) -> Tested {
    let settings = Tested::read(&json!({ "region": region })).unwrap();
    Tested::new(settings).unwrap()
}

fn scenario() -> Scenario {
    Scenario::new()
        .cluster(ClusterBuilder::new("a").region("europe"))
        .cluster(ClusterBuilder::new("b").region("america"))
        .cluster(ClusterBuilder::new("c"))
}

#[test]
fn clusters_of_the_region_stay() {
    assert_eq!(scenario().feasible(&plugin("europe")).unwrap(), ["a"]);
    assert!(scenario().feasible(&plugin("asia")).unwrap().is_empty());
}

#[test]
fn a_rejected_cluster_has_a_reason() {
    let (_, rejected) = scenario().filter(&plugin("europe")).unwrap();
    let reason = |name: &str| (name.to_owned(), rule::REASON.to_owned());
    assert_eq!(rejected, [reason("b"), reason("c")]);
}

#[test]
fn settings_are_checked_when_the_profile_is_loaded() {
    let error = Tested::read(&json!({ "regio": "europe" })).err().unwrap();
    assert_eq!(error.hint().unwrap(), "did you mean `region`?");
    let settings = Tested::read(&json!({ "region": "" })).unwrap();
    let error = Tested::new(settings).err().unwrap();
    assert!(error.to_string().starts_with("`region` is empty"));
}

#[test]
fn the_rule_is_a_pure_function() {
    assert!(rule::keeps("europe", "europe"));
    assert!(!rule::keeps("europe", "asia"));
    assert!(!rule::keeps("", "asia"));
}
