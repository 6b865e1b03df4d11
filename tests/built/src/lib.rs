//! What users run, built by Cargo for the tests: the binary `divvy` and the bundled plugins.
//!
//! `cargo test` leaves shared libraries only in `deps/`, and a test that guessed a path would sooner or later load a stale file. So the
//! tests run Cargo, which reports what it built. The build uses the target directory of the workspace: `cargo test` has released its
//! lock by the time tests run, and what was compiled for the tests is reused.
//!
//! [`bundled`] builds what the command in README.md has built for the tests, in the same graph of units, so that nothing is compiled
//! again. Another choice of packages would give dependencies other features, and most of them would be compiled once more for each choice.
//!
//! With `DIVVY_TESTED=release`, it builds the default members as they are released, whatever the profile of the tests is.
//!
//! [`all_cases`] is the one switch between the gate's share of the slow tests and all of it.

mod copies;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use cargo_metadata::{Message, TargetKind};

pub use self::copies::remove_what_is_gone;

/// Files that Cargo built in one run.
#[derive(Debug, Clone, Default)]
pub struct Artifacts {
    libraries: BTreeMap<String, PathBuf>,
    binaries: BTreeMap<String, PathBuf>,
    compiled: Vec<String>,
}

impl Artifacts {
    /// The shared library of a package. An error says that none was built.
    pub fn library(&self, package: &str) -> Result<&Path, String> {
        let path = self.libraries.get(package).map(PathBuf::as_path);
        path.ok_or_else(|| format!("cargo built no shared library of the package `{package}`"))
    }

    /// The binary of this name. An error says that none was built.
    pub fn binary(&self, name: &str) -> Result<&Path, String> {
        let path = self.binaries.get(name).map(PathBuf::as_path);
        path.ok_or_else(|| format!("cargo built no binary `{name}`"))
    }

    /// The names of the targets that were compiled, rather than found as an earlier build left them.
    pub fn compiled(&self) -> &[String] {
        &self.compiled
    }
}

/// The scheduler and the plugins that come with it.
#[derive(Debug)]
pub struct Bundled {
    /// The binary `divvy`.
    pub binary: PathBuf,
    /// The folder with the libraries of the plugins. It has other files, too.
    pub plugins: PathBuf,
    /// The same files by name.
    pub artifacts: Artifacts,
}

/// The scheduler and the plugins that come with it, built once per process. An error is what Cargo printed.
pub fn bundled() -> Result<&'static Bundled, &'static str> {
    static BUNDLED: LazyLock<Result<Bundled, String>> = LazyLock::new(|| {
        let artifacts = build(&repository().join("Cargo.toml"), members())?;
        let binary = artifacts.binary("divvy")?.to_owned();
        let plugin = artifacts.library("divvy-plugin-duplicated")?;
        let plugins = plugin.parent().unwrap_or(plugin).to_owned();
        Ok(Bundled {
            binary,
            plugins,
            artifacts,
        })
    });
    BUNDLED.as_ref().map_err(String::as_str)
}

/// A program that the tests use, such as `divvy-load`: of a debug build, built once per process. An error is what Cargo printed.
pub fn test_program(name: &str) -> Result<PathBuf, String> {
    static PROGRAMS: LazyLock<Result<Artifacts, String>> =
        LazyLock::new(|| build(&repository().join("Cargo.toml"), &MEMBERS));
    let programs = PROGRAMS.as_ref().map_err(Clone::clone)?;
    programs.binary(name).map(Path::to_owned)
}

/// The library of a crate in `tests/fixtures/plugins`, all of which are built once per process. They are never optimised, so that a
/// release loads libraries of a debug build. An error is what Cargo printed.
pub fn fixture(name: &str) -> Result<&'static Path, String> {
    static FIXTURES: LazyLock<Result<Artifacts, String>> = LazyLock::new(|| {
        build(
            &repository().join("tests/fixtures/plugins/Cargo.toml"),
            &["--workspace"],
        )
    });
    let fixtures = FIXTURES.as_ref().map_err(Clone::clone)?;
    fixtures.library(&format!("divvy-fixture-{name}"))
}

