//! Decisions on a snapshot that was patched change by change equal those on a snapshot that was built at once.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use divvy_karmada::api::Cluster;
use divvy_karmada::detector;
use divvy_scheduler::decision::decide;
use divvy_scheduler::fleet::{Fleet, FleetSnapshot};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::configuration;
use crate::manifests::{Binding, binding, cluster, list, weights};
use crate::scheduling::{Host, read, told};

const NAMES: [&str; 7] = ["kiwi", "apple", "fig", "plum", "date", "lime", "pear"];

/// Clusters with everything that a bundled plugin reads.
fn clusters() -> impl Strategy<Value = Cluster> {
    (
        (0..NAMES.len(), 0..=20_i64, 0..3_usize, 0..8_usize),
        (
            0..3_usize,
            any::<bool>(),
            0..3_usize,
            prop::bool::weighted(0.8),
            0..30_i64,
        ),
    )
        .prop_map(
            |((name, fits_now, region, zones), (tier, spot, taint, serves, cores))| {
                let mut object = Value::from(cluster(NAMES[name], fits_now));
                object["metadata"]["labels"]["tier"] = ["gold", "silver", "bronze"][tier].into();
                if spot {
                    object["metadata"]["labels"][format!("spot-{fits_now}")] = "yes".into();
                }
                object["spec"]["region"] = ["eu", "us", ""][region].into();
                object["spec"]["provider"] = ["aws", "gcp", ""][tier].into();
                let zones = ["z1", "z2", "z3"]
                    .iter()
                    .enumerate()
                    .filter(|(bit, _)| zones >> bit & 1 == 1);
                object["spec"]["zones"] = zones.map(|(_, zone)| *zone).collect();
                if taint < 2 {
                    let effect = ["NoSchedule", "NoExecute"][taint];
                    object["spec"]["taints"] = json!([{ "key": format!("taint-{}", fits_now % 3), "effect": effect }]);
                }
                if !serves {
                    object["status"]["apiEnablements"][0]["groupVersion"] = format!("apps/v{cores}").into();
                }
                if cores > 0 {
                    object["status"]["resourceSummary"]["allocatable"]["cpu"] = cores.to_string().into();
                }
                serde_json::from_value(object).expect("a cluster")
            },
        )
}

/// One binding for each property of a cluster that decisions depend on.
fn bindings() -> Vec<Binding> {
    let of = |name: &str, strategy: &str| binding(name, 11).strategy(strategy);
    let spread = |name: &str, by: Value| of(name, "DynamicWeight").placement("spreadConstraints", by);
    let tolerations = json!([{ "key": "taint-1", "operator": "Exists" }, { "key": "taint-2", "operator": "Exists" }]);
    vec![
        of("plain", "DynamicWeight").last([("fig", 2), ("date", 1)]),
        of("tolerant", "Aggregated").placement("clusterTolerations", tolerations),
        of("by-label", "Average").placement(
            "clusterAffinity",
            json!({ "labelSelector": { "matchLabels": { "tier": "gold" } } }),
        ),
        of("by-zone", "Duplicated").placement(
            "clusterAffinity",
            json!({ "fieldSelector": { "matchExpressions": [{ "key": "zone", "operator": "In", "values": ["z2"] }] } }),
        ),
        of("weighted", "StaticWeight").preferences(&weights([("kiwi", 2), ("apple", 1), ("lime", 4)])),
        spread(
            "regions",
            json!([{ "spreadByField": "region", "minGroups": 1, "maxGroups": 2 }]),
        ),
        spread(
            "zones-and-providers",
            json!([
                { "spreadByField": "zone", "minGroups": 2, "maxGroups": 2 },
                { "spreadByField": "provider", "minGroups": 1, "maxGroups": 1 },
                { "spreadByField": "cluster", "minGroups": 1, "maxGroups": 3 },
            ]),
        ),
        spread(
            "labels",
            json!([{ "spreadByLabel": "tier", "minGroups": 1, "maxGroups": 2 }]),
        ),
    ]
}

fn decisions(fleet: &FleetSnapshot) -> Vec<String> {
    static BINDINGS: LazyLock<Vec<detector::Binding>> = LazyLock::new(|| {
        let objects = bindings().into_iter().map(Value::from);
        read(&list(objects)).0
    });
    let decisions = decide(&mut Host::built_in().scheduler(), &BINDINGS, fleet);
    let in_words = decisions
        .iter()
        .map(|decision| format!("{}: {}", decision.binding, told(decision)));
    in_words.collect()
}

proptest! {
    #![proptest_config(configuration())]

    #[test]
    fn decisions_on_a_patched_snapshot_equal_those_on_a_new_one(
        changes in prop::collection::vec((clusters(), any::<bool>(), prop::bool::weighted(0.05)), 1..60),
    ) {
        let mut fleet = Fleet::new(false);
        let mut known: BTreeMap<String, Cluster> = BTreeMap::new();
        let mut held = None;
        for (cluster, hold, remove) in changes {
            let name = cluster.metadata.name.clone();
            if remove {
                prop_assert_eq!(fleet.remove(&name), known.remove(&name).is_some());
            } else {
                fleet.upsert(&cluster);
                known.insert(name, cluster);
            }
            let patched = fleet.snapshot();
            if hold {
                held = Some(patched);
            }
        }
        let mut fresh = Fleet::new(false);
        fresh.extend(known.values());
        prop_assert_eq!(decisions(&fleet.snapshot()), decisions(&fresh.snapshot()));
        drop(held);
    }
}
