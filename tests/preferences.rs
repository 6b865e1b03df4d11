//! `divvy.io/preferences` on its way to a plugin: the host handles the keys that it knows, and the plugin validates the
//! rest.

use serde_json::{Value, json};

use crate::manifests::{binding, cluster};
use crate::scheduling::Host;

/// Checks the decision of a strategy on two clusters and 6 replicas with these preferences.
#[track_caller]
fn check(host: &Host, strategy: &str, preferences: Value, told: &str) {
    let asked = binding("web", 6).strategy(strategy).preferences(&preferences);
    let objects = [cluster("a", 10).into(), cluster("b", 10).into(), asked.into()];
    assert_eq!(host.told(objects), told, "{strategy} {preferences}");
}

#[test]
fn an_empty_list_means_no_preference() {
    for (strategy, list) in [("StaticWeight", "staticWeightList"), ("Specified", "staticSpecifyList")] {
        check(Host::built_in(), strategy, json!({ list: [] }), "a=3 b=3");
    }
    check(
        Host::built_in(),
        "PriorityAggregated",
        json!({ "preferredPriorityList": [] }),
        "a=6",
    );
    check(Host::built_in(), "Average", json!({}), "a=3 b=3");
}

/// Reading the manifest reports them as a warning, not as an error.
#[test]
fn rules_for_another_bundled_strategy_are_ignored() {
    let rules = json!({ "staticWeightList": [{ "targetCluster": { "clusterNames": ["a"] }, "weight": 2 }] });
    check(Host::built_in(), "Average", rules.clone(), "a=3 b=3");
    check(Host::built_in(), "StaticWeight", rules, "a=6");
    check(
        Host::built_in(),
        "DynamicWeight",
        json!({ "dynamicWeight": "AvailableReplicas" }),
        "a=3 b=3",
    );
}

#[test]
fn an_unknown_key_is_an_error_with_any_other_keys() {
    for beside in [
        json!({}),
        json!({ "staticWeightList": [] }),
        json!({ "clusterPriority": {} }),
    ] {
        let mut preferences = beside;
        preferences["staticWeightLists"] = json!([]);
        check(
            Host::built_in(),
            "StaticWeight",
            preferences,
            "Error: the binding's `divvy.io/preferences`: plugin `static-weight`: unknown key `staticWeightLists`",
        );
    }
}

/// The keys of an external strategy reach it, regardless of the keys that the host handles.
#[test]
fn an_external_strategy_reads_its_own_keys_beside_those_of_the_host() {
    let host = Host::extending("assign = ['faulty']");
    check(&host, "Faulty", json!({ "patience": 3, "clusterPriority": {} }), "a=6");
    check(
        &host,
        "Faulty",
        json!({ "patience": "long", "clusterPriority": {} }),
        "Error: the binding's `divvy.io/preferences`: plugin `faulty`: patience: expected a whole number from 0 to 4294967295, \
         got the string \"long\"",
    );
}
