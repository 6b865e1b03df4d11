//! The log of plugins: `DIVVY_LOG` chooses a plugin by its target, and `-vv` prints the backtrace of a panic.

use std::fs;

use super::divvy;
use crate::artifacts::fixture;
use crate::manifests::{binding, cluster, list};

/// Schedules a binding with the faulty plugin and this fault. Returns standard error.
fn log_of(fault: &str, more: &[&str], levels: Option<&str>) -> String {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let profile = format!(
        "[[profile]]\nname = 'mine'\nextends = 'default'\nassign = ['...', 'faulty']\n[profile.plugin.faulty]\npath = '{}'\n",
        fixture("faulty").display()
    );
    let binding = binding("web", 2)
        .strategy("Faulty")
        .annotation("faulty.example/fault", fault);
    let objects = list([cluster("a", 9).into(), binding.into()]);
    fs::write(path("profile.toml"), profile).expect("the file can be written");
    fs::write(path("objects.json"), &objects).expect("the file can be written");
    let mut command = divvy(&[
        "schedule",
        "--profile",
        &path("profile.toml"),
        "-f",
        &path("objects.json"),
    ]);
    command.args(more).envs(levels.map(|levels| ("DIVVY_LOG", levels)));
    let output = command.output().expect("the binary can be started");
    String::from_utf8(output.stderr).expect("divvy writes UTF-8")
}

#[test]
fn one_plugin_is_chosen_by_the_target_of_its_log() {
    let end = r#"plugin="faulty" binding="default/web" module="divvy_fixture_faulty""#;
    let information = format!(r#" INFO divvy::plugin::faulty: prepared "nothing" answer=42 {end}"#);
    let details = format!("DEBUG divvy::plugin::faulty: details value=loud {end}");
    assert_eq!(log_of("log", &[], None), "");
    assert_eq!(log_of("log", &[], Some("divvy::plugin::other=trace")), "");
    assert_eq!(
        log_of("log", &[], Some("warn,divvy::plugin::faulty=info")),
        format!("{information}\n")
    );
    assert_eq!(
        log_of("log", &[], Some("divvy::plugin::faulty=debug")),
        format!("{information}\n{details}\n")
    );
    let verbose = log_of("log", &["-vv"], None);
    assert!(
        verbose.contains(&information) && verbose.contains(&details),
        "{verbose}"
    );
}

/// The variables of the test have no RUST_BACKTRACE.
#[test]
fn the_backtrace_of_a_panic_is_printed_if_requested() {
    let frame = "divvy_fixture_faulty::";
    for quiet in [
        log_of("panic in prepare", &[], None),
        log_of("panic in prepare", &["-v"], None),
    ] {
        assert!(!quiet.contains(frame), "{quiet}");
    }
    for levels in [(&["-vv"][..], None), (&[], Some("divvy::plugin::faulty=debug"))] {
        let stderr = log_of("panic in prepare", levels.0, levels.1);
        assert!(
            stderr.contains("divvy::plugin::faulty: panicked: prepare panicked (at "),
            "{stderr}"
        );
        assert!(stderr.contains(frame), "{stderr}");
        for foreign in ["core::panicking", "std::panic", "divvy_scheduler::"] {
            let log = stderr.split("panicked: prepare panicked").nth(1).unwrap_or_default();
            let frames = log
                .lines()
                .take_while(|line| !line.contains("DEBUG"))
                .collect::<Vec<_>>()
                .join("\n");
            assert!(!frames.contains(foreign), "{foreign}: {frames}");
        }
    }
}
