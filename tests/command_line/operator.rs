//! Problems that an operator met and that no other test covers: unusual input, and messages that name the location.

use std::fs;

use super::run;

/// Schedules a Deployment of two replicas under a policy with this placement, beside the fleet, with further arguments.
fn placed(placement: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("web.yaml");
    let text = format!(
        "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {{name: p, namespace: shop}}\n\
         spec:\n  resourceSelectors: [{{apiVersion: apps/v1, kind: Deployment}}]\n  placement: {placement}\n---\n\
         apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web, namespace: shop}}\nspec: {{replicas: 2}}\n"
    );
    fs::write(&file, text).expect("the file can be written");
    let file = file.display().to_string();
    run(&[&["schedule", "-f", "fleet.yaml", "-f", &file], arguments].concat())
}

#[test]
fn a_toleration_without_a_key_is_read_as_karmada_reads_it() {
    // `west-1` has a taint with this value.
    let (exit, stdout, stderr) = placed(
        "{clusterTolerations: [{operator: Equal, value: \"true\", effect: NoSchedule}]}",
        &[],
    );
    assert_eq!(exit, Some(0), "{stderr}");
    assert!(stdout.contains("on 3 clusters: east-1, east-2, west-1"), "{stdout}");
}

#[test]
fn weights_below_one_are_refused_with_their_location() {
    for weight in [-1, 0] {
        let list = format!("[{{targetCluster: {{clusterNames: [east-1]}}, weight: {weight}}}]");
        let placement = format!(
            "{{replicaScheduling: {{replicaSchedulingType: Divided, replicaDivisionPreference: Weighted, \
             weightPreference: {{staticWeightList: {list}}}}}}}"
        );
        let (exit, _, stderr) = placed(&placement, &[]);
        assert_eq!(exit, Some(2), "{stderr}");
        let expected = format!(
            "web.yaml:6: spec.placement.replicaScheduling.weightPreference.staticWeightList[0].weight: expected at least 1, got `{weight}`"
        );
        assert!(stderr.contains(&expected), "{stderr}");
        // Where no one checks what Karmada would refuse, the plugin that reads the weights does.
        let (exit, stdout, stderr) = placed(&placement, &["--validate", "ignore"]);
        assert_eq!(exit, Some(2), "{stderr}");
        let expected = format!("staticWeightList[0]: expected `weight` of at least 1, got {weight}");
        assert!(stdout.contains(&expected), "{stdout}");
        assert!(stdout.contains("policy PropagationPolicy shop/p"), "{stdout}");
    }
}

/// The policy is in another file than the workload, and its annotation in a line of its own.
#[test]
fn an_error_of_an_annotation_names_the_file_and_the_line_of_the_annotation() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let policies = [
        (
            "policy.yaml",
            "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata:\n  name: p\n  namespace: shop\n  annotations:\n    \
             divvy.io/quorum: 101%\nspec:\n  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]\n",
        ),
        (
            "policy.json",
            "{\"apiVersion\": \"policy.karmada.io/v1alpha1\",\n\"kind\": \"PropagationPolicy\",\n\"metadata\": {\n\"name\": \"p\",\n\"namespace\": \
             \"shop\",\n\"annotations\": {\n\"divvy.io/quorum\": \"101%\"}},\n\"spec\": {\"resourceSelectors\": [{\"apiVersion\": \
             \"apps/v1\", \"kind\": \"Deployment\"}]}}\n",
        ),
    ];
    let workload = folder.path().join("web.yaml");
    let text = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec: {replicas: 2}\n";
    fs::write(&workload, text).expect("the file can be written");
    let workload = workload.display().to_string();
    for (name, text) in policies {
        let policy = folder.path().join(name);
        fs::write(&policy, text).expect("the file can be written");
        let policy = policy.display().to_string();
        let expected = format!("{policy}:7; policy PropagationPolicy shop/p; binding in {workload}:1");
        for command in [
            &["schedule"][..],
            &["schedule", "-q"],
            &["diff", "--drain", "east-1"],
            &["diff", "--drain", "east-1", "--strict", "-q"],
            &["headroom"],
            &["headroom", "-q"],
            &["rebalance"],
        ] {
            let files = ["-f", "fleet.yaml", "-f", &policy, "-f", &workload];
            let (_, stdout, stderr) = run(&[command, &files].concat());
            assert!(
                stdout.contains(&expected) != stderr.contains(&expected),
                "{command:?} {name}: {stdout}{stderr}"
            );
        }
    }
}

