//! Plugins in processes of their own: they decide what they decide in the scheduler's process, and harm nothing.
//!
//! - [`alike`] compares decisions. [`which`] says which plugins have a process of their own.
//! - [`harm`] has a plugin that does harm at every point, and [`matrix`] compares it with the same harm in the scheduler's process.
//!   [`skip`] goes on without such a plugin. [`output`] has one that prints. [`attacks`] has one that means to cost more than its own decision.
//!   [`verified`] has libraries that look around when they are verified.
//! - [`missing`] has systems that lack what isolation uses, [`paused`] a machine that is paused, and [`pod`] the restrictions of a pod.
//!
//! With the environment variable of [`crate::scheduling::ISOLATED`], every test of this binary that builds a host isolates its plugins.

mod alike;
mod attacks;
mod harm;
mod matrix;
mod missing;
mod output;
mod paused;
mod pod;
mod skip;
mod verified;
mod which;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::artifacts::{with_bundled_plugins, workspace};

/// Runs `divvy` in the repository's folder, and returns its exit code, standard output and standard error.
fn divvy(arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(workspace().binary("divvy"));
    let ended = with_bundled_plugins(command.args(arguments)).output();
    let Output { status, stdout, stderr } = ended.expect("the binary can be started");
    let text = |bytes| String::from_utf8(bytes).expect("divvy writes UTF-8");
    (status.code(), text(stdout), text(stderr))
}

/// Runs `divvy` as [`divvy`] does, and returns its exit code, the JSON that it prints and standard error.
fn divvy_json(arguments: &[&str]) -> (Option<i32>, Value, String) {
    let (exit, output, log) = divvy(arguments);
    let output = serde_json::from_str(&output).unwrap_or_else(|error| panic!("{error}: {output}\n{log}"));
    (exit, output, log)
}

/// Schedules manifests under a profile, and returns what [`divvy_json`] does, of the JSON the bindings. `more` are further arguments.
fn scheduled(manifests: &Path, profile: &Path, more: &[&str]) -> (Option<i32>, Value, String) {
    let [manifests, profile] = [manifests, profile].map(|path| path.to_str().expect("a path of ASCII"));
    let arguments = ["schedule", "-f", manifests, "--profile", profile, "-o", "json"];
    let (exit, output, log) = divvy_json(&[&arguments, more].concat());
    (exit, output["bindings"].clone(), log)
}

/// Writes a file for one test, and returns its path.
fn file(name: &str, content: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("isolation");
    std::fs::create_dir_all(&folder).expect("a folder for the tests");
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap_or(&folder)).expect("a folder for the tests");
    std::fs::write(&path, content).expect("a file for the tests");
    path
}
