//! `divvy rebalance --apply`, as far as it can be refused without a control plane: nothing is written then.

use std::fs;

use serde_json::{Value, json};

use super::rebalance::{crowded, divided, run_on};

/// What `divvy rebalance` with an option answers about a plan, in which the file is `PLAN`.
fn carry_out(option: &str, plan: &str) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("plan.json");
    fs::write(&file, plan).expect("the file can be written");
    let file = file.display().to_string();
    let (code, stdout, stderr) = run_on(&fleet(), "rebalance", &[option, &file]);
    (code, stdout, stderr.replace(&file, "PLAN"))
}

/// A fleet in which something waits that a move places.
fn fleet() -> Vec<Value> {
    crowded("Deployment", &divided("Aggregated"))
}

/// A plan as `divvy rebalance -o json` prints it.
fn printed() -> String {
    let (code, stdout, stderr) = run_on(&fleet(), "rebalance", &["-o", "json"]);
    assert_eq!(code, Some(0), "{stderr}");
    stdout
}

#[test]
fn a_plan_that_was_printed_is_read_and_needs_a_control_plane() {
    for option in ["--apply", "--status", "--abort"] {
        let (code, stdout, stderr) = carry_out(option, &printed());
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{option}");
        assert_eq!(
            stderr,
            "error: a plan is carried out on a control plane, and none is named\n  hint: name it with `--kubeconfig`\n"
        );
    }
}

#[test]
fn a_plan_that_was_changed_is_refused_with_every_field_that_no_plan_has() {
    let mut plan: Value = serde_json::from_str(&printed()).expect("it is JSON");
    plan["moves"][0]["clusters"][0]["after"] = json!(-3);
    plan["waiting"][0]["clusters"][0]["after"] = json!(1_i64 << 40);
    let again = plan["moves"][0].clone();
    plan["moves"].as_array_mut().expect("a list").push(again);
    let (code, stdout, stderr) = carry_out("--apply", &plan.to_string());
    assert_eq!((code, stdout.as_str()), (Some(2), ""));
    let hint = "  hint: a plan is what `divvy rebalance -o json` prints\n";
    let problems = [
        "waiting[0].clusters[0].after: expected 0 to 2147483647 replicas, got 1099511627776",
        "moves[0].clusters[0].after: expected 0 to 2147483647 replicas, got -3",
        "moves[1].binding: `shop/web` is in the plan twice, first at `moves[0]`",
        "moves[1].clusters[0].after: expected 0 to 2147483647 replicas, got -3",
    ];
    let problems: String = problems
        .map(|problem| format!("error: PLAN:1: {problem}\n{hint}"))
        .concat();
    assert_eq!(
        stderr,
        format!("{problems}error: 4 problems in the plan; nothing is written\n")
    );
}

#[test]
fn a_field_that_no_plan_has_is_refused_with_the_nearest() {
    let plan = printed().replacen("\"after\":", "\"aftr\":", 1);
    let (code, stdout, stderr) = carry_out("--apply", &plan);
    assert_eq!((code, stdout.as_str()), (Some(2), ""));
    assert!(
        stderr.contains("unknown key `aftr`\n  hint: did you mean `after`?"),
        "{stderr}"
    );
    assert!(stderr.ends_with("in the plan; nothing is written\n"), "{stderr}");
}