/// Builds packages into the target directory of the repository's workspace. An error is what Cargo printed.
pub fn build(manifest: &Path, arguments: &[&str]) -> Result<Artifacts, String> {
    let mut command = cargo();
    command
        .args(["build", "--message-format=json-render-diagnostics", "--manifest-path"])
        .arg(manifest)
        .args(arguments);
    if manifest.parent() != Some(repository()) {
        // The same as in the workspace, so that the two share what is compiled.
        command
            .env("CARGO_PROFILE_DEV_DEBUG", "false")
            .arg("--target-dir")
            .arg(target_directory()?);
    }
    artifacts(&mut command)
}

/// Runs a build that reports what it built. An error is what Cargo printed.
pub fn artifacts(command: &mut Command) -> Result<Artifacts, String> {
    let output = command
        .current_dir(repository())
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{command:?}\n{}", String::from_utf8_lossy(&output.stderr)));
    }
    let mut artifacts = Artifacts::default();
    for message in Message::parse_stream(output.stdout.as_slice()) {
        let Message::CompilerArtifact(artifact) = message.map_err(|error| format!("{command:?}: {error}"))? else {
            continue;
        };
        if !artifact.fresh {
            artifacts.compiled.push(artifact.target.name.clone());
        }
        if let Some(executable) = artifact.executable {
            artifacts.binaries.insert(artifact.target.name, executable.into());
        } else if artifact.target.kind.contains(&TargetKind::CDyLib) {
            // Cargo gives a library the name of its package, with other separators.
            let package = artifact.target.name.replace('_', "-");
            let library = artifact.filenames.into_iter().find(|file| {
                file.extension()
                    .is_some_and(|extension| extension == std::env::consts::DLL_EXTENSION)
            });
            artifacts.libraries.extend(library.map(|file| (package, file.into())));
        }
    }
    Ok(artifacts)
}

/// A command for the Cargo that runs the tests, without the variables that it set for a package: with them, the build script of ring
/// would run again, and everything that depends on it would be compiled anew.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into()));
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
}

/// The root folder of the repository.
pub fn repository() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here)
}

/// True if slow tests run all of their cases (`DIVVY_TESTS=all`), as `.ci/run all` has them do. Otherwise they run the share that the gate
/// runs; the table in CONTRIBUTING.md lists the shares. A test runs some cases either way, and its assertions are the same.
pub fn all_cases() -> bool {
    std::env::var_os("DIVVY_TESTS").is_some_and(|cases| cases == "all")
}

/// Either number of cases: of the gate, or of all.
pub fn cases<T>(gate: T, all: T) -> T {
    if all_cases() { all } else { gate }
}

/// The packages of the command in README.md, `cargo test --workspace --exclude 'divvy-*-tests'`, as arguments of Cargo: the lines of
/// `.ci/members`, which `.ci/run` reads as well. `--examples`, of which there are none, has Cargo give dependencies the features that they
/// have in tests.
static MEMBERS: LazyLock<Vec<&str>> = LazyLock::new(|| include_str!("../../../.ci/members").lines().collect());

/// True if what users run is built as it is released: by `DIVVY_TESTED=release`, or because the tests are.
pub fn is_release() -> bool {
    !cfg!(debug_assertions) || std::env::var_os("DIVVY_TESTED").is_some_and(|kind| kind == "release")
}

/// Arguments for what [`bundled`] builds.
pub fn members() -> &'static [&'static str] {
    if is_release() { &["--release"] } else { &MEMBERS }
}

/// The target directory of the workspace.
fn target_directory() -> Result<&'static Path, String> {
    static DIRECTORY: LazyLock<Result<PathBuf, String>> = LazyLock::new(|| {
        let metadata = cargo_metadata::MetadataCommand::new()
            .cargo_path(cargo().get_program())
            .manifest_path(repository().join("Cargo.toml"))
            .no_deps()
            .exec();
        metadata
            .map(|metadata| metadata.target_directory.into())
            .map_err(|error| error.to_string())
    });
    DIRECTORY.as_deref().map_err(Clone::clone)
}
