//! Several selectors in a profile: each narrows down the clusters that the one before left.
//!
//! The first is a third party's, built outside the workspace: it keeps one cluster of each provider, in reverse order of
//! their names.

use serde_json::json;

use crate::manifests::{binding, cluster};
use crate::scheduling::Host;

/// Clusters of three providers, with the room of each.
const FLEET: [(&str, &str, &str, i64); 6] = [
    ("a", "aws", "eu", 9),
    ("b", "aws", "us", 3),
    ("c", "azure", "eu", 5),
    ("d", "azure", "eu", 7),
    ("e", "gcp", "us", 4),
    ("f", "gcp", "us", 4),
];

fn host(lines: &str) -> Host {
    Host::extending(lines)
}

/// The decision on a binding with these spread constraints.
fn told(host: &Host, strategy: &str, replicas: i64, constraints: serde_json::Value) -> String {
    let clusters =
        FLEET.map(|(name, provider, region, room)| cluster(name, room).region(region).provider(provider).into());
    let asked = binding("web", replicas).strategy(strategy);
    let asked = asked.placement("spreadConstraints", constraints);
    host.told(clusters.into_iter().chain([asked.into()]))
}

fn by(field: &str, minimum: i64, maximum: i64) -> serde_json::Value {
    json!({ "spreadByField": field, "minGroups": minimum, "maxGroups": maximum })
}

#[test]
fn the_next_selector_sees_only_what_the_one_before_left() {
    let host = host("select = ['few-per-provider', 'spread-constraints']");
    // Of `f`, `d`, `b` the largest two: columns that were not narrowed down with the rows would give other figures.
    assert_eq!(told(&host, "Average", 8, json!([by("cluster", 1, 2)])), "d=4 f=4");
    assert_eq!(told(&host, "Aggregated", 9, json!([by("cluster", 1, 2)])), "d=6 f=3");
    // Among the regions that hold 7 replicas, us has more clusters left.
    assert_eq!(told(&host, "Aggregated", 7, json!([by("region", 1, 1)])), "b=3 f=4");
    let scarce = told(&host, "Average", 12, json!([by("cluster", 1, 2)]));
    assert_eq!(
        scarce,
        "Unschedulable: no enough resource when selecting 2 clusters: 11 of 12 replicas fit"
    );
    let few = told(&host, "Average", 2, json!([by("cluster", 4, 4)]));
    assert_eq!(
        few,
        "Unschedulable: the number of feasible clusters is less than spreadConstraint.MinGroups: 3 of 4"
    );
}

#[test]
fn the_order_of_the_last_selector_counts() {
    // The strategy gives everything to the first candidate.
    let rival = "assign = ['rival']";
    let first = |select: &str| told(&host(&format!("select = {select}\n{rival}")), "Average", 2, json!([]));
    assert_eq!(first("['few-per-provider', 'spread-constraints']"), "d=2");
    assert_eq!(first("'spread-constraints'"), "a=2");
    assert_eq!(first("'few-per-provider'"), "f=2");
}

#[test]
fn a_plugin_counts() {
    let host = host("select = ['few-per-provider', 'spread-constraints']");
    for _ in 0..2 {
        assert_eq!(told(&host, "Average", 3, json!([])), "b=1 d=1 f=1");
    }
    let selector = host.profile().selectors().next().expect("there is a selector");
    let metrics = selector.metrics();
    assert_eq!(metrics.counters, [("clusters_left_out".to_owned(), 6)].into());
    let providers = &metrics.histograms["providers"];
    assert_eq!((providers.count(), providers.sum), (2, 6.0));
}

#[test]
fn names_of_metrics_are_checked_and_bounded() {
    let host = host("select = 'few-per-provider'\nplugin.few-per-provider.configuration.maximum = 99");
    assert_eq!(told(&host, "Average", 6, json!([])), "a=1 b=1 c=1 d=1 e=1 f=1");
    let selector = host.profile().selectors().next().expect("there is a selector");
    let counters = selector.metrics().counters;
    assert_eq!(counters.len(), 64);
    assert!(counters.contains_key("n0") && !counters.contains_key("not-a-name") && !counters.contains_key("n69"));
}

#[test]
fn an_empty_selection_ends_the_cycle() {
    let host =
        host("select = ['few-per-provider', 'spread-constraints']\nplugin.few-per-provider.configuration.maximum = 0");
    assert_eq!(
        told(&host, "Average", 2, json!([])),
        "Unschedulable: no clusters available to schedule"
    );
}

#[test]
fn spread_constraints_that_no_plugin_enforces_are_an_error_of_the_binding() {
    let host = host("select = 'few-per-provider'");
    assert_eq!(told(&host, "Average", 6, json!([])), "b=2 d=2 f=2");
    let both = json!([by("region", 1, 1), { "spreadByLabel": "disk", "minGroups": 1 }]);
    assert_eq!(
        told(&host, "Average", 6, both),
        "Error: profile `test` has no plugin that enforces spread constraints, and the binding has one by region and one \
         by label `disk`"
    );
    // The strategy ignores them.
    let regions = json!([by("region", 1, 1)]);
    assert_eq!(told(&host, "StaticWeight", 6, regions), "b=2 d=2 f=2");
}
