//! `--time`, and plugins that read the time.

use serde_json::Value;

use super::{divvy, fixture, run};

/// A profile whose filter closes regions for a while, and a policy that closes the region of east-1 and east-2.
fn files(folder: &std::path::Path) -> [String; 2] {
    let profile = folder.join("profile.toml");
    let text = format!(
        "[[profile]]\nname = \"windows\"\nextends = \"default\"\nfilters = [\"windows\"]\n\
         [profile.plugin.windows]\npath = {:?}\n",
        fixture("windows")
    );
    std::fs::write(&profile, text).expect("the file can be written");
    let manifest = folder.join("web.yaml");
    std::fs::write(
        &manifest,
        r#"apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata:
  name: web
  namespace: shop
  annotations:
    divvy.io/preferences.windows: '{"closed": [{"region": "closed", "from": 1773453600000, "until": 1773460800000}]}'
spec:
  resourceSelectors:
  - {apiVersion: apps/v1, kind: Deployment}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec: {replicas: 1}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: a}
spec: {region: closed, syncMode: Push}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: b}
spec: {region: open, syncMode: Push}
"#,
    )
    .expect("the file can be written");
    [profile, manifest].map(|path| path.display().to_string())
}

/// The clusters and the time until which the result holds.
fn decided(profile: &str, manifest: &str, time: &str) -> (Vec<String>, Value) {
    let arguments = [
        "schedule",
        "-f",
        manifest,
        "--profile",
        profile,
        "--time",
        time,
        "-o",
        "json",
    ];
    let (exit, stdout, stderr) = run(&arguments);
    assert_eq!((exit, stderr.as_str()), (Some(0), ""));
    let document: Value = serde_json::from_str(&stdout).expect("JSON");
    let rows = &document["bindings"];
    let clusters = rows[0]["clusters"].as_array().expect("a list");
    let names = clusters
        .iter()
        .map(|cluster| cluster["name"].as_str().unwrap_or_default().to_owned());
    (names.collect(), rows[0]["validUntil"].clone())
}

#[test]
fn plugins_decide_as_of_the_given_time() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let [profile, manifest] = files(folder.path());
    let cases = [
        (
            "2026-03-14T01:59:59Z",
            vec!["a", "b"],
            Value::from("2026-03-14T02:00:00Z"),
        ),
        ("2026-03-14T02:00:00Z", vec!["b"], Value::from("2026-03-14T04:00:00Z")),
        (
            "2026-03-14T03:00:00+01:00",
            vec!["b"],
            Value::from("2026-03-14T04:00:00Z"),
        ),
        ("1773453600000", vec!["b"], Value::from("2026-03-14T04:00:00Z")),
        ("2026-03-14T04:00:00Z", vec!["a", "b"], Value::Null),
    ];
    for (time, clusters, valid_until) in cases {
        let clusters: Vec<String> = clusters.into_iter().map(str::to_owned).collect();
        assert_eq!(decided(&profile, &manifest, time), (clusters, valid_until), "{time}");
    }
    let (exit, stdout, stderr) = run(&["schedule", "-f", &manifest, "--profile", &profile, "--time", "noon"]);
    assert_eq!((exit, stdout.as_str()), (Some(2), ""));
    assert!(
        stderr.contains(
            "expected a timestamp like `2026-01-02T15:04:05Z`, got `noon`; milliseconds since 1970 are accepted"
        ),
        "{stderr}"
    );
}

#[test]
fn a_replay_uses_the_recorded_time_and_refuses_to_go_without_one() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let [profile, manifest] = files(folder.path());
    let recording = folder.path().join("recording.jsonl").display().to_string();
    let schedule = ["schedule", "-f", &manifest, "--profile", &profile];
    let output = divvy(&schedule)
        .args(["--time", "2026-03-14T03:00:00Z", "--record", &recording])
        .output()
        .expect("the binary can be started");
    assert!(output.status.success());
    let replayed = || run(&["replay", &recording]);
    let (exit, stdout, stderr) = replayed();
    assert_eq!(exit, Some(0), "{stdout}{stderr}");
    let text = std::fs::read_to_string(&recording).expect("the recording can be read");
    let time = "\"time\":1773457200000,";
    assert!(text.contains(time), "{text}");
    // As an older version would have written it.
    std::fs::write(&recording, text.replace(time, "")).expect("the recording can be written");
    let (exit, stdout, stderr) = replayed();
    assert_eq!((exit, stdout.as_str()), (Some(2), ""));
    assert_eq!(
        stderr,
        format!(
            "error: {recording}:3: case `shop/web-deployment`: plugin `windows` needs the time of the decision, which is not \
             known\n  hint: record the decisions with `--time`, or under a profile with a plugin that reads the time\n"
        )
    );
}

#[test]
fn preferences_for_plugins_are_checked_by_their_names() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let [profile, manifest] = files(folder.path());
    let text = std::fs::read_to_string(&manifest).expect("the manifest can be read");
    let misspelt = text.replace("preferences.windows", "preferences.window");
    std::fs::write(&manifest, misspelt).expect("the manifest can be written");
    let (exit, _, stderr) = run(&["schedule", "-f", &manifest, "--profile", &profile]);
    assert_eq!(exit, Some(0), "{stderr}");
    assert!(
        stderr.contains(
            "PropagationPolicy shop/web's `divvy.io/preferences.window`: the profile has no plugin `window`; ignoring it"
        ) && stderr.contains("did you mean `divvy.io/preferences.windows`?"),
        "{stderr}"
    );
    let (exit, stdout, stderr) = run(&["plugin", "show", "windows", "--load", "--profile", &profile]);
    assert_eq!((exit, stderr.as_str()), (Some(0), ""));
    assert!(
        stdout.contains("divvy.io/preferences.windows")
            && stdout.contains("metadata of policy and workload, time of the decision"),
        "{stdout}"
    );
}
