//! Fleets of any size, and one binding for each way of dividing replicas.

use serde_json::{Value, json};

use crate::manifests::{Binding, binding, cluster};

/// Regions, assigned to the clusters in turn.
const REGIONS: [&str; 5] = ["ap-east", "eu-north", "eu-west", "us-east", "us-west"];

/// Values of the label `tier`, assigned to the clusters in turn.
const TIERS: [&str; 3] = ["bronze", "gold", "silver"];

/// Number of clusters in the last results of the bindings that have one.
const LAST_TARGETS: usize = 40;

/// A fleet of `count` clusters.
pub(crate) fn clusters(count: usize) -> impl Iterator<Item = Value> {
    (0..count).map(|number| {
        let fits_now = 20 + (number as i64 * 37) % 200;
        let mut cluster: Value = cluster(&format!("member-{number:05}"), fits_now)
            .region(REGIONS[number % REGIONS.len()])
            .into();
        cluster["metadata"]["labels"] = json!({ "env": "prod", "tier": TIERS[number % TIERS.len()] });
        cluster
    })
}

/// Two bindings per strategy, without and with a last result, and one per further case, named after it. The replicas grow with the
/// fleet, so that every cluster gets some; the policy lists do not grow.
pub(crate) fn bindings<'a>(clusters: usize, strategies: impl Iterator<Item = &'a str>) -> Vec<Binding> {
    let replicas = 3 * clusters as i64;
    let of = |name: &str, strategy: &str| {
        binding(name, replicas)
            .strategy(strategy)
            .placement("clusterAffinity", prod())
    };
    let spread = |name: &str| {
        of(name, "DynamicWeight").placement(
            "spreadConstraints",
            json!([
                { "spreadByField": "region", "minGroups": 2, "maxGroups": 4 },
                { "spreadByField": "cluster", "minGroups": 2, "maxGroups": clusters / 2 },
            ]),
        )
    };
    let last: Vec<String> = (0..LAST_TARGETS)
        .map(|number| format!("member-{:05}", 2 * number))
        .collect();
    let with_last = |binding: Binding| binding.last(last.iter().map(|name| (name.as_str(), 2)));
    let each = strategies.flat_map(|strategy| {
        let name = format!("plain-{}", strategy.to_ascii_lowercase());
        [of(&name, strategy), with_last(of(&format!("{name}-growing"), strategy))]
    });
    let mut bindings: Vec<Binding> = each.collect();
    bindings.extend([
        of("static-weight", "StaticWeight").preferences(&json!({ "staticWeightList": by_tier("weight", [1, 5, 3]) })),
        with_last(of("dynamic-weight-fresh", "DynamicWeight")).fresh(),
        with_last(binding("aggregated-shrinking", 30).strategy("Aggregated")),
        of("specified", "Specified").preferences(&json!({
            "staticSpecifyList": by_tier("replicas", [replicas / 3, replicas / 3, replicas - 2 * (replicas / 3)]),
        })),
        of("region-shares", "RegionShares")
            .preferences(&json!({ "regionShareList": by_tier("maxPercent", [50, 40, 60]) })),
        with_last(of("region-shares-growing", "RegionShares"))
            .preferences(&json!({ "regionShareList": by_tier("maxPercent", [50, 40, 60]) })),
        of("tree", "Tree").preferences(&tree()),
        with_last(of("tree-growing", "Tree")).preferences(&tree()),
        of("priority-aggregated", "PriorityAggregated")
            .preferences(&json!({ "preferredPriorityList": by_tier("priority", [1, 3, 2]) })),
        of("tiers-of-dynamic-weight", "DynamicWeight").preferences(&json!({ "clusterPriority": tiers() })),
        of("tiers-of-static-weight", "StaticWeight").preferences(&json!({
            "clusterPriority": tiers(),
            "staticWeightList": by_tier("weight", [1, 5, 3]),
        })),
        overflow("overflow", replicas),
        spread("spread-by-region-and-cluster"),
        with_last(spread("spread-with-last")),
        of("spread-by-cluster", "Aggregated").placement(
            "spreadConstraints",
            json!([{ "spreadByField": "cluster", "minGroups": 1, "maxGroups": clusters / 3 }]),
        ),
        with_last(of("evicted", "DynamicWeight")).spec(
            "gracefulEvictionTasks",
            json!([{ "fromCluster": "member-00004", "reason": "t", "producer": "t" }]),
        ),
    ]);
    bindings
}

/// A binding with one affinity group that overflows into the clusters of the other tiers.
fn overflow(name: &str, replicas: i64) -> Binding {
    binding(name, replicas).strategy("DynamicWeight").placement(
        "clusterAffinities",
        json!([{
            "affinityName": "first",
            "labelSelector": { "matchLabels": { "tier": "gold" } },
            "overflowAffinities": [
                { "affinityName": "second", "labelSelector": { "matchLabels": { "tier": "silver" } } },
                { "affinityName": "third", "labelSelector": { "matchLabels": { "tier": "bronze" } } },
            ],
        }]),
    )
}

fn prod() -> Value {
    json!({ "labelSelector": { "matchLabels": { "env": "prod" } } })
}

/// Regions by weight and within bounds, and a tier of the others.
fn tree() -> Value {
    json!({ "by": "region", "children": [
        { "match": ["eu-north", "eu-west"], "weight": 60, "max": "50%", "by": { "label": "tier" }, "children": [
            { "match": "gold", "weight": 2, "divide": "evenly", "cap": 400 },
            { "match": "*", "weight": 1, "divide": "byRoom" },
        ] },
        { "match": "us-east", "min": "10%", "divide": "evenly", "floor": 3 },
        { "match": "*", "divide": "fewest" },
    ] })
}

fn tiers() -> Value {
    json!({ "preferredPriorityList": by_tier("priority", [1, 3, 2]) })
}

/// One rule per tier, with its value of `field`.
fn by_tier(field: &str, values: [i64; 3]) -> Value {
    TIERS
        .iter()
        .zip(values)
        .map(|(tier, value)| json!({ "targetCluster": { "labelSelector": { "matchLabels": { "tier": tier } } }, field: value }))
        .collect()
}
