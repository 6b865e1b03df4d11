//! `divvy plugin inspect`: facts from a library's file, and whether this host would load it.

use std::path::{Path, PathBuf};

use divvy_loader::{PluginLibrary, features};
use object::{Object, ObjectSection};
use serde_json::{Value, json};

use super::{run, run_below_a_careless_parent};
use crate::artifacts::{fixture, plugin, plugin_folders, repository};
use crate::c_interface;

/// The report on a file or a name, and the exit code.
#[track_caller]
fn inspect(arguments: &[&str]) -> (Option<i32>, Value) {
    let (exit, stdout, stderr) = run(&[&["plugin", "inspect", "-o", "json"], arguments].concat());
    let report = serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}{stderr}"));
    (exit, report)
}

/// The file and the opened library give the same answers.
#[test]
fn the_file_says_what_the_library_says() {
    for folder in plugin_folders() {
        let library = PluginLibrary::load(plugin(&folder), None).unwrap_or_else(|error| panic!("{error}"));
        let (exit, report) = inspect(&[&folder]);
        assert_eq!(exit, Some(0), "{report:#}");
        let said = &report["plugins"][0];
        let expected = json!({
            "name": library.name(),
            "version": library.version(),
            "description": library.description(),
            "sdkVersion": library.sdk_version(),
            "abiVersion": library.abi_version().to_string(),
            "extensionPoints": library.extension_points(),
            "strategies": library.strategies(),
            "promises": library.promise_names(),
            "inputs": library.input_names(),
            "certified": true,
        });
        for (key, value) in expected.as_object().expect("an object") {
            assert_eq!(&said[key], value, "{folder}: {key}");
        }
        let acts_on = features::acts_on(|point| library.acts_on(point)).into_iter();
        let acts_on: Vec<Value> = acts_on
            .map(|(point, parts)| json!({ "extensionPoint": point, "parts": parts }))
            .collect();
        let expected = (!acts_on.is_empty()).then(|| json!(acts_on));
        assert_eq!(said.get("actsOn"), expected.as_ref(), "{folder}");
        assert_eq!(report["sha256"], library.checksum());
        assert_eq!(report["verdict"], json!({ "loads": true }));
    }
}

/// The linker's own version table, read by the dynamic linker's tool.
#[test]
fn the_oldest_glibc_and_the_target_are_those_of_the_file() {
    let (_, report) = inspect(&["average"]);
    let target = report["target"].as_str().expect("a target");
    assert!(target.starts_with(std::env::consts::ARCH), "{target}");
    if target.ends_with("-linux-gnu") {
        let bytes = std::fs::read(plugin("average")).expect("it was built");
        let text = String::from_utf8_lossy(&bytes);
        let version = report["oldestGlibc"].as_str().expect("a version");
        assert!(text.contains(&format!("GLIBC_{version}")), "{version}");
    }
}

#[test]
fn values_that_are_kept_and_needs_are_shown() {
    let path = fixture("unfaithful").display().to_string();
    let (exit, stdout, stderr) = run(&["plugin", "inspect", &path]);
    assert_eq!((exit, stderr.as_str()), (Some(0), ""));
    for line in [
        "  extension points   Filter, Score, Select, Assign\n",
        "  strategies         Unfaithful\n",
        "  promises           respects capacity, order-independent, inert, enforces spread constraints\n",
        "  acts only on       evictions at Filter\n",
        "  also sees          time of the decision\n",
        "  keeps              a value per snapshot\n",
    ] {
        assert!(stdout.contains(line), "{stdout}");
    }
    let (_, stdout, _) = run(&["plugin", "inspect", "priority-aggregated"]);
    assert!(stdout.contains("  needs              walks tiers itself\n"), "{stdout}");
}

/// A copy of a plugin whose bytes were changed.
fn changed(folder: &Path, change: impl FnOnce(&mut Vec<u8>)) -> PathBuf {
    let mut bytes = std::fs::read(plugin("average")).expect("it was built");
    change(&mut bytes);
    let path = folder.join("libchanged.so");
    std::fs::write(&path, bytes).expect("the file can be written");
    path
}

/// Offset of the section with the record.
fn record(bytes: &[u8]) -> usize {
    let file = object::File::parse(bytes).expect("a library");
    let section = file.section_by_name(".divvy.plugin").expect("a record");
    let (offset, _) = section.file_range().expect("it is in the file");
    usize::try_from(offset).expect("a small file")
}

