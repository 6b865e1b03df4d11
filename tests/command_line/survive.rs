//! `divvy survive`: the single losses that workloads do not survive, and the smallest change with which one does.

use std::fs;

use serde_json::{Value, json};

use super::run;
use crate::diff::schema::{committed, validate};

/// A cluster with this region, provider and number of CPUs.
fn cluster(name: &str, region: &str, provider: &str, cpu: u32) -> String {
    format!(
        "---\napiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {{name: {name}}}\nspec: {{region: {region}, provider: \
         {provider}, zones: [{name}-z]}}\nstatus:\n  apiEnablements: [{{groupVersion: apps/v1, resources: [{{kind: Deployment, name: \
         deployments}}]}}]\n  conditions: [{{type: Ready, status: \"True\"}}, {{type: CompleteAPIEnablements, status: \"True\"}}]\n  \
         resourceSummary: {{allocatable: {{cpu: \"{cpu}\", pods: \"100\"}}}}\n"
    )
}

/// Three clusters in two regions.
fn fleet() -> String {
    [
        cluster("e1", "east", "p", 10),
        cluster("e2", "east", "p", 10),
        cluster("w1", "west", "q", 10),
    ]
    .concat()
}

/// A Deployment that requests a CPU per replica, and its policy with this placement and further metadata.
fn workload(name: &str, replicas: u32, placement: &str, metadata: &str) -> String {
    format!(
        "---\napiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {{name: {name}, namespace: shop{metadata}}}\nspec:\n  \
         resourceSelectors: [{{apiVersion: apps/v1, kind: Deployment, name: {name}}}]\n  placement: {placement}\n---\napiVersion: \
         apps/v1\nkind: Deployment\nmetadata: {{name: {name}, namespace: shop}}\nspec:\n  replicas: {replicas}\n  template: {{spec: \
         {{containers: [{{name: c, resources: {{requests: {{cpu: \"1\"}}}}}}]}}}}\n"
    )
}

const AGGREGATED: &str = "replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Aggregated}";

fn aggregated(names: &str) -> String {
    format!("{{clusterAffinity: {{clusterNames: [{names}]}}, {AGGREGATED}}}")
}

/// Runs `divvy survive` on a text.
fn survive(text: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("input.yaml");
    fs::write(&file, text).expect("the file can be written");
    run(&[&["survive", "-f", &file.display().to_string()], arguments].concat())
}

/// The document, which must have the form of its schema.
#[track_caller]
fn document(text: &str, arguments: &[&str], exit: i32) -> Value {
    let (code, stdout, stderr) = survive(text, &[&["-o", "json"], arguments].concat());
    let document: Value = serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout} {stderr}"));
    let schema = committed("survive.json");
    validate(&schema, &schema, &document, "survive").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(code, Some(exit), "{document:#} {stderr}");
    document
}

/// The losses that a binding does not survive, as `EACH NAME LEFT`.
fn lost(document: &Value, binding: &str) -> Vec<String> {
    let rows = document["bindings"].as_array().expect("it is a list");
    let row = rows.iter().find(|row| row["binding"] == binding);
    let losses = row.and_then(|row| row["losses"].as_array()).into_iter().flatten();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    losses
        .map(|loss| format!("{} {} {}", text(&loss["each"]), text(&loss["name"]), loss["left"]))
        .collect()
}

