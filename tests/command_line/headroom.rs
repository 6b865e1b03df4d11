//! `divvy headroom`.

use serde_json::Value;

use snapbox::str;

use super::{check, run};
use crate::diff::schema::{committed, validate};

/// Runs `divvy headroom` on the fleet and the dump.
fn headroom(arguments: &[&str]) -> (Option<i32>, String, String) {
    run(&[&["headroom", "-f", "fleet.yaml", "-f", "dump.yaml"], arguments].concat())
}

/// The document of a run.
#[track_caller]
fn document(arguments: &[&str]) -> Value {
    let (_, json, stderr) = headroom(&[arguments, &["-o", "json"]].concat());
    serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error}: {stderr}"))
}

#[test]
fn every_workload_is_listed_with_what_stops_the_next_replica() {
    check(
        &["headroom", "-f", "fleet.yaml", "-f", "dump.yaml"],
        0,
        str![[r#"
profile default

BINDING                 STRATEGY    REPLICAS  MOST  HEADROOM  STOPPED BY
shop/agent-deployment   Duplicated         2   any            nothing, capacity is ignored; 92 fit: 93 would exceed pods on east-1, west-1; 1 cluster rejected (taint-toleration)
shop/paused-deployment  Duplicated         3                  scheduling is suspended
shop/web-deployment     Average           10    42       +32  cpu in 3 of 3 candidates

"#]],
        "",
    );
}

#[test]
fn present_replicas_that_do_not_schedule_exit_with_1() {
    check(
        &["headroom", "-f", "fleet.yaml", "-f", "unschedulable.yaml"],
        1,
        str![[r#"
profile default

BINDING                STRATEGY    REPLICAS  MOST  HEADROOM  STOPPED BY
shop/huge-deployment   Average           90    24       −66  cpu in 2 of 2 candidates; 1 cluster rejected (taint-toleration)
  now Unschedulable: 90 replicas requested, 24 fit in the candidate clusters
shop/model-deployment  Duplicated         1  none            0/3 clusters are available: 2 cluster(s) did not match the placement cluster affinity constraint, 1 cluster(s) had untolerated taint {maintenance=true:NoSchedule}

"#]],
        "",
    );
    let (exit, stdout, _) = run(&["headroom", "-f", "fleet.yaml", "-f", "meaningless.yaml"]);
    assert_eq!(exit, Some(2), "an invalid binding");
    // A count that the policy fixes.
    let fixed = "3     3         0  the specified counts sum to 3, but the binding has 4 replicas";
    assert!(stdout.contains(fixed), "{stdout}");
}

/// A bound of a tree keeps a cluster from growing that has room.
#[test]
fn a_bound_that_stops_the_next_replica_is_named_rather_than_a_resource() {
    check(
        &["headroom", "-f", "fleet.yaml", "-f", "tree.yaml", "--no-assume"],
        1,
        str![[r#"
profile default (--no-assume: each binding on its own)

BINDING                  STRATEGY  REPLICAS  MOST  HEADROOM  STOPPED BY
shop/bounded-deployment  Tree             2    21       +19  22 replicas cannot be divided so that all of these hold: east gets at most 5; west has room for 16 (cpu in 1 of 2 candidates); 1 cluster rejected (taint-toleration)
shop/western-deployment  Tree            20    16        −4  17 replicas requested, 16 fit in the candidate clusters of the tree: west has room for 16 (cpu in 1 of 2 candidates); 1 cluster rejected (taint-toleration)
  now Unschedulable: 20 replicas requested, 16 fit in the candidate clusters of the tree: west has room for 16

"#]],
        "",
    );
}

#[test]
fn what_others_take_is_not_free_unless_each_is_alone() {
    let most = |arguments: &[&str]| {
        let files = ["headroom", "-f", "fleet.yaml", "-f", "rivals.yaml", "-o", "json"];
        let (_, json, _) = run(&[&files[..], arguments].concat());
        let document: Value = serde_json::from_str(&json).expect("it is JSON");
        [0, 1].map(|index| document["bindings"][index]["most"].as_i64())
    };
    // 24 fit. The second has the higher priority and takes 15.
    assert_eq!(most(&[]), [Some(9), Some(24)]);
    assert_eq!(most(&["--no-assume"]), [Some(24), Some(24)]);
}

#[test]
fn changes_are_made_first_and_names_choose() {
    let row = |arguments: &[&str]| document(&[&["deployment/web"], arguments].concat())["bindings"][0].clone();
    assert_eq!(document(&["web-*"])["bindings"].as_array().map(Vec::len), Some(1));
    assert_eq!(row(&[])["most"], 42);
    // 20 CPUs of 42 are gone with `west-1`: 16 that are free, and its own six.
    assert_eq!(row(&["--without", "west-1"])["most"], 20);
    let alone = run(&[
        "headroom",
        "-f",
        "fleet.yaml",
        "--cpu",
        "1",
        "--strategy",
        "Average",
        "-o",
        "json",
    ]);
    assert_eq!(alone.0, Some(0), "no binding is needed: {}", alone.2);
    let stop = &row(&["--strategy", "StaticWeight"]);
    assert_eq!(
        (&stop["unbounded"], &stop["fits"]),
        (&true.into(), &31.into()),
        "{stop}"
    );
}

#[test]
fn the_number_reported_schedules_in_diff_and_the_next_one_does_not() {
    for (replicas, exit) in [("42", 0), ("43", 1)] {
        let scaled = format!("web-deployment={replicas}");
        let (actual, stdout, _) = run(&["diff", "-f", "fleet.yaml", "-f", "dump.yaml", "--replicas", &scaled]);
        assert_eq!(actual, Some(exit), "{stdout}");
    }
}

#[test]
fn a_workload_that_does_not_exist_is_measured_by_its_requests() {
    check(
        &[
            "headroom",
            "-f",
            "fleet.yaml",
            "-f",
            "dump.yaml",
            "--cpu",
            "3",
            "--strategy",
            "DynamicWeight",
        ],
        0,
        str![[r#"
profile default, strategy DynamicWeight

BINDING       STRATEGY       REPLICAS  MOST  HEADROOM  STOPPED BY
hypothetical  DynamicWeight         0     7        +7  cpu in 2 of 2 candidates; 1 cluster rejected (taint-toleration)

"#]],
        "",
    );
    let most = |arguments: &[&str]| document(arguments)["bindings"][0]["most"].clone();
    // With the placement and the requests of a binding, then with other requests.
    assert_eq!(most(&["--replicas-of", "deployment/web"]), 24);
    assert_eq!(most(&["--replicas-of", "deployment/web", "--cpu", "3"]), 7);
    assert_eq!(
        most(&["--cpu", "1", "--clusters", "west-*", "--strategy", "Average"]),
        16
    );
    let gpu = document(&["--request", "nvidia.com/gpu=1", "--strategy", "Average"]);
    let row = &gpu["bindings"][0];
    assert_eq!((&row["most"], &row["result"]), (&Value::Null, &"Unschedulable".into()));
    assert_eq!(row["stop"]["resources"][0]["resource"], "nvidia.com/gpu");
}

#[test]
fn the_document_keeps_its_schema() {
    let schema = committed("headroom.json");
    for arguments in [
        &[][..],
        &["--strategy", "Aggregated"],
        &["--cpu", "100", "--strategy", "Average"],
    ] {
        let document = document(arguments);
        validate(&schema, &schema, &document, "headroom").unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(document["format"], 1);
    }
    let (_, yaml, _) = headroom(&["-o", "yaml"]);
    assert!(yaml.starts_with("format: 1\n"), "{yaml}");
}

#[test]
fn names_that_match_nothing_and_contradictions_exit_with_2() {
    let cases: [(&[&str], &str); 6] = [
        (
            &["deployment/weeb"],
            "error: no binding matches `deployment/weeb`\n  hint: did you mean `deployment/web`?\n",
        ),
        (
            &["--cpu", "1"],
            "error: the strategy that divides the workload's replicas is not known\n  hint: pass `--strategy NAME`",
        ),
        (
            &["--replicas-of", "shop/*"],
            "error: `--replicas-of shop/*` matches 3 bindings, and takes one\n  hint: name one of them: \
             `shop/agent-deployment`, `shop/paused-deployment`, …\n",
        ),
        (
            &["--cpu", "1", "--request", "cpu=2", "--strategy", "Average"],
            "error: `--cpu` and `--request cpu` both set the request for `cpu`\n",
        ),
        (&["--cpu=-1", "--strategy", "Average"], "error: "),
        (
            &["--clusters", "north-*", "--strategy", "Average"],
            "error: `--clusters north-*` matches no cluster\n",
        ),
    ];
    for (arguments, expected) in cases {
        let (exit, stdout, stderr) = headroom(arguments);
        assert_eq!((exit, stdout.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(stderr.starts_with(expected), "{arguments:?}: {stderr}");
    }
}
