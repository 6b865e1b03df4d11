//! The artifacts that the tests load, built once per test run: those that come with the scheduler, and plugins with their own workspace
//! and lock file, like the crate of a plugin author.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use cargo_metadata::{Metadata, MetadataCommand};
pub(crate) use divvy_built::{cargo, repository};

/// Artifacts that Cargo built for one workspace.
#[derive(Debug, Default)]
pub(crate) struct Artifacts(divvy_built::Artifacts);

impl Artifacts {
    /// The shared library of a package.
    pub(crate) fn library(&self, package: &str) -> &Path {
        let path = self.0.library(package);
        path.unwrap_or_else(|message| panic!("{message}"))
    }

    /// The path of a binary.
    pub(crate) fn binary(&self, name: &str) -> &Path {
        let path = self.0.binary(name);
        path.unwrap_or_else(|message| panic!("{message}"))
    }
}

/// Cargo's metadata of the workspace and all its dependencies.
pub(crate) fn metadata() -> &'static Metadata {
    static METADATA: LazyLock<Metadata> = LazyLock::new(|| {
        MetadataCommand::new()
            .cargo_path(cargo().get_program())
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

/// Every bundled plugin and the binaries of the host.
pub(crate) fn workspace() -> &'static Artifacts {
    static WORKSPACE: LazyLock<Artifacts> = LazyLock::new(|| {
        let bundled = divvy_built::bundled().unwrap_or_else(|messages| panic!("{messages}"));
        Artifacts(bundled.artifacts.clone())
    });
    &WORKSPACE
}

/// The library of a bundled plugin.
pub(crate) fn plugin(folder: &str) -> &'static Path {
    workspace().library(&plugin_package(folder))
}

/// The library of a crate in `tests/fixtures/plugins`.
pub(crate) fn fixture(name: &str) -> &'static Path {
    divvy_built::fixture(name).unwrap_or_else(|messages| panic!("{messages}"))
}

/// The library of the plugin in `examples/out-of-tree-plugin`, built the way its author would build it, from its own lock file.
pub(crate) fn example() -> &'static Path {
    static EXAMPLE: LazyLock<Artifacts> = LazyLock::new(|| {
        let manifest = repository().join("examples/out-of-tree-plugin/Cargo.toml");
        build(&manifest, &["--locked"])
    });
    EXAMPLE.library("divvy-plugin-cheapest-first")
}

/// Builds a workspace in this workspace's target directory.
///
/// # Panics
///
/// Panics with Cargo's messages if the build fails.
#[track_caller]
pub(crate) fn build(manifest: &Path, arguments: &[&str]) -> Artifacts {
    Artifacts(divvy_built::build(manifest, arguments).unwrap_or_else(|messages| panic!("{messages}")))
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
