//! Random trees as policies write them, on random fleets.

use divvy_framework::testing::ClusterBuilder;
use proptest::prelude::*;

use super::*;

const REGIONS: [&str; 3] = ["eu", "us", "ap"];
const ZONES: [&str; 2] = ["a", "b"];

/// A fleet that has every region and zone: fits now and last replicas of each cluster.
fn fleet() -> impl Strategy<Value = Vec<(i64, i64)>> {
    prop::collection::vec((0..12_i64, prop_oneof![Just(0_i64), 0..8_i64]), 12..17)
}

fn scenario_of(rows: &[(i64, i64)]) -> Scenario {
    rows.iter()
        .enumerate()
        .fold(Scenario::new(), |scenario, (number, &(fits_now, last))| {
            let (region, zone) = (REGIONS[number % 3], ZONES[number / 6 % 2]);
            let cluster = ClusterBuilder::new(&format!("member{number:02}"))
                .region(region)
                .zone(zone);
            let cluster = cluster
                .label("parity", if number % 2 == 0 { "even" } else { "odd" })
                .fits_now(fits_now);
            scenario.cluster(if last > 0 { cluster.last(last) } else { cluster })
        })
}

/// How a leaf divides.
fn leaf() -> impl Strategy<Value = Value> {
    let weights = json!([
        { "match": { "labelSelector": { "matchLabels": { "parity": "even" } } }, "weight": 3 },
        { "match": { "labelSelector": { "matchLabels": { "parity": "odd" } } }, "weight": 2 },
    ]);
    prop_oneof![
        4 => prop::sample::select(vec!["byRoom", "evenly", "fewest"]).prop_map(|divide| json!({ "divide": divide })),
        1 => Just(json!({ "divide": "byRoom", "floor": 3 })),
        1 => Just(json!({ "divide": "evenly", "floor": 2, "cap": 6 })),
        1 => Just(json!({ "divide": "evenly", "always": 1 })),
        1 => Just(json!({ "divide": "fewest", "floor": 4 })),
        1 => Just(json!({ "divide": "byWeight", "weights": weights })),
        1 => Just(json!({ "by": "zone", "divide": "evenly" })),
        1 => Just(json!({ "by": { "label": "parity" }, "divide": "byRoom" })),
    ]
}

/// How a child takes its share.
fn share() -> impl Strategy<Value = Value> {
    prop_oneof![
        2 => (1..6_u32).prop_map(|weight| json!({ "weight": weight })),
        1 => Just(json!({})),
        1 => (1..5_u32, 0..40_u32).prop_map(|(weight, min)| json!({ "weight": weight, "min": format!("{min}%") })),
        1 => (20..90_u32).prop_map(|max| json!({ "max": format!("{max}%") })),
        1 => (0..6_u32).prop_map(|min| json!({ "min": min, "max": min + 9 })),
        1 => (0..5_u32).prop_map(|count| json!({ "count": count })),
    ]
}

fn with(mut node: Value, fields: &[Value]) -> Value {
    for (key, value) in fields
        .iter()
        .flat_map(|fields| fields.as_object().cloned().unwrap_or_default())
    {
        node[key] = value;
    }
    node
}

/// A child by zone, below one by region.
fn zones() -> impl Strategy<Value = Value> {
    let zone = || (share(), leaf());
    (zone(), zone()).prop_map(|(a, b)| {
        json!({ "by": "zone", "children": [
            with(json!({ "match": "a" }), &[a.0, a.1]),
            with(json!({ "match": "b" }), &[b.0, b.1]),
        ] })
    })
}

