//! The table of bundled plugins: who each must say it is, and a binding whose decision shows that it did its work.

use serde_json::{Value, json};

use crate::manifests::{binding, cluster, counts, priorities, weights};

/// A bundled plugin and a case that runs through it.
pub(super) struct Case {
    /// Its folder, which is its name.
    pub(super) folder: &'static str,
    /// The extension points it serves.
    pub(super) extension_points: &'static [&'static str],
    /// The strategies it serves.
    pub(super) strategies: &'static [&'static str],
    /// What it promises.
    pub(super) promises: &'static [&'static str],
    /// Clusters and one binding.
    pub(super) objects: fn() -> Vec<Value>,
    /// The decision.
    pub(super) told: &'static str,
    /// A line of the account that only this plugin can have caused.
    pub(super) account: &'static str,
}

const RESPECTS_CAPACITY: &str = "respects capacity";
const DUPLICATES: &str = "duplicates";
const ORDER_INDEPENDENT: &str = "order-independent";
const INERT: &str = "inert";

pub(super) const CASES: &[Case] = &[
    Case {
        folder: "api-enablement",
        extension_points: &["Filter"],
        strategies: &[],
        promises: &[],
        objects: || {
            vec![
                cluster("a", 9).into(),
                cluster("b", 9).without_apis().into(),
                binding("web", 2).strategy("Duplicated").into(),
            ]
        },
        told: "a=2",
        account: "b: rejected by api-enablement: cluster(s) did not have the API resource",
    },
    Case {
        folder: "taint-toleration",
        extension_points: &["Filter"],
        strategies: &[],
        promises: &[],
        objects: || {
            vec![
                cluster("a", 9).taint("maintenance", "NoSchedule").into(),
                cluster("b", 9).into(),
                binding("web", 2).strategy("Duplicated").into(),
            ]
        },
        told: "b=2",
        account: "a: rejected by taint-toleration: cluster(s) had untolerated taint {maintenance:NoSchedule}",
    },
    Case {
        folder: "cluster-affinity",
        extension_points: &["Filter"],
        strategies: &[],
        promises: &[],
        objects: || {
            vec![
                cluster("a", 9).into(),
                cluster("b", 9).into(),
                binding("web", 2).among(&["b"]).strategy("Duplicated").into(),
            ]
        },
        told: "b=2",
        account: "a: rejected by cluster-affinity: cluster(s) did not match the placement cluster affinity constraint",
    },
    Case {
        folder: "spread-constraint-properties",
        extension_points: &["Filter"],
        strategies: &[],
        promises: &[],
        objects: || {
            let spread = json!([{ "spreadByField": "region", "minGroups": 1 }]);
            vec![
                cluster("a", 9).region("north").into(),
                cluster("b", 9).into(),
                binding("web", 2)
                    .placement("spreadConstraints", spread)
                    .strategy("Average")
                    .into(),
            ]
        },
        told: "a=2",
        account: "b: rejected by spread-constraint-properties: cluster(s) did not have region property",
    },
    Case {
        folder: "cluster-eviction",
        extension_points: &["Filter"],
        strategies: &[],
        promises: &[],
        objects: || {
            vec![
                cluster("a", 9).into(),
                cluster("b", 9).into(),
                binding("web", 2)
                    .spec("gracefulEvictionTasks", json!([{ "fromCluster": "a" }]))
                    .strategy("Duplicated")
                    .into(),
            ]
        },
        told: "b=2",
        account: "a: rejected by cluster-eviction: cluster(s) is in the process of eviction",
    },
    Case {
        folder: "cluster-locality",
        extension_points: &["Score"],
        strategies: &[],
        promises: &[],
        // Of clusters with equal last replicas the score decides who gets the odd replica.
        objects: || {
            vec![
                cluster("a", 9).into(),
                cluster("b", 9).into(),
                cluster("c", 9).into(),
                binding("web", 4).last([("c", 0)]).strategy("Average").into(),
            ]
        },
        told: "a=1 b=1 c=2",
        account: "c: cluster-locality scores 100",
    },
    Case {
        folder: "spread-constraints",
        extension_points: &["Select"],
        strategies: &[],
        promises: &[],
        objects: || {
            let spread = json!([{ "spreadByField": "cluster", "minGroups": 1, "maxGroups": 2 }]);
            vec![
                cluster("a", 4).into(),
                cluster("b", 8).into(),
                cluster("c", 9).into(),
                binding("web", 4)
                    .placement("spreadConstraints", spread)
                    .strategy("Average")
                    .into(),
            ]
        },
        told: "b=2 c=2",
        account: "candidates: b c",
    },
    Case {
        folder: "duplicated",
        extension_points: &["Assign"],
        strategies: &["Duplicated"],
        promises: &[DUPLICATES, ORDER_INDEPENDENT, INERT],
        objects: || {
            vec![
                cluster("a", 1).into(),
                cluster("b", 0).into(),
                binding("web", 5).strategy("Duplicated").into(),
            ]
        },
        told: "a=5 b=5",
        account: "strategy: Duplicated",
    },
    Case {
        folder: "static-weight",
        extension_points: &["Assign"],
        strategies: &["StaticWeight"],
        promises: &[ORDER_INDEPENDENT, INERT],
        objects: || {
            vec![
                cluster("a", 1).into(),
                cluster("b", 1).into(),
                binding("web", 9)
                    .strategy("StaticWeight")
                    .preferences(&weights([("a", 2), ("b", 1)]))
                    .into(),
            ]
        },
        told: "a=6 b=3",
        account: "strategy: StaticWeight",
    },
    Case {
        folder: "dynamic-weight",
        extension_points: &["Assign"],
        strategies: &["DynamicWeight"],
        promises: &[RESPECTS_CAPACITY, ORDER_INDEPENDENT, INERT],
        objects: || {
            vec![
                cluster("a", 8).into(),
                cluster("b", 4).into(),
                binding("web", 6).strategy("DynamicWeight").into(),
            ]
        },
        told: "a=4 b=2",
        account: "strategy: DynamicWeight",
    },
    Case {
        folder: "aggregated",
        extension_points: &["Assign"],
        strategies: &["Aggregated"],
        promises: &[RESPECTS_CAPACITY, INERT],
        objects: || {
            vec![
                cluster("a", 4).into(),
                cluster("b", 8).into(),
                binding("web", 6).strategy("Aggregated").into(),
            ]
        },
        told: "b=6",
        account: "strategy: Aggregated",
    },
    Case {
        folder: "average",
        extension_points: &["Assign"],
        strategies: &["Average"],
        promises: &[RESPECTS_CAPACITY, ORDER_INDEPENDENT, INERT],
        objects: || {
            vec![
                cluster("a", 1).into(),
                cluster("b", 9).into(),
                binding("web", 6).strategy("Average").into(),
            ]
        },
        told: "a=1 b=5",
        account: "strategy: Average",
    },
    Case {
        folder: "specified",
        extension_points: &["Assign"],
        strategies: &["Specified"],
        promises: &[ORDER_INDEPENDENT, INERT],
        objects: || {
            vec![
                cluster("a", 0).into(),
                cluster("b", 0).into(),
                binding("web", 6)
                    .strategy("Specified")
                    .preferences(&counts([("a", 5), ("b", 1)]))
                    .into(),
            ]
        },
        told: "a=5 b=1",
        account: "strategy: Specified",
    },
    Case {
        folder: "priority-aggregated",
        extension_points: &["Assign"],
        strategies: &["PriorityAggregated"],
        promises: &[RESPECTS_CAPACITY, ORDER_INDEPENDENT, INERT],
        objects: || {
            vec![
                cluster("a", 9).into(),
                cluster("b", 4).into(),
                binding("web", 6)
                    .strategy("PriorityAggregated")
                    .preferences(&priorities([("b", 2), ("a", 1)]))
                    .into(),
            ]
        },
        told: "a=2 b=4",
        account: "strategy: PriorityAggregated",
    },
];
