//! `divvy plugin new` and `divvy plugin test`: plugins that are created outside the checkout build and pass their
//! tests. Those that make builds are in `tests/programs/c_plugins.rs`.
//!
//! Plugins in Rust are built without network, with the versions that their lock files name, in one target directory
//! apart from the workspace's: a library there would be found as a bundled plugin.

mod created;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use self::created::{New, output, run};
use crate::artifacts::{plugin, workspace};
use crate::c_interface::library;

/// Creates a plugin in Rust, tests it, and checks that testing changes none of its files.
#[track_caller]
fn rust(name: &str, point: &str, cases: &[&str]) -> New {
    let new = New::in_rust(name, point);
    let lock = new.read("Cargo.lock");
    new.passes(cases);
    assert!(new.read("Cargo.lock") == lock, "cargo changed the lock file");
    let mut format = crate::artifacts::cargo();
    let format = format.args(["fmt", "--check"]).current_dir(&new.folder).output();
    let format = format.expect("cargo can be started");
    assert!(format.status.success(), "{}", String::from_utf8_lossy(&format.stdout));
    let (exit, stdout, stderr) = run(&[
        "schedule",
        "--profile",
        &format!("{}/profile.toml", new.path()),
        "--plugin-directory",
        concat!(env!("CARGO_TARGET_TMPDIR"), "/new-plugins/debug"),
        "-f",
        &format!("{}/manifests", new.path()),
    ]);
    assert_eq!(exit, Some(0), "{stdout}{stderr}");
    assert!(stdout.contains("shop/web-deployment"), "{stdout}");
    new
}

/// Name, extension point and golden cases of a plugin for each template in Rust. The gate has the first.
const IN_RUST: [(&str, &str, &[&str]); 5] = [
    ("few-clusters", "select", &["two-clusters"]),
    ("x", "assign", &["enough-room", "too-little-room"]),
    ("my-filter-2", "filter", &["another-region"]),
    ("score-whose-name-has-forty-letters-in-al", "score", &["gold-first"]),
    ("one-by-one", "pace", &["target"]),
];

#[test]
fn new_plugins_in_rust_build_and_pass_without_a_checkout() {
    let (first, others) = IN_RUST.split_at(1);
    for (name, point, cases) in first {
        decides_whole_cycles(&rust(name, point, cases));
    }
    for (name, point, cases) in divvy_built::cases(&[][..], others) {
        rust(name, point, cases);
    }
}

/// A test of the plugin runs the scheduler that runs the test, with the plugin as `divvy plugin test` builds it.
const WHOLE_CYCLE: &str = r#"
#[test]
fn it_works_in_the_scheduler() {
    let decisions = divvy_framework::testing::Scenario::from_files(["manifests"]).decide().unwrap();
    let web = decisions.binding("shop/web-deployment");
    assert_eq!(web.left_out(), [("madrid", "few-clusters")]);
    divvy_framework::testing::Verification::new().runs(20).clusters(30).check("members").passes();
}
"#;

/// Adds that test to the selector `few-clusters`, and runs it by a binary that has to be told where the plugins are.
#[track_caller]
fn decides_whole_cycles(new: &New) {
    let tests = new.read("src/tests.rs");
    new.write("src/tests.rs", &format!("{tests}{WHOLE_CYCLE}"));
    let plugins = plugin("duplicated").parent().expect("a library is in a folder");
    let plugins = plugins.to_str().expect("the path is UTF-8");
    let mut command = Command::new(alone());
    command
        .args(["plugin", "test", new.path(), "--runs=20", "--plugin-directory", plugins])
        .env_clear();
    let (exit, stdout, stderr) = output(command, &[("DIVVY", "/nowhere/divvy")]);
    assert_eq!(exit, Some(0), "{stdout}{stderr}");
    assert!(
        stderr.contains("test tests::it_works_in_the_scheduler ... ok"),
        "{stdout}{stderr}"
    );
}

/// `divvy` and `divvy-plugin` in a folder without plugins, as links: only arguments and variables say where they are.
fn alone() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("alone");
    fs::create_dir_all(&folder).expect("a folder can be made");
    for name in ["divvy", "divvy-plugin"] {
        let program = folder.join(name);
        let _ = fs::remove_file(&program);
        fs::hard_link(workspace().binary(name), &program).expect("a file can be linked");
    }
    folder.join("divvy")
}