fn tree() -> impl Strategy<Value = Value> {
    let content = || prop_oneof![leaf().boxed(), zones().boxed()];
    let region = || (share(), content());
    let rest = (any::<bool>(), share(), leaf());
    let by_region = (region(), region(), rest).prop_map(|(eu, us, (weighs, share, leaf))| {
        let rest = if weighs { share } else { json!({}) };
        json!({ "by": "region", "children": [
            with(json!({ "match": "eu" }), &[eu.0, eu.1]),
            with(json!({ "match": "us" }), &[us.0, us.1]),
            with(json!({ "match": "*" }), &[rest, leaf]),
        ] })
    });
    prop_oneof![4 => by_region.boxed(), 1 => leaf().boxed()]
}

/// The same tree with its children and weights in the reverse order.
fn reversed(node: &Value) -> Value {
    let mut node = node.clone();
    for key in ["children", "weights"] {
        if let Some(entries) = node.get(key).and_then(Value::as_array) {
            node[key] = entries.iter().rev().map(reversed).collect();
        }
    }
    node
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// The sum, capacity, independence of the order of candidates, and inertia.
    #[test]
    fn promises_hold(rows in fleet(), tree in tree(), part in 0..=100_i64, fresh in any::<bool>()) {
        let room: i64 = rows.iter().map(|row| row.0 + row.1).sum();
        let scenario = scenario_of(&rows).preferences(&tree).fresh(fresh).replicas(room * part / 100);
        prop_assert_eq!(scenario.check_promises(&Tree), Ok(()));
    }

    #[test]
    fn the_order_of_children_means_nothing(rows in fleet(), tree in tree(), part in 0..=100_i64) {
        let room: i64 = rows.iter().map(|row| row.0 + row.1).sum();
        let divided = |tree: &Value| {
            let scenario = scenario_of(&rows).preferences(tree).replicas(room * part / 100);
            // A contradiction names the same bounds in the order of the policy.
            scenario.assign(&Tree).map_err(|error| {
                let mut letters: Vec<char> = error.to_string().chars().collect();
                letters.sort_unstable();
                letters
            })
        };
        prop_assert_eq!(divided(&tree), divided(&reversed(&tree)));
    }

    /// Bounds of the first level, and floors and caps of all leaves, hold in every result, and nothing runs without replicas.
    #[test]
    fn bounds_hold(rows in fleet(), tree in tree(), part in 0..=100_i64) {
        let room: i64 = rows.iter().map(|row| row.0 + row.1).sum();
        let replicas = room * part / 100;
        let Ok(counts) = scenario_of(&rows).preferences(&tree).replicas(replicas).assign(&Tree) else {
            return Ok(());
        };
        if replicas == 0 {
            prop_assert!(counts.iter().all(|count| *count == 0), "{counts:?}");
            return Ok(());
        }
        for child in tree["children"].as_array().into_iter().flatten() {
            let Some(region) = REGIONS.iter().position(|region| child["match"] == **region) else {
                continue;
            };
            let members: Vec<i64> = counts.iter().copied().skip(region).step_by(3).collect();
            let sum: i64 = members.iter().sum();
            let amount = |key: &str, rounds_up: i64| match &child[key] {
                Value::String(percent) => {
                    let percent: i64 = percent.trim_end_matches('%').parse().unwrap();
                    Some((replicas * percent + rounds_up) / 100)
                }
                number => number.as_i64(),
            };
            prop_assert!(amount("min", 0).is_none_or(|min| sum >= min), "{child}: {counts:?}");
            prop_assert!(amount("max", 99).is_none_or(|max| sum <= max), "{child}: {counts:?}");
            prop_assert!(amount("count", 0).is_none_or(|count| sum == count), "{child}: {counts:?}");
            let (floor, always, cap) = (&child["floor"], &child["always"], &child["cap"]);
            for count in members {
                prop_assert!(count == 0 || floor.as_i64().is_none_or(|floor| count >= floor), "{child}: {counts:?}");
                prop_assert!(always.as_i64().is_none_or(|always| count >= always), "{child}: {counts:?}");
                prop_assert!(cap.as_i64().is_none_or(|cap| count <= cap), "{child}: {counts:?}");
            }
        }
    }
}
