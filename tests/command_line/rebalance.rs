//! `divvy rebalance`: the fewest moves that place what waits, and what no plan can be below.

use std::fs;

use serde_json::{Value, json};

use super::run;
use crate::diff::schema::{committed, validate};

/// A cluster with this many CPUs and GPUs, of which `used` CPUs are taken.
pub(super) fn cluster(name: &str, cpu: u32, used: u32, gpu: u32) -> Value {
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
pub(super) fn divided(preference: &str) -> Value {
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
pub(super) fn within(mut placement: Value, clusters: &[&str]) -> Value {
    placement["clusterAffinity"] = json!({"clusterNames": clusters});
    placement
}

/// A binding whose replicas take a CPU each, with its result.
pub(super) fn binding(kind: &str, name: &str, replicas: i64, placement: &Value, clusters: &[(&str, i64)]) -> Value {
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

/// What a command answers about these objects.
pub(super) fn run_on(objects: &[Value], command: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("dump.json");
    let list = json!({"apiVersion": "v1", "kind": "List", "items": objects});
    fs::write(&file, list.to_string()).expect("the file can be written");
    run(&[&[command, "-f", &file.display().to_string()], arguments].concat())
}

/// The plan as a document of its schema.
#[track_caller]
fn plan(objects: &[Value], arguments: &[&str], exit: i32) -> Value {
    let (code, stdout, stderr) = run_on(objects, "rebalance", &[&["-o", "json"], arguments].concat());
    let document: Value = serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout} {stderr}"));
    let schema = committed("rebalance.json");
    validate(&schema, &schema, &document, "rebalance").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(code, Some(exit), "{document:#} {stderr}");
    document
}

/// Replicas that a binding has more or fewer of, by cluster.
pub(super) fn changes<'a>(document: &'a Value, list: &str, name: &str) -> Vec<(&'a str, i64)> {
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
pub(super) fn crowded(kind: &str, placement: &Value) -> Vec<Value> {
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

/// The same binding with a priority.
pub(super) fn with_priority(mut binding: Value, priority: i32) -> Value {
    binding["spec"]["schedulePriority"] = json!({"priority": priority});
    binding
}

/// `web` fills `a` and may go to `b`; what waits may only run in `a`: one replica with priority 1, three, and four with priority 5.
fn limited() -> Vec<Value> {
    let waiting = |name: &str, replicas: i64, priority: i32| {
        let placement = within(divided("Aggregated"), &["a"]);
        with_priority(binding("Deployment", name, replicas, &placement, &[]), priority)
    };
    vec![
        cluster("a", 10, 10, 0),
        cluster("b", 20, 0, 0),
        binding("Deployment", "web", 10, &divided("Aggregated"), &[("a", 10)]),
        waiting("small", 1, 1),
        waiting("middle", 3, 1),
        waiting("urgent", 4, 5),
    ]
}

#[test]
fn a_limit_of_moves_places_the_highest_priority_first() {
    // A replica that is placed takes the room of one that moves.
    let cases: [(&str, &[&str], i64); 7] = [
        ("0", &[], 0),
        ("1", &["small"], 1),
        // Three would place `middle` as well as `small`, which needs fewer.
        ("3", &["small"], 1),
        ("4", &["urgent"], 4),
        ("5", &["small", "urgent"], 5),
        ("7", &["small", "urgent"], 5),
        ("8", &["middle", "small", "urgent"], 8),
    ];
    for (most, placed, moved) in cases {
        let exit = i32::from(placed.len() < 3);
        let document = plan(&limited(), &["--at-most", most], exit);
        let rows = document["waiting"].as_array().expect("it is a list");
        let names = rows.iter().filter(|row| row["placed"] == true);
        let names: Vec<&str> = names.filter_map(|row| row["binding"].as_str()).collect();
        let expected: Vec<String> = placed.iter().map(|name| format!("shop/{name}")).collect();
        assert_eq!(names, expected, "{most} moves");
        assert_eq!(document["totals"]["moved"], moved, "{most} moves");
        assert_eq!(document["bound"]["moves"], moved, "{most} moves");
        for row in rows.iter().filter(|row| row["placed"] == false) {
            assert_eq!(
                row["reason"], "the moves that are allowed do not place it",
                "{most} moves"
            );
        }
    }
}

#[test]
fn a_curve_has_what_each_number_of_moves_gains() {
    let document = plan(&limited(), &["--curve"], 0);
    let row = |moves: i64, placed: i64, replicas: i64| json!({"moves": moves, "placed": placed, "replicas": replicas});
    assert_eq!(
        document["curve"],
        json!([row(0, 0, 0), row(1, 1, 1), row(4, 1, 4), row(5, 2, 5), row(8, 3, 8)])
    );
    // As a table, and as a picture on a page.
    let (_, table, _) = run_on(&limited(), "rebalance", &["--curve"]);
    let header = table.lines().position(|line| line == "MOVES  PLACED  REPLICAS");
    let header = header.unwrap_or_else(|| panic!("{table}"));
    assert_eq!(
        table.lines().nth(header + 3),
        Some("    4       1         4"),
        "{table}"
    );
    let (exit, page, stderr) = run_on(&limited(), "rebalance", &["--curve", "-o", "html"]);
    assert_eq!((exit, stderr.as_str()), (Some(0), ""));
    assert!(page.contains("ll 3 bindings that wait are placed by 8 moves"), "{page}");
}

#[test]
fn a_curve_of_a_fleet_in_which_nothing_waits_is_a_point() {
    let web = binding("Deployment", "web", 8, &divided("Aggregated"), &[("a", 8)]);
    let document = plan(&[cluster("a", 10, 8, 0), web], &["--curve"], 0);
    assert_eq!(document["curve"], json!([{"moves": 0, "placed": 0, "replicas": 0}]));
}

#[test]
fn the_bound_is_said_by_priority() {
    // Four fit, and the first of the higher priority has that room: it keeps it.
    let waiting = |name: &str, priority: i32| {
        let placement = within(divided("Aggregated"), &["a"]);
        with_priority(binding("Deployment", name, 4, &placement, &[]), priority)
    };
    let fleet = [
        cluster("a", 4, 0, 0),
        waiting("first", 5),
        waiting("second", 5),
        waiting("third", 1),
    ];
    let document = plan(&fleet, &[], 1);
    assert_eq!(
        document["bound"]["byPriority"],
        json!([{"priority": 5, "waiting": 1, "mustWait": 1}, {"priority": 1, "waiting": 2, "mustWait": 2}])
    );
    let (_, table, _) = run_on(&fleet, "rebalance", &[]);
    let said = "at least 2 of them wait in any plan; at least 1 of 1 with priority 5 or above";
    assert!(table.replace('\n', " ").contains(said), "{table}");
    // With one priority, the bound of all says everything.
    assert_eq!(
        plan(&crowded("Deployment", &divided("Aggregated")), &[], 0)["bound"]["byPriority"],
        Value::Null
    );
}

/// Answers `divvy rebalance` with prices of a CPU for an hour by cluster.
#[track_caller]
fn priced(objects: &[Value], prices: &[(&str, &str)], arguments: &[&str]) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let rows: Vec<String> = prices.iter().map(|(name, price)| format!("{name},{price}\n")).collect();
    fs::write(
        folder.path().join("prices.csv"),
        format!("cluster,cpu-hour\n{}", rows.concat()),
    )
    .expect("the table can be written");
    let profile = folder.path().join("profile.toml");
    let text = "[[profile]]\nname = 'priced'\nextends = 'default'\n[profile.table.prices]\nfile = 'prices.csv'\n\
                [profile.table.prices.columns]\ncpu-hour = { type = 'decimal', scale = 6 }\n\
                [profile.cost]\ntable = 'prices'\nunit = 'EUR'\ncpu-hour = 'cpu-hour'\n";
    fs::write(&profile, text).expect("the profile can be written");
    let profile = profile.display().to_string();
    run_on(objects, "rebalance", &[&["--profile", &profile], arguments].concat())
}

/// `web` saves 0.05 with each replica that goes from `a` to `b`, and `old` saves 0.01 from `a` to `c`.
fn dear() -> Vec<Value> {
    let placed = |clusters: &[&str]| within(divided("Aggregated"), clusters);
    vec![
        cluster("a", 20, 20, 0),
        cluster("b", 10, 0, 0),
        cluster("c", 10, 0, 0),
        binding("Deployment", "web", 10, &placed(&["a", "b"]), &[("a", 10)]),
        binding("Deployment", "old", 10, &placed(&["a", "c"]), &[("a", 10)]),
    ]
}

const PRICES: [(&str, &str); 3] = [("a", "0.1"), ("b", "0.05"), ("c", "0.09")];

#[test]
fn a_share_of_the_least_cost_takes_the_fewest_moves() {
    // All 20 cost 2.00 in `a`. The least is 0.50 in `b` and 0.90 in `c`, with 20 moves.
    let cases = [
        ("0%", 20, "1.400000"),
        // 0.46 less are enough: 10 of `web` save 0.50, and no 9 replicas save more than 0.45.
        ("10%", 10, "1.500000"),
        // 0.25 less are enough for 1.75, which 5 of `web` save.
        ("25.5%", 5, "1.750000"),
        ("50%", 0, "2.000000"),
    ];
    for (share, moved, cost) in cases {
        let (exit, stdout, stderr) = priced(&dear(), &PRICES, &["--within", share, "-o", "json"]);
        assert_eq!((exit, stderr.as_str()), (Some(0), ""), "{share}: {stdout}");
        let document: Value = serde_json::from_str(&stdout).expect("it is JSON");
        let schema = committed("rebalance.json");
        validate(&schema, &schema, &document, "rebalance").unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(document["totals"]["moved"], moved, "{share}");
        let costs = &document["cost"];
        assert_eq!(costs["planned"]["perHour"], cost, "{share}");
        assert_eq!(costs["now"]["perHour"], "2.000000");
        assert_eq!(costs["least"]["perHour"], "1.400000");
        assert_eq!(costs["within"], share);
        // No plan is below it, and it says nearly as much as there is to say.
        let bound: f64 = costs["bound"]
            .as_str()
            .expect("it is a text")
            .parse()
            .expect("it is a number");
        assert!(bound <= 1.4 && bound > 1.39, "{bound}");
    }
}

#[test]
fn what_waits_is_placed_before_anything_is_saved() {
    let placed = |clusters: &[&str]| within(divided("Aggregated"), clusters);
    let fleet = [
        cluster("a", 10, 8, 0),
        cluster("b", 10, 0, 0),
        binding("Deployment", "web", 8, &placed(&["a", "b"]), &[("a", 8)]),
        binding("Deployment", "late", 6, &placed(&["a"]), &[]),
    ];
    // `b` costs more than `a`: only the four that must move for `late` do.
    let (exit, stdout, _) = priced(&fleet, &[("a", "0.1"), ("b", "0.2")], &["--within", "0%", "-o", "json"]);
    let document: Value = serde_json::from_str(&stdout).expect("it is JSON");
    assert_eq!(exit, Some(0), "{document:#}");
    assert_eq!(changes(&document, "waiting", "late"), [("a", 6)]);
    assert_eq!(changes(&document, "moves", "web"), [("a", -4), ("b", 4)]);
    assert_eq!(document["cost"]["planned"]["perHour"], "1.800000");
}

#[test]
fn a_curve_with_prices_goes_on_where_moves_save_money() {
    let (exit, stdout, _) = priced(&dear(), &PRICES, &["--curve", "-o", "json"]);
    assert_eq!(exit, Some(0), "{stdout}");
    let document: Value = serde_json::from_str(&stdout).expect("it is JSON");
    let rows = document["curve"].as_array().expect("it is a list");
    let row = |row: &Value| (row["moves"].clone(), row["cost"]["perHour"].clone());
    assert_eq!(rows.first().map(row), Some((json!(0), json!("2.000000"))));
    // A move is worth it from a price of 0.05 on for `web`, and of 0.01 for `old`: nothing else lies between.
    assert_eq!(
        rows[1..].iter().map(row).collect::<Vec<_>>(),
        [(json!(10), json!("1.500000")), (json!(20), json!("1.400000"))]
    );
    // Without a wish for it, nothing moves to save money.
    let (_, stdout, _) = priced(&dear(), &PRICES, &["-o", "json"]);
    let document: Value = serde_json::from_str(&stdout).expect("it is JSON");
    assert_eq!(document["moves"], json!([]));
}

#[test]
fn a_cost_that_is_not_known_is_refused() {
    let (exit, stdout, stderr) = priced(&dear(), &PRICES[..2], &["--within", "2%"]);
    assert_eq!((exit, stdout.as_str()), (Some(2), ""));
    assert!(
        stderr.contains("what a replica of `shop/old` costs on cluster `c` is not known"),
        "{stderr}"
    );
    let (exit, _, stderr) = run_on(&dear(), "rebalance", &["--within", "2%"]);
    assert_eq!(exit, Some(2));
    assert!(stderr.contains("the profile has no prices"), "{stderr}");
    for share in ["2", "%", "-1%", "1.234%", "x%"] {
        let (exit, _, stderr) = run_on(&dear(), "rebalance", &[&format!("--within={share}")]);
        assert_eq!(exit, Some(2), "{share}: {stderr}");
    }
}

#[test]
fn a_plan_needs_the_room_that_results_take() {
    // Without it, two results could count on the same room.
    let (exit, _, stderr) = run_on(
        &crowded("Deployment", &divided("Aggregated")),
        "rebalance",
        &["--no-assume"],
    );
    assert_eq!(exit, Some(2));
    assert!(stderr.contains("leave `--no-assume` out"), "{stderr}");
}
