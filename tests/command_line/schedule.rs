//! `divvy schedule`.

use std::io::{Read, Write};
use std::process::Stdio;

use snapbox::str;

use super::{STRATEGIES, check, divvy, fixture, folder, run};

#[test]
fn scheduled_and_skipped_bindings_exit_with_0() {
    check(
        &["schedule", "-f", "fleet.yaml", "-f", "scheduled.yaml"],
        0,
        str![[r#"
BINDING                 STRATEGY    REPLICAS  CHANGE  FREE  RESULT
shop/agent-deployment   Duplicated    2 each                Scheduled
  on 2 clusters: east-1, west-1
shop/cart-deployment    Average            9      +2    28  Scheduled
  east-1                                   3     new     5
  east-2                                   3      +1     7
  west-1                                   3      -2    16
shop/paused-deployment  Duplicated         2                Skipped
  scheduling is suspended

3 bindings: 2 scheduled, 1 skipped
13 replicas (+4, -2 against the last results) on 3 of 3 clusters

"#]],
        "",
    );
}

#[test]
fn unschedulable_bindings_exit_with_1_and_a_reason() {
    check(
        &["schedule", "-f", "fleet.yaml", "-f", "unschedulable.yaml"],
        1,
        str![[r#"
BINDING                STRATEGY    REPLICAS  RESULT
shop/huge-deployment   Average           90  Unschedulable
  90 replicas requested, 24 fit in the candidate clusters
  assigned to scheduler `volcano`; scheduled anyway
shop/model-deployment  Duplicated         1  NoClusterFit
  none of 3 clusters fits: 2 outside the cluster affinity, 1 tainted (maintenance=true:NoSchedule)

2 bindings: 1 without a fitting cluster, 1 unschedulable; 91 replicas missing
0 replicas on 0 of 3 clusters

"#]],
        "",
    );
}

#[test]
fn an_invalid_binding_is_an_error_in_its_row_and_the_others_are_scheduled() {
    check(
        &[
            "schedule",
            "-f",
            "fleet.yaml",
            "-f",
            "meaningless.yaml",
            "--profile",
            "three.toml",
        ],
        2,
        str![[r#"
BINDING                   STRATEGY   REPLICAS  FREE  RESULT
shop/batch-deployment                       4        Error
  no loaded plugin serves the strategy `Avrage` (the policy's annotation `divvy.io/strategy`); known strategies, nearest first: `Average`, `Duplicated`, `Specified`
  in meaningless.yaml:19; policy PropagationPolicy shop/batch; binding in meaningless.yaml:2
shop/payments-deployment  Specified         3    87  Scheduled
  west-1                                    3    87

2 bindings: 1 scheduled, 1 in error; 4 replicas missing
3 replicas on 1 of 3 clusters

"#]],
        str![[r#"
warning: the strategy `SpecifiedRegions` is read as `Specified`
  hint: write `replicaDivisionPreference: Specified`
  in: shop/payments-deployment (meaningless.yaml:12)
note: no policy matches 1 resource: Deployment shop/orphan

"#]],
    );
}

#[test]
fn every_problem_in_the_input_is_reported_and_nothing_is_scheduled() {
    check(
        &[
            "schedule",
            "-f",
            "malformed.yaml",
            "-f",
            "missing.yaml",
            "-f",
            "fleet.yaml",
        ],
        2,
        "",
        str![[r#"
error: malformed.yaml:4: spec.taints[0].key: expected a string, got the number `3`
  in: Cluster a (document 1)
  hint: put the value in quotes
error: malformed.yaml:6: given twice, first in malformed.yaml: document 1, line 1
  in: Cluster a (document 2)
error: `missing.yaml` does not exist
error: 3 problems in the input; nothing is scheduled

"#]],
    );
}

#[test]
fn an_explanation_contains_strategy_remarks_figures_and_rejections() {
    let (exit, stdout, _) = run(&["schedule", "-f", "fleet.yaml", "-f", "scheduled.yaml", "--explain"]);
    assert_eq!(exit, Some(0));
    for line in [
        "  Duplicated by `replicaSchedulingType`; 2 of 3 clusters are candidates, scored by cluster-locality",
        "  each: every candidate gets the full count of 2",
        "  rejected: 1 cluster(s) had untolerated taint {maintenance=true:NoSchedule} [taint-toleration]: east-2",
        "      capacity 21: 3 each (last 5, fits 16, score 100)",
    ] {
        assert!(stdout.lines().any(|shown| shown == line), "{line}\n{stdout}");
    }
}

#[test]
fn json_and_yaml_have_the_same_content_sorted_by_name() {
    let arguments = ["schedule", "-f", "fleet.yaml", "-f", "scheduled.yaml", "-o"];
    let (exit, json, stderr) = run(&[&arguments[..], &["json"]].concat());
    assert_eq!((exit, stderr.as_str()), (Some(0), ""));
    let document: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    let rows = &document["bindings"];
    let bindings: Vec<_> = rows
        .as_array()
        .expect("it is an array")
        .iter()
        .map(|row| &row["binding"])
        .collect();
    assert_eq!(
        bindings,
        [
            "shop/agent-deployment",
            "shop/cart-deployment",
            "shop/paused-deployment"
        ]
    );
    let cart = &rows[1];
    assert_eq!(cart["strategy"], "Average");
    assert_eq!(cart["result"], "Scheduled");
    assert_eq!(cart["message"], "");
    assert_eq!(
        cart["clusters"][2],
        serde_json::json!({"name": "west-1", "replicas": 3, "free": 16})
    );
    assert_eq!(rows[2]["message"], "scheduling is suspended");
    let (exit, yaml, _) = run(&[&arguments[..], &["yaml"]].concat());
    assert_eq!(exit, Some(0));
    assert!(
        yaml.contains("\nbindings:\n- binding: shop/agent-deployment\n"),
        "{yaml}"
    );
}

#[test]
fn room_without_a_limit_is_not_a_figure() {
    // Without replicas, any number of copies fits in every cluster.
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("idle.yaml").display().to_string();
    let text = "\
{apiVersion: work.karmada.io/v1alpha2, kind: ResourceBinding, metadata: {name: idle-deployment, namespace: shop},
 spec: {resource: {apiVersion: apps/v1, kind: Deployment, namespace: shop, name: idle}, placement: {}}}
";
    std::fs::write(&file, text).expect("the file can be written");
    for strategy in STRATEGIES {
        let files = ["schedule", "-f", "fleet.yaml", "-f", &file, "--strategy", strategy];
        let (_, json, stderr) = run(&[&files[..], &["--explain", "-o", "json"]].concat());
        assert!(json.contains("\"candidate\": true"), "{strategy}: {json}{stderr}");
        let (_, table, _) = run(&[&files[..], &["--explain", "-o", "wide"]].concat());
        assert!(
            !format!("{json}{table}").contains("2147483647"),
            "{strategy}: {json}{table}"
        );
    }
}

#[test]
fn tiers_count_from_1_in_the_table_and_in_the_data() {
    let files = [
        "schedule",
        "-f",
        "../../../examples/fleet",
        "deployment/image-recognition",
        "--explain",
    ];
    let (_, table, _) = run(&files);
    assert!(table.contains("(tier 1, ") && !table.contains("tier 0"), "{table}");
    let (_, json, _) = run(&[&files[..], &["-o", "json"]].concat());
    let document: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    let clusters = document["bindings"][0]["explanation"]["clusters"]
        .as_array()
        .expect("it is explained");
    let tiers: std::collections::BTreeSet<u64> =
        clusters.iter().filter_map(|cluster| cluster["tier"].as_u64()).collect();
    assert_eq!(tiers.first(), Some(&1), "{json}");
}

#[test]
fn standard_input_and_folders_are_read() {
    let fleet = std::fs::read(folder().join("fleet.yaml")).expect("the fixture is there");
    let mut child = divvy(&["schedule", "-f", "-", "-f", "scheduled.yaml"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary can be started");
    child
        .stdin
        .take()
        .expect("the input is a pipe")
        .write_all(&fleet)
        .expect("divvy reads its input");
    let output = child.wait_with_output().expect("divvy ends");
    let (_, of_files, _) = run(&["schedule", "-f", "fleet.yaml", "-f", "scheduled.yaml"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), of_files);
    let (exit, _, stderr) = run(&["schedule", "-f", "."]);
    assert_eq!(exit, Some(2));
    assert!(stderr.contains("error: ./malformed.yaml:4: "), "{stderr}");
}

#[test]
fn an_unknown_strategy_is_an_error_with_the_nearest_first() {
    check(
        &[
            "schedule",
            "-f",
            "fleet.yaml",
            "--strategy",
            "Avrage",
            "--profile",
            "three.toml",
        ],
        2,
        "",
        str![[r#"
error: unknown strategy `Avrage`
  hint: known, nearest first: Average, Duplicated, Specified

"#]],
    );
}

#[test]
fn a_strategy_argument_overrides_the_policies() {
    let files = ["schedule", "-f", "fleet.yaml", "-f", "unschedulable.yaml"];
    let (exit, stdout, _) = run(&[&files[..], &["--strategy", "StaticWeight"]].concat());
    assert_eq!(exit, Some(1));
    // StaticWeight follows the weights even if the replicas do not fit.
    let huge = stdout
        .lines()
        .find(|line| line.contains("huge"))
        .expect("it has a line");
    let words: Vec<&str> = huge.split_whitespace().collect();
    assert_eq!(
        words,
        ["shop/huge-deployment", "StaticWeight", "90", "-66", "Scheduled"]
    );
}

#[test]
fn with_assume_a_result_reduces_the_room_for_those_after_it() {
    let files = ["schedule", "-f", "fleet.yaml", "-f", "rivals.yaml", "-o", "json"];
    let results = |arguments: &[&str]| {
        let (_, stdout, _) = run(&[&files[..], arguments].concat());
        let document: serde_json::Value = serde_json::from_str(&stdout).expect("it is JSON");
        let rows = &document["bindings"];
        [rows[0]["result"].clone(), rows[1]["result"].clone()]
    };
    assert_eq!(results(&[]), ["Scheduled", "Scheduled"]);
    // The second binding has the higher priority, so the first one finds no room.
    assert_eq!(results(&["--assume"]), ["Unschedulable", "Scheduled"]);
}

#[test]
fn a_failing_plugin_exits_with_3_and_the_other_bindings_are_scheduled() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let profile = folder.path().join("profile.toml");
    let text = format!(
        "[[profile]]\nname = \"faulty\"\nextends = \"default\"\nassign = [\"duplicated\", \"average\", \"faulty\"]\n\
         [profile.plugin.faulty]\npath = {:?}\n",
        fixture("faulty")
    );
    std::fs::write(&profile, text).expect("the file can be written");
    let profile = profile.display().to_string();
    let (exit, stdout, stderr) = run(&[
        "schedule",
        "-f",
        "fleet.yaml",
        "-f",
        "scheduled.yaml",
        "-f",
        "faulty.yaml",
        "--profile",
        &profile,
    ]);
    assert_eq!(exit, Some(3), "{stderr}");
    // Standard output is for data, and standard error for Divvy's own lines: what an isolated plugin prints is a record of its log.
    let printed = " WARN printed by a plugin plugin=\"faulty\" binding=\"shop/faulty-deployment\" module=\"output\"\n";
    assert_eq!((stderr.as_str(), stdout.contains("printed")), (printed, false));
    assert!(
        stdout.contains("\n  plugin `faulty` panicked: assign panicked with 5 replicas (at "),
        "{stdout}"
    );
    assert!(
        stdout.contains("\n4 bindings: 2 scheduled, 1 in error, 1 skipped; 5 replicas missing\n"),
        "{stdout}"
    );
}

#[test]
fn a_closed_pipe_ends_the_output_without_an_error() {
    let mut child = divvy(&["schedule", "-f", "fleet.yaml", "-f", "scheduled.yaml"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary can be started");
    drop(child.stdout.take());
    let mut stderr = String::new();
    let mut pipe = child.stderr.take().expect("the errors are a pipe");
    pipe.read_to_string(&mut stderr).expect("errors are text");
    assert_eq!(stderr, "");
    assert_eq!(child.wait().expect("divvy ends").code(), Some(0));
}

#[test]
fn colour_is_limited_to_terminals_unless_requested() {
    let files = ["schedule", "-f", "fleet.yaml", "-f", "scheduled.yaml"];
    let (_, plain, _) = run(&files);
    assert!(!plain.contains('\u{1b}'));
    let (_, coloured, _) = run(&[&files[..], &["--color", "always"]].concat());
    assert!(coloured.contains("\u{1b}[32mScheduled\u{1b}[0m"), "{coloured}");
}
