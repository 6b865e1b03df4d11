//! Choosing what is shown: names, namespaces, labels, clusters and output formats. Decisions never depend on it.

use std::fs;

use serde_json::Value;

use snapbox::str;

use super::{check, run};
use crate::diff::schema::{committed, validate};

const SCHEDULE: [&str; 5] = ["schedule", "-f", "fleet.yaml", "-f", "scheduled.yaml"];
const DIFF: [&str; 7] = ["diff", "-f", "fleet.yaml", "-f", "dump.yaml", "--drain", "west-1"];

#[track_caller]
fn json(command: &[&str], arguments: &[&str]) -> Value {
    let (_, stdout, stderr) = run(&[command, arguments, &["-o", "json"]].concat());
    serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stderr}"))
}

#[test]
fn what_is_shown_affects_no_decision_and_not_the_ledger() {
    // The second of two rivals is decided first and takes the room of the first.
    let rivals = ["schedule", "-f", "fleet.yaml", "-f", "rivals.yaml", "--assume"];
    let all = json(&rivals, &[]);
    for (index, name) in ["first-deployment", "second-deployment"].into_iter().enumerate() {
        for chosen in [json(&rivals, &[name]), json(&rivals, &["-n", "shop", name])] {
            assert_eq!(chosen["bindings"], serde_json::json!([all["bindings"][index]]));
            assert_eq!(chosen["clusters"], all["clusters"]);
            let totals = &chosen["totals"];
            assert_eq!((&totals["bindings"], &totals["decided"]), (&1.into(), &2.into()));
        }
    }
    let all = json(&DIFF, &[]);
    let one = json(&DIFF, &["deployment/web"]);
    assert_eq!(one["bindings"], serde_json::json!([all["bindings"][1]]));
    for key in ["totals", "clusters", "latent", "violations"] {
        assert_eq!(one[key], all[key], "{key}");
    }
    // Views are made from explanations, which decide nothing either.
    let views = json(&DIFF, &["--cluster", "*"]);
    for (view, row) in views["clusters"]
        .as_array()
        .into_iter()
        .flatten()
        .zip(all["clusters"].as_array().into_iter().flatten())
    {
        for key in ["name", "before", "base", "after", "resources"] {
            assert_eq!(view[key], row[key]);
        }
    }
    // A recording holds every decision, whatever is shown.
    let folder = tempfile::tempdir().expect("a folder can be made");
    let recorded = |arguments: &[&str]| {
        let path = folder.path().join("recording.jsonl").display().to_string();
        run(&[&SCHEDULE[..], &["--record", &path], arguments].concat());
        fs::read_to_string(path).expect("it was written")
    };
    let whole = recorded(&[]);
    assert_eq!(whole, recorded(&["cart-deployment"]));
    assert_eq!(whole, recorded(&["--cluster", "west-1"]));
    assert_eq!(whole, recorded(&["-q"]));
}

