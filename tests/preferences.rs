//! `divvy.io/preferences` on its way to a plugin: the host acts on the keys it knows, the plugin judges the rest.

use serde_json::{Value, json};

use crate::manifests::{binding, cluster};
use crate::scheduling::Host;

/// Two clusters, 6 replicas, and what a strategy makes of preferences.
#[track_caller]
fn check(host: &Host, strategy: &str, preferences: Value, told: &str) {
    let asked = binding("web", 6).strategy(strategy).preferences(&preferences);
    let objects = [cluster("a", 10).into(), cluster("b", 10).into(), asked.into()];
    assert_eq!(host.told(objects), told, "{strategy} {preferences}");
}

#[test]
fn an_empty_list_is_no_preference() {
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

/// They are warned of where the manifest is read, and are no error.
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
fn an_unknown_key_is_refused_whatever_stands_beside_it() {
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
            "Error: unknown key `staticWeightLists`",
        );
    }
}

/// Keys of a strategy from outside reach it, whatever the host does with those it knows.
#[test]
fn a_strategy_from_outside_reads_its_own_keys_beside_those_of_the_host() {
    let host = Host::extending("assign = ['faulty']");
    check(&host, "Faulty", json!({ "patience": 3, "clusterPriority": {} }), "a=6");
    check(
        &host,
        "Faulty",
        json!({ "patience": "long", "clusterPriority": {} }),
        "Error: patience: expected an integer from 0 to 4294967295, got the string \"long\"",
    );
}
