//! Requirements of large inputs: all cores, output that is written as it is made, progress, and an output that cannot be written.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::{Value, json};

use super::{divvy, run};
use crate::artifacts::{plugin, workspace};

/// 40 clusters and 200 bindings: a third of them duplicated, a third divided by what is free, a third aggregated.
fn fleet(folder: &tempfile::TempDir) -> String {
    let cluster = |number: usize| {
        json!({
            "apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster", "metadata": {"name": format!("m{number:02}")},
            "spec": {"region": format!("region-{}", number % 3)},
            "status": {
                "apiEnablements": [{"groupVersion": "apps/v1", "resources": [{"name": "deployments", "kind": "Deployment"}]}],
                "conditions": [{"type": "Ready", "status": "True"}],
                "resourceSummary": {"allocatable": {"cpu": (10 + number).to_string(), "pods": "200"}},
            },
        })
    };
    let binding = |number: usize| {
        let scheduling = match number % 3 {
            0 => json!({"replicaSchedulingType": "Duplicated"}),
            1 => json!({"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted",
                "weightPreference": {"dynamicWeight": "AvailableReplicas"}}),
            _ => json!({"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"}),
        };
        let last: Vec<Value> = (number..number + number % 5)
            .map(|cluster| json!({"name": format!("m{:02}", cluster * 7 % 40), "replicas": 1 + number % 4}))
            .collect();
        json!({
            "apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding",
            "metadata": {"namespace": format!("team-{}", number % 4), "name": format!("web-{number}")},
            "spec": {
                "resource": {"apiVersion": "apps/v1", "kind": "Deployment", "name": format!("web-{number}")},
                "replicas": 1 + number % 60, "clusters": last,
                // Some request more than there is.
                "replicaRequirements": {"resourceRequest": {"cpu": if number % 17 == 2 { "50" } else { "500m" }}},
                "placement": {"replicaScheduling": scheduling},
            },
        })
    };
    let items: Vec<Value> = (0..40).map(cluster).chain((0..200).map(binding)).collect();
    let file = folder.path().join("fleet.json");
    let list = json!({"apiVersion": "v1", "kind": "List", "items": items});
    fs::write(&file, list.to_string()).expect("the file can be written");
    file.display().to_string()
}

#[test]
fn one_core_prints_what_all_print() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = fleet(&folder);
    for command in [
        &["schedule"][..],
        &["schedule", "-o", "wide"],
        &["schedule", "-o", "json"],
        &["schedule", "-o", "yaml"],
        &["schedule", "--explain"],
        &["schedule", "--explain", "-o", "yaml"],
        &["schedule", "--assume", "-o", "json", "--explain"],
        &["diff", "--without", "m03", "-o", "json"],
        &["diff", "--without-each", "cluster", "-o", "json"],
    ] {
        let arguments = [command, &["-f", &file]].concat();
        let (exit, all, errors) = run(&arguments);
        assert_eq!(exit, Some(1), "{command:?}: {errors}");
        let mut single = Command::new("taskset");
        let plugins = plugin("duplicated").parent().expect("a library is in a folder");
        single
            .args(["-c", "0"])
            .arg(workspace().binary("divvy"))
            .args(&arguments);
        let one = single.env("DIVVY_PLUGIN_PATH", plugins).output();
        let one = one.expect("util-linux is installed");
        assert!(
            all == String::from_utf8_lossy(&one.stdout),
            "{command:?} differs on one core"
        );
    }
}

#[test]
fn an_explanation_that_is_made_later_is_that_of_the_decision() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = fleet(&folder);
    for output in ["table", "wide", "json", "yaml", "jsonpath={.bindings[*].explanation}"] {
        let arguments = ["schedule", "--explain", "-o", output, "-f", &file];
        let (_, later, _) = run(&arguments);
        // With `-v`, the explanations of the first decisions are kept.
        let (_, kept, _) = run(&[&arguments[..], &["-v"]].concat());
        assert!(later.len() > 100_000, "{output}: {} bytes", later.len());
        assert!(later == kept, "{output}");
    }
}