#[test]
fn a_workload_survives_where_the_rest_has_room_for_it() {
    let text = [
        fleet(),
        workload("small", 4, &aggregated("e1, e2, w1"), ""),
        // On one cluster alone, and on a region alone.
        workload("pinned", 2, &aggregated("e1"), ""),
        workload(
            "regional",
            2,
            "{clusterAffinity: {fieldSelector: {matchExpressions: [{key: region, operator: In, values: [west]}]}}}",
            "",
        ),
    ];
    let found = document(&text.concat(), &[], 1);
    assert_eq!(lost(&found, "shop/small-deployment"), Vec::<String>::new());
    assert_eq!(
        lost(&found, "shop/pinned-deployment"),
        ["cluster e1 0", "region east 0", "zone e1-z 0", "provider p 0"]
    );
    assert_eq!(
        lost(&found, "shop/regional-deployment"),
        ["cluster w1 0", "region west 0", "zone w1-z 0", "provider q 0"]
    );
    let totals = &found["totals"];
    assert_eq!(
        (
            &totals["placed"],
            &totals["surviving"],
            &totals["notSurviving"],
            &totals["hanging"]
        ),
        (&json!(3), &json!(1), &json!(2), &json!(2))
    );
    let found = document(&text.concat(), &["shop/deployment/small"], 0);
    assert_eq!(found["bindings"], json!([]));
    // Only the chosen sizes.
    let found = document(&text.concat(), &["--loss", "region"], 1);
    assert_eq!(lost(&found, "shop/pinned-deployment"), ["region east 0"]);
    assert_eq!(found["levels"].as_array().unwrap().len(), 1);
}

#[test]
fn what_is_left_is_the_replicas_on_other_clusters() {
    // 25 replicas on 30 CPUs: no loss is survived, and the others keep what they have.
    let text = [fleet(), workload("large", 25, &aggregated("e1, e2, w1"), "")].concat();
    let found = document(&text, &["--loss", "cluster"], 1);
    let left = found["bindings"][0]["losses"]
        .as_array()
        .unwrap()
        .iter()
        .map(|loss| loss["left"].as_i64().unwrap());
    let left: Vec<i64> = left.collect();
    assert!(
        left.iter().all(|left| (10..25).contains(left)) && left.len() == 3,
        "{left:?}"
    );
    assert_eq!(found["totals"]["hanging"], 0);
    // With a quorum, 20 are enough, and with one of 21 they are not.
    for (quorum, exit) in [("20", 0), ("80%", 0), ("21", 1)] {
        let metadata = format!(", annotations: {{divvy.io/quorum: \"{quorum}\"}}");
        let text = [fleet(), workload("large", 25, &aggregated("e1, e2, w1"), &metadata)].concat();
        document(&text, &["--loss", "cluster"], exit);
    }
}

#[test]
fn a_duplicated_workload_needs_one_copy() {
    let text = [
        fleet(),
        workload("copies", 3, "{clusterAffinity: {clusterNames: [e1, w1]}}", ""),
    ]
    .concat();
    document(&text, &[], 0);
    // Even if its policy cannot be kept without the cluster.
    let both =
        "{clusterAffinity: {clusterNames: [e1, w1]}, spreadConstraints: [{spreadByField: cluster, minGroups: 2}]}";
    let text = [fleet(), workload("copies", 3, both, "")].concat();
    document(&text, &[], 0);
    // Divided, it must be kept.
    let both = format!(
        "{{clusterAffinity: {{clusterNames: [e1, w1]}}, spreadConstraints: [{{spreadByField: cluster, minGroups: 2}}], {AGGREGATED}}}"
    );
    let text = [fleet(), workload("parts", 12, &both, "")].concat();
    document(&text, &[], 1);
}

#[test]
fn replicas_beyond_capacity_are_never_all_well() {
    let weighted = "{clusterAffinity: {clusterNames: [e1, w1]}, replicaScheduling: {replicaSchedulingType: Divided, \
                    replicaDivisionPreference: Weighted, weightPreference: {staticWeightList: [{targetCluster: {clusterNames: [e1, w1]}, \
                    weight: 1}]}}}";
    let text = [fleet(), workload("weighted", 16, weighted, "")].concat();
    let found = document(&text, &["--loss", "cluster"], 1);
    assert_eq!(found["bindings"], json!([]));
    assert_eq!(found["totals"]["beyondCapacity"], 2);
    assert_eq!(found["losses"][0]["beyondCapacity"], 6);
    let (_, stdout, _) = survive(&text, &[]);
    assert!(
        stdout.contains("replicas on clusters that have no room for them: see BEYOND"),
        "{stdout}"
    );
}

