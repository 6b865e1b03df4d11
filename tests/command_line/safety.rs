//! `divvy diff` does not report unsafe changes as safe: clusters beyond their capacity, failed clusters, bindings that a change
//! makes invalid.

use std::fs;

use serde_json::{Value, json};

use super::run;
use crate::diff::schema::{committed, validate};

/// Three clusters of four cores in two regions. `small` is divided by static weights, which ignore capacity; `named` names its
/// clusters with their replicas; `home` tolerates every failure.
fn fleet(folder: &tempfile::TempDir) -> String {
    let cluster = |name: &str, region: &str, allocated: &str| {
        json!({
            "apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster", "metadata": {"name": name},
            "spec": {"region": region},
            "status": {
                "apiEnablements": [{"groupVersion": "apps/v1", "resources": [{"name": "deployments", "kind": "Deployment"}]}],
                "conditions": [{"type": "Ready", "status": "True"}],
                "resourceSummary": {"allocatable": {"cpu": "4", "pods": "100"}, "allocated": {"cpu": allocated}},
            },
        })
    };
    let binding = |name: &str, placement: Value, annotations: Value, clusters: Value, replicas: i64| {
        json!({
            "apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding",
            "metadata": {"name": name, "namespace": "shop", "generation": 1, "annotations": annotations},
            "spec": {
                "resource": {"apiVersion": "apps/v1", "kind": "Deployment", "name": name, "namespace": "shop"},
                "replicas": replicas, "replicaRequirements": {"resourceRequest": {"cpu": "1"}},
                "placement": placement, "clusters": clusters,
            },
            "status": {"schedulerObservedGeneration": 1, "lastScheduledTime": "2026-01-01T00:00:00Z"},
        })
    };
    let applied = |placement: &Value| json!({"policy.karmada.io/applied-placement": placement.to_string()});
    let weights = ["a", "b", "c"].map(|name| json!({"targetCluster": {"clusterNames": [name]}, "weight": 1}));
    let small = json!({"replicaScheduling": {
        "replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted",
        "weightPreference": {"staticWeightList": weights},
    }});
    // Without `c`, the only entry of its list matches no cluster, which makes it invalid.
    let named = json!({"replicaScheduling": {"replicaSchedulingType": "Divided"}});
    let home = json!({"clusterAffinity": {"clusterNames": ["c"]}, "clusterTolerations": [{"operator": "Exists"}],
        "replicaScheduling": {"replicaSchedulingType": "Duplicated"}});
    let on = |counts: &[(&str, i64)]| -> Value {
        counts
            .iter()
            .map(|(name, replicas)| json!({"name": name, "replicas": replicas}))
            .collect()
    };
    let mut specified = applied(&named);
    specified["divvy.io/strategy"] = json!("Specified");
    let list = json!({"staticSpecifyList": [{"targetCluster": {"clusterNames": ["c"]}, "replicas": 1}]});
    specified["divvy.io/preferences"] = json!(list.to_string());
    let items = vec![
        // `a` is beyond its capacity already.
        cluster("a", "one", "5"),
        cluster("b", "one", "3"),
        cluster("c", "two", "4"),
        binding(
            "small",
            small.clone(),
            applied(&small),
            on(&[("a", 2), ("b", 2), ("c", 2)]),
            6,
        ),
        binding("home", home.clone(), applied(&home), on(&[("c", 1)]), 1),
        binding("named", named, specified, on(&[("c", 1)]), 1),
    ];
    let file = folder.path().join("fleet.json");
    let list = json!({"apiVersion": "v1", "kind": "List", "items": items});
    fs::write(&file, list.to_string()).expect("the file can be written");
    file.display().to_string()
}

fn diff(arguments: &[&str]) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = fleet(&folder);
    run(&[&["diff", "-f", &file], arguments].concat())
}

fn document(arguments: &[&str], schema: &str) -> Value {
    let (_, stdout, stderr) = diff(&[arguments, &["-o", "json"]].concat());
    let document: Value = serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stderr}"));
    let schema = committed(schema);
    validate(&schema, &schema, &document, "document").unwrap_or_else(|error| panic!("{error}"));
    document
}

#[test]
fn replicas_beyond_capacity_are_counted_wherever_moves_are() {
    // Each of both gains one replica: `a` from 5 to 6 of 4 cores, `b` from 3 to 4 of 4.
    let drain = ["--drain", "c", "shop/small"];
    let (_, stdout, stderr) = diff(&drain);
    assert!(stdout.contains("cpu 125% → 150%, 1 beyond capacity"), "{stdout}");
    assert!(stdout.contains("; 1 replica beyond capacity\n"), "{stdout}{stderr}");
    let totals = &document(&drain, "diff.json")["totals"];
    assert_eq!(
        (&totals["beyondCapacity"], &totals["newlyFull"], &totals["full"]),
        (&json!(1), &json!(0), &json!(1))
    );
    let (_, page, _) = diff(&[&drain[..], &["-o", "html"]].concat());
    assert!(
        page.contains("; 1 replica beyond capacity.") && !page.contains("All well"),
        "the page says so"
    );
    // Both gain more than they have, one of them anew.
    let scaled = document(&["--replicas", "shop/small=12"], "diff.json");
    assert_eq!(scaled["totals"]["beyondCapacity"], 5, "{}", scaled["totals"]);
    assert_eq!(scaled["totals"]["newlyFull"], 2);
    let beyond: Vec<&Value> = scaled["clusters"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|row| &row["beyondCapacity"])
        .collect();
    assert_eq!(beyond, [&json!(2), &json!(1), &json!(2)]);
}

