//! Trees through the contexts that the host uses. The arithmetic has its tests beside it.

mod contradictions;
mod policies;
mod properties;
mod refusals;

use divvy_framework::prelude::*;
use divvy_framework::testing::{ClusterBuilder, Scenario};
use serde_json::{Value, json};

use crate::Tree;

/// A cluster: name, region, zone, replicas that fit now, and last replicas.
type Row = (&'static str, &'static str, &'static str, i64, i64);

/// Clusters in three regions.
const FLEET: [Row; 7] = [
    ("ap-1", "ap", "x", 40, 0),
    ("ap-2", "ap", "y", 30, 0),
    ("eu-1", "eu", "a", 30, 0),
    ("eu-2", "eu", "a", 30, 0),
    ("eu-3", "eu", "b", 12, 0),
    ("us-1", "us", "c", 10, 0),
    ("us-2", "us", "d", 20, 0),
];

fn scenario(rows: &[Row]) -> Scenario {
    rows.iter()
        .fold(Scenario::new(), |scenario, &(name, region, zone, fits_now, last)| {
            let cluster = ClusterBuilder::new(name).region(region).zone(zone).fits_now(fits_now);
            // A cluster that the last result does not list differs from one that it lists with none.
            scenario.cluster(if last > 0 { cluster.last(last) } else { cluster })
        })
}

/// The division of replicas over clusters.
fn divided(rows: &[Row], replicas: i64, preferences: &Value) -> Result<Vec<i64>, Failure> {
    let scenario = scenario(rows).replicas(replicas).preferences(preferences);
    scenario.assign_checked(&Tree)
}

/// The message of a division that does not succeed.
fn refused(rows: &[Row], replicas: i64, preferences: &Value) -> String {
    let error = divided(rows, replicas, preferences).expect_err("it is refused");
    error.to_string()
}

/// Existing replicas, with the same room in all clusters.
fn with_last(last: [i64; 7]) -> Vec<Row> {
    FLEET
        .iter()
        .zip(last)
        .map(|(row, last)| (row.0, row.1, row.2, row.3 - last, last))
        .collect()
}

#[test]
fn the_example_of_the_readme() {
    let preferences = json!({ "by": "region", "children": [
        { "match": "eu", "weight": 60, "max": "50%", "by": "zone", "divide": "evenly" },
        { "match": "us", "weight": 40, "max": 200, "divide": "byRoom" },
        { "match": "*", "divide": "fewest" },
    ] });
    assert_eq!(divided(&FLEET, 100, &preferences), Ok(vec![20, 0, 19, 19, 12, 10, 20]));
    assert_eq!(divided(&FLEET, 0, &preferences), Ok(vec![0; 7]));
    // With the maximum of Europe and the room of America, no other child can take the rest.
    assert_eq!(divided(&FLEET, 120, &preferences), Ok(vec![30, 0, 24, 24, 12, 10, 20]));
}

#[test]
fn named_cases() {
    let by_region = |children: Value| json!({ "by": "region", "children": children });
    for (name, replicas, last, preferences, expected) in [
        ("no preference", 172, [0; 7], json!({}), [40, 30, 30, 30, 12, 10, 20]),
        (
            "exact counts, with a strategy inside",
            30,
            [0; 7],
            by_region(json!([
                { "match": "eu", "count": 20, "divide": "fewest" },
                { "match": "us", "count": 4, "divide": "evenly" },
                { "match": "ap", "count": 6, "cap": 3, "divide": "byRoom" },
            ])),
            [3, 3, 20, 0, 0, 2, 2],
        ),
        (
            "clusters in no child get nothing",
            10,
            [0, 0, 0, 0, 0, 0, 0],
            by_region(json!([{ "match": ["us"], "divide": "evenly" }])),
            [0, 0, 0, 0, 0, 5, 5],
        ),
        (
            "the rest with a weight shares like the others",
            12,
            [0; 7],
            by_region(json!([
                { "match": "eu", "weight": 1, "divide": "evenly" },
                { "match": "*", "weight": 1, "divide": "evenly", "cap": 2 },
            ])),
            [2, 2, 2, 2, 2, 1, 1],
        ),
        (
            "children without weights keep what they have",
            40,
            [8, 0, 0, 0, 2, 0, 0],
            by_region(json!([
                { "match": "ap" },
                { "match": "eu", "weight": 2 },
                { "match": "us", "weight": 2 },
            ])),
            [8, 0, 6, 6, 4, 5, 11],
        ),
        (
            "a minimum takes from those that keep",
            20,
            [10, 10, 0, 0, 0, 0, 0],
            by_region(json!([
                { "match": "ap" },
                { "match": "eu", "min": "25%", "divide": "fewest" },
                { "match": "us", "max": "10%" },
            ])),
            [7, 8, 5, 0, 0, 0, 0],
        ),
        (
            "a floor leaves out clusters",
            7,
            [0; 7],
            json!({ "divide": "evenly", "floor": 3 }),
            [0, 0, 4, 0, 3, 0, 0],
        ),
        (
            "a floor for all",
            16,
            [0; 7],
            json!({ "divide": "byRoom", "always": 2 }),
            [3, 2, 3, 2, 2, 2, 2],
        ),
        (
            "weights of clusters",
            12,
            [0; 7],
            json!({ "divide": "byWeight", "weights": [
                { "match": "eu-3", "weight": 3 },
                { "match": { "fieldSelector": { "matchExpressions": [
                    { "key": "region", "operator": "In", "values": ["us"] },
                ] } }, "weight": 1 },
                { "match": ["us-1", "us-2"], "weight": 2 },
            ] }),
            [0, 0, 0, 0, 5, 4, 3],
        ),
    ] {
        let counts = divided(&with_last(last), replicas, &preferences);
        assert_eq!(counts, Ok(expected.to_vec()), "{name}");
    }
}
