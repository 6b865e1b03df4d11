//! Tests of the strategy: first as ordinary Rust code, without a library and a scheduler; then of the library, in the
//! scheduler, with the binary that `DIVVY` names.

use divvy_framework::testing::{ClusterBuilder, Scenario, Value, Verification, json};

use super::*;

fn cluster(name: &str, price: &str, fits_now: i64) -> ClusterBuilder {
    ClusterBuilder::new(name)
        .annotation("example.com/price-per-core-hour", price)
        .fits_now(fits_now)
}

fn plugin(configuration: &Value) -> CheapestFirst {
    let configuration = CheapestFirstConfiguration::read(configuration).expect("the configuration is valid");
    CheapestFirst::new(configuration).expect("the plugin can be constructed")
}

/// `b` costs 0.02, `a` 0.05, and `c` has no price. They have room for 4, 10 and 10 replicas.
fn scenario() -> Scenario {
    Scenario::new()
        .cluster(cluster("a", "0.05", 10))
        .cluster(cluster("b", "0.02", 4))
        .cluster(ClusterBuilder::new("c").fits_now(10))
}

#[test]
fn named_cases() {
    for (name, configuration, preferences, replicas, expected) in [
        ("the cheapest alone", json!({}), json!({}), 3, [0, 3, 0]),
        ("then the next", json!({}), json!({}), 9, [5, 4, 0]),
        ("those without a price last", json!({}), json!({}), 16, [10, 4, 2]),
        ("a limit", json!({}), json!({ "maximumPrice": 0.02 }), 4, [0, 4, 0]),
        (
            "another annotation",
            json!({ "annotation": "cost" }),
            json!({}),
            0,
            [0, 0, 0],
        ),
    ] {
        let result = scenario()
            .replicas(replicas)
            .preferences(&preferences)
            .assign_checked(&plugin(&configuration));
        assert_eq!(result.unwrap(), expected, "{name}");
    }
}

#[test]
fn too_little_room_at_that_price_names_both_figures() {
    let scenario = scenario().replicas(15).preferences(&json!({ "maximumPrice": 0.05 }));
    assert_eq!(scenario.assign(&plugin(&json!({}))), Err(Failure::too_small(15, 14)));
    let scenario = scenario.preferences(&json!({}));
    assert_eq!(
        scenario.assign(&plugin(&json!({ "unpriced": "never" }))),
        Err(Failure::too_small(15, 14))
    );
}

#[test]
fn a_wrong_key_names_the_nearest() {
    let error = scenario()
        .preferences(&json!({ "maxPrice": 1 }))
        .assign(&plugin(&json!({})))
        .unwrap_err();
    assert_eq!(error.to_string(), "unknown key `maxPrice`");
    let error = CheapestFirstConfiguration::read(&json!({ "unpriced": "lasts" }))
        .err()
        .unwrap();
    assert_eq!(error.hint().unwrap(), "did you mean `last`?");
}

#[test]
fn what_runs_stays_until_a_reschedule_is_asked_for() {
    let running = |replicas| {
        Scenario::new()
            .replicas(replicas)
            .cluster(cluster("a", "0.05", 10).last(6))
            .cluster(cluster("b", "0.02", 3))
            .cluster(cluster("c", "0.09", 10).last(2))
    };
    let plugin = plugin(&json!({}));
    assert_eq!(running(8).assign_checked(&plugin).unwrap(), [6, 0, 2]);
    assert_eq!(running(12).assign_checked(&plugin).unwrap(), [7, 3, 2]);
    assert_eq!(running(5).assign_checked(&plugin).unwrap(), [5, 0, 0]);
    assert_eq!(running(8).fresh(true).assign_checked(&plugin).unwrap(), [5, 3, 0]);
}

/// The whole cycle: the policy's strategy and preferences, the profile, the bundled filters, and the estimate of what
/// fits.
#[test]
fn the_scheduler_fills_the_cheapest_clusters_of_a_fleet() {
    let decisions = Scenario::from_files(["../fleet/clusters", "manifests"])
        .decide()
        .unwrap();
    let rendering = decisions.binding("studio/video-rendering-deployment");
    assert_eq!(
        rendering.shares(),
        [("us-aws-virginia", 9), ("us-gcp-iowa", 22), ("us-onprem-dallas", 29)]
    );
    let prices = rendering.explanations("cheapest-first");
    assert!(prices.contains(&("us-onprem-dallas", "price 0.021")), "{prices:?}");
}

/// The profile gives nothing to clusters without a price, and no cluster of the random cases has one.
#[test]
fn the_library_keeps_its_contracts() {
    Verification::new().runs(200).cases("cases/prices.yaml").passes();
}