/// Whether the text, a key, a value or an entry of a list is wrong, and whether the strategy's plugin refuses it or another.
#[test]
fn an_error_of_preferences_names_the_line_of_their_annotation() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let weightless = "{\"staticWeightList\": [{\"targetCluster\": {\"clusterNames\": [\"east-1\"]}, \"weight\": 0}]}";
    let workload = folder.path().join("web.yaml");
    let text = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec: {replicas: 2}\n";
    fs::write(&workload, text).expect("the file can be written");
    let workload = workload.display().to_string();
    let policy = folder.path().join("policy.yaml");
    for (annotation, preferences, told) in [
        ("divvy.io/preferences", "{", "not valid JSON"),
        (
            "divvy.io/preferences",
            "{\"weightList\": []}",
            "unknown key `weightList`",
        ),
        ("divvy.io/preferences", weightless, "staticWeightList[0]"),
        (
            "divvy.io/preferences.static-weight",
            "{\"weightList\": []}",
            "unknown key `weightList`",
        ),
        (
            "divvy.io/preferences.cluster-affinity",
            "{\"strict\": true}",
            "unknown key `strict`",
        ),
    ] {
        let text = format!(
            "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata:\n  name: p\n  namespace: shop\n  annotations:\n    \
             divvy.io/strategy: StaticWeight\n    {annotation}: '{preferences}'\nspec:\n  resourceSelectors: [{{apiVersion: apps/v1, kind: \
             Deployment}}]\n"
        );
        fs::write(&policy, text).expect("the file can be written");
        let policy = policy.display().to_string();
        let expected = format!("{policy}:8; policy PropagationPolicy shop/p; binding in {workload}:1");
        for command in [&["schedule"][..], &["diff", "--drain", "east-1"], &["headroom"]] {
            let files = ["-f", "fleet.yaml", "-f", &policy, "-f", &workload];
            let (exit, stdout, stderr) = run(&[command, &files].concat());
            let said = format!("{stdout}{stderr}");
            assert!(
                said.contains(&expected) && said.contains(told),
                "{command:?} {annotation} {preferences}: {said}"
            );
            // What was invalid before is not the fault of a change.
            assert_eq!(
                exit == Some(0),
                command[0] == "diff",
                "{command:?} {annotation}: {said}"
            );
        }
    }
}

/// Warnings about an annotation name its line as well.
#[test]
fn a_warning_about_an_annotation_names_its_line() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("web.yaml");
    let text = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec: {replicas: 2}\n---\n\
                apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata:\n  name: p\n  namespace: shop\n  annotations:\n    \
                divvy.io/preferences.carbom: '{}'\nspec: {resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]}\n";
    fs::write(&file, text).expect("the file can be written");
    let file = file.display().to_string();
    let (_, _, stderr) = run(&["schedule", "-f", "fleet.yaml", "-f", &file]);
    assert!(
        stderr.contains("the profile has no plugin `carbom`") && stderr.contains(&format!("({file}:12)\n")),
        "{stderr}"
    );
}

#[test]
fn utf_16_is_recognised() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("web.yaml");
    let units = "\u{feff}kind: ConfigMap\n".encode_utf16().flat_map(u16::to_le_bytes);
    fs::write(&file, units.collect::<Vec<u8>>()).expect("the file can be written");
    let (exit, stdout, stderr) = run(&["schedule", "-f", &file.display().to_string()]);
    assert_eq!((exit, stdout.as_str()), (Some(2), ""));
    assert!(
        stderr.contains("hint: the file is UTF-16: save it as UTF-8\n"),
        "{stderr}"
    );
}

#[test]
fn a_device_without_an_end_is_refused_at_once() {
    let (exit, _, stderr) = run(&["schedule", "-f", "/dev/zero"]);
    assert_eq!(exit, Some(2));
    assert!(stderr.starts_with("error: `/dev/zero` is not text"), "{stderr}");
}

#[test]
fn a_recorded_profile_that_extends_another_is_replayed() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (profile, recording) = (path("profile.toml"), path("recording.jsonl"));
    let text = "[[profile]]\nname = 'mine'\nextends = 'karmada'\nseed = 7\n";
    fs::write(&profile, text).expect("the file can be written");
    let files = ["schedule", "-f", "fleet.yaml", "-f", "scheduled.yaml"];
    let (exit, _, stderr) = run(&[&files[..], &["--profile", &profile, "--record", &recording]].concat());
    assert_eq!(exit, Some(0), "{stderr}");
    let (exit, _, stderr) = run(&["replay", &recording]);
    assert_eq!(
        (exit, stderr.contains("0 failed") || stderr.is_empty()),
        (Some(0), true),
        "{stderr}"
    );
}

#[test]
fn the_version_is_a_command_too() {
    let (exit, stdout, stderr) = run(&["version"]);
    assert_eq!((exit, stderr.as_str()), (Some(0), ""));
    assert!(
        stdout.starts_with("divvy ") && stdout.contains("plugin ABI"),
        "{stdout}"
    );
    assert_eq!(stdout, run(&["--version"]).1);
}

#[test]
fn a_seed_that_is_not_one_is_refused_in_plain_words() {
    for command in [&["schedule", "-f", "fleet.yaml"][..], &["plugin", "verify", "average"]] {
        for seed in ["-1", "x", "18446744073709551616"] {
            let (exit, _, stderr) = run(&[command, &["--seed", seed]].concat());
            let expected = format!(
                "error: invalid value '{seed}' for '--seed <NUMBER>': expected a whole number from 0 to 18446744073709551615\n"
            );
            assert_eq!(exit, Some(2));
            assert!(stderr.starts_with(&expected), "{stderr}");
        }
    }
}
