//! `on-error`: what happens to a binding if a filter or a score fails.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::{divvy, divvy_json, file, scheduled};
use crate::c_interface::hostile::HOSTILE;
use crate::manifests::{binding, cluster, list};

fn profile(name: &str, lists: &str, on_error: &str) -> PathBuf {
    let text = format!(
        "[[profile]]\nname = 'skip'\nextends = 'default'\n{lists}\n[profile.plugin.hostile]\npath = '{}'\nallow-uncertified = true\n\
         isolation = 'process'\ndeadline = '1s'\non-error = '{on_error}'\n",
        HOSTILE.display()
    );
    file(name, &text)
}

const FILTER_AND_SCORE: &str = "filters = ['cluster-affinity', 'hostile']\nscores = ['hostile']";

/// Two clusters, and a binding per point at which the plugin crashes, and one at which it does not.
fn objects() -> PathBuf {
    let mut objects: Vec<Value> = vec![cluster("a", 9).into(), cluster("b", 9).into()];
    objects.extend(["filter", "none", "score"].map(|point| {
        binding(point, 3)
            .strategy("Average")
            .annotation("hostile.example/fault", "segmentation fault")
            .annotation("hostile.example/point", point)
            .into()
    }));
    file("skip.json", &list(objects))
}

#[test]
fn a_decision_goes_on_without_a_plugin_that_may_be_skipped() {
    let (objects, profile) = (objects(), profile("skip.toml", FILTER_AND_SCORE, "skip"));
    let (objects, profile) = (objects.to_str().expect("ASCII"), profile.to_str().expect("ASCII"));
    let recording = file("skip.jsonl", "");
    let recording = recording.to_str().expect("ASCII");
    let schedule = [
        "schedule",
        "-f",
        objects,
        "--profile",
        profile,
        "-o",
        "json",
        "--explain",
    ];
    let (exit, decided, log) = divvy_json(&[&schedule[..], &["--record", recording]].concat());
    assert_eq!(exit, Some(0), "{log}");
    let decided = decided["bindings"].as_array().expect("a list");
    assert_eq!(decided.len(), 3, "no binding is lost");
    for (binding, (name, call)) in decided
        .iter()
        .zip([("filter", "Filter"), ("none", ""), ("score", "Score")])
    {
        let replicas: i64 = binding["clusters"]
            .as_array()
            .expect("a result")
            .iter()
            .filter_map(|cluster| cluster["replicas"].as_i64())
            .sum();
        assert_eq!(replicas, 3, "{binding:#}");
        let skipped = &binding["explanation"]["skipped"];
        if call.is_empty() {
            assert_eq!(*skipped, Value::Null);
            continue;
        }
        assert_eq!(skipped[0]["plugin"], "hostile", "{name}");
        let reason = skipped[0]["reason"].as_str().expect("a reason");
        assert_eq!(
            reason,
            format!("plugin `hostile` failed in {call}: its worker was ended by SIGSEGV while it was to answer a call")
        );
        // Once a warning for both bindings would name the call.
        assert!(
            log.contains(&format!("decided without plugin `hostile`: {reason}")),
            "{log}"
        );
    }

    // The recording names what was skipped, and a replay does not ask the plugin.
    let cases = std::fs::read_to_string(recording).expect("a recording");
    let cases: Vec<Value> = cases
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .filter(|line: &Value| line["kind"] == "Case")
        .collect();
    let skipped: Vec<bool> = cases
        .iter()
        .map(|case| case["skipped"][0]["plugin"] == "hostile")
        .collect();
    assert_eq!(skipped, [true, false, true]);
    let (exit, _, log) = divvy(&["replay", recording, "--profile", profile]);
    assert_eq!(exit, Some(0), "{log}");
}

#[test]
fn a_binding_waits_for_a_plugin_that_may_not_be_skipped() {
    let (objects, profile) = (objects(), profile("fail.toml", FILTER_AND_SCORE, "fail"));
    let (exit, decided, log) = scheduled(&objects, &profile, &[]);
    assert_eq!(exit, Some(3), "{log}");
    let results: Vec<bool> = decided
        .as_array()
        .expect("a list")
        .iter()
        .map(|binding| {
            binding["clusters"]
                .as_array()
                .is_some_and(|clusters| !clusters.is_empty())
        })
        .collect();
    assert_eq!(json!(results), json!([false, true, false]));
}

#[test]
fn only_filters_and_scores_can_be_skipped() {
    let lists = "filters = ['cluster-affinity', 'hostile']\nselect = ['hostile']";
    let profile = profile("skip-select.toml", lists, "skip");
    let (exit, _, log) = divvy(&["profile", "check", "--profile", profile.to_str().expect("ASCII")]);
    assert_eq!(exit, Some(2), "{log}");
    assert!(
        log.contains("`hostile` cannot be skipped if it fails: the profile uses it for more than filters and scores"),
        "{log}"
    );
    let profile = file(
        "skip-spread.toml",
        "[[profile]]\nname = 'skip'\nextends = 'default'\n[profile.plugin.spread-constraints]\non-error = 'skip'\n",
    );
    let (exit, _, log) = divvy(&["profile", "check", "--profile", profile.to_str().expect("ASCII")]);
    assert_eq!(exit, Some(2), "{log}");
    assert!(
        log.contains("cannot be skipped if it fails: it enforces spread constraints"),
        "{log}"
    );
}

/// What a dead worker costs is paid three times, and not once for each binding.
#[test]
fn a_plugin_is_not_called_after_its_worker_failed_three_times_in_a_row() {
    let mut objects: Vec<Value> = vec![cluster("a", 99).into()];
    objects.extend((0..6).map(|number| {
        let fault = if number < 5 { "abort" } else { "none" };
        binding(&format!("binding-{number}"), 3)
            .strategy("Average")
            .annotation("hostile.example/fault", fault)
            .annotation("hostile.example/point", "filter")
            .into()
    }));
    let objects = file("suspended.json", &list(objects));
    let profile = profile("suspended.toml", FILTER_AND_SCORE, "fail");
    let (exit, decided, log) = divvy_json(&[
        "schedule",
        "-f",
        objects.to_str().expect("ASCII"),
        "--assume",
        "--profile",
        profile.to_str().expect("ASCII"),
        "-o",
        "json",
    ]);
    assert_eq!(exit, Some(3), "{log}");
    let errors = decided["bindings"].as_array().expect("a list").iter();
    let errors = errors.map(ToString::to_string);
    let suspended: Vec<bool> = errors
        .map(|error| error.contains("is not called after its worker failed for 3 bindings in a row; the last time, its worker was ended by SIGABRT"))
        .collect();
    assert_eq!(suspended, [false, false, false, true, true, true]);
}