#[test]
fn a_wrong_name_folder_or_sdk_creates_nothing() {
    let parent = tempfile::tempdir().expect("a folder can be made");
    let path = parent.path().to_str().expect("the path is UTF-8");
    let inside = format!("{path}/new");
    for (arguments, expected) in [
        (
            &["SpareCapacity", "--path", &inside][..],
            "error: `SpareCapacity` is not a name of a plugin: expected lower-case words joined by hyphens, such as \
             `spare-capacity`\n  hint: `spare-capacity` is valid\n"
                .to_owned(),
        ),
        (
            &["average", "--path", &inside],
            "error: `average` is the name of a plugin in the built-in profile\n  \
             hint: choose another name: two plugins of one name exclude each other\n"
                .to_owned(),
        ),
        (
            &["result", "--path", &inside],
            "error: a plugin `result` would hide the type `Result` of Rust or of the SDK: expected another name\n  \
             hint: add a word: `my-result`\n"
                .to_owned(),
        ),
        (
            &["mine", "--path", path],
            format!("error: `{path}` already exists\n  hint: `--path` names another folder\n"),
        ),
        (
            &["mine", "--path", &inside, "--sdk", "nowhere"],
            "error: `--sdk nowhere` is neither a folder nor a version\n  \
             hint: expected a checkout of Divvy, or a version such as `0.1.0`\n"
                .to_owned(),
        ),
        (
            &["mine", "--path", &inside, "--sdk", path],
            format!("error: `{path}` is not a checkout of Divvy: it has no `framework/Cargo.toml`\n"),
        ),
        (
            &["mine", "--path", &inside, "--sdk", "0.1.0", "--language=c"],
            "error: `--sdk` is for plugins in Rust\n  \
             hint: a plugin in C is built with its copy of the header alone\n"
                .to_owned(),
        ),
    ] {
        let (exit, stdout, stderr) = run(&[&["plugin", "new", "--point=assign"], arguments].concat());
        assert_eq!((exit, stdout.as_str(), stderr), (Some(2), "", expected));
    }
    assert_eq!(fs::read_dir(parent.path()).expect("the folder can be read").count(), 0);
}

#[test]
fn a_crate_with_two_exports_or_without_a_shared_library_gets_an_error_with_what_to_write() {
    let new = New::in_rust("my-plugin", "filter");
    let library = new.read("src/lib.rs");
    let again = "mod again {\n    use super::*;\n    divvy_framework::export_plugin!(MyPlugin: Filter);\n}\n";
    new.write("src/lib.rs", &format!("{library}\n{again}"));
    let (exit, stdout, stderr) = new.test(&[]);
    assert_eq!((exit, stdout.as_str()), (Some(1), ""), "{stderr}");
    let message = "`one_export_plugin_per_crate_lists_all_plugins_separated_by_semicolons`";
    assert!(stderr.contains(message), "{stderr}");
    new.write("src/lib.rs", &library);

    let manifest = new.read("Cargo.toml");
    let without = manifest.replace("[lib]\ncrate-type = [\"cdylib\"]\n", "");
    assert_ne!(without, manifest);
    new.write("Cargo.toml", &without);
    let (exit, stdout, stderr) = new.test(&[]);
    assert_eq!((exit, stdout.as_str()), (Some(1), ""), "{stderr}");
    let message = "error: a plugin is a shared library, but this crate is built as a Rust library: write `[lib]` and, below it, \
                   `crate-type = [\"cdylib\"]` into Cargo.toml\n";
    assert!(stderr.contains(message), "{stderr}");
}