#[test]
fn the_losses_are_those_of_without_each() {
    let text = [
        fleet(),
        workload("a", 3, &aggregated("e1, e2, w1"), ""),
        workload("b", 3, &aggregated("e1, w1"), ""),
        workload("c", 3, &aggregated("e1"), ""),
    ]
    .concat();
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("input.yaml");
    fs::write(&file, &text).expect("the file can be written");
    let file = file.display().to_string();
    for each in ["cluster", "region", "zone", "provider"] {
        let found = document(&text, &["--loss", each], 1);
        let (_, stdout, _) = run(&["diff", "-f", &file, "--without-each", each, "-o", "json"]);
        let other: Value = serde_json::from_str(&stdout).unwrap();
        for row in other["failures"].as_array().unwrap() {
            let losses = found["losses"].as_array().unwrap();
            let loss = losses.iter().find(|loss| loss["name"] == row["name"]);
            let bindings = loss.map_or(0, |loss| loss["bindings"].as_u64().unwrap());
            let failing = row["newlyUnschedulable"].as_u64().unwrap();
            assert_eq!(bindings, failing, "{each} {row}");
        }
    }
}

#[test]
fn a_failed_cluster_keeps_what_tolerates_the_failure() {
    let tolerant = json!({
        "clusterTolerations": [{"key": "cluster.karmada.io/not-ready", "operator": "Exists"}],
        "clusterAffinity": {"clusterNames": ["e1", "w1"]},
        "replicaScheduling": {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"},
    });
    let tolerant = tolerant.to_string();
    let placed = "  clusters: [{name: e1, replicas: 2}]\n";
    let binding = format!(
        "---\napiVersion: work.karmada.io/v1alpha2\nkind: ResourceBinding\nmetadata:\n  name: web-deployment\n  namespace: shop\n  \
         generation: 1\n  annotations: {{policy.karmada.io/applied-placement: '{tolerant}'}}\nspec:\n  resource: {{apiVersion: apps/v1, kind: \
         Deployment, namespace: shop, name: web}}\n  replicas: 2\n{placed}status: {{schedulerObservedGeneration: 1, lastScheduledTime: \
         \"2026-01-01T00:00:00Z\"}}\n"
    );
    let text = [fleet(), workload("web", 2, &tolerant, ""), binding].concat();
    document(&text, &["--loss", "cluster"], 0);
    let found = document(&text, &["--loss", "cluster", "--as-failed"], 1);
    assert_eq!(lost(&found, "shop/web-deployment"), ["cluster e1 0"]);
    assert_eq!(found["bindings"][0]["losses"][0]["reason"], "Stays");
}

/// The changes with which a workload survives.
fn changes(text: &str, arguments: &[&str]) -> (Vec<String>, Value) {
    let found = document(text, &[&["--workload", "shop/deployment/web"], arguments].concat(), 1);
    let list = found["remedy"]["changes"].as_array().expect("it is a list");
    let text = |change: &Value| change["change"].as_str().expect("it is a text").to_owned();
    (list.iter().map(text).collect(), found)
}

#[test]
fn the_smallest_change_is_decided_and_works() {
    // One more cluster, in another region.
    let text = [fleet(), workload("web", 4, &aggregated("e1"), "")].concat();
    let (found, whole) = changes(&text, &[]);
    assert_eq!(found, ["add the cluster `w1`"], "{whole:#}");
    let placement = &whole["remedy"]["changes"][0]["placement"];
    assert_eq!(placement["clusterAffinity"]["clusterNames"], json!(["e1", "w1"]));
    // The printed policy is what works.
    let text = [fleet(), workload("web", 4, &placement.to_string(), "")].concat();
    document(&text, &[], 0);
    // A bound: two of two clusters cannot be kept without one of them.
    let both = format!(
        "{{clusterAffinity: {{clusterNames: [e1, w1]}}, spreadConstraints: [{{spreadByField: cluster, minGroups: 2}}], {AGGREGATED}}}"
    );
    let text = [fleet(), workload("web", 4, &both, "")].concat();
    let (found, whole) = changes(&text, &["--loss", "cluster"]);
    assert_eq!(found[0], "lower `minGroups` by cluster from 2 to 1", "{whole:#}");
    assert!(found.contains(&"add the cluster `e2`".to_owned()), "{found:?}");
    // Too little room: only a quorum helps.
    let text = [fleet(), workload("web", 25, &aggregated("e1, e2, w1"), "")].concat();
    let (found, whole) = changes(&text, &["--loss", "cluster"]);
    assert_eq!(found, ["let 20 of 25 replicas be enough"]);
    assert_eq!(whole["remedy"]["changes"][0]["annotation"], "divvy.io/quorum: \"20\"");
    let (_, stdout, _) = survive(&text, &["--workload", "web-deployment", "--loss", "cluster"]);
    assert!(
        stdout.contains("shop/web-deployment survives with one of these changes"),
        "{stdout}"
    );
}

#[test]
fn a_workload_that_survives_needs_no_change() {
    let text = [fleet(), workload("web", 4, &aggregated("e1, w1"), "")].concat();
    let found = document(&text, &["--workload", "web-deployment"], 0);
    assert_eq!(found["remedy"]["survives"], true);
    assert_eq!(found["remedy"]["tried"], 0);
}

#[test]
fn wrong_arguments_and_inputs_are_refused() {
    let text = [
        fleet(),
        workload("web", 4, &aggregated("e1, w1"), ""),
        workload("api", 4, &aggregated("e1"), ""),
    ]
    .concat();
    for (arguments, expected) in [
        (&["--workload", "none"][..], "error: `--workload` matches no binding"),
        (
            &["--workload", "shop/*"],
            "error: `--workload` matches 2 bindings: shop/api-deployment, shop/web-deployment",
        ),
        (&["--cluster", "e1"], "error: `divvy survive` shows no clusters"),
        (&["--loss", "rack"], "error: invalid value 'rack' for '--loss <WHAT>'"),
        (
            &["--workload", "x", "--as-failed"],
            "error: the argument '--workload <WORKLOAD>' cannot be used with '--as-failed'",
        ),
    ] {
        let (exit, stdout, stderr) = survive(&text, arguments);
        assert_eq!((exit, stdout.as_str()), (Some(2), ""), "{arguments:?}: {stderr}");
        assert!(stderr.starts_with(expected), "{arguments:?}: {stderr}");
    }
    let (exit, _, stderr) = survive("", &[]);
    assert_eq!(exit, Some(2), "{stderr}");
    let (exit, _, stderr) = survive("kind: Cluster\nspec: 7\n", &[]);
    assert_eq!(exit, Some(2), "{stderr}");
}

#[test]
fn lists_are_shortened_and_printed_as_markdown() {
    let text = [
        fleet(),
        workload("a", 2, &aggregated("e1"), ""),
        workload("b", 2, &aggregated("e2"), ""),
        workload("c", 2, &aggregated("w1"), ""),
    ]
    .concat();
    let (exit, stdout, _) = survive(&text, &["--top", "1"]);
    assert_eq!(exit, Some(1));
    assert!(
        stdout.contains("not shown: 2 bindings not surviving some loss"),
        "{stdout}"
    );
    let (_, stdout, _) = survive(&text, &["-o", "markdown"]);
    assert!(
        stdout.contains("| BINDING | STRATEGY | REPLICAS | CLUSTERS | DOES NOT SURVIVE |"),
        "{stdout}"
    );
    let (_, stdout, _) = survive(&text, &["-o", "name"]);
    let name = |name: &str| format!("resourcebinding.work.karmada.io/{name}-deployment\n");
    assert_eq!(stdout, [name("a"), name("b"), name("c")].concat());
}

#[test]
fn chosen_workloads_are_summed_up_alone() {
    let text = [
        fleet(),
        workload("a", 2, &aggregated("e1"), ""),
        workload("b", 2, &aggregated("e2"), ""),
        workload("c", 2, &aggregated("w1"), ""),
        workload("idle", 2, &aggregated("none"), ""),
    ]
    .concat();
    let all = document(&text, &["--loss", "cluster"], 1);
    assert_eq!(all["totals"]["placed"], 3, "{all:#}");
    assert_eq!(all["losses"].as_array().map(Vec::len), Some(3), "{all:#}");
    for arguments in [&["b-deployment"][..], &["--workload", "shop/deployment/b"]] {
        let chosen = document(&text, &[arguments, &["--loss", "cluster"]].concat(), 1);
        let expected = json!([{"each": "cluster", "name": "e2", "clusters": 1, "bindings": 1, "hanging": 1}]);
        assert_eq!(chosen["losses"], expected);
        let expected = json!([{"each": "cluster", "losses": 3, "surviving": 0, "hanging": 1}]);
        assert_eq!(chosen["levels"], expected);
        let totals = &chosen["totals"];
        assert_eq!(
            [
                &totals["bindings"],
                &totals["placed"],
                &totals["notSurviving"],
                &totals["hanging"]
            ],
            [1, 1, 1, 1],
            "{totals}"
        );
    }
    let (exit, stdout, _) = survive(&text, &["--loss", "cluster", "b-deployment"]);
    assert_eq!(exit, Some(1));
    assert!(!stdout.contains("e1") && !stdout.contains("not shown"), "{stdout}");
}

/// Chosen bindings are counted alone, also those in error. The exit code is that of all, as for `divvy schedule`, and a message says so.
#[test]
fn errors_of_bindings_that_are_not_chosen_are_not_counted_and_are_reported() {
    let divided = "{replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted}}";
    let quorum = ", annotations: {divvy.io/quorum: \"1\"}";
    let text = [
        fleet(),
        workload("a", 2, &aggregated("e1, e2, w1"), ""),
        workload("broken", 2, divided, quorum),
        workload("wrong", 2, divided, quorum),
    ]
    .concat();
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("input.yaml").display().to_string();
    fs::write(&file, &text).expect("the file can be written");
    let each = |chosen: &[&str]| {
        let diff = ["diff", "-f", &file, "--without-each", "cluster", "-o", "json"];
        let (exit, stdout, stderr) = run(&[&diff[..], chosen].concat());
        assert_eq!(exit, Some(0), "{stderr}");
        let (strict, ..) = run(&[&diff[..], chosen, &["--strict"]].concat());
        assert_eq!(strict, Some(2));
        let document: Value = serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stderr}"));
        (document["errors"].clone(), stderr)
    };
    for (chosen, count, message) in [
        (&[][..], 2, "2 bindings in error without any loss\n"),
        (
            &["a-deployment"],
            0,
            "2 bindings in error without any loss, not chosen\n",
        ),
        (
            &["a-deployment", "wrong-deployment"],
            1,
            "2 bindings in error without any loss, 1 of them not chosen\n",
        ),
    ] {
        for manner in [&[][..], &["--as-failed"]] {
            let arguments = [chosen, manner, &["--loss", "cluster"]].concat();
            let found = document(&text, &arguments, 0);
            document(&text, &[&arguments[..], &["--strict"]].concat(), 2);
            assert_eq!(found["totals"]["errors"], count, "{arguments:?}");
            let (_, _, stderr) = survive(&text, &arguments);
            assert!(stderr.contains(message), "{arguments:?}: {stderr}");
        }
        let (errors, stderr) = each(chosen);
        assert_eq!(errors, count, "{chosen:?}");
        assert!(stderr.contains(message), "{chosen:?}: {stderr}");
    }
}

