//! The same libraries decide alike in either process.

use std::fmt::Write;

use super::{divvy, file, scheduled};
use crate::artifacts::plugin;
use crate::scheduling::Host;

/// A profile that extends another, with every plugin in a process of its own.
fn isolated(base: &str, more: &str) -> String {
    let mut text = format!("[[profile]]\nname = 'isolated'\nextends = '{base}'\n");
    for plugin in Host::built_in().profile().plugins() {
        let name = plugin.name();
        writeln!(text, "[profile.plugin.{name}]\nisolation = 'process'\n{more}").expect("a text grows");
    }
    text
}

/// Results, explanations, notes and log lines.
#[test]
fn every_plugin_of_the_built_in_profile_explains_alike() {
    let profile = file("explained.toml", &isolated("default", ""));
    let profile = profile.to_str().expect("a path of ASCII");
    let schedule = |profile: &str| {
        divvy(&[
            "schedule",
            "-f",
            "examples/fleet",
            "--explain",
            "-vv",
            "-o",
            "json",
            "--profile",
            profile,
        ])
    };
    let (exit, decided, logged) = schedule("default");
    let (isolated_exit, isolated, isolated_log) = schedule(profile);
    assert_eq!(isolated_exit, exit);
    assert_eq!(isolated.replace("\"isolated\"", "\"default\""), decided);
    // The other lines have times, and the profile's name.
    let decisions = |log: &str| {
        let lines = log.lines().filter(|line| line.starts_with("DEBUG"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(decisions(&logged).len() > 10, "{logged}");
    assert_eq!(decisions(&isolated_log), decisions(&logged));
}

#[test]
fn every_recorded_decision_of_karmada_is_made_by_isolated_plugins() {
    let profile = file("recorded.toml", &isolated("karmada", ""));
    let profile = profile.to_str().expect("a path of ASCII");
    for (recording, count) in [
        ("karmada-parity", 2_995),
        ("karmada-parity-odd", 1_600),
        ("karmada-parity-large", 300),
    ] {
        let path = format!("tests/conformance/{recording}.jsonl.gz");
        let (exit, replayed, log) = divvy(&["replay", &path, "--profile", profile]);
        assert_eq!(exit, Some(0), "{recording}: {replayed}{log}");
        assert!(
            replayed.contains(&format!("{count} passed, 0 failed")),
            "{recording}: {replayed}"
        );
    }
}

/// A failure can hold until a time, in either process.
#[test]
fn a_failure_holds_as_long_in_a_worker() {
    let manifests = file(
        "alike/failing.json",
        &super::harm::objects("none", &["fail for a time"]),
    );
    let isolated = super::harm::profile("alike/process.toml", "");
    let text = std::fs::read_to_string(&isolated).expect("a profile");
    let own = text.replace("isolation = 'process'\ndeadline = '1s'", "isolation = 'none'");
    assert_ne!(own, text);
    let in_process = file("alike/none.toml", &own);
    for profile in [isolated, in_process] {
        let (exit, output, log) = scheduled(&manifests, &profile, &["--explain"]);
        assert_eq!(exit, Some(1), "{output:#}{log}");
        assert_eq!(
            output[0]["validUntil"], "3000-01-01T00:00:00Z",
            "{profile:?}: {output:#}"
        );
    }
}

/// A worker cannot make a file in memory, so it makes the copy of a library with a checksum before it is confined.
#[test]
fn a_library_with_a_checksum_is_opened_from_a_copy() {
    let average = divvy_loader::PluginFile::read(plugin("average")).expect("a plugin");
    let text = |checksum: &str| {
        format!(
            "[[profile]]\nname = 'copied'\nextends = 'default'\n[profile.plugin.average]\nisolation = 'process'\nsha256 = '{checksum}'\n"
        )
    };
    let check = |name: &str, checksum: &str| {
        let profile = file(name, &text(checksum));
        divvy(&[
            "profile",
            "check",
            "--profile",
            profile.to_str().expect("a path of ASCII"),
        ])
    };
    let (exit, output, log) = check("copied.toml", average.checksum());
    assert_eq!(exit, Some(0), "{output}{log}");
    let (exit, _, log) = check("exchanged.toml", &"0".repeat(64));
    assert_eq!(exit, Some(2), "{log}");
    assert!(log.contains("average"), "{log}");
}