#[test]
fn names_namespaces_and_labels_choose_bindings() {
    check(
        &[
            "schedule",
            "-f",
            "fleet.yaml",
            "-f",
            "scheduled.yaml",
            "deployment/agent",
        ],
        0,
        str![[r#"
BINDING                STRATEGY    REPLICAS  RESULT
shop/agent-deployment  Duplicated    2 each  Scheduled
  on 2 clusters: east-1, west-1

1 binding: 1 scheduled
4 replicas on 2 of 3 clusters
1 of 3 bindings shown; all were decided

"#]],
        "",
    );
    let folder = tempfile::tempdir().expect("a folder can be made");
    let workloads = folder.path().join("workloads.yaml");
    let text = "\
{apiVersion: apps/v1, kind: Deployment, metadata: {name: cart, namespace: shop, labels: {app: cart, tier: gold}}, spec: {replicas: 9}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: agent, namespace: shop, labels: {app: agent}}, spec: {replicas: 2}}
";
    fs::write(&workloads, text).expect("the file can be written");
    let path = workloads.display().to_string();
    let shown = |selector: &str| {
        let rows = json(&SCHEDULE, &["-f", &path, "-l", selector]);
        let names = rows["bindings"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|row| row["binding"].as_str());
        names.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(shown("app=cart"), ["shop/cart-deployment"]);
    assert_eq!(shown("app in (cart, agent),tier!=gold"), ["shop/agent-deployment"]);
    assert_eq!(shown("!tier,app"), ["shop/agent-deployment"]);
}

#[test]
fn what_matches_nothing_is_named_with_the_nearest() {
    let cases: [(&[&str], &str); 6] = [
        (
            &["crt-deployment", "deployment/agnt"],
            "\
error: no binding matches `crt-deployment`
  hint: did you mean `cart-deployment`?
error: no binding matches `deployment/agnt`
  hint: did you mean `deployment/agent`?
",
        ),
        (
            &["-n", "shp"],
            "error: no binding is in the namespace `shp`\n  hint: did you mean `shop`?\n",
        ),
        (
            &["-l", "app=web"],
            "\
error: no workload has labels that match `app=web`
  hint: the input lacks the workloads of 3 of the bindings, so their labels are unknown
",
        ),
        (
            &["--cluster", "wst-1"],
            "error: no cluster matches `wst-1`\n  hint: did you mean `west-1`?\n",
        ),
        (
            &["fleet.yaml"],
            "\
error: no binding matches `fleet.yaml`
  hint: `fleet.yaml` is a path: manifests are passed with `-f fleet.yaml`
",
        ),
        (
            &["-l", "app=a=b"],
            "error: invalid value 'app=a=b' for '--selector <SELECTOR>': `app=a=b` is not a label selector",
        ),
    ];
    for (arguments, expected) in cases {
        let (exit, stdout, stderr) = run(&[&SCHEDULE[..], arguments].concat());
        assert_eq!((exit, stdout.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(stderr.starts_with(expected), "{arguments:?}: {stderr}");
    }
    let (exit, _, stderr) = run(&[&DIFF[..], &["wbe-deployment"]].concat());
    assert_eq!(exit, Some(2));
    assert_eq!(
        stderr,
        "error: no binding matches `wbe-deployment`\n  hint: did you mean `web-deployment`?\n"
    );
}

#[test]
fn the_exit_code_counts_what_is_hidden_and_a_note_says_so() {
    let (exit, _, stderr) = run(&[&SCHEDULE[..], &["-f", "unschedulable.yaml", "cart-deployment"]].concat());
    assert_eq!(
        (exit, stderr.as_str()),
        (Some(1), "note: bindings that are not shown determine the exit code\n")
    );
    let (exit, stdout, _) = run(&[&DIFF[..], &["web-deployment"]].concat());
    assert_eq!(exit, Some(0));
    assert!(
        stdout.contains("\nnot shown: 1 binding that changes or fails\n"),
        "{stdout}"
    );
}

#[test]
fn a_cluster_shows_its_replicas_before_and_after_and_the_reasons() {
    check(
        &[
            "schedule",
            "-f",
            "fleet.yaml",
            "-f",
            "scheduled.yaml",
            "--cluster",
            "east-2",
        ],
        0,
        str![[r#"
CLUSTER  REGION  BEFORE  AFTER  CHANGE  FULLEST
east-2   east         2      3      +1  cpu 20% → 30%

BINDING                 STRATEGY    HAS  GETS  CHANGE  FIT  WHY
shop/agent-deployment   Duplicated    -     -               rejected: cluster(s) had untolerated taint {maintenance=true:NoSchedule} [taint-toleration]
shop/cart-deployment    Average       2     3      +1    8  capacity 10: 3 each
shop/paused-deployment  Duplicated    -     -               Skipped: scheduling is suspended

1 of 3 bindings here; 2 → 3 replicas in all

"#]],
        "",
    );
    let (_, stdout, _) = run(&[&DIFF[..], &["--cluster", "east-2", "deployment/web"]].concat());
    let row = "shop/web-deployment  Average     2        2     5      +3    8  capacity 10: 5 each\n";
    assert!(stdout.contains(row), "{stdout}");
    let schema = committed("clusters.json");
    for command in [&SCHEDULE[..], &DIFF] {
        let document = json(command, &["--cluster", "region=east", "--cluster", "east-1"]);
        validate(&schema, &schema, &document, "clusters").unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(document["clusters"].as_array().map(Vec::len), Some(2));
        let views = document["clusters"].as_array().expect("a list");
        for key in ["before", "after"] {
            let sum: i64 = views.iter().filter_map(|view| view[key].as_i64()).sum();
            assert_eq!(document["totals"][key], sum, "{key}");
        }
        assert_eq!(document["totals"]["clusters"], 2);
    }
}

#[test]
fn formats_have_kubectls_meanings() {
    let printed = |command: &[&str], format: &str| run(&[command, &["-o", format]].concat());
    let names = "resourcebinding.work.karmada.io/agent-deployment\nresourcebinding.work.karmada.io/web-deployment\n";
    assert_eq!(printed(&DIFF, "name").1, names);
    let (exit, stdout, stderr) = printed(
        &DIFF,
        "jsonpath={.totals.moved} of {range .bindings[*]}{.binding},{end}{\"\\n\"}",
    );
    assert_eq!((exit, stderr.as_str()), (Some(0), ""));
    assert_eq!(stdout, "6 of shop/agent-deployment,shop/web-deployment,\n");
    let (.., stderr) = printed(&SCHEDULE, "jsonpath={.items[*].binding}");
    assert_eq!(
        stderr,
        "note: `.items[*].binding` matches nothing in the output; `-o json` shows what there is\n"
    );
    let (exit, _, stderr) = printed(&SCHEDULE, "jsonpath={[?(@.a=~/b/)]}");
    assert_eq!(exit, Some(2));
    assert!(
        stderr.starts_with("error: --output: `[?(@.a=~/b/)]` is not a path"),
        "{stderr}"
    );
    let (_, wide, _) = printed(&SCHEDULE, "wide");
    assert!(
        wide.contains("\nwest-1   west         5      5       0  cpu 20% → 10%\n"),
        "{wide}"
    );
}

#[test]
fn quiet_runs_print_nothing_but_errors() {
    for command in [
        &SCHEDULE[..],
        &DIFF,
        &["headroom", "-f", "fleet.yaml", "-f", "dump.yaml"],
    ] {
        let (exit, stdout, stderr) = run(&[command, &["-q"]].concat());
        assert_eq!((exit, stdout.as_str(), stderr.as_str()), (Some(0), "", ""));
    }
    check(
        &["schedule", "-f", "fleet.yaml", "-f", "unschedulable.yaml", "-q"],
        1,
        "",
        "",
    );
    let (exit, _, stderr) = run(&["schedule", "-f", "nowhere", "-q"]);
    assert_eq!(exit, Some(2));
    assert!(stderr.starts_with("error: `nowhere` does not exist\n"), "{stderr}");
}