#[test]
fn clusters_that_gain_beyond_a_limit_exit_with_1() {
    for (limit, expected, error) in [
        ("150%", Some(0), ""),
        (
            "149%",
            Some(1),
            "error: 1 cluster is fuller than `--max-full` allows (149%): a (cpu 150%)\n",
        ),
        (
            "99%",
            Some(1),
            "error: 3 clusters are fuller than `--max-full` allows (99%): a (cpu 150%), c (cpu 125%), b (cpu 100%)\n",
        ),
    ] {
        let (exit, _, stderr) = diff(&["--replicas", "shop/small=9", "--max-full", limit]);
        assert_eq!(exit, expected, "{limit}: {stderr}");
        assert!(stderr.contains(error), "{limit}: {stderr}");
    }
    // What was full before is not the change's doing.
    let (exit, _, stderr) = diff(&["--max-full", "50%"]);
    assert_eq!(exit, Some(0), "{stderr}");
    for limit in ["100", "%", "-1", "x%"] {
        let (exit, _, stderr) = diff(&["--max-full", limit]);
        assert_eq!(exit, Some(2));
        assert!(stderr.contains("expected a share such as `100%`"), "{stderr}");
    }
    let (exit, _, stderr) = diff(&["--without-each", "cluster", "--max-full", "149%"]);
    assert_eq!(exit, Some(1), "{stderr}");
    assert!(
        stderr.contains("fills a cluster beyond what `--max-full` allows (149%)") || stderr.contains("losses fill"),
        "{stderr}"
    );
}

#[test]
fn each_loss_adds_up_and_hides_no_error() {
    let document = document(&["--without-each", "cluster"], "without-each.json");
    let rows = document["failures"].as_array().expect("there are rows");
    for row in rows {
        let of = |field: &str| row[field].as_i64().expect("a number");
        assert_eq!(
            of("displaced") + of("lostElsewhere"),
            of("rehomed") + of("removed") + of("lost"),
            "{row}"
        );
    }
    let of_c = rows
        .iter()
        .find(|row| row["name"] == "c")
        .expect("every cluster has a row");
    // `named` names a cluster that is not there any more.
    assert_eq!(of_c["newlyInError"], 1, "{of_c}");
    assert_eq!(of_c["beyondCapacity"], 1, "{of_c}");
    let (exit, stdout, _) = diff(&["--without-each", "cluster"]);
    assert_eq!(exit, Some(1));
    assert!(
        stdout.contains("IN ERROR") && stdout.contains("BEYOND") && stdout.contains("REMOVED"),
        "{stdout}"
    );
}

#[test]
fn a_binding_that_a_change_makes_invalid_is_an_outcome_and_not_wrong_usage() {
    let (exit, stdout, stderr) = diff(&["--without", "c"]);
    assert_eq!(exit, Some(1), "{stdout}{stderr}");
    assert!(stdout.contains("1 newly in error"), "{stdout}");
    assert_eq!(document(&["--without", "c"], "diff.json")["totals"]["newlyInError"], 1);
    let folder = tempfile::tempdir().expect("a folder can be made");
    let (exit, stdout, stderr) = run(&["headroom", "-f", &fleet(&folder), "--without", "c", "shop/named"]);
    assert_eq!(exit, Some(1), "{stdout}{stderr}");
    // A typing error is wrong usage still.
    assert_eq!(diff(&["--without", "d"]).0, Some(2));
}

#[test]
fn a_failed_cluster_is_one_that_karmada_evicts_from() {
    let (exit, stdout, stderr) = diff(&["--fail", "c"]);
    assert_eq!(exit, Some(1), "{stdout}{stderr}");
    // The cluster still exists, so that a policy that names it is valid, and what tolerates its failure stays.
    assert!(!stdout.contains("in error") && !stdout.contains("gone"), "{stdout}");
    assert!(stdout.contains("1 replica down on failed clusters"), "{stdout}");
    assert!(
        stderr.contains(
            "note: 1 binding tolerates the failure of `c` for good and stays there, where nothing runs: shop/home\n"
        ),
        "{stderr}"
    );
    let failed = document(&["--fail", "c"], "diff.json");
    assert_eq!(
        (&failed["totals"]["down"], &failed["totals"]["newlyInError"]),
        (&json!(1), &json!(0))
    );
    // One contradicts the other.
    let (exit, _, stderr) = diff(&["--fail", "c", "--without", "c"]);
    assert_eq!(exit, Some(2));
    assert!(
        stderr.contains("`--without` removes the cluster `c`, which `--fail` changes"),
        "{stderr}"
    );
}

#[test]
fn an_error_that_a_change_hides_is_reported() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = fleet(&folder);
    let text = fs::read_to_string(&file)
        .expect("the file is there")
        .replace("staticSpecifyList", "staticSpecifiedList");
    fs::write(&file, text).expect("the file can be written");
    // Invalid on both sides: the input's fault, and not the change's.
    for output in [&["-o", "name"][..], &["-q"], &["-o", "json"], &[]] {
        let (exit, stdout, stderr) = run(&[&["diff", "-f", &file, "--cordon", "a"], output].concat());
        assert_eq!(exit, Some(0), "{output:?}: {stdout}{stderr}");
        let (strict, ..) = run(&[&["diff", "-f", &file, "--cordon", "a", "--strict"], output].concat());
        assert_eq!(strict, Some(2), "{output:?}");
        if output == ["-q"] {
            continue;
        }
        let all = [stdout.as_str(), &stderr].concat();
        assert!(
            all.contains("shop/named") && all.contains("staticSpecifiedList"),
            "{output:?}: {all}"
        );
    }
}