#[test]
fn rows_are_the_same_in_every_format() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = fleet(&folder);
    let (_, text, _) = run(&["schedule", "-f", &file, "-o", "json"]);
    let document: Value = serde_json::from_str(&text).expect("it is JSON");
    let rows = document["bindings"].as_array().expect("it is a list");
    assert_eq!(rows.len(), 200);
    // Written at once, it is the same text.
    assert_eq!(
        serde_json::to_string_pretty(&document).map(|text| text.len() + 1).ok(),
        Some(text.len())
    );
    let (_, table, _) = run(&["schedule", "-f", &file, "-o", "wide"]);
    let clusters: usize = rows
        .iter()
        .filter_map(|row| Some(row["clusters"].as_array()?.len()))
        .sum();
    assert!(clusters > 2_000, "{clusters}");
    let lines = table
        .lines()
        .filter(|line| line.starts_with("  m") && !line.contains("gone"));
    assert_eq!(lines.count(), clusters);
}

#[test]
fn a_closed_output_is_an_error() {
    for arguments in [
        "schedule -f fleet.yaml -f scheduled.yaml",
        "schedule -f fleet.yaml -f scheduled.yaml -o json",
        "diff -f fleet.yaml -f dump.yaml",
        "profile show",
        "completions bash",
        "--help",
    ] {
        // The shell closes the descriptor; its own commands need no search path.
        let script = format!("exec \"$0\" {arguments} >&-");
        let plain = divvy(&[]);
        let mut shell = Command::new("/bin/sh");
        shell
            .args(["-c", &script])
            .arg(plain.get_program())
            .stdin(Stdio::null());
        if let Some(folder) = plain.get_current_dir() {
            shell.current_dir(folder);
        }
        shell
            .env_clear()
            .envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let output = shell.output().expect("there is a shell");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{arguments}: {errors}");
        assert!(
            errors.contains("standard output cannot be written"),
            "{arguments}: {errors}"
        );
    }
}

/// Schedules what standard input holds after a moment. Returns what is written to standard error.
fn schedule_slowly(errors: Stdio, moment: Duration) -> std::process::Child {
    let mut command = divvy(&["schedule", "-f", "fleet.yaml", "-f", "-"]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(errors)
        .env("TERM", "xterm");
    let mut child = command.spawn().expect("the binary can be started");
    let mut input = child.stdin.take().expect("it is piped");
    let text = fs::read(super::folder().join("scheduled.yaml")).expect("the fixture is there");
    std::thread::sleep(moment);
    input.write_all(&text).expect("the command reads it");
    child
}

#[test]
fn progress_is_shown_on_a_terminal_after_a_second() {
    let shown = |moment: Duration| {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("there are terminals");
        grantpt(&terminal)
            .and_then(|()| unlockpt(&terminal))
            .expect("the terminal is ours");
        let name = ptsname(&terminal, Vec::new()).expect("the terminal has a name");
        let end = open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).expect("it can be opened");
        let mut child = schedule_slowly(Stdio::from(end), moment);
        let mut text = Vec::new();
        // Reading fails when the last process has closed its end.
        let _closed = File::from(terminal).read_to_end(&mut text);
        assert!(child.wait().expect("it ends").success());
        String::from_utf8_lossy(&text).into_owned()
    };
    let long = shown(Duration::from_millis(2_500));
    assert!(long.contains("reading"), "{long:?}");
    // On a busy machine, a run can take a second that has nothing to wait for.
    let short = (0..30).find_map(|_| {
        let start = Instant::now();
        let text = shown(Duration::ZERO);
        (start.elapsed() < Duration::from_secs(1)).then_some(text)
    });
    let short = short.expect("one of 30 runs takes less than a second");
    assert!(!short.contains("reading"), "{short:?}");
}

#[test]
fn no_progress_reaches_a_file() {
    let mut child = schedule_slowly(Stdio::piped(), Duration::from_millis(1_500));
    let mut text = String::new();
    let mut errors = child.stderr.take().expect("it is piped");
    errors.read_to_string(&mut text).expect("it is text");
    assert!(child.wait().expect("it ends").success());
    assert_eq!(text, "");
}
