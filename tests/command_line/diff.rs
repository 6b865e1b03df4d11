//! `divvy diff`.

use serde_json::Value;

use snapbox::{IntoData, str};

use super::{check, check_text, run};
use crate::diff::schema::{committed, validate};

/// Runs `divvy diff` on the fleet and the dump.
fn diff(arguments: &[&str]) -> (Option<i32>, String, String) {
    run(&[&["diff", "-f", "fleet.yaml", "-f", "dump.yaml"], arguments].concat())
}

/// Runs `divvy diff` and checks that it refuses its arguments with these lines.
#[track_caller]
fn check_refused(arguments: &[&str], stderr: impl IntoData) {
    let (exit, stdout, actual) = diff(arguments);
    check_text(&format!("standard error of {arguments:?}"), &actual, stderr);
    assert_eq!((exit, stdout.as_str()), (Some(2), ""), "{arguments:?}");
}

#[test]
fn a_drain_prints_both_sides_then_bindings_then_clusters_then_sums() {
    check(
        &["diff", "-f", "fleet.yaml", "-f", "dump.yaml", "--drain", "west-1"],
        0,
        str![[r#"
profile default → profile default with --drain west-1

BINDING                STRATEGY    REPLICAS  CHANGE
shop/agent-deployment  Duplicated         2  west-1 −2
  2 replicas missing
shop/web-deployment    Average           10  east-1 +3  east-2 +3  west-1 −6

CLUSTER  REGION  BEFORE  AFTER  CHANGE  FULLEST
east-1   east         7     10      +3  cpu 20% → 50%
east-2   east         2      5      +3  cpu 20% → 50%
west-1   west         8      0      −8  pods 10% → 2%

2 bindings change: 6 replicas moved, 2 removed; 2 replicas newly missing in copies of duplicated workloads
violations: 2 replicas on clusters that would refuse them today (--violations lists them)

"#]],
        "",
    );
}

#[test]
fn without_changes_it_shows_pending_moves() {
    check(
        &["diff", "-f", "fleet.yaml", "-f", "dump.yaml"],
        0,
        str![[r#"
the assigned clusters → profile default

nothing changes
latent: 1 binding would be placed differently if rescheduled (--latent lists them)
violations: 2 replicas on clusters that would refuse them today (--violations lists them)

"#]],
        "",
    );
}

#[test]
fn stranded_replicas_exit_with_1() {
    let (exit, stdout, _) = diff(&["--without", "east-1"]);
    assert_eq!(exit, Some(1), "{stdout}");
    let rows = "\
shop/paused-deployment  Duplicated         3  east-1 −3
  Skipped: scheduling is suspended
  3 replicas stranded
shop/web-deployment     Average           10  east-1 −2  east-2 +3  west-1 −1
";
    assert!(stdout.contains(rows), "{stdout}");
    assert!(
        stdout.contains("east-1   east         7      0      −7  gone\n"),
        "{stdout}"
    );
}

#[test]
fn limits_and_changes_exit_with_1_only_if_requested() {
    let drain = ["--drain", "west-1"];
    let cases = [
        (vec![], 0),
        (vec!["--exit-code"], 1),
        (vec!["--max-moved", "6"], 0),
        (vec!["--max-moved", "5"], 1),
        (vec!["--max-moved", "36%"], 0),
        (vec!["--max-moved", "35%"], 1),
        (vec!["--max-moved", "0"], 1),
    ];
    for (flags, expected) in cases {
        let (exit, ..) = diff(&[&drain[..], &flags].concat());
        assert_eq!(exit, Some(expected), "{flags:?}");
    }
    assert_eq!(diff(&["--exit-code"]).0, Some(0));
    let (.., stderr) = diff(&["--drain", "west-1", "--max-moved", "5"]);
    assert_eq!(stderr, "error: 6 replicas move, more than `--max-moved` allows (5)\n");
}

#[test]
fn growth_on_a_cordoned_cluster_is_noted() {
    let (exit, stdout, stderr) = diff(&["--replicas", "deployment/web=x1.5", "--cordon", "region=east"]);
    assert_eq!(exit, Some(0));
    assert!(
        stdout.contains("1 binding changes: 1 replica moved, 5 added\n"),
        "{stdout}"
    );
    assert_eq!(
        stderr,
        "\
note: `east-1` is cordoned, but 1 binding with replicas there still grows: shop/web-deployment +3
note: `east-2` is cordoned, but 1 binding with replicas there still grows: shop/web-deployment +3
"
    );
}

#[test]
fn an_overlay_is_laid_over_the_input_and_lists_are_printed_on_request() {
    let (exit, stdout, stderr) = diff(&["--overlay", "overlay.yaml", "--latent", "--violations"]);
    assert_eq!((exit, stderr.as_str()), (Some(0), ""));
    let rows = "\
shop/agent-deployment  Duplicated         2  east-2 +2

CLUSTER  REGION  BEFORE  AFTER  CHANGE  FULLEST
east-2   east         2      4      +2  cpu 20% → 20%

OVERLAY  OBJECT
changed  Cluster east-2

LATENT               IF RESCHEDULED
shop/web-deployment  east-1 +1  east-2 +1  west-1 −2

VIOLATION            CLUSTER  REPLICAS
shop/web-deployment  east-2          2
";
    assert!(stdout.contains(rows), "{stdout}");
}

#[test]
fn an_overlay_without_an_object_is_named() {
    check_refused(
        &["--overlay", "no-object.yaml"],
        str![[r#"
warning: `no-object.yaml` holds no object
error: the input holds no object
error: 1 problem in the input; nothing is scheduled

"#]],
    );
}

#[test]
fn a_negative_limit_is_refused_as_a_number() {
    let (exit, stdout, stderr) = diff(&["--max-moved", "-3"]);
    assert_eq!((exit, stdout.as_str()), (Some(2), ""));
    let expected = "error: invalid value '-3' for '--max-moved <N|P%>': expected a number such as `40`, or a share such as `10%`\n";
    assert!(stderr.starts_with(expected), "{stderr}");
}

#[test]
fn no_execute_taints_evict_only_if_requested() {
    let (_, stdout, stderr) = diff(&["--overlay", "tainted.yaml"]);
    assert!(stdout.contains("\nnothing changes\n"), "{stdout}");
    assert_eq!(
        stderr,
        "note: 2 bindings (8 replicas) would leave clusters with NoExecute taints if eviction were on; `--evict-no-execute` shows it\n"
    );
    let (_, stdout, stderr) = diff(&["--overlay", "tainted.yaml", "--evict-no-execute"]);
    assert!(
        stdout.contains(
            "2 bindings change: 6 replicas moved, 2 removed; 2 replicas newly missing in copies of duplicated workloads\n"
        ),
        "{stdout}"
    );
    assert_eq!(stderr, "");
}

#[test]
fn the_loss_of_each_cluster_is_listed_worst_first() {
    check(
        &[
            "diff",
            "-f",
            "fleet.yaml",
            "-f",
            "dump.yaml",
            "--without-each",
            "cluster",
        ],
        1,
        str![[r#"
profile default, without each cluster

WITHOUT  CLUSTERS  DISPLACED  REHOMED  REMOVED  LOST  MISSING  UNSCHEDULABLE  IN ERROR  BEYOND  TIGHTEST
east-1          1          7        2        2     3        5              0         0       0  east-2 cpu 50%
west-1          1          8        6        2     0        2              0         0       0  east-1 cpu 50%
east-2          1          2        2        0     0        0              0         0       0  east-1 cpu 50%

2 of 3 losses are absorbed without losing a replica; copies of duplicated workloads are missing after 1 of them

"#]],
        "",
    );
}

#[test]
fn the_order_of_changes_changes_nothing() {
    let forward = diff(&[
        "--drain",
        "west-1",
        "--replicas",
        "web-deployment=+2",
        "--drain",
        "east-2",
        "-o",
        "json",
    ]);
    let backward = diff(&[
        "--replicas",
        "web-deployment=+2",
        "-o",
        "json",
        "--drain",
        "east-2",
        "--drain",
        "west-1",
    ]);
    assert_eq!(forward, backward);
}

#[test]
fn json_and_yaml_keep_their_schemas() {
    let cases: [(&str, &[&str]); 3] = [
        ("diff.json", &["--without", "east-1", "--latent", "--violations"]),
        ("diff.json", &["--strategy", "Aggregated"]),
        ("without-each.json", &["--without-each", "zone"]),
    ];
    for (name, arguments) in cases {
        let schema = committed(name);
        let (_, json, _) = diff(&[arguments, &["-o", "json"]].concat());
        let document: Value = serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error}: {json}"));
        validate(&schema, &schema, &document, name).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(document["format"], 1);
        let (_, yaml, _) = diff(&[arguments, &["-o", "yaml"]].concat());
        assert!(yaml.starts_with("format: 1\n"), "{yaml}");
    }
    // The check itself finds what does not fit.
    let schema = committed("diff.json");
    let wrong = serde_json::json!({"format": "1"});
    assert!(validate(&schema, &schema, &wrong, "").is_err());
}

#[test]
fn deciding_each_binding_on_its_own_is_reported_in_the_first_line() {
    let (_, stdout, _) = diff(&["--no-assume", "--drain", "west-1"]);
    let first = stdout.lines().next();
    let expected = "profile default → profile default with --drain west-1 (--no-assume: each binding on its own)";
    assert_eq!(first, Some(expected));
}

#[test]
fn another_profile_is_named_on_its_side() {
    let (exit, stdout, stderr) = diff(&["--base", "default", "--profile", "three.toml"]);
    assert_eq!((exit, stderr.as_str()), (Some(0), ""));
    assert!(stdout.starts_with("profile default → profile three\n"), "{stdout}");
}

#[test]
fn changes_are_printed_as_they_are_passed() {
    let (_, stdout, _) = diff(&["--reschedule", "all", "--replicas", "web-deployment=+20%"]);
    let first = "profile default → profile default with --replicas web-deployment=+20% --reschedule all\n";
    assert!(stdout.starts_with(first), "{stdout}");
}

#[test]
fn changes_that_match_nothing_are_refused_together() {
    check_refused(
        &["--drain", "wset-1", "--without", "provider=q", "--replicas", "web=3"],
        str![[r#"
error: `--drain wset-1` matches no cluster
  hint: did you mean `west-1`?
error: `--without provider=q` matches no cluster
  hint: clusters are chosen by name, glob, `region=`, `zone=`, `provider=` or `label:KEY=VALUE`
error: `--replicas web` matches no binding with replicas
  hint: bindings are chosen as `NAMESPACE/BINDING` or `KIND/NAME`, for instance `deployment/web`; quote globs

"#]],
    );
}

#[test]
fn contradictions_are_refused() {
    check_refused(
        &["--without", "west-1", "--cordon", "region=west"],
        str![[r#"
error: `--without` removes the cluster `west-1`, which `--cordon` changes
  hint: leave one of them out

"#]],
    );
    check_refused(
        &["--without", "east-2", "--overlay", "overlay.yaml"],
        str![[r#"
error: `--without` removes the cluster `east-2`, which `--overlay` changes
  hint: leave one of them out

"#]],
    );
    check_refused(
        &["--replicas", "shop/*=+1", "--replicas", "web-deployment=5"],
        str![[r#"
error: `shop/web-deployment` would have 11 replicas by `--replicas shop/*=+1`, and 5 by `--replicas web-deployment=5`
  hint: leave one of them out

"#]],
    );
}

#[test]
fn malformed_numbers_and_choices_are_refused() {
    let cases: [&[&str]; 12] = [
        &["--replicas", "web-deployment=lots"],
        &["--replicas", "web-deployment=-1"],
        &["--replicas", "web-deployment=99999999999"],
        &["--replicas", "web-deployment=x"],
        &["--replicas", "web-deployment"],
        &["--replicas", "=3"],
        &["--replicas", "web-deployment=x999999999"],
        &["--max-moved", "ten"],
        &["--max-moved", "-1"],
        &["--drain", "region="],
        &["--cordon", ""],
        &["--reschedule", "a/b/c/d"],
    ];
    for arguments in cases {
        let (exit, stdout, stderr) = diff(arguments);
        assert_eq!((exit, stdout.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(stderr.starts_with("error: "), "{arguments:?}: {stderr}");
    }
}

#[test]
fn an_input_without_clusters_or_bindings_is_refused() {
    check(
        &["diff", "-f", "fleet.yaml"],
        2,
        "",
        str![[r#"
warning: the input holds no binding, and no workload that a policy matches
error: there is nothing to compare: the input needs clusters and bindings, or workloads with policies

"#]],
    );
    let (exit, stdout, _) = run(&["diff", "-f", "-"]);
    assert_eq!((exit, stdout.as_str()), (Some(2), ""));
}

#[test]
fn replicas_on_missing_clusters_are_refused_unless_they_count_as_lost() {
    let input = ["diff", "-f", "overlay.yaml", "-f", "dump.yaml"];
    let (exit, stdout, stderr) = run(&input);
    assert_eq!((exit, stdout.as_str()), (Some(2), ""));
    assert_eq!(
        stderr,
        "\
warning: the cluster has no `status.resourceSummary`, so its capacity counts as 0
  in: Cluster east-2 (overlay.yaml:2)
error: bindings are assigned to clusters that the input lacks: `east-1` (7 replicas), `west-1` (8 replicas)
  hint: add the clusters to the input, or pass `--missing-clusters lost` if they are gone
"
    );
    let (exit, stdout, _) = run(&[&input[..], &["--missing-clusters", "lost"]].concat());
    assert_eq!(exit, Some(1), "{stdout}");
    assert!(stdout.contains("lost"), "{stdout}");
}
