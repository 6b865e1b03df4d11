//! Replays every recorded decision of Karmada's own algorithm, and recordings made by Divvy.
//!
//! The cases run through the binary, as an operator would run them: `divvy replay` prints the number of passed cases on
//! its last line and exits with 0 only if none failed. A modified recording tests that a changed decision is detected.

mod plane;
mod profiles;

use std::fmt::Write;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::artifacts::{plugin, repository, workspace};

/// Runs `divvy` in the repository, with the plugins built for the tests.
fn divvy(arguments: &[&str]) -> Output {
    let plugins = plugin("duplicated").parent().expect("a library is in a folder");
    Command::new(workspace().binary("divvy"))
        .args(arguments)
        .arg("--plugin-directory")
        .arg(plugins)
        .current_dir(repository())
        .output()
        .expect("divvy runs")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("divvy writes UTF-8")
}

/// Replays a file in this folder and asserts that all its cases pass.
fn replays(file: &str, profile: &str, cases: usize) {
    let path = format!("tests/conformance/{file}");
    let output = divvy(&["replay", &path, "--profile", profile]);
    let shown = text(&output.stdout);
    assert_eq!(
        shown.lines().last(),
        Some(format!("{cases} passed, 0 failed").as_str()),
        "{shown}"
    );
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn decisions_equal_karmadas_on_small_fleets() {
    replays("karmada-parity.jsonl.gz", "karmada", 2_995);
}

#[test]
fn decisions_equal_karmadas_on_large_fleets() {
    replays("karmada-parity-large.jsonl.gz", "karmada", 300);
}

#[test]
fn decisions_equal_karmadas_on_odd_shapes() {
    replays("karmada-parity-odd.jsonl.gz", "karmada", 1_600);
}

#[test]
fn decisions_equal_karmadas_on_several_components() {
    replays("karmada-parity-components.jsonl.gz", "karmada-alpha", 300);
}

#[test]
fn the_gate_for_several_components_makes_a_difference() {
    let path = "tests/conformance/karmada-parity-components.jsonl.gz";
    let output = divvy(&["replay", path, "--profile", "karmada"]);
    assert_eq!(output.status.code(), Some(1));
    let shown = text(&output.stdout);
    assert!(shown.contains("first differs at Select"), "{shown}");
}

/// Records the demo fleet under the built-in profile. Returns the recording and the temporary folder that contains it.
fn recorded(name: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder for the recording");
    let file = folder.path().join(name);
    let output = divvy(&["schedule", "-f", "examples/fleet", "--record", path(&file)]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    (folder, file)
}

fn path(file: &Path) -> &str {
    file.to_str().expect("temporary paths are UTF-8")
}

#[test]
fn a_recording_replays_without_differences() {
    for name in ["recording.jsonl", "recording.jsonl.gz"] {
        let (_folder, file) = recorded(name);
        let output = divvy(&["replay", path(&file)]);
        assert_eq!(text(&output.stdout), "7 passed, 0 failed\n");
        assert_eq!(text(&output.stderr), "", "profile and plugins are the recorded ones");
        assert_eq!(output.status.code(), Some(0));
    }
}

#[test]
fn changed_decisions_plugins_and_seeds_are_reported() {
    let (_folder, file) = recorded("recording.jsonl");
    let mut recording = String::new();
    std::fs::File::open(&file)
        .and_then(|mut file| file.read_to_string(&mut recording))
        .expect("the recording reads");
    let mut tampered = String::new();
    for line in recording.lines() {
        let mut record: serde_json::Value = serde_json::from_str(line).expect("each line is JSON");
        if record["kind"] == "Recording" {
            record["plugins"][0]["version"] = "0.0.1".into();
            record["seed"] = 7.into();
        }
        if record["name"] == "shop/storefront-deployment" {
            record["expect"]["clusters"][0]["replicas"] = 1.into();
        }
        writeln!(tampered, "{record}").expect("writing to a string");
    }
    std::fs::write(&file, tampered).expect("the recording is written");
    let output = divvy(&["replay", path(&file)]);
    let shown = text(&output.stdout);
    let difference = "shop/storefront-deployment: 1 of 3 clusters differs: ap-aws-tokyo 1→5, first differs at Assign\n";
    assert!(shown.contains(difference), "{shown}");
    assert!(shown.ends_with("\n6 passed, 1 failed\n"), "{shown}");
    let stderr = text(&output.stderr);
    assert!(stderr.contains("has version 0.1.0, recorded 0.0.1"), "{stderr}");
    assert!(stderr.contains("the seed is 0, recorded 7"), "{stderr}");
    assert_eq!(output.status.code(), Some(1));
    let json = divvy(&["replay", path(&file), "-o", "json"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).expect("it is JSON");
    assert_eq!((&json["passed"], &json["failed"]), (&6.into(), &1.into()));
    assert_eq!(json["mismatches"][0]["stage"], "Assign");
}

#[test]
fn an_invalid_recording_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let cases = [
        ("", "has no case"),
        ("{\"kind\":\"Fleet\",\"name\":\"a\",\"clusters\":[]}\n", "has no case"),
        ("nonsense\n", ":1:2: not valid JSON: `nonsense`: expected ident"),
        (
            "{\"kind\":\"Cat\"}\n",
            ":1: unknown kind `Cat`, expected `Fleet`, `Case`, `Table` or `Recording`",
        ),
        (
            "{\"kind\":\"Case\",\"name\":\"c\",\"fleet\":\"f\",\"binding\":{}}\n",
            ":1: case `c` names fleet `f`, which no earlier line defines",
        ),
    ];
    for (number, (content, message)) in cases.into_iter().enumerate() {
        let file = folder.path().join(format!("{number}.jsonl"));
        std::fs::write(&file, content).expect("the file is written");
        let output = divvy(&["replay", path(&file)]);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(message), "{}", text(&output.stderr));
    }
    let missing = divvy(&["replay", "nowhere.jsonl"]);
    assert_eq!(missing.status.code(), Some(2));
    let inputs = divvy(&["replay", "tests/conformance/bench.jsonl.gz"]);
    assert!(text(&inputs.stderr).contains("has no recorded decision"));
}

#[test]
fn bench_prints_one_row_per_case() {
    let path = "tests/conformance/karmada-parity-components.jsonl.gz";
    let output = divvy(&["bench", path, "-n", "2", "-o", "json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let rows: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout).expect("it is a JSON array");
    assert_eq!(rows.len(), 300);
    for row in rows {
        let number = |key: &str| row[key].as_f64().unwrap_or_else(|| panic!("{key} is a number: {row}"));
        assert!(row["case"].is_string());
        assert!(number("clusters") >= 1.0);
        assert!(0.0 < number("p50_us") && number("p50_us") <= number("p99_us"));
        assert!(number("p99_us") <= number("max_us"));
        assert!(number("bindings_per_second") > 0.0);
    }
}