/// One, none and several bindings, in English.
#[test]
fn the_sums_are_sentences_for_any_count() {
    let spread = aggregated("e1, e2, w1");
    let sums = |workloads: &[String]| {
        let (_, stdout, stderr) = survive(&[&[fleet()], workloads].concat().concat(), &["--loss", "cluster"]);
        let mut lines = stdout.lines();
        let line = lines.find(|line| line.contains("these losses") || line.contains("is placed"));
        line.map_or_else(|| panic!("{stdout}{stderr}"), str::to_owned)
    };
    let (small, other) = (workload("small", 4, &spread, ""), workload("other", 2, &spread, ""));
    let (pinned, large) = (
        workload("pinned", 2, &aggregated("e1"), ""),
        workload("large", 25, &spread, ""),
    );
    let nowhere = workload("nowhere", 2, &aggregated("e9"), "");
    assert_eq!(
        sums(std::slice::from_ref(&small)),
        "the binding survives each of these losses"
    );
    assert_eq!(
        sums(std::slice::from_ref(&pinned)),
        "the binding hangs on one of these losses"
    );
    assert_eq!(
        sums(&[small.clone(), nowhere.clone()]),
        "the only placed binding survives each of these losses"
    );
    assert_eq!(
        sums(&[small.clone(), other.clone()]),
        "all 2 placed bindings survive each of these losses"
    );
    assert_eq!(
        sums(&[small.clone(), pinned.clone()]),
        "1 of 2 placed bindings survives each of these losses; 1 hangs on one"
    );
    assert_eq!(
        sums(&[small, other, pinned]),
        "2 of 3 placed bindings survive each of these losses; 1 hangs on one"
    );
    assert_eq!(
        sums(&[nowhere]),
        "no binding is placed, so that none has anything to lose"
    );
    assert_eq!(
        sums(std::slice::from_ref(&large)),
        "the binding does not survive some of these losses"
    );
    let other = workload("larger", 26, &spread, "");
    assert!(
        sums(&[large, other]).ends_with("the only placed binding does not survive some of these losses"),
        "one of them fills the fleet"
    );
}

