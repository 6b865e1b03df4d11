//! The `divvy` binary: the folders in which it finds plugins, and its decisions on the examples.
//!
//! Its output and exit codes are tested in `command_line`.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::artifacts::{self, repository};
use crate::manifests::{binding, cluster, list};

/// The binary in Cargo's target directory, with the plugins beside it.
fn divvy() -> Command {
    command(artifacts::workspace().binary("divvy"))
}

/// A command for a binary, without environment variables that name plugins.
fn command(binary: &Path) -> Command {
    let mut command = Command::new(binary);
    command
        .env_remove("DIVVY_PLUGIN_PATH")
        .env_remove("DIVVY_LOG")
        .stdin(Stdio::null());
    command
}

/// A manifest in a temporary folder, which is deleted when the first value is dropped.
fn manifest(objects: impl IntoIterator<Item = Value>) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("there is room for a temporary folder");
    let file = folder.path().join("manifest.json");
    fs::write(&file, list(objects)).expect("the file can be written");
    let path = file.to_str().expect("temporary folders are named in UTF-8").to_owned();
    (folder, path)
}

#[track_caller]
fn run(command: &mut Command, code: i32) -> Output {
    let output = command.output().expect("the binary can be started");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{command:?}\n{stderr}");
    output
}

/// `binding: cluster=count …` of each decision.
#[track_caller]
fn results(output: &Output) -> Vec<String> {
    let document: Value = serde_json::from_slice(&output.stdout).expect("the result is JSON");
    let decisions = document["bindings"].as_array().expect("a list");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    decisions
        .iter()
        .map(|decision| {
            let clusters = decision["clusters"].as_array().expect("a list");
            let parts = clusters
                .iter()
                .map(|cluster| format!(" {}={}", text(&cluster["name"]), cluster["replicas"]));
            format!(
                "{} {}:{}",
                text(&decision["binding"]),
                text(&decision["result"]),
                parts.collect::<String>()
            )
        })
        .collect()
}

fn six_on_three() -> Vec<Value> {
    let clusters = ["a", "b", "c"].map(|name| cluster(name, 9).into());
    clusters
        .into_iter()
        .chain([binding("web", 6).strategy("Average").into()])
        .collect()
}

const TWO_EACH: &str = "default/web Scheduled: a=2 b=2 c=2";

#[test]
fn plugins_are_found_beside_the_binary() {
    let (_folder, file) = manifest(six_on_three());
    let output = run(divvy().args(["schedule", "-o", "json", "-f", &file]), 0);
    assert_eq!(results(&output), [TWO_EACH]);
}

#[test]
fn plugins_are_found_in_the_package_folder_and_through_the_environment() {
    let prefix = tempfile::tempdir().expect("there is room for a temporary folder");
    let (programs, plugins) = (prefix.path().join("bin"), prefix.path().join("lib/divvy/plugins"));
    fs::create_dir_all(&programs).expect("the folder can be made");
    // Copied, because the location of a symbolic link is that of its target.
    let binary = programs.join("divvy");
    fs::copy(artifacts::workspace().binary("divvy"), &binary).expect("the binary can be copied");
    let (_folder, file) = manifest(six_on_three());
    let arguments = ["schedule", "-o", "json", "-f", &file];

    let output = run(command(&binary).args(arguments), 2);
    let stderr = String::from_utf8_lossy(&output.stderr);
    let looked = format!("looked in `{}`, `{}`", programs.display(), plugins.display());
    assert!(stderr.contains("no plugin found; looked in"), "{stderr}");
    assert!(
        stderr
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .contains(&looked),
        "{stderr}"
    );

    let elsewhere = artifacts::plugin("average")
        .parent()
        .expect("a library lies in a folder");
    let output = run(command(&binary).env("DIVVY_PLUGIN_PATH", elsewhere).args(arguments), 0);
    assert_eq!(results(&output), [TWO_EACH]);

    fs::create_dir_all(&plugins).expect("the folder can be made");
    for folder in artifacts::plugin_folders() {
        let library = artifacts::plugin(&folder);
        let link = plugins.join(library.file_name().expect("a library has a name"));
        symlink(library, link).expect("the link can be made");
    }
    let output = run(command(&binary).args(arguments), 0);
    assert_eq!(results(&output), [TWO_EACH]);
}

#[test]
fn each_workload_of_the_demo_fleet_is_scheduled_by_the_strategy_of_its_file() {
    let fleet = repository().join("examples/fleet");
    let output = run(divvy().args(["schedule", "-o", "json", "-f"]).arg(&fleet), 0);
    let document: Value = serde_json::from_slice(&output.stdout).expect("the result is JSON");
    let strategies: BTreeSet<String> = document["bindings"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|decision| decision["strategy"].as_str())
        .map(str::to_lowercase)
        .collect();
    // Each file is named after its strategy: `static-weight.yaml` shows StaticWeight.
    let workloads = fs::read_dir(fleet.join("workloads")).expect("the folder can be listed");
    let named: BTreeSet<String> = workloads
        .filter_map(|entry| {
            entry
                .expect("the folder can be listed")
                .path()
                .file_stem()?
                .to_str()
                .map(str::to_owned)
        })
        .map(|name| name.replace('-', ""))
        .collect();
    assert_eq!(strategies, named);
}

/// The plugin is named by a profile.
#[test]
fn the_plugin_outside_the_workspace_decides() {
    let example = repository().join("examples/out-of-tree-plugin");
    let library = artifacts::example();
    let output = run(
        divvy()
            .env(
                "DIVVY_PLUGIN_PATH",
                library.parent().expect("a library lies in a folder"),
            )
            .args(["schedule", "-o", "json", "--profile"])
            .arg(example.join("profile.toml"))
            .arg("-f")
            .arg(repository().join("examples/fleet/clusters"))
            .arg("-f")
            .arg(example.join("manifests")),
        0,
    );
    let results = results(&output);
    assert_eq!(results.len(), 1);
    assert!(
        results[0].ends_with(" Scheduled: us-aws-virginia=9 us-gcp-iowa=22 us-onprem-dallas=29"),
        "{results:?}"
    );
}
