//! `specified-replicas.md`: the figures of its three stories, and the rule for counts that do not add up.

use serde_json::{Value, json};

use crate::manifests::{binding, cluster, counts};
use crate::renamed_strategies::{self, Served};

/// The proposal's clusters and the last result that each of its stories starts from.
const BEFORE: [(&str, &str, i64); 3] = [
    ("cluster1", "RegionA", 2),
    ("cluster2", "RegionB", 1),
    ("cluster3", "RegionB", 4),
];

/// Checks the bundled strategy and its copy. Preferences and decision use the bundled names.
#[track_caller]
fn check(before: &[(&str, &str, i64)], preferences: &Value, replicas: i64, told: &str) {
    for served in renamed_strategies::specified() {
        check_served(served, before, preferences, replicas, told);
    }
}

/// Checks only the bundled strategy, for preferences that the host accepts in other forms than its list.
#[track_caller]
fn check_bundled(before: &[(&str, &str, i64)], preferences: &Value, replicas: i64, told: &str) {
    let [bundled, _] = renamed_strategies::specified();
    check_served(bundled, before, preferences, replicas, told);
}

#[track_caller]
fn check_served(served: Served, before: &[(&str, &str, i64)], preferences: &Value, replicas: i64, told: &str) {
    let [bundled, _] = renamed_strategies::specified();
    let mut objects: Vec<Value> = before
        .iter()
        .map(|(name, region, _)| cluster(name, 100).region(region).into())
        .collect();
    let last = before.iter().map(|(name, _, replicas)| (*name, *replicas));
    let preferences = served.named(&preferences.to_string(), &bundled);
    objects.push(
        binding("web", replicas)
            .strategy(served.names.strategy)
            .annotation("divvy.io/preferences", &preferences)
            .last(last.filter(|(_, replicas)| *replicas > 0))
            .into(),
    );
    let told = served.named(told, &bundled);
    assert_eq!(served.host.told(objects), told, "{preferences} from {before:?}");
}

/// Counts per region: as printed in the proposal, and as entries of the list.
fn regions(counts: &[(&str, i64)]) -> (Value, Value) {
    let printed = counts
        .iter()
        .map(|(name, replicas)| json!({ "name": name, "replicas": replicas }));
    let entries = counts.iter().map(|(name, replicas)| {
        let expression = json!({ "key": "region", "operator": "In", "values": [name] });
        json!({ "targetCluster": { "fieldSelector": { "matchExpressions": [expression] } }, "replicas": replicas })
    });
    (
        json!({ "specifiedIdcs": printed.collect::<Vec<_>>() }),
        json!({ "staticSpecifyList": entries.collect::<Vec<_>>() }),
    )
}

#[track_caller]
fn check_regions(before: &[(&str, &str, i64)], counts: &[(&str, i64)], replicas: i64, told: &str) {
    let (printed, entries) = regions(counts);
    check_bundled(before, &printed, replicas, told);
    check(before, &entries, replicas, told);
}

#[test]
fn story_1_counts_per_cluster_are_those_before_the_migration() {
    let before = [("cluster1", "", 0), ("cluster2", "", 0)];
    check(
        &before,
        &counts([("cluster1", 2), ("cluster2", 5)]),
        7,
        "cluster1=2 cluster2=5",
    );
}

#[test]
fn story_2_counts_per_region_spread_the_change_evenly() {
    let up = [("RegionA", 3), ("RegionB", 8)];
    check_regions(&BEFORE, &up, 11, "cluster1=3 cluster2=3 cluster3=5");
    let down = [("RegionA", 1), ("RegionB", 2)];
    check_regions(&BEFORE, &down, 3, "cluster1=1 cluster3=2");
}

#[test]
fn story_3_a_list_of_regions_is_one_group() {
    let list = json!({ "idcs": [{ "name": "RegionA" }, { "name": "RegionB" }] });
    check_bundled(&BEFORE, &list, 11, "cluster1=3 cluster2=3 cluster3=5");
    check_bundled(&BEFORE, &list, 3, "cluster1=1 cluster3=2");
}

#[test]
fn a_cluster_that_reaches_zero_stops_and_the_others_share_the_rest() {
    let before = [("a", "R", 0), ("b", "R", 1), ("c", "R", 5)];
    check_regions(&before, &[("R", 2)], 2, "c=2");
}

#[test]
fn counts_that_do_not_add_up_name_both_sums() {
    let preferences = counts([("cluster1", 2), ("cluster2", 5)]);
    check(
        &BEFORE,
        &preferences,
        8,
        "Unschedulable: the specified counts sum to 7, but the binding has 8 replicas",
    );
    // The sum may exceed 64 bits.
    let beyond = counts([("cluster1", i64::MAX), ("cluster2", i64::MAX)]);
    check(
        &BEFORE,
        &beyond,
        7,
        "Unschedulable: the specified counts sum to 18446744073709551614, but the binding has 7 replicas",
    );
}

#[test]
fn invalid_groups_are_named() {
    check(
        &BEFORE,
        &json!({ "staticSpecifyList": [
            { "targetCluster": { "clusterNames": ["cluster1", "cluster2"] }, "replicas": 4 },
            { "targetCluster": { "clusterNames": ["cluster2"] }, "replicas": 3 },
        ] }),
        7,
        "Error: plugin `specified`: the binding's `divvy.io/preferences`.staticSpecifyList[1]: cluster `cluster2` is already in the group \
         of the binding's `divvy.io/preferences`.staticSpecifyList[0]",
    );
    check(
        &BEFORE,
        &counts([("cluster1", 4), ("elsewhere", 3)]),
        7,
        "Error: plugin `specified`: the binding's `divvy.io/preferences`.staticSpecifyList[1]: no cluster is named `elsewhere`",
    );
}
