//! `divvy plugin verify`: each check in a process of its own, which a plugin may crash, leave or hang.

use std::path::Path;

use serde_json::Value;

use super::{run, run_below_a_careless_parent};
use crate::artifacts::{fixture, repository};
use crate::c_interface;
use crate::diff::schema::{committed_at, validate};

/// A profile that uses the plugin `unfaithful` with a fault; its path.
fn profile(folder: &Path, fault: &str) -> String {
    let file = folder.join("profile.toml");
    let text = format!(
        "[[profile]]\nname = \"faults\"\nextends = \"default\"\n\
         filters = [\"api-enablement\", \"cluster-affinity\"]\nassign = [\"unfaithful\"]\n\
         [profile.plugin.unfaithful]\npath = {:?}\nconfiguration.fault = \"{fault}\"\n",
        fixture("unfaithful")
    );
    std::fs::write(&file, text).expect("the file can be written");
    file.display().to_string()
}

/// Verifies the plugin with a fault by one check: exit code, standard output and standard error.
fn verify(folder: &Path, fault: &str, more: &[&str]) -> (Option<i32>, String, String) {
    let profile = profile(folder, fault);
    let failures = folder.join("failures").display().to_string();
    let arguments = [
        "plugin",
        "verify",
        "unfaithful",
        "--profile",
        &profile,
        "--failures",
        &failures,
    ];
    run(&[&arguments[..], &["--runs", "20", "--clusters", "30"], more].concat())
}

/// A parent that ignores SIGCHLD hands that on, and the system then says of no process how it ended.
#[test]
fn a_plugin_passes_whatever_the_parent_of_the_command_ignores() {
    let folder = tempfile::tempdir().expect("a folder");
    let profile = profile(folder.path(), "none");
    let arguments = [
        "plugin",
        "verify",
        "unfaithful",
        "--profile",
        &profile,
        "--runs",
        "2",
        "--clusters",
        "5",
        "--check",
        "sum",
    ];
    let (exit, stdout, stderr) = run_below_a_careless_parent(&arguments);
    assert_eq!((exit, stderr.as_str()), (Some(0), ""), "{stdout}");
}

#[test]
fn a_plugin_that_keeps_its_contracts_passes() {
    let folder = tempfile::tempdir().expect("a folder");
    let (exit, stdout, stderr) = verify(folder.path(), "none", &["--check", "sum", "--check", "inertia"]);
    assert_eq!((exit, stderr.as_str()), (Some(0), ""), "{stdout}");
    let lines: Vec<&str> = stdout.lines().collect();
    assert!(lines[0].starts_with("unfaithful 0.1.0"), "{stdout}");
    assert_eq!(
        lines[2],
        "  profile faults, seed 1, 20 random cases per check, up to 30 clusters"
    );
    assert!(lines[5].starts_with("sum               ok"), "{stdout}");
    assert!(lines[6].starts_with("inertia           ok"), "{stdout}");
    assert_eq!(
        lines.last(),
        Some(&"plugin `unfaithful` keeps its contracts in all of 3 checks")
    );
    assert!(!folder.path().join("failures").exists());
}

/// The smallest case is a manifest on which `divvy schedule` fails in the same way.
#[test]
fn a_broken_contract_is_shown_by_divvy_schedule() {
    let folder = tempfile::tempdir().expect("a folder");
    let (exit, stdout, _) = verify(folder.path(), "sum", &["--check", "sum", "--check", "counts"]);
    assert_eq!(exit, Some(1), "{stdout}");
    let message = "plugin `unfaithful` divided 4 replicas, expected 5";
    assert!(stdout.contains("sum               FAILED"), "{stdout}");
    assert!(stdout.contains("counts            ok"), "{stdout}");
    assert!(stdout.contains(message), "{stdout}");
    let command = stdout.lines().find_map(|line| line.trim().strip_prefix("divvy "));
    let words: Vec<&str> = command.expect("it names a command").split(' ').collect();
    let (exit, stdout, stderr) = run(&words);
    assert_eq!(exit, Some(3), "{stderr}");
    assert!(stdout.contains(message), "{stdout}");
}

/// A plugin that ends the process is a finding, with the smallest case that the process does not survive.
#[test]
fn a_crash_an_exit_and_a_hang_are_findings() {
    for (fault, more, message) in [
        ("abort", &[][..], "the process was killed by SIGABRT"),
        (
            "exit",
            &[],
            "the process ended with exit code 3 in the middle of the check; its last line of output: error: plugin `unfaithful` \
             called `exit` in Assign of binding ",
        ),
        ("hang", &["--timeout", "3s"], "no answer within 3 s"),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let more = [&["--check", "sum", "-o", "json"][..], more].concat();
        let (exit, stdout, stderr) = verify(folder.path(), fault, &more);
        assert_eq!((exit, stderr.as_str()), (Some(1), ""), "{fault}: {stdout}");
        let report: Value = serde_json::from_str(&stdout).expect("it is JSON");
        let sum = &report["checks"][0];
        assert_eq!(sum["passed"], false, "{fault}: {stdout}");
        let found = sum["message"].as_str().expect("a message");
        assert!(found.starts_with(message), "{fault}: {found}");
        let case = sum["case"]["manifests"].as_str().expect("a case");
        let case = std::fs::read_to_string(case).expect("it was written");
        assert_eq!(case.matches("kind: Cluster\n").count(), 2, "{fault}: {case}");
    }
}

#[test]
fn an_abort_at_the_end_of_a_thread_is_a_finding_of_the_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let (exit, stdout, _) = verify(folder.path(), "end", &["--check", "sum"]);
    assert_eq!(exit, Some(1), "{stdout}");
    assert!(stdout.contains("sum               ok"), "{stdout}");
    assert!(stdout.contains("end               FAILED"), "{stdout}");
    assert!(
        stdout.contains("the process was killed by SIGABRT after the check had ended"),
        "{stdout}"
    );
}

