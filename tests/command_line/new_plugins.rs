//! `divvy plugin new` and `divvy plugin test`: plugins that are created outside the checkout build and pass their
//! tests.
//!
//! Plugins in Rust are built without network, with the versions that their lock files name, in one target directory
//! apart from the workspace's: a library there would be found as a bundled plugin.

mod libraries;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tempfile::TempDir;

use super::divvy;
use crate::artifacts::{plugin, workspace};

/// Variables that cargo, make and a compiler need, beside those of the command itself.
const PASSED_ON: [&str; 5] = ["PATH", "HOME", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"];

fn run_with(arguments: &[&str], variables: &[(&str, &str)]) -> (Option<i32>, String, String) {
    output(divvy(arguments), variables)
}

fn output(mut command: Command, variables: &[(&str, &str)]) -> (Option<i32>, String, String) {
    command.envs(
        PASSED_ON
            .iter()
            .filter_map(|name| Some((name, std::env::var_os(name)?))),
    );
    command
        .env("CARGO_NET_OFFLINE", "true")
        // As in the workspace: nobody debugs them.
        .env("CARGO_PROFILE_DEV_DEBUG", "false")
        .env(
            "CARGO_TARGET_DIR",
            Path::new(env!("CARGO_TARGET_TMPDIR")).join("new-plugins"),
        )
        .envs(variables.iter().copied());
    let Output { status, stdout, stderr } = command.output().expect("the binary can be started");
    let text = |bytes| String::from_utf8(bytes).expect("divvy writes UTF-8");
    (status.code(), text(stdout), text(stderr))
}

fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    run_with(arguments, &[])
}

/// A plugin in a folder outside the checkout.
struct New {
    folder: PathBuf,
    _turn: Option<MutexGuard<'static, ()>>,
    _parent: Arc<TempDir>,
}

impl New {
    #[track_caller]
    fn create(name: &str, arguments: &[&str]) -> Self {
        let parent = tempfile::tempdir().expect("a folder can be made");
        Self::create_in(Arc::new(parent), None, name, arguments)
    }

    /// A plugin in Rust in the folder of the one before, with the sources of the SDK that the first one brought: Cargo knows a crate by
    /// its path and the times of its files, so it compiles them once. A plugin has the folder until it is dropped.
    #[track_caller]
    fn in_rust(name: &str, point: &str) -> Self {
        static PARENT: Mutex<Weak<TempDir>> = Mutex::new(Weak::new());
        static TURN: Mutex<()> = Mutex::new(());
        let parent = {
            let mut shared = PARENT.lock().unwrap_or_else(PoisonError::into_inner);
            shared.upgrade().unwrap_or_else(|| {
                let parent = Arc::new(tempfile::tempdir().expect("a folder can be made"));
                *shared = Arc::downgrade(&parent);
                parent
            })
        };
        // A test that failed can leave a plugin whose sources are kept already.
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let plugin = parent.path().join("plugin");
        let kept = parent.path().join("vendor");
        if plugin.exists() {
            if !kept.exists() {
                fs::rename(plugin.join("vendor"), &kept).expect("a folder can be moved");
            }
            fs::remove_dir_all(&plugin).expect("the folder can be removed");
        }
        let new = Self::create_in(parent, Some(turn), name, &["--point", point]);
        if kept.exists() {
            let vendor = new.folder.join("vendor");
            assert!(
                texts(&vendor) == texts(&kept),
                "plugins have different sources of the SDK"
            );
            fs::remove_dir_all(&vendor).expect("the folder can be removed");
            fs::rename(&kept, &vendor).expect("a folder can be moved");
        }
        new
    }

    #[track_caller]
    fn create_in(parent: Arc<TempDir>, turn: Option<MutexGuard<'static, ()>>, name: &str, arguments: &[&str]) -> Self {
        let folder = parent.path().join("plugin");
        let path = folder.to_str().expect("the path is UTF-8");
        let (exit, stdout, stderr) = run(&[&["plugin", "new", name, "--path", path], arguments].concat());
        assert_eq!((exit, stderr.as_str()), (Some(0), ""));
        assert!(
            stdout.starts_with(&format!("created the plugin `{name}` in {path}\n")),
            "{stdout}"
        );
        Self {
            folder,
            _turn: turn,
            _parent: parent,
        }
    }

