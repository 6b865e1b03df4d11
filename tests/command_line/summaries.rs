//! Long results made short: the worst first, sums by namespace and policy, folded lists, and Markdown for a pull request.

use std::fs;

use serde_json::{Value, json};

use super::{divvy, run};
use crate::artifacts::{repository, workspace};
use crate::diff::schema::{committed, validate};

/// The demo fleet, in which a loss of Europe moves and loses replicas.
fn demo() -> String {
    repository().join("examples/fleet").display().to_string()
}

fn lose_europe(arguments: &[&str]) -> (Option<i32>, String, String) {
    run(&[&["diff", "-f", &demo(), "--fail", "region=europe"], arguments].concat())
}

#[track_caller]
fn parsed(text: &str, schema: &str) -> Value {
    let document: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let committed = committed(schema);
    validate(&committed, &committed, &document, schema).unwrap_or_else(|error| panic!("{error}"));
    document
}

#[test]
fn the_worst_changes_come_first_and_all_count() {
    let (exit, all, _) = lose_europe(&["-o", "json"]);
    let all = parsed(&all, "diff.json");
    let (again, top, _) = lose_europe(&["-o", "json", "--top", "2"]);
    let top = parsed(&top, "diff.json");
    assert_eq!((exit, &all["totals"]), (again, &top["totals"]));
    let lost = |row: &Value| row["movement"]["lost"].as_i64().unwrap();
    let mut worst: Vec<i64> = all["bindings"].as_array().unwrap().iter().map(lost).collect();
    worst.sort_unstable_by_key(|lost| std::cmp::Reverse(*lost));
    let shown: Vec<i64> = top["bindings"].as_array().unwrap().iter().map(lost).collect();
    assert_eq!(shown, worst[..2]);
    let (_, stdout, _) = lose_europe(&["--top", "2"]);
    assert!(
        stdout.contains(" bindings more, which `--top` leaves out\n"),
        "{stdout}"
    );
    // A limit that nothing exceeds leaves nothing out.
    let (_, stdout, _) = lose_europe(&["--top", "100"]);
    assert!(!stdout.contains("--top"), "{stdout}");
    let (exit, _, stderr) = lose_europe(&["--top", "-1"]);
    assert_eq!(exit, Some(2), "{stderr}");
}

#[test]
fn sums_by_namespace_and_policy_add_up() {
    for by in ["namespace", "policy"] {
        let (_, stdout, _) = lose_europe(&["-o", "json", "--sum", by]);
        let document = parsed(&stdout, "diff.json");
        let rows = document["sums"]["rows"].as_array().unwrap();
        assert_eq!(document["sums"]["by"], by);
        for key in ["changed", "moved", "lost", "newlyUnschedulable"] {
            let sum: i64 = rows.iter().map(|row| row[key].as_i64().unwrap()).sum();
            assert_eq!(json!(sum), document["totals"][key], "{by} {key}");
        }
        let names: Vec<&str> = rows.iter().map(|row| row["name"].as_str().unwrap()).collect();
        match by {
            "namespace" => assert_eq!(names, ["shop"]),
            _ => assert!(names.contains(&"PropagationPolicy shop/checkout"), "{names:?}"),
        }
        let (_, stdout, _) = lose_europe(&["--sum", by, "--top", "1"]);
        assert!(!stdout.contains("shop/checkout-cloneset"), "{stdout}");
        assert!(stdout.contains(&by.to_uppercase()), "{stdout}");
    }
}