#[track_caller]
fn check_refused(path: &Path, reason: &str) -> Value {
    let text = path.display().to_string();
    let (exit, report) = inspect(&[&text]);
    assert_eq!(exit, Some(2), "{report:#}");
    assert_eq!(report["verdict"]["loads"], false);
    let actual = report["verdict"]["reason"].as_str().expect("a reason");
    assert!(actual.contains(reason), "{actual}");
    // The other facts from the file are there as well, and nothing is loaded.
    assert!(!report["sha256"].as_str().unwrap_or_default().is_empty());
    let (exit, asked) = inspect(&[&text, "--load"]);
    assert_eq!((exit, asked.get("lists")), (Some(2), None));
    report
}

#[test]
fn a_library_that_would_be_refused_can_be_inspected() {
    let folder = tempfile::tempdir().expect("a folder");
    // Another major version, in the record.
    let other = changed(folder.path(), |bytes| {
        let at = record(bytes) + 16;
        bytes[at] = 9;
    });
    let report = check_refused(&other, "has ABI 9.1 (SDK 0.1.0), this divvy has ABI 1.");
    assert_eq!(report["plugins"][0]["abiVersion"], "9.1");
    // Another architecture, in the header of the file.
    let other = changed(folder.path(), |bytes| {
        bytes[18..20].copy_from_slice(&183_u16.to_le_bytes())
    });
    if std::env::consts::ARCH == "x86_64" {
        let report = check_refused(&other, "is built for aarch64, this divvy for x86_64");
        assert_eq!(report["target"], "aarch64-linux-gnu");
        assert_eq!(report["plugins"][0]["name"], "average");
    }
    // A newer glibc: the digits of the version that the library needs.
    let needed = inspect(&["average"]).1["oldestGlibc"]
        .as_str()
        .expect("a version")
        .to_owned();
    let newer = changed(folder.path(), |bytes| {
        let text = format!("GLIBC_{needed}\0").into_bytes();
        let at = bytes
            .windows(text.len())
            .position(|window| *window == text)
            .expect("it is there");
        let digits = at + "GLIBC_2.".len()..at + text.len() - 1;
        bytes[digits].fill(b'9');
    });
    check_refused(&newer, "it needs glibc 2.99 or newer, this machine has 2.");
    check_refused(fixture("no-module"), "is a shared library but not a divvy plugin");
    let several = c_interface::library(
        "misbehaving-inspected",
        &[repository().join("tests/fixtures/misbehaving.c")],
    );
    // `demanding` requires features that no host has, `hollow` lacks a function: what stays when the library is allowed comes first.
    let report = check_refused(&several, "libmisbehaving-inspected.so) ");
    let reason = report["verdict"]["reason"].as_str().unwrap_or_default();
    assert!(!reason.contains("certificate"), "{reason}");
    let mut names: Vec<&str> = report["plugins"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|plugin| plugin["name"].as_str())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["demanding", "hollow", "misbehaving"]);
    assert_eq!(report["plugins"][0]["extensionPoints"], json!(["Filter", "Assign"]));
}

/// A profile can use any of them by the path of the file.
#[test]
fn a_library_of_several_plugins_loads_if_each_of_them_does() {
    let library = fixture("two-plugins");
    let (exit, report) = inspect(&[&library.display().to_string()]);
    assert_eq!(
        (exit, &report["verdict"]["loads"]),
        (Some(0), &Value::Bool(true)),
        "{report:#}"
    );
    assert_eq!(
        report["verdict"]["hint"],
        "a profile names the plugins to use, and gives the `path` of this file to each"
    );
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::copy(library, folder.path().join("libdivvy_plugin_both.so")).expect("the library can be copied");
    let path = folder.path().display().to_string();
    let (exit, stdout, stderr) = run(&["plugin", "list", "--plugin-directory", &path]);
    assert_eq!(exit, Some(0), "{stdout}{stderr}");
    let has = |name: &str| stdout.lines().any(|line| line.split_whitespace().next() == Some(name));
    assert!(has("alone") && has("nothing") && !stdout.contains("broken"), "{stdout}");

    let file = folder.path().join("libdivvy_plugin_both.so").display().to_string();
    let (exit, stdout, stderr) = run(&["plugin", "inspect", &file, "--load"]);
    let expected = format!(
        "error: `--load` needs the name of one plugin: library `{file}` has `nothing`, `alone`\n  \
         hint: give its name in place of the file, and a profile in which `path` of the plugin is this file\n"
    );
    assert_eq!((exit, stdout.as_str(), stderr), (Some(2), "", expected));
    let profile = folder.path().join("both.toml");
    let lines = format!("[[profile]]\nname = 'both'\nextends = 'default'\n[profile.plugin.alone]\npath = '{file}'\n");
    std::fs::write(&profile, lines).expect("the profile can be written");
    let profile = profile.display().to_string();
    let (exit, stdout, stderr) = run(&["plugin", "inspect", "alone", "--load", "--profile", &profile]);
    assert_eq!((exit, stderr.as_str()), (Some(0), ""), "{stdout}");
}

