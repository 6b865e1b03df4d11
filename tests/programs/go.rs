//! The filter in Go: built with the header alone, inspected, loaded, and checked like any other plugin.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::artifacts::repository;
use crate::manifests::{binding, cluster, list};
use crate::run;

fn folder() -> PathBuf {
    repository().join("examples/go-plugin")
}

/// Runs Go in the folder of the example. It is fetched if none is installed.
#[track_caller]
fn go(arguments: &[&str]) {
    let mut command = Command::new(repository().join("tests/control-plane/go"));
    command.args(arguments).current_dir(folder()).env("CGO_ENABLED", "1");
    let output = command.output().expect("the script can be started");
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{messages}");
}

/// The library, in a folder of its own, and the example's profile beside it.
fn library() -> &'static Path {
    static LIBRARY: LazyLock<PathBuf> = LazyLock::new(|| {
        let built = Path::new(env!("CARGO_TARGET_TMPDIR")).join("go-plugin");
        std::fs::create_dir_all(&built).expect("the folder can be made");
        let library = built.join("libdivvy_plugin_name_pattern.so");
        let output = library.display().to_string();
        go(&[
            "build",
            "-buildvcs=false",
            "-buildmode=c-shared",
            "-trimpath",
            "-ldflags=-s -w",
            "-o",
            &output,
            ".",
        ]);
        std::fs::copy(folder().join("profile.toml"), built.join("profile.toml")).expect("it can be copied");
        library
    });
    &LIBRARY
}

fn profile() -> String {
    library().with_file_name("profile.toml").display().to_string()
}

#[test]
fn its_own_tests_pass() {
    go(&["vet", "."]);
    go(&["test", "."]);
}

#[test]
fn it_is_inspected_without_being_opened() {
    let path = library().display().to_string();
    let arguments = ["plugin", "inspect", &path, "--profile", &profile(), "-o", "json"];
    let (exit, stdout, stderr) = run(&arguments);
    let report: Value = serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stderr}"));
    assert_eq!((exit, &report["verdict"]), (Some(0), &json!({ "loads": true })));
    let plugin = &report["plugins"][0];
    let said = ["name", "version", "language", "extensionPoints", "promises"].map(|key| &plugin[key]);
    let expected = [
        json!("name-pattern"),
        json!("1.0.0"),
        json!("go"),
        json!(["Filter"]),
        json!(["judges each cluster alone"]),
    ];
    assert_eq!(said, expected.each_ref());
    let (exit, stdout, stderr) = run(&[&arguments[..], &["--load"]].concat());
    assert_eq!(exit, Some(0), "{stderr}");
    let report: Value = serde_json::from_str(&stdout).expect("it is JSON");
    assert_eq!(report["configurationSchema"]["required"], json!(["pattern"]));
}

/// Decides on a binding with 4 replicas and clusters with these names.
#[track_caller]
fn decide(profile: &str, clusters: &[&str]) -> (Option<i32>, Value, String) {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let manifest = folder.path().join("manifest.json");
    let asked = binding("web", 4).strategy("Average");
    let clusters = clusters.iter().map(|name| cluster(name, 9).into());
    std::fs::write(&manifest, list(clusters.chain([asked.into()]))).expect("the manifest can be written");
    let manifest = manifest.display().to_string();
    let (exit, stdout, stderr) = run(&["schedule", "-f", &manifest, "--profile", profile, "-o", "json"]);
    let decisions: Value = serde_json::from_str(&stdout).unwrap_or_default();
    (exit, decisions["bindings"][0].clone(), stderr)
}

#[test]
fn it_decides_with_a_profile_that_names_it() {
    let (exit, decision, stderr) = decide(&profile(), &["eu-west", "us-east", "ap-south"]);
    assert_eq!(exit, Some(0), "{stderr}");
    let names = decision["clusters"].as_array().expect("a list").iter();
    let names: Vec<(&Value, &Value)> = names.map(|cluster| (&cluster["name"], &cluster["replicas"])).collect();
    assert_eq!(names, [(&json!("eu-west"), &json!(2)), (&json!("us-east"), &json!(2))]);
    let (exit, decision, stderr) = decide(&profile(), &["ap-south", "sa-east"]);
    assert_eq!(exit, Some(1), "{stderr}");
    assert_eq!(
        decision["message"],
        "0/2 clusters are available: 2 cluster(s) did not match the pattern of names"
    );
}

#[test]
fn it_refuses_an_invalid_pattern() {
    let text = std::fs::read_to_string(folder().join("profile.toml")).expect("it can be read");
    let broken = library().with_file_name("broken.toml");
    let changed = text.replace("^(eu|us)-", "(");
    assert_ne!(text, changed);
    std::fs::write(&broken, changed).expect("it can be written");
    let (exit, _, stderr) = decide(&broken.display().to_string(), &["eu-west"]);
    assert_eq!(exit, Some(2));
    let message = "configuration of plugin `name-pattern`: error parsing regexp: missing closing ): `(`";
    assert!(stderr.contains(message), "{stderr}");
}

#[test]
fn it_keeps_every_contract() {
    let (exit, stdout, stderr) = run(&[
        "plugin",
        "verify",
        "name-pattern",
        "--profile",
        &profile(),
        "--runs",
        "3",
    ]);
    assert_eq!(exit, Some(0), "{stdout}{stderr}");
    assert!(stdout.contains("keeps its contracts in all of "), "{stdout}");
}