#[test]
fn losses_can_be_counted_for_some_bindings_alone() {
    let each = |arguments: &[&str]| {
        let (_, stdout, stderr) = run(&[
            &["diff", "-f", &demo(), "--without-each", "region", "-o", "json"],
            arguments,
        ]
        .concat());
        assert!(!stdout.is_empty(), "{stderr}");
        parsed(&stdout, "without-each.json")
    };
    let sum = |document: &Value, key: &str| -> i64 {
        let rows = document["failures"].as_array().unwrap().iter();
        rows.map(|row| row[key].as_i64().unwrap()).sum()
    };
    let all = each(&[]);
    let bindings = ["cloneset/checkout", "deployment/*", "statefulset/*", "job/*"];
    for key in ["displaced", "rehomed", "lost", "newlyUnschedulable"] {
        let parts: i64 = bindings.iter().map(|binding| sum(&each(&[binding]), key)).sum();
        assert_eq!(parts, sum(&all, key), "{key}");
    }
    assert_eq!(all["totals"]["losses"], 3);
    let top = each(&["--top", "1"]);
    assert_eq!(top["failures"].as_array().unwrap().len(), 1);
    assert_eq!(top["totals"], all["totals"]);
    let (exit, _, stderr) = run(&["diff", "-f", &demo(), "--without-each", "region", "nothing"]);
    assert_eq!(exit, Some(2), "{stderr}");
}

#[test]
fn the_workloads_that_can_grow_least_come_first() {
    let (_, stdout, _) = run(&["headroom", "-f", &demo(), "--top", "2", "-o", "json"]);
    let document = parsed(&stdout, "headroom.json");
    let headroom: Vec<&Value> = document["bindings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| &row["headroom"])
        .collect();
    assert_eq!(headroom, [&json!(0), &json!(1)]);
    assert_eq!(document["totals"]["bindings"], 7);
    assert_eq!(document["totals"]["growing"], 6);
    let (_, stdout, _) = run(&["headroom", "-f", &demo(), "--top", "2"]);
    assert!(stdout.ends_with("\n2 of 7 bindings shown\n"), "{stdout}");
}

#[test]
fn the_decisions_that_need_attention_come_first_and_all_count() {
    let files = ["-f", "fleet.yaml", "-f", "scheduled.yaml", "-f", "unschedulable.yaml"];
    let (all, top) = (&["schedule"][..], &["schedule", "--top", "1"][..]);
    let (exit, stdout, _) = run(&[top, &files].concat());
    assert_eq!(exit, Some(1), "{stdout}");
    assert!(
        stdout.contains("shop/huge-deployment") && !stdout.contains("Scheduled\n"),
        "{stdout}"
    );
    assert!(
        stdout.ends_with("\n4 bindings more, which `--top` leaves out\n"),
        "{stdout}"
    );
    let document = |command: &[&str]| -> Value {
        let (exit, stdout, stderr) = run(&[command, &files, &["-o", "json"]].concat());
        assert_eq!(exit, Some(1), "{stderr}");
        serde_json::from_str(&stdout).expect("it is JSON")
    };
    let (all, top) = (document(all), document(top));
    assert_eq!(top["bindings"].as_array().map(Vec::len), Some(1), "{top}");
    assert_eq!(top["bindings"][0]["result"], "Unschedulable");
    assert_eq!(top["totals"], all["totals"]);
}

#[test]
fn profiles_are_compared_in_both_directions() {
    // The fleet has no room for 30 replicas, unless capacity is ignored.
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("web.yaml");
    let text = "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: p, namespace: shop}\nspec:\n  \
                resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]\n  placement: {replicaScheduling: {replicaSchedulingType: \
                Divided, replicaDivisionPreference: Aggregated}}\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, \
                namespace: shop}\nspec:\n  replicas: 90\n  template: {spec: {containers: [{name: c, resources: {requests: {cpu: \"1\"}}}]}}\n";
    fs::write(&file, text).expect("the file can be written");
    let file = file.display().to_string();
    let (exit, stdout, stderr) = run(&[
        "diff",
        "-f",
        "fleet.yaml",
        "-f",
        &file,
        "--strategy",
        "Duplicated",
        "--base",
        "default",
    ]);
    assert_eq!(exit, Some(0), "{stderr}");
    assert!(
        stdout.contains("; 1 newly schedulable\n") || stdout.contains("; 1 newly schedulable;"),
        "{stdout}"
    );
}

#[test]
fn a_binding_that_changes_on_many_clusters_has_a_short_line() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("many.yaml");
    let cluster = |number: usize| {
        format!(
            "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {{name: c{number:02}}}\nstatus:\n  apiEnablements: \
             [{{groupVersion: v1, resources: [{{kind: ConfigMap, name: configmaps}}]}}]\n  conditions: [{{type: Ready, status: \
             \"True\"}}, {{type: CompleteAPIEnablements, status: \"True\"}}]\n---\n"
        )
    };
    let text = "apiVersion: policy.karmada.io/v1alpha1\nkind: ClusterPropagationPolicy\nmetadata: {name: p}\nspec: {resourceSelectors: \
                [{apiVersion: v1, kind: ConfigMap}]}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: m, namespace: shop}\n";
    let clusters: String = (0..33).map(cluster).collect();
    fs::write(&file, clusters + text).expect("the file can be written");
    let file = file.display().to_string();
    let (_, stdout, stderr) = run(&["diff", "-f", &file]);
    assert!(stdout.contains("c07 new  and 25 more clusters\n"), "{stdout}{stderr}");
    let (_, stdout, _) = run(&["diff", "-f", &file, "-o", "wide"]);
    assert!(stdout.contains("c32 -→0"), "{stdout}");
    // Clusters without replicas are in the wide table of `schedule`.
    let (_, stdout, _) = run(&[
        "schedule",
        "-f",
        "fleet.yaml",
        "-f",
        "scheduled.yaml",
        "agent-deployment",
        "-o",
        "wide",
    ]);
    assert!(
        ["east-1", "east-2", "west-1"].iter().all(|name| stdout.contains(name)),
        "{stdout}"
    );
}

