//! Placements of policies.

use divvy_world::random::Random;
use serde_json::{Value, json};

/// Label by which placements choose clusters.
pub(crate) const LABEL: &str = "tier";

/// A placement. With `is_closed`, its strategy respects capacity.
pub(super) fn placement(random: &mut Random, clusters: usize, is_closed: bool) -> Value {
    let mut placement = json!({"replicaScheduling": strategy(random, clusters, is_closed)});
    match random.below(10) {
        0..5 => {}
        5 => placement["clusterAffinity"] = json!({"labelSelector": {"matchLabels": {LABEL: tier(random)}}}),
        6..8 => placement["clusterAffinity"] = json!({"clusterNames": names(random, clusters)}),
        _ => {
            let groups = random.between(2, 3);
            let group = |number: u64| match random.chance(15) {
                // A group that matches nothing.
                true => json!({"affinityName": format!("g{number}"), "clusterNames": ["nowhere"]}),
                false => json!({"affinityName": format!("g{number}"), "clusterNames": names(random, clusters)}),
            };
            placement["clusterAffinities"] = (0..groups).map(group).collect();
        }
    }
    if random.chance(20) {
        let (low, more) = (random.between(1, 2), random.between(0, 3));
        placement["spreadConstraints"] =
            json!([{"spreadByField": "cluster", "minGroups": low, "maxGroups": low + more}]);
        if random.chance(30) {
            placement["spreadConstraints"] = json!([
                {"spreadByField": "region", "minGroups": 1, "maxGroups": 2},
                {"spreadByField": "cluster", "minGroups": 1, "maxGroups": 4},
            ]);
        }
    }
    if random.chance(20) {
        placement["clusterTolerations"] = json!([{"key": "maintenance", "operator": "Exists"}]);
    }
    placement
}

/// A placement that divides replicas over these clusters.
pub(super) fn within(clusters: &[usize]) -> Value {
    let names: Vec<String> = clusters.iter().map(|number| format!("c{number}")).collect();
    json!({
        "clusterAffinity": {"clusterNames": names},
        "replicaScheduling": {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"},
    })
}

fn strategy(random: &mut Random, clusters: usize, is_closed: bool) -> Value {
    let divided = |preference: &str| {
        json!({
            "replicaSchedulingType": "Divided",
            "replicaDivisionPreference": preference,
        })
    };
    match random.below(if is_closed { 6 } else { 10 }) {
        0..4 => divided("Aggregated"),
        4..6 => {
            let mut strategy = divided("Weighted");
            strategy["weightPreference"] = json!({"dynamicWeight": "AvailableReplicas"});
            strategy
        }
        6..8 => {
            let mut strategy = divided("Weighted");
            let weight =
                |name: String| json!({"targetCluster": {"clusterNames": [name]}, "weight": random.between(1, 4)});
            let weights: Vec<Value> = (0..clusters).map(|number| format!("c{number}")).map(weight).collect();
            strategy["weightPreference"] = json!({"staticWeightList": weights});
            strategy
        }
        _ => json!({"replicaSchedulingType": "Duplicated"}),
    }
}

fn names(random: &mut Random, clusters: usize) -> Vec<String> {
    let first = random.index(clusters);
    let count = 1 + random.index(clusters.min(4));
    (0..count)
        .map(|offset| format!("c{}", (first + offset) % clusters))
        .collect()
}

/// A value of the label.
pub(super) fn tier(random: &mut Random) -> &'static str {
    random.pick(&["gold", "silver"])
}
