//! Systems that lack what isolation uses: a system call that answers an error in the command and in its workers.
//!
//! What isolation cannot do without is refused, and the message says how to run the plugin without it. Anything else is reported, once
//! per load of the profile.

use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;

use serde_json::Value;

use super::{divvy, file};
use crate::artifacts::{repository, with_bundled_plugins, workspace};
use crate::c_interface::hostile::HOSTILE;
use crate::c_interface::program;
use crate::manifests::{binding, cluster, list};

/// Runs a program in which a system call answers an error. Compiled once for all tests.
pub(super) static LACKING: LazyLock<PathBuf> =
    LazyLock::new(|| program("lacking", &[repository().join("tests/fixtures/lacking.c")]));

const ERRORS: [(&str, &str); 2] = [
    ("ENOSYS", "Function not implemented (os error 38)"),
    ("EPERM", "Operation not permitted (os error 1)"),
];

/// Runs `divvy` where a call is not available.
fn divvy_without(call: &str, error: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(&*LACKING);
    command
        .args([call, error])
        .arg(workspace().binary("divvy"))
        .args(arguments);
    let output = with_bundled_plugins(&mut command)
        .output()
        .expect("the program can be started");
    let text = |bytes| String::from_utf8(bytes).expect("divvy writes UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// A profile that has one plugin in this process or another. `test` names the files.
pub(super) fn profile(test: &str, isolation: &str) -> String {
    let content = format!(
        "[[profile]]\nname = 'one'\nextends = 'default'\n[profile.plugin.average]\nisolation = '{isolation}'\n"
    );
    let path = file(&format!("{test}/{isolation}.toml"), &content);
    path.to_str().expect("a path of ASCII").to_owned()
}

pub(super) fn schedule(profile: &str) -> [&str; 7] {
    ["schedule", "-f", "examples/fleet", "-o", "json", "--profile", profile]
}

fn warnings(log: &str) -> Vec<&str> {
    log.lines()
        .filter(|line| line.trim_start().starts_with("WARN"))
        .collect()
}

#[test]
fn a_plugin_is_refused_where_isolation_has_no_ground() {
    let (process, none) = (profile("refused", "process"), profile("refused", "none"));
    let (decided, output, _) = divvy(&schedule(&none));
    for (call, reason) in [
        (
            "memfd_create",
            "plugins cannot be isolated here: no sealed file in memory could be made and mapped: ",
        ),
        (
            "futex",
            "plugins cannot be isolated here: processes cannot wait for each other by a futex: ",
        ),
        ("seccomp", "the worker cannot be confined: seccomp is not available: "),
        (
            "no_new_privs",
            "the worker cannot be confined: no_new_privs is not available: ",
        ),
    ] {
        for (error, text) in ERRORS {
            let (exit, _, log) = divvy_without(call, error, &schedule(&process));
            assert_eq!(exit, Some(2), "{call} {error}: {log}");
            assert!(log.contains("average"), "{call} {error}: {log}");
            assert!(log.contains(&format!("{reason}{text}")), "{call} {error}: {log}");
            assert_eq!(log.matches("hint: ").count(), 1, "{call} {error}: {log}");
            assert!(log.contains("set `isolation = \"none\"` for "), "{call} {error}: {log}");
        }
        // The remedy works. What protects inputs in this process is missing as well without memory files.
        let (exit, without, log) = divvy_without(call, "EPERM", &schedule(&none));
        assert_eq!((exit, without), (decided, output.clone()), "{call}: {log}");
        let expected = usize::from(call == "memfd_create");
        assert_eq!(warnings(&log).len(), expected, "{call}: {log}");
        let exposed = log
            .matches("plugins in this process can overwrite the inputs of their calls: ")
            .count();
        assert_eq!(exposed, expected, "{call}: {log}");
    }
}

#[test]
fn anything_else_that_is_missing_is_reported_and_changes_no_decision() {
    let process = profile("reported", "process");
    let (decided, output, log) = divvy(&schedule(&process));
    assert_eq!(warnings(&log), Vec::<&str>::new(), "this machine lacks something");
    for (call, facilities) in [
        ("landlock", &["landlock"][..]),
        ("landlock rules", &["landlock"]),
        ("landlock at last", &["landlock"]),
        ("capset", &["dropping capabilities"]),
        (
            "limits",
            &[
                "the limit of addresses",
                "the limit of core dumps",
                "the limit of descriptors",
                "the limit of memory",
                "the limit of the stack",
            ],
        ),
        // Nothing depends on these.
        ("pidfd_open", &[]),
        ("pidfd_send_signal", &[]),
        ("waitid", &[]),
        ("nothing", &[]),
    ] {
        for (error, text) in ERRORS {
            let (exit, without, log) = divvy_without(call, error, &schedule(&process));
            assert_eq!((exit, without), (decided, output.clone()), "{call} {error}: {log}");
            let warnings = warnings(&log);
            assert_eq!(warnings.len(), facilities.len(), "{call} {error}: {log}");
            for (warning, facility) in warnings.iter().zip(facilities) {
                let expected = format!("{facility} is not available: {text}; ");
                assert!(warning.contains(&expected), "{call} {error}: {warning}");
                assert!(warning.contains("plugins=\"average\""), "{call} {error}: {warning}");
            }
        }
    }
}

/// `divvy profile check` is where it is read before anything runs: a warning per facility, with its remedy, and who bounds the rest.
#[test]
fn what_is_missing_is_in_the_check_of_a_profile() {
    let process = profile("checked", "process");
    let check = ["profile", "check", process.as_str()];
    let told = "average; the scheduler bounds threads and processor time, and the kernel does not";
    for (call, error, expected, hint) in [
        (
            "landlock",
            "ENOSYS",
            &["landlock is not available: Function not implemented (os error 38); the plugin can read every file"][..],
            Some("CONFIG_SECURITY_LANDLOCK"),
        ),
        (
            "limits",
            "EPERM",
            &[
                "the limit of addresses is not available: Operation not permitted (os error 1); the plugin's tables of pages are not limited",
                "the limit of memory is not available: Operation not permitted (os error 1); the plugin's memory is not limited",
            ],
            Some("use `RuntimeDefault` of a current runtime"),
        ),
        (
            "capset",
            "EPERM",
            &[
                "dropping capabilities is not available: Operation not permitted (os error 1); the plugin has the capabilities",
            ],
            None,
        ),
        ("nothing", "EPERM", &[], None),
    ] {
        let (exit, output, log) = divvy_without(call, error, &check);
        assert_eq!(exit, Some(0), "{call}: {log}");
        assert!(output.contains(told), "{call}: {output}");
        for expected in expected {
            let found = log
                .lines()
                .filter(|line| line.starts_with("warning: ") && line.contains(expected));
            let found: Vec<&str> = found.collect();
            assert!(
                matches!(found[..], [line] if line.ends_with(": `average`")),
                "{call}: {log}"
            );
        }
        let hints = log.lines().filter(|line| line.starts_with("  hint: "));
        assert!(
            hint.is_none_or(|hint| hints.clone().any(|line| line.contains(hint))),
            "{call}: {log}"
        );
        let others = log.contains("the limit of ") || log.contains("dropping capabilities");
        assert!(!expected.is_empty() || !others, "{call}: {log}");
    }
    // A plugin in the scheduler's process is bounded by nothing, which is what `isolation = "none"` says.
    let (exit, output, log) = divvy_without("landlock", "ENOSYS", &["profile", "check", &profile("checked", "none")]);
    assert_eq!((exit, log.as_str()), (Some(0), ""), "{output}");
    assert!(!output.contains("isolated"), "{output}");
}

/// The scheduler that runs says it, too, before it does anything else.
#[test]
fn what_is_missing_is_in_the_log_of_run_and_in_the_list_of_plugins() {
    let process = profile("logged", "process");
    let run = ["run", "--kubeconfig", "/there/is/none", "--profile", process.as_str()];
    let (_, _, log) = divvy_without("landlock", "ENOSYS", &run);
    let expected = "landlock is not available: Function not implemented (os error 38); the plugin can read every file";
    let found = log
        .lines()
        .filter(|line| line.contains("WARN") && line.contains(expected));
    assert_eq!(found.count(), 1, "{log}");

    let list = |format| ["plugin", "list", "-o", format, "--profile", process.as_str()];
    let (exit, listed, log) = divvy_without("landlock", "ENOSYS", &list("json"));
    assert_eq!(exit, Some(0), "{log}");
    let listed: Value = serde_json::from_str(&listed).expect("JSON");
    // Libraries that other tests have built lie in the same folder, and are isolated as well.
    let mut isolated = 0;
    for plugin in listed.as_array().expect("a list") {
        let missing = &plugin["missing"];
        match plugin["isolation"].as_str() {
            Some("process") => {
                isolated += 1;
                let message = missing[0]["message"].as_str().unwrap_or_default();
                assert!(message.starts_with(expected), "{plugin:#}");
                let hint = missing[0]["hint"].as_str().unwrap_or_default();
                assert!(hint.contains("CONFIG_SECURITY_LANDLOCK"), "{plugin:#}");
            }
            _ => assert!(missing.is_null(), "{plugin:#}"),
        }
    }
    let (_, listed, _) = divvy_without("landlock", "ENOSYS", &list("wide"));
    assert!(isolated > 0, "{listed}");
    let warnings = listed.matches(&format!("warning: {expected}")).count();
    assert_eq!(warnings, isolated, "{listed}");
    let (_, listed, _) = divvy_without("landlock", "ENOSYS", &list("table"));
    assert!(!listed.contains(expected), "{listed}");
}

/// A worker is ended without any of the newer calls.
#[test]
fn a_worker_that_hangs_is_ended_where_newer_calls_are_missing() {
    let profile = format!(
        "[[profile]]\nname = 'hostile'\nextends = 'default'\nfilters = ['cluster-affinity', 'hostile']\n\
         [profile.plugin.hostile]\npath = '{}'\nallow-uncertified = true\ndeadline = '200ms'\n",
        HOSTILE.display()
    );
    let profile = file("missing/hostile.toml", &profile);
    let hanging = binding("web", 3)
        .strategy("Average")
        .annotation("hostile.example/fault", "endless loop")
        .annotation("hostile.example/point", "filter");
    let manifests = file(
        "missing/hanging.json",
        &list([Value::from(cluster("a", 9)), hanging.into()]),
    );
    let arguments = [
        "schedule",
        "-f",
        manifests.to_str().expect("a path of ASCII"),
        "--profile",
        profile.to_str().expect("a path of ASCII"),
    ];
    for call in ["pidfd_open", "pidfd_send_signal", "waitid"] {
        let (exit, output, log) = divvy_without(call, "ENOSYS", &arguments);
        assert_eq!(exit, Some(3), "{call}: {output}{log}");
        let expected = "its worker did not answer a call within 200 ms";
        assert!(
            output.contains(expected) || log.contains(expected),
            "{call}: {output}{log}"
        );
    }
}
