//! A profile with two selectors, the first of which is a third party's.

use divvy_framework_view::reason::{Bound, Cause, Decider};
use serde_json::{Value, json};

use super::{STRATEGIES, check, run};
use crate::artifacts::fixture;
use crate::diff::schema::{committed_at, validate};

/// Writes a profile with this `select`, and returns its path.
fn profile(folder: &std::path::Path, select: &str) -> String {
    let file = folder.join("profile.toml");
    let text = format!(
        "[[profile]]\nname = \"narrow\"\nextends = \"default\"\nselect = {select}\n\
         [profile.plugin.few-per-provider]\npath = {:?}\n",
        fixture("few-per-provider")
    );
    std::fs::write(&file, text).expect("the file can be written");
    file.display().to_string()
}

#[test]
fn a_list_of_selectors_is_checked_shown_recorded_and_replayed() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let profile = profile(folder.path(), "[\"few-per-provider\", \"spread-constraints\"]");
    let (exit, stdout, _) = run(&["profile", "check", "--profile", &profile]);
    assert_eq!(exit, Some(0));
    let line = "  select      few-per-provider, spread-constraints";
    assert!(stdout.lines().any(|shown| shown == line), "{stdout}");
    let (_, stdout, _) = run(&["profile", "show", "--profile", &profile]);
    let list = format!(
        "select = [\n    \"few-per-provider\",    # {profile}:4\n    \"spread-constraints\",  # {profile}:4\n]\n"
    );
    assert!(stdout.contains(&list), "{stdout}");
    let recording = folder.path().join("recording.jsonl").display().to_string();
    let input = ["-f", "fleet.yaml", "-f", "scheduled.yaml", "--profile", &profile];
    let (exit, stdout, stderr) = run(&[&["schedule", "-o", "json", "--record", &recording][..], &input].concat());
    assert_eq!(exit, Some(0), "{stderr}");
    let document: Value = serde_json::from_str(&stdout).expect("it is JSON");
    let cart = document["bindings"]
        .as_array()
        .expect("it is a list")
        .iter()
        .find(|row| row["strategy"] == "Average");
    // All clusters have one provider.
    let clusters = &cart.expect("there is the cart")["clusters"];
    assert_eq!(clusters, &json!([{ "name": "west-1", "replicas": 9, "free": 12 }]));
    let (exit, stdout, stderr) = run(&["replay", &recording]);
    assert_eq!(exit, Some(0), "{stdout}{stderr}");
}

#[test]
fn counters_and_histograms_of_plugins_are_printed_on_request() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let profile = profile(folder.path(), "[\"few-per-provider\", \"spread-constraints\"]");
    let arguments = [
        "schedule",
        "-f",
        "fleet.yaml",
        "-f",
        "scheduled.yaml",
        "--profile",
        &profile,
    ];
    let (exit, _, stderr) = run(&arguments);
    assert_eq!((exit, stderr.as_str()), (Some(0), ""));
    let (exit, stdout, stderr) = run(&[&arguments[..], &["-v"]].concat());
    assert_eq!(exit, Some(0), "{stderr}");
    let lines: Vec<&str> = stderr
        .lines()
        .map(str::trim_start)
        .filter(|line| line.contains("few-per-provider"))
        .collect();
    let expected = [
        "INFO plugin counted plugin=\"few-per-provider\" counter=\"clusters_left_out\" value=3",
        "INFO plugin measured plugin=\"few-per-provider\" histogram=\"providers\" values=2 sum=2.0",
    ];
    assert!(lines.ends_with(&expected), "{stderr}");
    assert!(!stdout.contains("clusters_left_out"));
}

#[test]
fn a_selector_in_the_wrong_position_is_reported_with_its_line() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let profile = profile(folder.path(), "[\n\"spread-constraints\",\n\"few-per-provider\"]");
    let message = format!(
        "\
error: {profile}:6: `select` lists `few-per-provider` after `spread-constraints`, which enforces spread constraints
  hint: put `few-per-provider` before `spread-constraints`
error: 1 problem in the profile
"
    );
    check(&["profile", "check", "--profile", &profile], 2, "", &message);
}

