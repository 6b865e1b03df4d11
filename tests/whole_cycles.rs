//! The test kit's runs of the real scheduler, in a crate outside the workspace: whole cycles, and `verify` as one line
//! of a test.
//!
//! The tests of that crate are run by cargo, each on its own, since most of them must fail, each with the text that an
//! author needs.

use std::path::Path;

use crate::artifacts::{self, cargo, plugin, repository, workspace};

/// Runs one test of the fixture, and returns true if it passes, with what cargo printed. Without `divvy`, the binary is
/// that of the workspace.
fn run(test: &str, divvy: Option<&str>) -> (bool, String) {
    let plugins = plugin("duplicated").parent().expect("a library is in a folder");
    let mut command = cargo();
    command
        .args([
            "test",
            "--package=divvy-fixture-unfaithful",
            "--test=kit",
            "--offline",
            "--locked",
            "--manifest-path",
        ])
        .arg(repository().join("tests/fixtures/plugins/Cargo.toml"))
        .args(["--", "--exact", "--include-ignored", test])
        .env("CARGO_TARGET_DIR", artifacts::metadata().target_directory.as_std_path())
        .env("DIVVY_PLUGIN_PATH", plugins)
        .env_remove("DIVVY_PLUGIN_FEATURES");
    match divvy {
        Some(divvy) => command.env("DIVVY", divvy),
        None => command.env("DIVVY", workspace().binary("divvy")),
    };
    if divvy == Some("") {
        command.env("PATH", path_without_divvy());
    }
    let output = command.output().expect("cargo can be started");
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8(text).expect("cargo and divvy write UTF-8");
    assert!(text.contains("\nrunning 1 test\n"), "{text}");
    (output.status.success(), text)
}

/// Folders of the PATH in which no `divvy` is installed.
fn path_without_divvy() -> std::ffi::OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let without = std::env::split_paths(&path).filter(|folder: &std::path::PathBuf| !folder.join("divvy").exists());
    std::env::join_paths(without).expect("they were joined before")
}

#[track_caller]
fn passes(test: &str) {
    let (passes, text) = run(test, None);
    assert!(passes, "{text}");
}

#[track_caller]
fn fails_with(test: &str, divvy: Option<&str>, expected: &[&str]) {
    let (passes, text) = run(test, divvy);
    assert!(!passes, "{text}");
    for expected in expected {
        assert!(text.contains(expected), "{test} does not print {expected:?}:\n{text}");
    }
}

#[test]
fn manifests_are_decided_with_the_bundled_plugins_around_the_one_under_test() {
    passes("decides_between_bundled_plugins");
    passes("an_argument_overrides_the_policy");
}

#[test]
fn what_cannot_be_scheduled_and_what_a_plugin_does_wrong_are_decisions() {
    passes("a_binding_that_cannot_be_scheduled_is_a_decision");
    passes("a_fault_of_the_plugin_is_a_decision");
}

#[test]
fn verify_is_one_line_of_a_test_and_fails_with_the_name_of_the_check() {
    passes("keeps_its_contracts");
    let failures = artifacts::metadata()
        .target_directory
        .as_std_path()
        .join("debug/divvy-verify");
    let manifests = failures.join("unfaithful-sum.yaml");
    let _ = std::fs::remove_file(&manifests);
    fails_with(
        "breaks_a_contract",
        None,
        &[
            "sum               FAILED",
            "counts            ok",
            "profile sum, seed 3, 20 random cases",
            "expected ",
        ],
    );
    assert!(
        Path::new(&manifests).is_file(),
        "{} is not written",
        manifests.display()
    );
    fails_with(
        "a_file_that_is_not_a_library",
        None,
        &["is not a shared library: it is a text file"],
    );
}

#[test]
fn without_a_binary_the_error_names_the_variable() {
    fails_with(
        "decides_between_bundled_plugins",
        Some(""),
        &[
            "`divvy` is not found, so there is no scheduler to run the plugin in",
            "hint: set the environment variable `DIVVY` to the path of the binary",
        ],
    );
    let named = [
        "`/nowhere/divvy` is not found",
        "the environment variable `DIVVY` names it",
    ];
    fails_with("keeps_its_contracts", Some("/nowhere/divvy"), &named);
}

#[test]
fn wrong_manifests_profiles_and_builds_fail_with_the_words_of_divvy_and_cargo() {
    fails_with(
        "a_misspelt_field",
        None,
        &["standard input:5", "`regoin`", "did you mean `region`?"],
    );
    fails_with("an_unknown_profile", None, &["no-such-profile.toml"]);
    let unknown = ["`cargo build --lib", "no-such-feature"];
    fails_with("a_feature_that_the_crate_does_not_have", None, &unknown);
}
