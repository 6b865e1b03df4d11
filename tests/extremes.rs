//! Extreme values, through the library of every strategy: no replicas, no clusters, no weights, and the largest counts
//! that a binding and a cluster can have.

use serde_json::{Value, json};

use crate::manifests::{Binding, binding, cluster, weights};
use crate::scheduling::Host;

/// Every bundled strategy.
fn all() -> Vec<String> {
    Host::built_in().profile().strategy_names()
}

const LARGEST: i64 = i32::MAX as i64;

#[track_caller]
fn check(clusters: &[(&str, i64)], binding: Binding, told: &str) {
    let objects = clusters.iter().map(|(name, fits)| cluster(name, *fits).into());
    let binding = Value::from(binding);
    let shown = binding.to_string();
    assert_eq!(Host::built_in().told(objects.chain([binding])), told, "{shown}");
}

#[test]
fn a_binding_without_replicas_and_requirements_goes_everywhere() {
    for strategy in all() {
        check(&[("a", 0), ("b", 9)], binding("web", 0).strategy(&strategy), "a=0 b=0");
    }
}

#[test]
fn a_workload_with_zero_replicas_is_scheduled_to_no_cluster() {
    let requirements = json!({ "resourceRequest": { "cpu": "1" } });
    for strategy in all() {
        let asked = binding("web", 0)
            .strategy(&strategy)
            .spec("replicaRequirements", requirements.clone());
        check(&[("a", 5), ("b", 9)], asked.last([("a", 3)]), "");
    }
}

#[test]
fn without_clusters_no_cluster_fits() {
    for strategy in all() {
        let told = "NoClusterFit: 0/0 clusters are available: there is no cluster";
        check(&[], binding("web", 3).strategy(&strategy), told);
    }
}

#[test]
fn the_largest_total_on_the_largest_clusters() {
    let clusters = [("a", LARGEST), ("b", LARGEST)];
    for (strategy, told) in [
        ("Duplicated", "a=2147483647 b=2147483647"),
        // The tie decides which cluster gets the odd replica.
        ("StaticWeight", "a=1073741824 b=1073741823"),
        ("DynamicWeight", "a=1073741824 b=1073741823"),
        ("Average", "a=1073741824 b=1073741823"),
        ("Specified", "a=1073741824 b=1073741823"),
        ("Aggregated", "a=2147483647"),
        ("PriorityAggregated", "a=2147483647"),
    ] {
        check(&clusters, binding("web", LARGEST).strategy(strategy), told);
    }
}

#[test]
fn weights_near_the_end_of_64_bits() {
    let clusters = [("a", 9), ("b", 9), ("c", 9)];
    let asked = |weights| binding("web", LARGEST).strategy("StaticWeight").preferences(&weights);
    check(
        &clusters,
        asked(weights([("a", i64::MAX), ("b", i64::MAX)])),
        "a=1073741824 b=1073741823",
    );
    check(&clusters, asked(weights([("a", i64::MAX), ("b", 1)])), "a=2147483647");
}

#[test]
fn weights_that_no_candidate_has_are_equal_weights() {
    let clusters = [("a", 9), ("b", 9), ("c", 9)];
    let asked = |weights| binding("web", 6).strategy("StaticWeight").preferences(&weights);
    check(&clusters, asked(weights([("elsewhere", 7)])), "a=2 b=2 c=2");
    check(&clusters, asked(weights([])), "a=2 b=2 c=2");
}

/// As in Karmada's API server (`weight`: minimum 1).
#[test]
fn weights_below_one_are_refused() {
    for weight in [0, -1, i64::MIN] {
        let asked = binding("web", 6)
            .strategy("StaticWeight")
            .preferences(&weights([("a", weight)]));
        let place = "the binding's `divvy.io/preferences`.staticWeightList[0]";
        let told = format!("Error: {place}: expected `weight` of at least 1, got {weight}");
        check(&[("a", 9)], asked, &told);
    }
}
