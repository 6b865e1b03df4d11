//! Tests of the strategy: first as ordinary Rust code, without a library and a scheduler; then of the library, in the
//! scheduler, with the binary that `DIVVY` names.

use divvy_framework::testing::{ClusterBuilder, Scenario, TableBuilder, Value, Verification, json};

use super::*;

fn plugin(configuration: &Value) -> CheapestFirst {
    let configuration = CheapestFirstConfiguration::read(configuration).expect("the configuration is valid");
    CheapestFirst::new(configuration).expect("the plugin can be constructed")
}

/// Replicas that request a CPU, on clusters with these prices of a CPU in millionths.
fn priced(clusters: impl IntoIterator<Item = ClusterBuilder>, prices: &[(&str, i64)]) -> Scenario {
    let table = TableBuilder::new("prices")
        .decimals("cpu-hour", cost::PRICE_SCALE, prices)
        .decimals("gib-hour", cost::PRICE_SCALE, &[])
        .decimals("gpu-hour", cost::PRICE_SCALE, &[]);
    let scenario = Scenario::new().clusters(clusters).table(table);
    scenario.requests(&[("cpu", 1000)])
}

/// `b` costs 0.02, `a` 0.05, and `c` has no price. They have room for 4, 10 and 10 replicas.
fn scenario() -> Scenario {
    let clusters = [("a", 10), ("b", 4), ("c", 10)].map(|(name, room)| ClusterBuilder::new(name).fits_now(room));
    priced(clusters, &[("a", 50_000), ("b", 20_000)])
}

#[test]
fn named_cases() {
    for (name, configuration, preferences, replicas, expected) in [
        ("the cheapest alone", json!({}), json!({}), 3, [0, 3, 0]),
        ("then the next", json!({}), json!({}), 9, [5, 4, 0]),
        ("those without a price last", json!({}), json!({}), 16, [10, 4, 2]),
        ("a limit", json!({}), json!({ "maximumPrice": 0.02 }), 4, [0, 4, 0]),
        ("one cluster", json!({}), json!({ "mostClusters": 1 }), 4, [0, 4, 0]),
        ("two clusters", json!({}), json!({ "mostClusters": 2 }), 9, [5, 4, 0]),
        (
            "more than there are",
            json!({}),
            json!({ "mostClusters": 9 }),
            16,
            [10, 4, 2],
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
    let scenario = scenario.preferences(&json!({ "mostClusters": 1 }));
    assert_eq!(scenario.assign(&plugin(&json!({}))), Err(Failure::too_small(15, 4)));
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
    let nowhere = scenario().preferences(&json!({ "mostClusters": 0 }));
    assert_eq!(
        nowhere.assign(&plugin(&json!({}))),
        Err(Failure::preferences("mostClusters", "expected at least 1, got 0"))
    );
    let negative = scenario().preferences(&json!({ "maximumPrice": -1 }));
    assert_eq!(
        negative.assign(&plugin(&json!({}))),
        Err(Failure::preferences(
            "maximumPrice",
            "expected a decimal number of at least 0"
        ))
    );
}

#[test]
fn a_negative_price_is_an_error_that_names_the_cluster() {
    let scenario = priced([ClusterBuilder::new("a").fits_now(9)], &[("a", -20_000)]).replicas(1);
    assert_eq!(
        scenario.assign(&plugin(&json!({}))),
        Err(Failure::internal(
            "cluster `a`: the price per CPU hour is -0.0200, expected at least 0"
        ))
    );
}

#[test]
fn memory_and_gpus_count_as_well() {
    let table = TableBuilder::new("prices")
        .decimals("cpu-hour", cost::PRICE_SCALE, &[("a", 10_000), ("b", 20_000)])
        .decimals("gib-hour", cost::PRICE_SCALE, &[("a", 5_000), ("b", 1_000)])
        .decimals("gpu-hour", cost::PRICE_SCALE, &[("a", 900_000), ("b", 950_000)]);
    let clusters = ["a", "b"].map(|name| ClusterBuilder::new(name).fits_now(1));
    let scenario = Scenario::new().clusters(clusters).table(table).replicas(1);
    let result = |requests: &[(&str, i64)], gpu: &str| {
        let plugin = plugin(&json!({ "gpu-resource": gpu }));
        scenario.clone().requests(requests).assign_checked(&plugin).unwrap()
    };
    // 0.01 or 0.02; with 4 GiB 0.03 or 0.024; with a GPU 0.93 or 0.974.
    let requests = [("cpu", 1000), ("memory", 4 << 30), ("amd.com/gpu", 1)];
    assert_eq!(result(&requests[..1], "amd.com/gpu"), [1, 0]);
    assert_eq!(result(&requests, "nvidia.com/gpu"), [0, 1]);
    assert_eq!(result(&requests, "amd.com/gpu"), [1, 0]);
}

#[test]
fn what_runs_stays_until_a_reschedule_is_asked_for() {
    let running = |replicas| {
        let clusters = [("a", 10, 6), ("b", 3, 0), ("c", 10, 2)]
            .map(|(name, room, last)| ClusterBuilder::new(name).fits_now(room).last(last));
        priced(clusters, &[("a", 50_000), ("b", 20_000), ("c", 90_000)]).replicas(replicas)
    };
    let plugin = plugin(&json!({}));
    assert_eq!(running(8).assign_checked(&plugin).unwrap(), [6, 0, 2]);
    assert_eq!(running(12).assign_checked(&plugin).unwrap(), [7, 3, 2]);
    assert_eq!(running(5).assign_checked(&plugin).unwrap(), [5, 0, 0]);
    assert_eq!(running(8).fresh(true).assign_checked(&plugin).unwrap(), [5, 3, 0]);

    let limited = |replicas, most: u32| running(replicas).preferences(&json!({ "mostClusters": most }));
    assert_eq!(limited(12, 2).assign_checked(&plugin).unwrap(), [10, 0, 2]);
    assert_eq!(limited(8, 1).assign_checked(&plugin).unwrap(), [8, 0, 0]);
    assert_eq!(limited(8, 2).fresh(true).assign_checked(&plugin).unwrap(), [5, 3, 0]);
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
    assert!(
        prices.contains(&("us-onprem-dallas", "a replica costs 0.0520 per hour")),
        "{prices:?}"
    );
}

/// The profile gives nothing to clusters without a price, and no cluster of the random cases has one.
#[test]
fn the_library_keeps_its_contracts() {
    Verification::new().profile("profile.toml#by-region").runs(200).passes();
}
