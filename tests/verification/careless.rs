//! Rules that no single result shows, broken by a library without the SDK (`tests/fixtures/careless.c`), under the real binary. The plugin
//! passes every other check. What no check can find is here, too, and in the guide on testing.

use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::LazyLock;

use serde_json::Value;

use super::{lines_with, some_plugins};
use crate::artifacts::repository;
use crate::c_interface;
use crate::command_line::{divvy, run};

fn library() -> &'static Path {
    static LIBRARY: LazyLock<PathBuf> =
        LazyLock::new(|| c_interface::library("careless", &[repository().join("tests/fixtures/careless.c")]));
    &LIBRARY
}

/// Verifies the plugin with a fault: the report.
fn verified(fault: &str, more: &[&str]) -> (Option<i32>, Value) {
    let folder = tempfile::tempdir().expect("a folder");
    let profile = folder.path().join("profile.toml");
    let text = format!(
        "[[profile]]\nname = 'careless'\nextends = 'default'\n\
         filters = ['api-enablement', 'cluster-affinity']\nassign = ['careless']\n\
         [profile.plugin.careless]\npath = '{}'\nallow-uncertified = true\nconfiguration.fault = '{fault}'\n",
        library().display()
    );
    std::fs::write(&profile, text).expect("the file can be written");
    let [profile, failures] = [profile, folder.path().join("failures")].map(|path| path.display().to_string());
    let arguments = [
        "plugin",
        "verify",
        "careless",
        "--profile",
        &profile,
        "--failures",
        &failures,
        "-o",
        "json",
    ];
    // A variable that faults look for.
    let mut command = divvy(&[&arguments[..], more].concat());
    let Output { status, stdout, stderr } = command.env("DIVVY_WEIGHTS", "0").output().expect("it starts");
    let [stdout, stderr] = [stdout, stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    let exit = status.code();
    let report = serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{fault}: {error}\n{stdout}{stderr}"));
    (exit, report)
}

/// The checks that fail, with their messages.
fn failing(report: &Value) -> Vec<(String, String)> {
    let checks = report["checks"].as_array().expect("a list").iter();
    let failing = checks.filter(|check| check["passed"] == false);
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    failing
        .map(|check| (text(&check["check"]), text(&check["message"])))
        .collect()
}

const FEW: [&str; 4] = ["--runs", "150", "--clusters", "40"];

/// Verifies with the check that must find the fault, and returns its message.
#[track_caller]
fn message(fault: &str, check: &str) -> String {
    let (exit, report) = verified(fault, &[&FEW[..], &["--check", check]].concat());
    let found = failing(&report);
    let [(failed, message)] = found.as_slice() else {
        panic!("{fault}: {report:#}");
    };
    assert_eq!((exit, failed.as_str()), (Some(1), check), "{fault}: {message}");
    message.clone()
}

#[test]
fn without_a_fault_it_passes_and_the_report_counts_what_was_decided() {
    let (exit, report) = verified("none", &FEW);
    assert_eq!((exit, failing(&report)), (Some(0), Vec::new()), "{report:#}");
    let checks = report["checks"].as_array().expect("a list");
    for name in [
        "decides",
        "sum",
        "determinism",
        "threads",
        "clock",
        "surroundings",
        "process",
        "memory",
        "snapshots",
        "afterwards",
        "cost",
    ] {
        let check = checks.iter().find(|check| check["check"] == name).expect(name);
        let [cases, decided] = ["cases", "decided"].map(|key| check[key].as_u64().expect(key));
        assert!(0 < decided && decided <= cases, "{check:#}");
    }
}

#[test]
fn a_plugin_that_refuses_everything_fails() {
    let found = message("refuses everything", "decides");
    assert!(
        found.contains("cases, its strategy `Careless` decided none of them. Most often ("),
        "{found}"
    );
    assert!(
        found.contains(" times), the outcome is like this one: `Unschedulable: "),
        "{found}"
    );
}

/// With the default number of cases, each check wants something to look at.
#[test]
fn a_check_of_many_cases_that_show_nothing_fails() {
    let arguments = ["--runs", "500", "--clusters", "5", "--check", "sum"];
    let (exit, report) = verified("refuses everything", &arguments);
    let found = failing(&report);
    assert_eq!(exit, Some(1), "{report:#}");
    assert!(found[0].1.starts_with("none of "), "{found:?}");
    assert_eq!(report["checks"][0]["decided"], 0);
}

#[test]
fn a_decision_that_depends_on_the_clock_is_caught() {
    let found = message("clock", "clock");
    assert!(
        found.starts_with("the decision depends on when it is made: `"),
        "{found}"
    );
    let found = message("system call", "surroundings");
    assert_eq!(found, "Assign reads the clock by a system call");
    let found = message("local time", "surroundings");
    assert!(found.starts_with("Assign opens `/"), "{found}");
}

#[test]
fn reads_of_the_environment_files_and_more_are_caught() {
    for (fault, expected) in [
        ("file", "Assign opens `/etc/divvy-weights.csv`"),
        ("state of a file", "Assign looks at the file `/etc/divvy-weights.csv`"),
        ("socket", "Assign opens a socket"),
        ("machine", "Assign asks for the name of the machine"),
        ("child", "Assign starts a process"),
    ] {
        assert_eq!(message(fault, "surroundings"), expected);
    }
    for fault in ["environment", "constructor", "whole environment"] {
        let found = message(fault, "surroundings");
        assert!(
            found.starts_with("the decision depends on the environment: `"),
            "{fault}: {found}"
        );
    }
}

/// The search for a smaller case takes longer than the time after which a call counts as hanging.
#[test]
fn a_fault_that_only_a_large_case_shows_is_named() {
    let arguments = ["--runs=1", "--clusters=5000", "--timeout=8s", "--check=surroundings"];
    let (_, report) = verified("file, large fleet", &arguments);
    let found = failing(&report);
    assert_eq!(
        found,
        [(
            "surroundings".to_owned(),
            "Assign opens `/etc/divvy-weights.csv`".to_owned()
        )]
    );
}

#[test]
fn changes_of_the_process_are_caught() {
    for (fault, expected) in [
        ("locale", "Assign changes the locale from `C` to `C.UTF-8`"),
        ("signals", "Assign changes the signals that its thread blocks from "),
        ("handler", "Assign changes what happens on signal 15"),
        ("directory", "Assign changes the working directory from `"),
        ("mask", "Assign changes the mask of new files (umask) from 0"),
        ("variable", "Assign changes the environment variable `DIVVY_WEIGHTS`"),
        ("rounding", "Assign changes how the processor rounds"),
        ("descriptor", "Assign leaves descriptor "),
        ("timer", "Assign sets a timer that sends a signal"),
        ("child", "Assign leaves a child process behind"),
    ] {
        if fault == "rounding" && !cfg!(target_arch = "x86_64") {
            continue;
        }
        let found = message(fault, "process");
        assert!(found.starts_with(expected), "{fault}: {found}");
    }
}

/// A path of the command line counts from the folder in which the command began.
#[test]
fn a_changed_directory_does_not_hide_a_library_with_a_relative_path() {
    let folder = tempfile::tempdir().expect("a folder");
    let here = repository().join("tests/fixtures/command-line");
    std::fs::copy(library(), folder.path().join("careless.so")).expect("the library can be copied");
    let up = "../".repeat(here.components().count() - 1);
    let relative = format!(
        "{up}{}",
        folder
            .path()
            .join("careless.so")
            .display()
            .to_string()
            .trim_start_matches('/')
    );
    let profile = folder.path().join("profile.toml");
    let text = "[[profile]]\nname = 'careless'\nextends = 'default'\nfilters = ['api-enablement', 'cluster-affinity']\n\
                assign = ['careless']\n[profile.plugin.careless]\nconfiguration.fault = 'directory'\n";
    std::fs::write(&profile, text).expect("the file can be written");
    let [profile, failures] = [profile, folder.path().join("failures")].map(|path| path.display().to_string());
    let arguments = [
        "plugin",
        "verify",
        &relative,
        "--allow-uncertified",
        "--profile",
        &profile,
        "--failures",
        &failures,
    ];
    let (exit, stdout, stderr) = run(&[&arguments[..], &FEW].concat());
    assert_eq!(exit, Some(1), "{stdout}{stderr}");
    assert!(
        stdout.contains("changes the working directory") && !stdout.contains("does not exist"),
        "{stdout}{stderr}"
    );
}

#[test]
fn overwritten_inputs_are_caught() {
    // Inputs are in memory that cannot be written to, so any check finds it.
    for fault in ["capacity", "names"] {
        let found = message(fault, "sum");
        assert!(
            found.starts_with("the process was killed by SIGSEGV; its last line of output: ")
                && found.contains("plugin `careless` failed in Assign")
                && found.contains(", which plugins can only read"),
            "{fault}: {found}"
        );
    }
}

#[test]
fn memory_that_grows_with_every_call_is_caught() {
    for (fault, least) in [("leak", 100_000), ("small leak", 8)] {
        let found = message(fault, "memory");
        let bytes = found
            .strip_prefix("memory grows by ")
            .and_then(|rest| rest.split(' ').next());
        let bytes: u64 = bytes.and_then(|bytes| bytes.parse().ok()).expect("a number");
        assert!((least..least + 9_000).contains(&bytes), "{fault}: {found}");
        assert!(found.contains(" bytes per call, in each of 3 times "), "{found}");
    }
}

/// Two commands of one fleet have other numbers for the same.
#[test]
fn a_decision_by_the_numbers_of_a_snapshot_is_caught() {
    for fault in ["generation", "numbers"] {
        let found = message(fault, "snapshots");
        let expected = "the decision depends on the number of the snapshot or of its texts: `";
        assert!(found.starts_with(expected), "{fault}: {found}");
    }
}

#[test]
fn a_plugin_that_goes_on_after_its_answers_is_caught() {
    let found = message("spinning", "afterwards");
    assert!(
        found.starts_with("after ") && found.contains(" calls have answered, the process still uses its processors: "),
        "{found}"
    );
    let found = message("threads", "afterwards");
    assert!(found.starts_with("calls leave threads behind: "), "{found}");
}

/// No random case is needed: there are wide ones for each number of clusters.
#[test]
fn a_rule_that_many_clusters_and_replicas_break_is_caught() {
    let (exit, report) = verified("wide", &["--runs", "0", "--clusters", "25", "--check", "sum"]);
    let found = failing(&report);
    assert_eq!(exit, Some(1), "{report:#}");
    assert!(found[0].1.contains(" divided "), "{found:?}");
}

/// 39 ms for a call among thousands of clusters are minutes for a fleet.
#[test]
fn a_call_that_no_scheduler_can_bear_is_caught() {
    let (exit, report) = verified("slow, large fleet", &["--runs", "20", "--check", "cost"]);
    let found = failing(&report);
    assert_eq!(exit, Some(1), "{report:#}");
    let text = &found[0].1;
    assert!(
        text.contains("5000 clusters") && text.ends_with("; the limit is 10ms"),
        "{text}"
    );
}

/// By default, without an option. Checks that would take hours are not made.
#[test]
fn slow_calls_are_caught() {
    let arguments = [&FEW[..], &["--check", "cost", "--check", "sum"]].concat();
    let (exit, report) = verified("slow", &arguments);
    let found = failing(&report);
    assert_eq!((exit, found.len()), (Some(1), 1), "{report:#}");
    let (check, message) = &found[0];
    assert_eq!(check, "cost");
    assert!(
        message.starts_with("Assign takes 3") && message.ends_with("; the limit is 10ms"),
        "{message}"
    );
    assert_eq!(report["unmade"], serde_json::json!(["sum"]));
}

/// A key that may be left out has bounds if it is given.
#[test]
fn bounds_of_optional_keys_are_tried() {
    assert_eq!(
        message("optional bound", "configuration"),
        "it accepts `limit` = 0 (beyond its minimum) in its configuration"
    );
}

#[test]
fn names_and_counts_of_real_fleets_are_tried() {
    let found = message("production", "panics");
    assert!(found.contains("panicked: a name that ends with -prod"), "{found}");
    let arguments = ["--runs", "2000", "--clusters", "5", "--check", "sum"];
    let (exit, report) = verified("1000", &arguments);
    let found = failing(&report);
    assert_eq!(exit, Some(1), "{report:#}");
    assert_eq!(found[0].1, "plugin `careless` divided 999 replicas, expected 1000");
}

/// Each is in the guide, with the reason.
#[test]
fn what_is_out_of_reach_or_harmless_passes() {
    for (fault, check) in [
        // One count among two billion.
        ("4711", "sum"),
        // Of three seconds, it sees nothing.
        ("day", "clock"),
        // Read by an instruction, without an effect.
        ("instruction", "clock"),
        // Read, but without an effect, as by the runtime of Go.
        ("harmless clock", "clock"),
        ("harmless clock", "surroundings"),
        ("print", "surroundings"),
        // The allocator asks the system whether it may give memory back.
        ("memory given back", "surroundings"),
    ] {
        let (exit, report) = verified(fault, &[&FEW[..], &["--check", check]].concat());
        assert_eq!((exit, failing(&report)), (Some(0), Vec::new()), "{fault}");
    }
}

/// The other checks of the bundled plugins are made in the tests' own process.
#[test]
fn bundled_plugins_leave_their_process_and_its_surroundings_alone() {
    for plugin in some_plugins() {
        let checks =
            ["clock", "surroundings", "process", "memory", "afterwards"].map(|check| format!("--check={check}"));
        let checks: Vec<&str> = checks.iter().map(String::as_str).collect();
        let (lines, _tables) = lines_with(&plugin);
        let profile = tempfile::NamedTempFile::with_suffix(".toml").expect("a file");
        let text = format!("[[profile]]\nname = 'bundled'\nextends = 'default'\n{lines}");
        std::fs::write(profile.path(), text).expect("the file can be written");
        let profile = profile.path().display().to_string();
        let arguments = [
            "plugin",
            "verify",
            &plugin,
            "--profile",
            &profile,
            "--runs",
            "100",
            "--clusters",
            "40",
        ];
        let (exit, stdout, stderr) = run(&[&arguments[..], &checks].concat());
        assert_eq!(exit, Some(0), "{plugin}: {stdout}{stderr}");
    }
}