/// The rows of `divvy diff --without-each` add up, and those that `--top` leaves out are counted.
#[test]
fn losses_beyond_the_top_are_counted_and_each_row_adds_up() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("input.yaml");
    // 25 replicas on 30 CPUs, not placed yet: without any one cluster, all of them are lost.
    let text = [fleet(), workload("large", 25, &aggregated("e1, e2, w1"), "")].concat();
    fs::write(&file, text).expect("the file can be written");
    let file = file.display().to_string();
    let arguments = ["diff", "-f", &file, "--without-each", "cluster", "--top", "1"];
    let (exit, stdout, _) = run(&arguments);
    assert_eq!(exit, Some(1), "{stdout}");
    assert!(
        stdout.contains("\n2 more losses, which `--top` leaves out\n"),
        "{stdout}"
    );
    let titles = "WITHOUT  CLUSTERS  DISPLACED  REHOMED  REMOVED  LOST  MISSING  UNSCHEDULABLE";
    assert!(stdout.contains(titles), "{stdout}");
    let row = stdout.lines().skip_while(|line| !line.starts_with("WITHOUT")).nth(1);
    let row: Vec<&str> = row.unwrap_or_default().split_whitespace().collect();
    let figures: Vec<i64> = row.iter().filter_map(|cell| cell.parse().ok()).collect();
    let [_, displaced, rehomed, removed, lost, missing, ..] = figures[..] else {
        panic!("{stdout}");
    };
    assert_eq!(displaced, rehomed + removed + lost, "{stdout}");
    // Without the whole, no part runs: those that fit elsewhere are missing as well.
    assert_eq!(missing, 25, "{stdout}");
    let (_, stdout, _) = run(&[&arguments[..5], &["--top", "2"]].concat());
    assert!(stdout.contains("\n1 more loss, which `--top` leaves out\n"), "{stdout}");
    let (_, stdout, _) = run(&[&arguments[..], &["-o", "markdown"]].concat());
    assert!(
        stdout.contains("2 more losses, which \\`--top\\` leaves out"),
        "{stdout}"
    );
    let (_, stdout, _) = run(&arguments[..5]);
    assert!(!stdout.contains("--top"), "{stdout}");
}
