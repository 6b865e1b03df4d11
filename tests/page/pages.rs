//! Pages and JSON, written by the real binary with the bundled plugins.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

use serde_json::Value;

/// The root folder of the repository.
pub(crate) fn repository() -> &'static Path {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    folder.ancestors().nth(2).expect("the tests are two folders below")
}

/// The binary, and the folder with the plugins.
struct Build {
    binary: PathBuf,
    plugins: PathBuf,
}

/// Built once. The paths come from Cargo's messages, since a guessed path could be that of a stale file.
static BUILD: LazyLock<Build> = LazyLock::new(|| {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .args([
            "build",
            "--message-format=json-render-diagnostics",
            "--package=divvy-cli",
        ])
        .current_dir(repository());
    if !cfg!(debug_assertions) {
        command.arg("--release");
    }
    let folders = std::fs::read_dir(repository().join("plugins")).expect("there are plugins");
    for folder in folders.flatten() {
        command.arg(format!(
            "--package=divvy-plugin-{}",
            folder.file_name().to_string_lossy()
        ));
    }
    let Output { status, stdout, stderr } = command.output().expect("cargo can be started");
    assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
    let lines = stdout.split(|byte| *byte == b'\n');
    let messages: Vec<Value> = lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
    let binary = messages.iter().filter(|message| message["target"]["name"] == "divvy");
    let binary = binary.filter_map(|message| message["executable"].as_str()).next();
    let files = messages
        .iter()
        .filter_map(|message| message["filenames"].as_array())
        .flatten();
    let plugin = files.filter_map(Value::as_str).find(|file| file.ends_with(".so"));
    let plugins = plugin.and_then(|plugin| Path::new(plugin).parent());
    Build {
        binary: binary.expect("cargo reports the binary").into(),
        plugins: plugins.expect("cargo reports the plugins").to_owned(),
    }
});

/// `divvy` with these arguments, in the root of the repository.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(&BUILD.binary);
    command
        .args(arguments)
        .current_dir(repository())
        .env_clear()
        .env("DIVVY_PLUGIN_PATH", &BUILD.plugins)
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
