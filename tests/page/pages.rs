//! Pages and JSON, written by the real binary with the bundled plugins.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use divvy_built::{Bundled, repository};
use serde_json::Value;

/// The binary and the plugins.
fn bundled() -> &'static Bundled {
    divvy_built::bundled().unwrap_or_else(|messages| panic!("{messages}"))
}

/// `divvy` with these arguments, in the root of the repository.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(&bundled().binary);
    command
        .args(arguments)
        .current_dir(repository())
        .env_clear()
        .env("DIVVY_PLUGIN_PATH", &bundled().plugins)
        .stdin(Stdio::null());
    command
}

/// Runs `divvy` in the root of the repository.
pub(crate) fn divvy(arguments: &[&str]) -> Output {
    command(arguments).output().expect("the binary can be started")
}

/// The JSON that `divvy` writes with `-o json`.
pub(crate) fn json(arguments: &[&str]) -> Value {
    let output = divvy(&[arguments, &["-o", "json"]].concat());
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
}

/// Writes what `divvy` writes with `-o html` to a file in a folder, and returns its path.
pub(crate) fn page(arguments: &[&str], folder: &Path) -> PathBuf {
    let output = divvy(&[arguments, &["-o", "html"]].concat());
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.stdout.starts_with(b"<!DOCTYPE html>"), "{messages}");
    let file = folder.join("report.html");
    std::fs::write(&file, output.stdout).expect("the page can be written");
    file
}