#[test]
fn the_comment_on_a_pull_request_is_markdown() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let new = folder.path().join("policies");
    fs::create_dir_all(&new).expect("the folder can be made");
    let old = repository().join("examples/fleet/workloads");
    for entry in fs::read_dir(&old).expect("the folder can be read") {
        let entry = entry.expect("the folder can be read");
        let text = fs::read_to_string(entry.path()).expect("the file can be read");
        // A mistake, which the comment must contain.
        let text = text.replace("name: edge-proxy\n", "name: edge-prox\n");
        fs::write(new.join(entry.file_name()), text).expect("the file can be written");
    }
    let binary = workspace().binary("divvy");
    let path = binary.parent().expect("it is in a folder").display().to_string() + ":/usr/bin:/bin";
    let environment = divvy(&[]);
    let variables = environment
        .get_envs()
        .filter_map(|(key, value)| Some((key.to_owned(), value?.to_owned())));
    let output = std::process::Command::new(repository().join("examples/pull-request/comment.sh"))
        .args([&demo(), &old.display().to_string(), &new.display().to_string()])
        .env_clear()
        .envs(variables)
        .env("PATH", path)
        .output()
        .expect("the script can be started");
    let text = String::from_utf8(output.stdout).expect("the comment is UTF-8");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{text}{errors}");
    for part in [
        "### Moves\n\n**profile default → profile default with --overlay",
        "### New findings on policies\n\n",
        "edge-prox",
        "### Workloads that no longer survive the loss of a region\n\n",
    ] {
        assert!(text.contains(part), "{part}: {text}{errors}");
    }
    assert!(!text.contains("ended with exit code"), "{text}{errors}");
}

#[test]
fn decisions_are_markdown_as_well() {
    let arguments = [
        "schedule",
        "-f",
        "fleet.yaml",
        "-f",
        "scheduled.yaml",
        "-f",
        "unschedulable.yaml",
    ];
    let (exit, table, _) = run(&arguments);
    let (markdown_exit, text, stderr) = run(&[&arguments[..], &["-o", "markdown"]].concat());
    assert_eq!(markdown_exit, exit, "{stderr}");
    assert!(text.starts_with("| BINDING | STRATEGY | REPLICAS |"), "{text}");
    let totals = table
        .lines()
        .find(|line| line.contains(" bindings: "))
        .expect("there are totals");
    assert!(text.contains(&format!("**{totals}**")), "{text}");
    let (_, explained, stderr) = run(&[&arguments[..], &["-o", "markdown", "--explain"]].concat());
    assert!(explained.len() > text.len(), "{explained}\n{stderr}");
}
