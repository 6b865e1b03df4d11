//! Builds the artifacts that the tests load, once per test run, and takes every path from Cargo's messages.
//!
//! `cargo test` writes a workspace's `cdylib` only to `deps/`, and a test that guessed the path would sooner or later
//! load a stale file. So the tests run Cargo, which reports what it built. The build uses the target directory of the
//! workspace: `cargo test` has released its lock by the time tests run, and everything compiled for the tests is
//! reused. The fixtures have their own workspace and lock file, like the crate of a plugin author.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use cargo_metadata::{Message, Metadata, MetadataCommand, TargetKind};

/// Artifacts that Cargo built for one workspace, by package name.
#[derive(Debug, Default)]
pub(crate) struct Artifacts {
    libraries: BTreeMap<String, PathBuf>,
    binaries: BTreeMap<String, PathBuf>,
}

impl Artifacts {
    /// The shared library of a package.
    pub(crate) fn library(&self, package: &str) -> &Path {
        let path = self.libraries.get(package);
        path.unwrap_or_else(|| panic!("cargo built no shared library of the package `{package}`"))
    }

    /// The path of a binary.
    pub(crate) fn binary(&self, name: &str) -> &Path {
        let path = self.binaries.get(name);
        path.unwrap_or_else(|| panic!("cargo built no binary `{name}`"))
    }
}

/// The root folder of the repository.
pub(crate) fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the tests are a folder of the repository")
}

/// Cargo's metadata of the workspace and all its dependencies.
pub(crate) fn metadata() -> &'static Metadata {
    static METADATA: LazyLock<Metadata> = LazyLock::new(|| {
        MetadataCommand::new()
            .cargo_path(cargo_path())
            .manifest_path(repository().join("Cargo.toml"))
            // Packages for other platforms are not needed, and are missing on a machine without network.
            .other_options(["--filter-platform=host-tuple".to_owned()])
            .exec()
            .expect("cargo describes the workspace")
    });
    &METADATA
}

/// The folders of `plugins/`, by name.
pub(crate) fn plugin_folders() -> Vec<String> {
    let entries = std::fs::read_dir(repository().join("plugins")).expect("there is a folder `plugins`");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("the folder `plugins` can be listed"))
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().into_string().expect("folder names are UTF-8"))
        .collect();
    names.sort();
    names
}

/// The package of a bundled plugin.
pub(crate) fn plugin_package(folder: &str) -> String {
    format!("divvy-plugin-{folder}")
}

/// Every bundled plugin and the binaries of the host, built with the same profile as the tests.
pub(crate) fn workspace() -> &'static Artifacts {
    static WORKSPACE: LazyLock<Artifacts> = LazyLock::new(|| {
        let mut arguments = vec!["--package=divvy-cli".to_owned()];
        arguments.extend(
            plugin_folders()
                .iter()
                .map(|folder| format!("--package={}", plugin_package(folder))),
        );
        build(&repository().join("Cargo.toml"), profile_arguments(), &arguments)
    });
    &WORKSPACE
}

/// The library of a bundled plugin.
pub(crate) fn plugin(folder: &str) -> &'static Path {
    workspace().library(&plugin_package(folder))
}

/// The library of a crate in `tests/fixtures/plugins`. Fixtures are always built without optimisation, so that a
/// release run loads debug plugins into a release host.
pub(crate) fn fixture(name: &str) -> &'static Path {
    static FIXTURES: LazyLock<Artifacts> = LazyLock::new(|| {
        let manifest = repository().join("tests/fixtures/plugins/Cargo.toml");
        build(&manifest, &[], &["--workspace".to_owned()])
    });
    FIXTURES.library(&format!("divvy-fixture-{name}"))
}

/// The library of the plugin in `examples/out-of-tree-plugin`, built the way its author would build it, from its own lock file.
pub(crate) fn example() -> &'static Path {
    static EXAMPLE: LazyLock<Artifacts> = LazyLock::new(|| {
        let manifest = repository().join("examples/out-of-tree-plugin/Cargo.toml");
        build(&manifest, &[], &["--locked".to_owned()])
    });
    EXAMPLE.library("divvy-plugin-cheapest-first")
}

/// Builds a workspace in this workspace's target directory.
///
/// # Panics
///
/// Panics with Cargo's messages if the build fails.
#[track_caller]
pub(crate) fn build(manifest: &Path, profile: &[&str], arguments: &[String]) -> Artifacts {
    let mut command = cargo();
    command
        .args(["build", "--message-format=json-render-diagnostics", "--manifest-path"])
        .arg(manifest)
        .arg("--target-dir")
        .arg(metadata().target_directory.as_std_path())
        .args(profile)
        .args(arguments)
        .stderr(Stdio::piped());
    let output = command.output().expect("cargo can be started");
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{messages}");
    let mut artifacts = Artifacts::default();
    for message in Message::parse_stream(output.stdout.as_slice()) {
        if let Message::CompilerArtifact(artifact) = message.expect("cargo's messages can be read") {
            let kinds = &artifact.target.kind;
            let files = artifact.filenames.into_iter().map(PathBuf::from);
            if kinds.contains(&TargetKind::CDyLib) {
                let package = package_of(artifact.manifest_path.as_std_path());
                artifacts.libraries.extend(
                    files
                        .filter(|file| is_library(file))
                        .map(|file| (package.clone(), file)),
                );
            } else if let Some(executable) = artifact.executable {
                artifacts.binaries.insert(artifact.target.name, executable.into());
            }
        }
    }
    artifacts
}

/// A command for the Cargo that runs the tests, without the variables that it set for this package.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(cargo_path());
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
}

fn cargo_path() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into())
}

/// Arguments that select the Cargo profile of the tests.
fn profile_arguments() -> &'static [&'static str] {
    if cfg!(debug_assertions) { &[] } else { &["--release"] }
}

fn is_library(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == std::env::consts::DLL_EXTENSION)
}

/// The name in a package's manifest.
fn package_of(manifest: &Path) -> String {
    let text = std::fs::read_to_string(manifest).expect("a built package has a manifest");
    let name = text
        .lines()
        .find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'))
        .expect("a package has a name");
    name.to_owned()
}

/// Has a command run in the repository's folder without standard input, with the bundled plugins and nothing else of this process's
/// environment.
pub(crate) fn with_bundled_plugins(command: &mut Command) -> &mut Command {
    let plugins = plugin("duplicated").parent().expect("a library is in a folder");
    command
        .current_dir(repository())
        .env_clear()
        .env("DIVVY_PLUGIN_PATH", plugins)
        .stdin(Stdio::null())
}
