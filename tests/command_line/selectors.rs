//! A profile with two selectors, the first of which is a third party's.

use super::{check, run};
use crate::artifacts::fixture;

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
    let list = "select = [\n    \"few-per-provider\",\n    \"spread-constraints\",\n]\n";
    assert!(stdout.contains(list), "{stdout}");
    let recording = folder.path().join("recording.jsonl").display().to_string();
    let input = ["-f", "fleet.yaml", "-f", "scheduled.yaml", "--profile", &profile];
    let (exit, stdout, stderr) = run(&[&["schedule", "-o", "json", "--record", &recording][..], &input].concat());
    assert_eq!(exit, Some(0), "{stderr}");
    let rows: serde_json::Value = serde_json::from_str(&stdout).expect("it is JSON");
    let cart = rows
        .as_array()
        .expect("it is a list")
        .iter()
        .find(|row| row["strategy"] == "Average");
    // All clusters have one provider.
    let clusters = &cart.expect("there is the cart")["clusters"];
    assert_eq!(clusters, &serde_json::json!([{ "name": "west-1", "replicas": 9 }]));
    let (exit, stdout, stderr) = run(&["replay", &recording]);
    assert_eq!(exit, Some(0), "{stdout}{stderr}");
}

#[test]
fn counters_and_histograms_of_plugins_are_printed_on_request() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let profile = profile(folder.path(), "[\"few-per-provider\", \"spread-constraints\"]");
    let arguments = ["schedule", "-f", "fleet.yaml", "-f", "scheduled.yaml", "--profile", &profile];
    let (exit, _, stderr) = run(&arguments);
    assert_eq!((exit, stderr.as_str()), (Some(0), ""));
    let (exit, stdout, stderr) = run(&[&arguments[..], &["-v"]].concat());
    assert_eq!(exit, Some(0), "{stderr}");
    let lines: Vec<&str> = stderr.lines().map(str::trim_start).filter(|line| line.contains("few-per-provider")).collect();
    let expected = [
        "INFO plugin counted plugin=\"few-per-provider\" counter=\"clusters_left_out\" value=3",
        "INFO plugin measured plugin=\"few-per-provider\" histogram=\"providers\" values=2 sum=2.0",
    ];
    assert!(lines.ends_with(&expected), "{stderr}");
    assert!(!stdout.contains("clusters_left_out"));
}

#[test]
fn a_selector_in_the_wrong_place_is_reported_with_its_line() {
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
