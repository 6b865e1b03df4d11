//! `divvy rebalance`: the fewest moves that place what waits, and what no plan can be below.

use std::fs;

use serde_json::{Value, json};

use super::run;
use crate::diff::schema::{committed, validate};

/// A cluster with this many CPUs and GPUs, of which `used` CPUs are taken.
fn cluster(name: &str, cpu: u32, used: u32, gpu: u32) -> Value {
    json!({
        "apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster", "metadata": {"name": name}, "spec": {"region": "r"},
        "status": {
            "apiEnablements": [
                {"groupVersion": "apps/v1", "resources": [{"kind": "Deployment", "name": "deployments"}]},
                {"groupVersion": "batch/v1", "resources": [{"kind": "Job", "name": "jobs"}]},
            ],
            "conditions": [{"type": "Ready", "status": "True"}, {"type": "CompleteAPIEnablements", "status": "True"}],
            "resourceSummary": {
                "allocatable": {"cpu": cpu.to_string(), "pods": "1000", "example.com/gpu": gpu.to_string()},
                "allocated": {"cpu": used.to_string(), "pods": used.to_string()},
            },
        },
    })
}

/// How a binding is divided.
fn divided(preference: &str) -> Value {
    json!({"replicaScheduling": {"replicaSchedulingType": "Divided", "replicaDivisionPreference": preference}})
}

fn weighted(weights: &[(&str, u32)]) -> Value {
    let weights = weights
        .iter()
        .map(|(name, weight)| json!({"targetCluster": {"clusterNames": [name]}, "weight": weight}));
    json!({"replicaScheduling": {
        "replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted",
        "weightPreference": {"staticWeightList": weights.collect::<Vec<_>>()},
    }})
}

/// The same placement in these clusters alone.
fn within(mut placement: Value, clusters: &[&str]) -> Value {
    placement["clusterAffinity"] = json!({"clusterNames": clusters});
    placement
}

/// A binding whose replicas take a CPU each, with its result.
fn binding(kind: &str, name: &str, replicas: i64, placement: &Value, clusters: &[(&str, i64)]) -> Value {
    let group = if kind == "Job" { "batch/v1" } else { "apps/v1" };
    let clusters = clusters
        .iter()
        .map(|(name, replicas)| json!({"name": name, "replicas": replicas}));
    let mut binding = json!({
        "apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding",
        "metadata": {"namespace": "shop", "name": name, "uid": name, "annotations": {}},
        "spec": {
            "resource": {"apiVersion": group, "kind": kind, "namespace": "shop", "name": name},
            "replicas": replicas, "clusters": clusters.collect::<Vec<_>>(), "placement": placement,
            "replicaRequirements": {"resourceRequest": {"cpu": "1"}},
        },
    });
    if binding["spec"]["clusters"] != json!([]) {
        binding["metadata"]["annotations"]["policy.karmada.io/applied-placement"] = json!(placement.to_string());
    }
    binding
}

/// The plan as a document of its schema.
#[track_caller]
fn plan(objects: &[Value], arguments: &[&str], exit: i32) -> Value {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("dump.json");
    let list = json!({"apiVersion": "v1", "kind": "List", "items": objects});
    fs::write(&file, list.to_string()).expect("the file can be written");
    let path = file.display().to_string();
    let (code, stdout, stderr) = run(&[&["rebalance", "-f", &path, "-o", "json"], arguments].concat());
    let document: Value = serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout} {stderr}"));
    let schema = committed("rebalance.json");
    validate(&schema, &schema, &document, "rebalance").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(code, Some(exit), "{document:#} {stderr}");
    document
}

/// Replicas that a binding has more or fewer of, by cluster.
fn changes<'a>(document: &'a Value, list: &str, name: &str) -> Vec<(&'a str, i64)> {
    let rows = document[list].as_array().expect("it is a list");
    let row = rows.iter().find(|row| row["binding"] == format!("shop/{name}"));
    let clusters = row.and_then(|row| row["clusters"].as_array()).into_iter().flatten();
    let count = |value: &Value| value.as_i64().expect("it is a number");
    clusters
        .map(|cluster| {
            (
                cluster["name"].as_str().expect("it is a name"),
                count(&cluster["after"]) - count(&cluster["before"]),
            )
        })
        .collect()
}

