//! Tests of the plugin as ordinary Rust: no library is loaded, and no scheduler runs.

use divvy_framework::testing::{ClusterBuilder, Scenario, json};

use super::*;

type Tested = PluginName;

fn plugin() -> Tested {
    let settings = Tested::read(&json!({ "label": "tier", "best": "gold" })).unwrap();
    Tested::new(settings).unwrap()
}

#[test]
fn the_best_value_has_the_highest_score() {
    // A score outside 0 to 100 is an error here, as it is in the scheduler.
    let scenario = Scenario::new()
        .cluster(ClusterBuilder::new("a").label("tier", "silver"))
        .cluster(ClusterBuilder::new("b").label("tier", "gold"))
        .cluster(ClusterBuilder::new("c"));
    assert_eq!(scenario.scores(&plugin()).unwrap(), [50, 100, 0]);
}

#[test]
fn a_misspelt_setting_names_the_nearest() {
    let settings = json!({ "labl": "tier", "best": "gold" });
    let error = Tested::read(&settings).err().unwrap();
    assert_eq!(error.hint().unwrap(), "did you mean `label`?");
}

#[test]
fn the_rule_is_a_pure_function() {
    assert_eq!(rule::score(Some("gold"), "gold"), 100);
    assert_eq!(rule::score(None, ""), 0);
}
