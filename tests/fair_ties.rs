//! Ties are fair: over 10,000 bindings every subset of the tied clusters is served equally often, by a chi-square
//! test.
//!
//! The bindings differ by their UID alone. UIDs are the same in every run, so a test that passes once always passes.

use serde_json::{Value, json};

use crate::manifests::{binding, cluster};
use crate::scheduling::Host;

const CLUSTERS: [&str; 5] = ["east", "north", "south", "west", "yonder"];

const BINDINGS: u32 = 10_000;

/// A strategy over equal clusters, and the number of ways to distribute the remainder of the division.
struct Draw {
    strategy: &'static str,
    preferences: Value,
    fits_now: i64,
    replicas: i64,
    ways: usize,
}

/// The value that chi-square exceeds by chance with a probability of 1 in 1,000.
fn critical_value(ways: usize) -> f64 {
    match ways {
        4 => 16.27,
        5 => 18.47,
        10 => 27.88,
        _ => panic!("no critical value for {ways} ways"),
    }
}

#[track_caller]
fn check(draw: &Draw) {
    let Draw {
        strategy,
        preferences,
        fits_now,
        replicas,
        ways,
    } = draw;
    let mut objects: Vec<Value> = CLUSTERS.map(|name| cluster(name, *fits_now).into()).to_vec();
    objects.push(
        binding("web", *replicas)
            .strategy(strategy)
            .preferences(preferences)
            .into(),
    );
    let results = Host::built_in().results_by_uid(objects, &CLUSTERS, BINDINGS);
    assert_eq!(results.len(), *ways, "{strategy} {replicas}: {results:?}");
    let expected = f64::from(BINDINGS) / *ways as f64;
    let statistic: f64 = results
        .values()
        .map(|&count| (f64::from(count) - expected).powi(2) / expected)
        .sum();
    assert!(
        statistic < critical_value(*ways),
        "{strategy} {replicas}: chi-square {statistic:.1}, {results:?}"
    );
}

fn draw(strategy: &'static str, preferences: Value, fits_now: i64, replicas: i64, ways: usize) -> Draw {
    Draw {
        strategy,
        preferences,
        fits_now,
        replicas,
        ways,
    }
}

#[test]
fn static_weight_gives_remainders_of_one_and_of_two_fairly() {
    check(&draw("StaticWeight", json!({}), 9, 6, 5));
    check(&draw("StaticWeight", json!({}), 9, 7, 10));
}

#[test]
fn dynamic_weight_gives_remainders_of_one_and_of_two_fairly() {
    check(&draw("DynamicWeight", json!({}), 9, 6, 5));
    check(&draw("DynamicWeight", json!({}), 9, 7, 10));
}

#[test]
fn average_gives_remainders_of_one_and_of_two_fairly() {
    check(&draw("Average", json!({}), 9, 6, 5));
    check(&draw("Average", json!({}), 9, 7, 10));
}

#[test]
fn specified_gives_remainders_of_one_and_of_two_fairly() {
    for (replicas, ways) in [(6, 5), (7, 10)] {
        let group = json!({ "staticSpecifyList": [
            { "targetCluster": { "clusterNames": CLUSTERS }, "replicas": replicas },
        ] });
        check(&draw("Specified", group, 0, replicas, ways));
    }
}

/// With room for 3 each, 11 replicas need four clusters, and 13 need all five; both leave a remainder of 3. The four
/// clusters are the first by name, because no policy lists them in another order.
#[test]
fn aggregated_and_its_tiers_give_remainders_within_the_prefix_fairly() {
    for strategy in ["Aggregated", "PriorityAggregated"] {
        check(&draw(strategy, json!({}), 3, 11, 4));
        check(&draw(strategy, json!({}), 3, 13, 10));
    }
}