/// `web` runs in `a`, where only `late` may run, which waits; `b` is empty.
fn crowded(kind: &str, placement: &Value) -> Vec<Value> {
    vec![
        cluster("a", 10, 8, 0),
        cluster("b", 10, 0, 0),
        binding(kind, "web", 8, placement, &[("a", 8)]),
        binding("Deployment", "late", 6, &within(divided("Aggregated"), &["a"]), &[]),
    ]
}

#[test]
fn what_waits_is_placed_by_the_fewest_moves() {
    for preference in ["Aggregated", "Weighted"] {
        let mut placement = divided(preference);
        if preference == "Weighted" {
            placement["replicaScheduling"]["weightPreference"] = json!({"dynamicWeight": "AvailableReplicas"});
        }
        let document = plan(&crowded("Deployment", &placement), &[], 0);
        assert_eq!(changes(&document, "waiting", "late"), [("a", 6)]);
        assert_eq!(changes(&document, "moves", "web"), [("a", -4), ("b", 4)]);
        assert_eq!(document["totals"]["moved"], 4);
        assert_eq!(document["bound"], json!({"waiting": 0, "moves": 4}));
    }
}

#[test]
fn a_chain_of_two_moves_is_found() {
    // Only `middle` can leave `a`, and only for `b`, which `outer` has to leave for `c`.
    let placed = |clusters: &[&str]| within(divided("Aggregated"), clusters);
    let document = plan(
        &[
            cluster("a", 4, 4, 0),
            cluster("b", 4, 4, 0),
            cluster("c", 4, 0, 0),
            binding("Deployment", "middle", 4, &placed(&["a", "b"]), &[("a", 4)]),
            binding("Deployment", "outer", 4, &placed(&["b", "c"]), &[("b", 4)]),
            binding("Deployment", "late", 3, &placed(&["a"]), &[]),
        ],
        &[],
        0,
    );
    assert_eq!(changes(&document, "waiting", "late"), [("a", 3)]);
    assert_eq!(changes(&document, "moves", "middle"), [("a", -3), ("b", 3)]);
    assert_eq!(changes(&document, "moves", "outer"), [("b", -3), ("c", 3)]);
    assert_eq!(document["bound"]["moves"], 6);
}

#[test]
fn what_must_stay_stays_and_says_why() {
    let unmoved = [
        (
            "Deployment",
            weighted(&[("a", 1)]),
            "its strategy does not divide by room",
        ),
        (
            "Job",
            divided("Aggregated"),
            "it runs to an end, and would begin anew elsewhere",
        ),
    ];
    for (kind, placement, reason) in unmoved {
        let document = plan(&crowded(kind, &placement), &[], 1);
        assert_eq!(document["moves"], json!([]), "{kind}");
        assert_eq!(document["stays"], json!([{"reason": reason, "bindings": 1}]));
        // What stays is part of the fleet: nothing can place `late`, and the bound knows it.
        assert_eq!(document["bound"]["waiting"], 1);
        assert_eq!(document["bound"]["alone"][0]["binding"], "shop/late");
        assert_eq!(document["bound"]["alone"][0]["resource"], "cpu");
    }
}

#[test]
fn a_limit_of_clusters_is_kept() {
    let mut placement = divided("Aggregated");
    placement["spreadConstraints"] = json!([{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}]);
    // A part of `web` would be in a second cluster, so all of it moves. The bound does not know the limit.
    let document = plan(&crowded("Deployment", &placement), &[], 0);
    assert_eq!(changes(&document, "moves", "web"), [("a", -8), ("b", 8)]);
    assert_eq!(document["bound"], json!({"waiting": 0, "moves": 4}));
}

#[test]
fn a_part_that_its_own_plugins_refuse_is_not_planned() {
    let mut placement = divided("Aggregated");
    placement["spreadConstraints"] = json!([
        {"spreadByField": "region", "minGroups": 1, "maxGroups": 1}, {"spreadByField": "cluster", "minGroups": 1, "maxGroups": 9},
    ]);
    let mut fleet = crowded("Deployment", &placement);
    // Moving a part of `web` would spread it over two regions.
    fleet[1]["spec"]["region"] = json!("another");
    let document = plan(&fleet, &[], 1);
    assert_eq!(document["moves"], json!([]));
    assert_eq!(
        document["stays"][0]["reason"],
        "its own plugins decide otherwise than the plan"
    );
    assert_eq!(document["waiting"][0]["placed"], false);
}