#[test]
fn limits_of_time_and_memory_fail_the_check_of_costs() {
    let folder = tempfile::tempdir().expect("a folder");
    let (exit, stdout, _) = verify(folder.path(), "none", &["--check", "cost"]);
    assert_eq!(exit, Some(0), "{stdout}");
    for (limit, message) in [
        (["--max-time", "0.001ms"], "the limit is 1µs"),
        (["--max-memory", "1Ki"], "bytes are needed, the limit is 1024"),
    ] {
        let (exit, stdout, _) = verify(folder.path(), "none", &[&["--check", "cost"][..], &limit].concat());
        assert_eq!(exit, Some(1), "{stdout}");
        assert!(stdout.contains(message), "{stdout}");
    }
}

/// A binding that the user provides is a case, beside the random ones.
#[test]
fn additional_cases_are_decided() {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = ["--check", "sum", "--cases", "fleet.yaml", "--runs", "0"];
    let (exit, stdout, stderr) = verify(folder.path(), "none", &arguments[..4]);
    assert_eq!(exit, Some(0), "{stdout}\n{stderr}");
    let (exit, _, stderr) = verify(folder.path(), "none", &["--check", "sum", "--cases", "no.yaml"]);
    assert_eq!(exit, Some(2));
    assert!(stderr.starts_with("error: `no.yaml` cannot be read\n"), "{stderr}");
}

/// It breaks no other rule.
#[test]
fn a_filter_that_rejects_nothing_is_told_apart_from_one_that_decides() {
    let source = repository().join("tests/fixtures/nonsense.c");
    let library = c_interface::library("nonsense-verified", &[source])
        .display()
        .to_string();
    let folder = tempfile::tempdir().expect("a folder");
    let failures = folder.path().display().to_string();
    let arguments = |file: &str| {
        let arguments = [
            "plugin",
            "verify",
            file,
            "--allow-uncertified",
            "--check",
            "decides",
            "--runs",
            "500",
        ];
        run(&[&arguments[..], &["--clusters", "5", "--failures", &failures]].concat())
    };
    let (exit, stdout, stderr) = arguments(&library);
    assert_eq!(exit, Some(1), "{stdout}{stderr}");
    assert!(
        stdout.contains(" cases, it rejects no cluster: without it, each would be decided the same."),
        "{stdout}"
    );
    let example = c_interface::example().display().to_string();
    // One plugin of a library of two.
    let (exit, stdout, stderr) = run(&[
        "plugin",
        "verify",
        &example,
        "--allow-uncertified",
        "--name",
        "ready-only",
        "--check",
        "decides",
    ]);
    assert_eq!(exit, Some(0), "{stdout}{stderr}");
    let (exit, _, stderr) = run(&["plugin", "verify", &example, "--name", "ready"]);
    assert!(
        exit == Some(2) && stderr.contains("holds no plugin `ready`\n  hint: it holds `fill-in-order`, `ready-only`"),
        "{stderr}"
    );
}

#[test]
fn what_cannot_be_loaded_exits_with_2() {
    let (exit, stdout, stderr) = run(&["plugin", "verify", "./fleet.yaml"]);
    assert_eq!((exit, stdout.as_str()), (Some(2), ""));
    assert!(
        stderr.contains("fleet.yaml` is not a shared library: it is a text file"),
        "{stderr}"
    );
    let (exit, _, stderr) = run(&["plugin", "verify", "averag"]);
    assert_eq!(exit, Some(2));
    assert!(stderr.ends_with("  hint: did you mean `average`?\n"), "{stderr}");
    let (exit, _, stderr) = run(&["plugin", "verify", "average", "--check", "summ"]);
    assert_eq!(exit, Some(2));
    assert!(
        stderr.starts_with("error: unknown check `summ`\n  hint: known: sum, "),
        "{stderr}"
    );
}

#[test]
fn the_reports_have_the_form_of_their_schemas() {
    let folder = tempfile::tempdir().expect("a folder");
    let schema = committed_at("host/desk/cli/schema/verify.json");
    for fault in ["none", "sum"] {
        let (_, stdout, _) = verify(
            folder.path(),
            fault,
            &["--check", "sum", "--check", "cost", "-o", "json"],
        );
        let report: Value = serde_json::from_str(&stdout).expect("it is JSON");
        validate(&schema, &schema, &report, "$").unwrap_or_else(|error| panic!("{error}\n{stdout}"));
    }
    let schema = committed_at("host/desk/cli/schema/inspect.json");
    for arguments in [
        &["average"][..],
        &["average", "--load"],
        &["maintenance-windows", "--load"],
        &["/lib/x86_64-linux-gnu/libc.so.6"],
    ] {
        let (_, stdout, _) = run(&[&["plugin", "inspect", "-o", "json"], arguments].concat());
        if stdout.is_empty() {
            // A machine with its C library in another folder.
            continue;
        }
        let report: Value = serde_json::from_str(&stdout).expect("it is JSON");
        validate(&schema, &schema, &report, "$").unwrap_or_else(|error| panic!("{error}\n{stdout}"));
    }
}

/// Only a profile of one's own can have the table.
#[test]
fn a_plugin_that_reads_a_table_is_refused_with_the_profile_to_write() {
    let (exit, _, stderr) = run(&["plugin", "verify", "cheapest", "--runs", "1"]);
    assert_eq!(exit, Some(2));
    assert!(
        stderr.contains("`[profile.table.prices]`")
            && stderr.contains(
                "to a profile of your own, which has `extends = \"default\"`, and name its file with `--profile`\n"
            ),
        "{stderr}"
    );
}