    /// The plugin in C with this name. It is built in less than a second.
    #[track_caller]
    fn in_c(name: &str) -> Self {
        Self::create(name, &["--point=assign", "--language=c"])
    }

    fn path(&self) -> &str {
        self.folder.to_str().expect("the path is UTF-8")
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.folder.join(file)).expect("the file is there")
    }

    fn write(&self, file: &str, text: &str) {
        fs::write(self.folder.join(file), text).expect("the file can be written");
    }

    /// Builds the plugin in C, and nothing else.
    #[track_caller]
    fn make(&self) {
        let make = Command::new("make").current_dir(&self.folder).output();
        let make = make.expect("make can be started");
        assert!(make.status.success(), "{}", String::from_utf8_lossy(&make.stderr));
    }

    fn test(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        // The checks themselves have tests of their own.
        run(&[&["plugin", "test", self.path(), "--runs=20"], arguments].concat())
    }

    /// Tests the plugin as it was created: everything passes.
    #[track_caller]
    fn passes(&self, cases: &[&str]) {
        let (exit, stdout, stderr) = self.test(&[]);
        assert_eq!(exit, Some(0), "{stdout}{stderr}");
        assert!(!stderr.contains("warning"), "{stderr}");
        let mut lines = stdout.lines();
        let library = lines.next().and_then(|line| line.strip_prefix("library "));
        let library = library.unwrap_or_else(|| panic!("{stdout}"));
        // The image is made of the file that was built: its folder is that of cargo, which the test sets.
        let image = self.read("Dockerfile");
        let copied = image
            .lines()
            .find_map(|line| line.strip_prefix("COPY ")?.strip_suffix(" /plugins/"));
        let copied = copied.and_then(|path| Path::new(path).file_name()?.to_str());
        let copied = copied.unwrap_or_else(|| panic!("{image}"));
        assert!(library.contains(&format!("/{copied} ")), "{copied}: {library}");
        for case in cases {
            assert_eq!(
                lines.next(),
                Some(format!("golden  {case}: ok").as_str()),
                "{stdout}{stderr}"
            );
        }
    }
}