#[test]
fn a_workload_has_all_its_replicas_or_stays() {
    // Room for two of four: they do not all fit, so that nothing moves for the part that would.
    let document = plan(
        &[
            cluster("a", 4, 4, 0),
            cluster("b", 2, 0, 0),
            binding("Deployment", "web", 4, &divided("Aggregated"), &[("a", 4)]),
            binding("Deployment", "late", 4, &within(divided("Aggregated"), &["a"]), &[]),
        ],
        &[],
        1,
    );
    assert_eq!(document["moves"], json!([]));
    assert_eq!(
        document["totals"],
        json!({"waiting": 1, "placed": 0, "missing": 4, "moved": 0, "movedBindings": 0, "leftOut": 0})
    );
    assert_eq!(document["bound"], json!({"waiting": 1, "moves": 0}));
}

#[test]
fn a_resource_that_no_cluster_has_is_named() {
    let mut late = binding("Deployment", "late", 2, &divided("Aggregated"), &[]);
    late["spec"]["replicaRequirements"] = json!({"resourceRequest": {"cpu": "1", "example.com/gpu": "2"}});
    let document = plan(&[cluster("a", 10, 0, 1), cluster("b", 10, 0, 2), late], &[], 1);
    let alone = json!([
        {"binding": "shop/late", "kind": "ResourceBinding", "fits": 1, "replicas": 2, "resource": "example.com/gpu"},
    ]);
    assert_eq!(document["bound"]["alone"], alone);
    assert_eq!(
        document["waiting"][0]["reason"],
        "there is no room for all of it in any plan"
    );
    assert_eq!(document["bound"]["waiting"], 1);
}

#[test]
fn the_higher_priority_is_placed_if_both_cannot_be() {
    let with_priority = |name: &str, priority: i32| {
        let mut binding = binding("Deployment", name, 6, &within(divided("Aggregated"), &["a"]), &[]);
        binding["spec"]["schedulePriority"] = json!({"priority": priority});
        binding
    };
    let web = binding("Deployment", "web", 8, &divided("Aggregated"), &[("a", 8)]);
    let fleet = [cluster("a", 10, 8, 0), cluster("b", 10, 0, 0)];
    let document = plan(
        &[&fleet[..], &[web, with_priority("low", 1), with_priority("urgent", 5)]].concat(),
        &[],
        1,
    );
    assert_eq!(changes(&document, "waiting", "urgent"), [("a", 6)]);
    assert_eq!(changes(&document, "waiting", "low"), []);
    assert_eq!(document["bound"]["waiting"], 1);
}

#[test]
fn nothing_is_planned_where_nothing_waits() {
    let web = binding("Deployment", "web", 8, &divided("Aggregated"), &[("a", 8)]);
    let document = plan(&[cluster("a", 10, 8, 0), cluster("b", 10, 0, 0), web], &[], 0);
    let nothing = json!({"waiting": 0, "placed": 0, "missing": 0, "moved": 0, "movedBindings": 0, "leftOut": 0});
    assert_eq!(document["totals"], nothing);
    assert_eq!((&document["moves"], &document["waiting"]), (&json!([]), &json!([])));
}

#[test]
fn a_drain_is_planned_with_the_moves_that_it_takes() {
    // Nothing of `other` fits beside `web` in `a`, unless a part of `web` goes to `b`.
    let document = plan(
        &[
            cluster("a", 10, 8, 0),
            cluster("b", 10, 0, 0),
            cluster("c", 10, 6, 0),
            binding(
                "Deployment",
                "web",
                8,
                &within(divided("Aggregated"), &["a", "b"]),
                &[("a", 8)],
            ),
            binding(
                "Deployment",
                "other",
                6,
                &within(divided("Aggregated"), &["a", "c"]),
                &[("c", 6)],
            ),
        ],
        &["--drain", "c"],
        0,
    );
    assert_eq!(changes(&document, "waiting", "other"), [("a", 6)]);
    assert_eq!(changes(&document, "moves", "web"), [("a", -4), ("b", 4)]);
}

#[test]
fn the_plan_does_not_depend_on_the_order_of_the_input() {
    let mut objects = crowded("Deployment", &divided("Aggregated"));
    let one = plan(&objects, &[], 0);
    objects.reverse();
    assert_eq!(plan(&objects, &[], 0), one);
}