/// The compiler says what to write, and does not advise a derive of serde.
#[test]
fn a_type_without_its_derive_is_an_error_with_what_to_write() {
    let new = New::in_rust("my-plugin", "filter");
    let library = |items: &str, configuration: &str, preferences: &str| {
        format!(
            "use divvy_framework::prelude::*;\n{items}\npub struct Mine;\nimpl Plugin for Mine {{\n    \
             const NAME: &'static str = \"my-plugin\";\n    const DESCRIPTION: &'static str = \"\";\n}}\n\
             impl ConfiguredPlugin for Mine {{\n    type Configuration = {configuration};\n    \
             fn new(_: {configuration}) -> Result<Self, Box<dyn std::error::Error>> {{\n        Ok(Self)\n    }}\n}}\n\
             impl FilterPlugin<{preferences}> for Mine {{\n    fn filter(\n        &self,\n        \
             _: &FilterContext<'_, Self, {preferences}>,\n        _: &mut FilterResult<'_>,\n    ) -> Result<(), Failure> \
             {{\n        Ok(())\n    }}\n}}\ndivvy_framework::export_plugin!(Mine: Filter);\n"
        )
    };
    let nested = "pub struct Nested {\n    pub limit: u8,\n}\n";
    for (items, configuration, preferences, told, write) in [
        (
            "#[derive(Configuration)]\npub struct Settings {\n    pub nested: Nested,\n}\n",
            "Settings",
            "NoPreferences",
            "`Nested` cannot be read from a configuration or preferences",
            "write `#[derive(Configuration)]` above the definition of `Nested`",
        ),
        (
            "#[derive(Configuration)]\npub struct Settings {\n    pub nested: Option<Vec<Nested>>,\n}\n",
            "Settings",
            "NoPreferences",
            "`Nested` cannot be read from a configuration or preferences",
            "write `#[derive(Configuration)]` above the definition of `Nested`",
        ),
        (
            "#[derive(Configuration)]\npub enum Settings {\n    One(Nested),\n    Two { nested: Nested },\n}\n",
            "Settings",
            "NoPreferences",
            "`Nested` cannot be read from a configuration or preferences",
            "write `#[derive(Configuration)]` above the definition of `Nested`",
        ),
        (
            "",
            "Nested",
            "NoPreferences",
            "`Nested` is not the type of a configuration",
            "write `#[derive(Configuration)]` above the definition of `Nested`",
        ),
        (
            "",
            "NoConfiguration",
            "Nested",
            "`Nested` is not the type of preferences",
            "write `#[derive(Preferences)]` above the definition of `Nested`",
        ),
    ] {
        new.write(
            "src/lib.rs",
            &library(&format!("{nested}{items}"), configuration, preferences),
        );
        let mut check = crate::artifacts::cargo();
        let check = check
            .args(["check", "--offline", "--color=never"])
            .current_dir(&new.folder);
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("new-plugins");
        let output = check
            .env("CARGO_TARGET_DIR", target)
            .output()
            .expect("cargo can be started");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{items}");
        assert!(stderr.contains(told), "{told}\n{stderr}");
        assert!(stderr.contains(write), "{write}\n{stderr}");
        // Errors that follow from it repeat it, and the first one is what an author reads.
        let first = stderr.lines().find(|line| line.starts_with("error"));
        assert!(
            first.is_some_and(|first| first.starts_with("error[E0277]: `Nested` ")),
            "{stderr}"
        );
        for misleading in [
            "consider annotating",
            "derive(serde",
            "derive(Deserialize",
            "derive(JsonSchema",
        ] {
            assert!(!stderr.contains(misleading), "{misleading}\n{stderr}");
        }
    }
}

/// The first thing that a stranger forgets.
#[test]
fn a_plugin_that_is_not_built_yet_is_found_with_the_command_that_builds_it() {
    let rust = New::create("my-plugin", &["--point=filter"]);
    let in_c = New::in_c("my-plugin");
    for (new, build) in [(&rust, "cargo build --release"), (&in_c, "make")] {
        let profile = format!("{}/profile.toml", new.path());
        let manifests = format!("{}/manifests", new.path());
        let hint = format!("hint: the plugin is not built yet: run `{build}` in `{}`\n", new.path());
        for arguments in [
            &["profile", "check", &profile][..],
            &["schedule", "--profile", &profile, "-f", &manifests],
        ] {
            let (exit, stdout, stderr) = run(arguments);
            assert_eq!((exit, stdout.as_str()), (Some(2), ""), "{stderr}");
            assert!(stderr.contains(&hint), "{hint}{stderr}");
        }
    }
}

/// A library without a certificate is allowed by its profile, for every command that loads it.
#[test]
fn commands_that_load_a_plugin_honour_what_its_profile_allows() {
    let new = New::in_c("my-plugin");
    let sources = ["plugin.c", "rule.c"].map(|source| new.folder.join(source));
    let built = library("new_plugin_in_c", &sources);
    let library = format!("{}/libdivvy_plugin_my_plugin.so", new.path());
    fs::copy(built, &library).expect("the library can be copied");
    let profile = format!("{}/profile.toml", new.path());
    let manifests = format!("{}/manifests", new.path());
    for arguments in [
        &["plugin", "show", &library][..],
        &["plugin", "show", "my-plugin"],
        &["plugin", "list"],
        &["diff", "-f", &manifests, "--plugin", &library],
    ] {
        let (exit, stdout, stderr) = run(&[arguments, &["--profile", &profile]].concat());
        assert_eq!(exit, Some(0), "{arguments:?}: {stdout}{stderr}");
    }
    let (exit, stdout, _) = run(&["plugin", "show", &library]);
    assert_eq!(exit, Some(2));
    assert!(stdout.contains("allow-uncertified = true"), "{stdout}");
}