/// All files in a folder and their texts.
fn texts(folder: &Path) -> BTreeMap<PathBuf, String> {
    let entries = walkdir::WalkDir::new(folder).into_iter();
    let files = entries
        .map(|entry| entry.expect("the folder can be read"))
        .filter(|entry| entry.file_type().is_file());
    files
        .map(|file| {
            let path = file.path().strip_prefix(folder).expect("the file is in the folder");
            let text = fs::read_to_string(file.path()).expect("the file can be read");
            (path.to_owned(), text)
        })
        .collect()
}

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
fn new_plugins_in_c_build_and_pass() {
    let templates = [
        ("assign", &["enough-room", "too-little-room"][..]),
        ("filter", &["no-region"]),
        ("score", &["most-room"]),
        ("select", &["two-clusters"]),
        ("pace", &["target"]),
    ];
    for (point, cases) in &templates[..divvy_built::cases(1, templates.len())] {
        New::create("my-plugin", &["--language=c", "--point", point]).passes(cases);
    }
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
fn a_changed_decision_is_shown_and_updated_only_outside_ci() {
    let new = New::in_c("my-plugin");
    let expected = new.read("golden/enough-room/expected.txt");
    new.write(
        "golden/enough-room/expected.txt",
        &expected.replace("berlin: 8", "berlin: 7"),
    );
    let (exit, stdout, stderr) = new.test(&[]);
    assert_eq!(exit, Some(1), "{stdout}{stderr}");
    let difference = "\
golden  enough-room: differs (- expected, + actual)
    shop/web-deployment: Scheduled by MyPlugin
  -   berlin: 7 replicas
  +   berlin: 8 replicas
      dallas: 1 replica
golden  too-little-room: ok
";
    assert!(stdout.ends_with(difference), "{stdout}");
    let hint = "error: 1 of 2 golden cases failed\n  \
                hint: if the new decisions are right, run `divvy plugin test --update`\n";
    assert!(stderr.ends_with(hint), "{stderr}");

    let (exit, stdout, stderr) = run_with(&["plugin", "test", new.path(), "--update"], &[("CI", "true")]);
    assert_eq!(
        (exit, stdout.as_str(), stderr.as_str()),
        (
            Some(2),
            "",
            "error: `--update` is refused where the environment variable `CI` is set\n  \
             hint: run it on your machine, and commit what it writes\n"
        )
    );
    let (exit, stdout, _) = new.test(&["--update"]);
    assert_eq!(exit, Some(0), "{stdout}");
    assert!(
        stdout.contains("golden  enough-room: updated\ngolden  too-little-room: ok\n"),
        "{stdout}"
    );
    assert_eq!(new.read("golden/enough-room/expected.txt"), expected);
}

#[test]
fn a_plugin_without_golden_cases_or_outside_its_profile_does_not_pass() {
    let new = New::in_c("my-plugin");
    let profile = new.read("profile.toml");
    new.write("profile.toml", &profile.replace(", \"my-plugin\"", ""));
    let (exit, _, stderr) = new.test(&[]);
    assert_eq!(exit, Some(2));
    assert!(
        stderr.contains("profile `my-plugin` does not use the plugin `my-plugin`\n  hint: list it under"),
        "{stderr}"
    );

    new.write("profile.toml", &profile);
    fs::remove_dir_all(new.folder.join("golden")).expect("the folder can be removed");
    let (exit, stdout, stderr) = new.test(&[]);
    let expected = format!(
        "error: `{}` has no golden case\n  hint: put manifests into `golden/NAME/`, and let `divvy plugin test --update` \
         write the decisions\n",
        new.path()
    );
    assert_eq!((exit, stdout.as_str(), stderr), (Some(2), "", expected));

    let (exit, _, stderr) = run(&["plugin", "test", "/proc/self"]);
    assert_eq!(exit, Some(2));
    assert!(
        stderr.contains("it has neither a Cargo.toml nor a Makefile"),
        "{stderr}"
    );
}

#[test]
fn a_test_that_fails_ends_the_run_before_anything_is_loaded() {
    let new = New::in_c("my-plugin");
    let rule = new.read("rule.c");
    new.write(
        "rule.c",
        &rule.replace("room[cluster] > room[best]", "room[cluster] < room[best]"),
    );
    let (exit, stdout, stderr) = new.test(&[]);
    assert_eq!((exit, stdout.as_str()), (Some(1), ""));
    assert!(stderr.contains("error: `make test` failed"), "{stderr}");
}

/// The file that was built is loaded, and one that other commands would load is named.
#[test]
fn a_copy_elsewhere_is_named_and_not_loaded() {
    let new = New::in_c("my-plugin");
    let elsewhere = new.folder.join("elsewhere");
    fs::create_dir(&elsewhere).expect("a folder can be made");
    let copy = elsewhere.join("libdivvy_plugin_my_plugin.so");
    // Loading it would fail.
    fs::write(&copy, "not a library").expect("the file can be written");
    let profile = new
        .read("profile.toml")
        .replace("path = \"libdivvy_plugin_my_plugin.so\"\n", "");
    new.write("profile.toml", &profile);
    let folder = elsewhere.to_str().expect("the path is UTF-8");
    let (exit, stdout, stderr) = new.test(&["--plugin-directory", folder]);
    assert_eq!(exit, Some(0), "{stdout}{stderr}");
    let note = format!(
        "note: other commands load another copy of `my-plugin` with this profile: {}\n  copy: written ",
        copy.display()
    );
    assert!(stderr.contains(&note), "{stderr}");
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