/// A library that aborts when it is opened is inspected like any other; only `--load` fails.
#[test]
fn no_code_of_the_library_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("aborting.c");
    let text = std::fs::read_to_string(repository().join("tests/fixtures/nonsense.c")).expect("a source");
    let constructor =
        "\n#include <stdlib.h>\n__attribute__((constructor)) static void open_me(void)\n{\n    abort();\n}\n";
    std::fs::write(&source, text + constructor).expect("the file can be written");
    let library = c_interface::library("aborting", &[source]);
    let profile = folder.path().join("profile.toml");
    let lines = format!(
        "[[profile]]\nname = 'p'\nextends = 'default'\nfilters = ['nonsense']\n\
         [profile.plugin.nonsense]\npath = '{}'\nallow-uncertified = true\n",
        library.display()
    );
    std::fs::write(&profile, lines).expect("the file can be written");
    let profile = profile.display().to_string();
    let (exit, report) = inspect(&["nonsense", "--profile", &profile]);
    assert_eq!(
        (exit, &report["verdict"]["loads"]),
        (Some(0), &Value::Bool(true)),
        "{report:#}"
    );
    let (exit, stdout, stderr) = run(&["plugin", "inspect", "nonsense", "--load", "--profile", &profile]);
    assert_eq!((exit, stdout.as_str()), (Some(2), ""));
    assert!(
        stderr.contains("its worker was ended by SIGABRT while it was to open the library"),
        "{stderr}"
    );
    let (exit, stdout, stderr) = run(&["plugin", "verify", "nonsense", "--profile", &profile]);
    assert_eq!((exit, stdout.as_str()), (Some(2), ""));
    assert!(
        stderr.contains("cannot be loaded: the process was killed by SIGABRT"),
        "{stderr}"
    );
    // The cause is known whatever the parent of the command ignores.
    let (exit, _, stderr) =
        run_below_a_careless_parent(&["plugin", "inspect", "nonsense", "--load", "--profile", &profile]);
    assert_eq!(exit, Some(2), "{stderr}");
    assert!(stderr.contains("its worker was ended by SIGABRT"), "{stderr}");
}

/// The first look at one's own first plugin: nothing is wrong with it, and it says what makes it loadable.
#[test]
fn a_library_that_lacks_only_a_certificate_is_not_refused() {
    let source = repository().join("tests/fixtures/careless.c");
    let path = c_interface::library("careless-inspected", &[source])
        .display()
        .to_string();
    let (exit, stdout, _) = run(&["plugin", "inspect", &path]);
    // As `schedule --plugin` with the same file.
    assert_eq!(exit, Some(2), "{stdout}");
    assert!(
        stdout.contains(") if it is allowed without a certificate\n"),
        "{stdout}"
    );
    assert!(
        stdout.contains("`--allow-uncertified`") && !stdout.contains("refused"),
        "{stdout}"
    );
    // It was built with the header alone.
    assert!(
        stdout.contains("  built with         c, ABI ") && !stdout.contains("SDK"),
        "{stdout}"
    );
    let (exit, report) = inspect(&[&path]);
    let verdict = &report["verdict"];
    assert_eq!(
        (exit, &verdict["loads"], &verdict["loadsIfAllowed"]),
        (Some(2), &json!(false), &json!(true))
    );
    let (exit, report) = inspect(&[&path, "--allow-uncertified"]);
    assert_eq!((exit, &report["verdict"]), (Some(0), &json!({ "loads": true })));
    let (exit, report) = inspect(&[&path, "--allow-uncertified", "--load"]);
    assert!(
        exit == Some(0) && report.get("configurationSchema").is_some(),
        "{report:#}"
    );
}

/// Reading a device may never end, and reading a pipe waits for a writer.
#[test]
fn only_regular_files_are_read() {
    for command in ["inspect", "verify"] {
        let (exit, stdout, stderr) = run(&["plugin", command, "/dev/zero"]);
        assert_eq!((exit, stdout.as_str()), (Some(2), ""), "{stderr}");
        let message = "error: `/dev/zero` is not a shared library: it is not a regular file\n";
        assert!(stderr.starts_with(message), "{stderr}");
    }
    let folder = tempfile::tempdir().expect("a folder can be made");
    let huge = folder.path().join("huge.so");
    let file = std::fs::File::create(&huge).expect("the file can be made");
    file.set_len(2 << 30).expect("it can be sparse");
    let (exit, _, stderr) = run(&["plugin", "inspect", huge.to_str().expect("it is UTF-8")]);
    assert_eq!(exit, Some(2), "{stderr}");
    assert!(stderr.contains("it has more than 1073741824 bytes"), "{stderr}");
}