#[test]
fn the_schema_lists_every_word_of_a_reason() {
    let schema = committed_at("host/desk/cli/schema/schedule.json");
    let words = |pointer: &str| schema.pointer(pointer).cloned().unwrap_or_default();
    let causes: Vec<&str> = Cause::ALL.iter().map(|cause| cause.word()).collect();
    assert_eq!(words("/$defs/Reason/properties/cause/enum"), json!(causes));
    let bounds: Vec<&str> = Bound::ALL.iter().map(|bound| bound.word()).collect();
    assert_eq!(words("/$defs/Reason/properties/boundBy/enum"), json!(bounds));
    let deciders: Vec<&str> = Decider::ALL.iter().map(|decider| decider.word()).collect();
    assert_eq!(words("/$defs/Remainder/properties/decidedBy/enum"), json!(deciders));
}

/// The cluster with this name in the explanation of the only binding with a strategy.
fn explained<'a>(rows: &'a Value, strategy: &str, name: &str) -> &'a Value {
    let mut rows = rows.as_array().expect("it is a list").iter();
    let row = rows
        .find(|row| row["strategy"] == strategy)
        .expect("there is a binding");
    let mut clusters = row["explanation"]["clusters"]
        .as_array()
        .expect("it is explained")
        .iter();
    clusters
        .find(|cluster| cluster["name"] == name)
        .expect("there is the cluster")
}

#[test]
fn an_explanation_as_data_follows_its_schema() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let profile = profile(folder.path(), "[\"few-per-provider\", \"spread-constraints\"]");
    let schema = committed_at("host/desk/cli/schema/schedule.json");
    let decided = |arguments: &[&str]| -> Value {
        let (_, stdout, stderr) = run(&[&["schedule", "-o", "json"][..], arguments].concat());
        let document: Value = serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stderr}"));
        validate(&schema, &schema, &document, "$").unwrap_or_else(|error| panic!("{arguments:?}: {error}"));
        document["bindings"].clone()
    };
    let fleet = "../../../examples/fleet";
    for strategy in STRATEGIES {
        let rows = decided(&["-f", fleet, "--explain", "--strategy", strategy]);
        let has_reason = |row: &Value| row.pointer("/explanation/clusters/0/candidate").is_some();
        assert!(
            rows.as_array().is_some_and(|rows| rows.iter().any(has_reason)),
            "{strategy}"
        );
    }
    decided(&["-f", fleet, "--explain"]);
    decided(&["-f", fleet]);
    decided(&[
        "-f",
        "fleet.yaml",
        "-f",
        "unschedulable.yaml",
        "-f",
        "meaningless.yaml",
        "--explain",
    ]);
    let rows = decided(&[
        "-f",
        "fleet.yaml",
        "-f",
        "scheduled.yaml",
        "--profile",
        &profile,
        "--explain",
    ]);
    // A third party's selector says why it left a cluster out.
    assert_eq!(
        explained(&rows, "Average", "east-1")["leftOut"],
        json!({
            "plugin": "few-per-provider",
            "reason": {
                "plugin": "few-per-provider",
                "cause": "beyondMaximum",
                "boundBy": "cap",
                "figures": { "maximum": 1 },
                "text": "others come first, at most 1 may be chosen; p has 1 already",
            },
        })
    );
    let west = explained(&rows, "Average", "west-1");
    assert_eq!(west["reasons"][0]["cause"], "even");
    assert_eq!(west["scores"][0]["reason"]["cause"], "listed");
    let rejected = &explained(&rows, "Duplicated", "east-2")["rejected"];
    assert_eq!(rejected["plugin"], "taint-toleration");
}

#[test]
fn an_explanation_says_which_selector_left_a_cluster_out_and_why() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let profile = profile(folder.path(), "[\"few-per-provider\", \"spread-constraints\"]");
    let input = ["-f", "fleet.yaml", "-f", "scheduled.yaml", "--profile", &profile];
    let (exit, stdout, _) = run(&[&["schedule", "--explain"][..], &input].concat());
    assert_eq!(exit, Some(0));
    let line =
        "  not selected: east-1 (by few-per-provider: others come first, at most 1 may be chosen; p has 1 already; ";
    assert!(stdout.lines().any(|shown| shown.starts_with(line)), "{stdout}");
}
