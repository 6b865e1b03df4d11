//! What an isolated plugin prints becomes records of its log, so that it cannot be taken for the scheduler's own output.

use std::process::Command;

use serde_json::Value;

use super::harm::{objects, profile};
use super::{file, scheduled};
use crate::artifacts::{with_bundled_plugins, workspace};

/// Schedules a binding with a fault at Assign; exit code, standard output and the lines of standard error.
fn schedule(fault: &str) -> (Option<i32>, Value, Vec<String>) {
    let name = fault.replace(' ', "-");
    let manifests = file(&format!("output/{name}.json"), &objects("assign", &[fault]));
    let profile = profile(&format!("output/{name}.toml"), "");
    let (exit, output, log) = scheduled(&manifests, &profile, &[]);
    (exit, output, log.lines().map(str::to_owned).collect())
}

/// True if a line is a record that names the plugin and the binding, so that no one takes it for another one.
fn is_record(line: &str) -> bool {
    line.starts_with(" WARN ")
        && line.contains("plugin=\"hostile\"")
        && line.contains("binding=\"default/binding-00\"")
        && line.contains("module=\"output\"")
}

#[test]
fn what_an_isolated_plugin_prints_is_in_its_log() {
    let (exit, output, log) = schedule("output");
    assert_eq!(exit, Some(0), "{log:?}");
    assert_eq!(output[0]["clusters"][0]["replicas"], 3, "{output:#}");
    assert_eq!(log.len(), 1, "{log:?}");
    assert!(is_record(&log[0]) && log[0].contains("{\"forged\": true}"), "{log:?}");
}

#[test]
fn what_an_isolated_plugin_prints_is_bounded() {
    let (exit, output, log) = schedule("much output");
    assert_eq!(exit, Some(0), "{:?}", log.first());
    assert_eq!(output[0]["clusters"][0]["replicas"], 3, "{output:#}");
    // The bounds of a call's log apply.
    assert!(log.len() > 1_000 && log.len() <= (1 << 14) + 2, "{}", log.len());
    let (records, others): (Vec<&String>, Vec<&String>) = log.iter().partition(|line| is_record(line));
    assert!(records.len() > 1_000, "{}", records.len());
    assert!(others.iter().all(|line| !line.contains("forged")), "{others:?}");
    let said = |text: &str| log.iter().any(|line| line.contains(text));
    assert!(
        said("more bytes at once, which are left out") || said("log records left out"),
        "{:?}",
        log.last()
    );

    // Without end, it is a call that does not return.
    let (exit, output, log) = schedule("endless output");
    assert_eq!(exit, Some(3), "{:?}", log.last());
    assert!(
        output
            .to_string()
            .contains("its worker did not answer a call within 1 s"),
        "{output:#}"
    );
    // The call is made twice.
    assert!(log.len() <= 2 * ((1 << 14) + 2), "{}", log.len());
}

/// What the command was started with, the shell's for example, is not the worker's.
#[test]
fn a_worker_inherits_no_descriptor() {
    let fault = "write to an inherited descriptor";
    let manifests = file("output/inherited.json", &objects("assign", &[fault]));
    let profile = profile("output/inherited.toml", "");
    let inherited = file("output/inherited.txt", "");
    let mut command = Command::new("sh");
    command
        .args(["-c", "exec 9>\"$1\"; shift; exec \"$@\"", "sh"])
        .arg(&inherited)
        .arg(workspace().binary("divvy"))
        .args(["schedule", "-f"])
        .arg(manifests)
        .arg("--profile")
        .arg(profile);
    let output = with_bundled_plugins(&mut command)
        .output()
        .expect("a shell is installed");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(std::fs::read_to_string(inherited).expect("a file"), "");
}
