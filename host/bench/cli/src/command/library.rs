//! Building a plugin, and finding the file that was built.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use divvy_command::errors::{Diagnostic, Failure};
use divvy_command::exit::Exit;
use divvy_command::text::counted;
use divvy_loader::directories::PATH_VARIABLE;
use serde::Deserialize;

/// A library that was just built, or found to be up to date.
#[derive(Debug)]
pub(super) struct Built {
    /// Its file.
    pub(super) path: PathBuf,
    /// The kind of build, as Cargo or Make report it: `debug build`.
    pub(super) kind: String,
}

/// A message of `cargo build --message-format=json` about something that was built. Cargo's reference describes these fields; it may add
/// others.
#[derive(Debug, Deserialize)]
struct CompilerArtifact {
    manifest_path: PathBuf,
    target: Target,
    profile: BuildProfile,
    filenames: Vec<PathBuf>,
}

#[derive(Debug, Deserialize)]
struct Target {
    kind: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct BuildProfile {
    opt_level: String,
    debug_assertions: bool,
}

/// Any message of Cargo.
#[derive(Debug, Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
enum Message {
    CompilerArtifact(CompilerArtifact),
    #[serde(other)]
    Other,
}

/// Commands that test and build a plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BuildTool {
    Cargo,
    Make,
}

/// The folder of a plugin, and how it is built.
#[derive(Debug)]
pub(super) struct Project {
    folder: PathBuf,
    tool: BuildTool,
    release: bool,
    features: Option<String>,
}

impl Project {
    /// The plugin in a folder: one with a `Cargo.toml` is built by Cargo, one with a `Makefile` by Make.
    pub(super) fn find(folder: &Path, release: bool, features: Option<String>) -> Result<Self, Failure> {
        let tool = if folder.join("Cargo.toml").is_file() {
            BuildTool::Cargo
        } else if folder.join("Makefile").is_file() {
            BuildTool::Make
        } else {
            let message = format!(
                "`{}` is not the folder of a plugin: it has neither a Cargo.toml nor a Makefile",
                folder.display()
            );
            return Err(Failure::usage(
                Diagnostic::new(message).with_hint("`divvy plugin new` creates one"),
            ));
        };
        let folder = folder.to_owned();
        if tool == BuildTool::Make && (release || features.is_some()) {
            let diagnostic = Diagnostic::new("`--release` and `--features` are for plugins that cargo builds");
            return Err(Failure::usage(
                diagnostic.with_hint("the Makefile chooses how the library is built"),
            ));
        }
        Ok(Self {
            folder,
            tool,
            release,
            features,
        })
    }

    /// Runs the tests of the plugin's own language. Their output goes to standard error. Tests that run the scheduler
    /// use the `divvy` beside this program, or else that of PATH, with `directories` searched for plugins before the usual ones.
    pub(super) fn test(&self, directories: &[PathBuf]) -> Result<(), Failure> {
        let mut command = self.command(&["test"]);
        let own = std::env::current_exe().map_err(|error| {
            Failure::internal(Diagnostic::new("this program does not know its own path").with_cause(error.to_string()))
        })?;
        let divvy = Some(own.with_file_name("divvy")).filter(|divvy| divvy.is_file());
        command.envs(divvy.map(|divvy| ("DIVVY", divvy)));
        // The library that tests build is the one that is loaded afterwards.
        command.env("DIVVY_PLUGIN_FEATURES", self.features.as_deref().unwrap_or_default());
        if !directories.is_empty() {
            command.env(PATH_VARIABLE, followed_by_usual(directories)?);
        }
        let name = written(&command);
        let status = command.status().map_err(|error| cannot_start(&name, &error))?;
        if status.success() {
            return Ok(());
        }
        let mut failure = Failure::usage(Diagnostic::new(format!("`{name}` failed: {status}")));
        failure.exit = Exit::Unschedulable;
        Err(failure)
    }

    /// Builds the library, and takes its path from the tool that built it.
    pub(super) fn build(&self) -> Result<Built, Failure> {
        match self.tool {
            BuildTool::Cargo => self.build_with_cargo(),
            BuildTool::Make => self.build_with_make(),
        }
    }

    fn build_with_cargo(&self) -> Result<Built, Failure> {
        let mut command = self.command(&["build", "--message-format=json-render-diagnostics"]);
        let output = run(&mut command)?;
        let manifest = self.folder.join("Cargo.toml");
        let manifest = manifest.canonicalize().unwrap_or(manifest);
        let mut libraries = Vec::new();
        // Whatever a build script or a macro prints is among the messages.
        let messages = output
            .split(|byte| *byte == b'\n')
            .filter(|line| line.starts_with(b"{"));
        for message in messages.filter_map(|line| serde_json::from_slice(line).ok()) {
            // A dependency may be a shared library, too, so only the crate itself counts.
            let Message::CompilerArtifact(artifact) = message else {
                continue;
            };
            let own = artifact.manifest_path.canonicalize();
            if !own.is_ok_and(|own| own == manifest) || !artifact.target.kind.iter().any(|kind| kind == "cdylib") {
                continue;
            }
            let kind = match (artifact.profile.debug_assertions, artifact.profile.opt_level.as_str()) {
                (true, "0") => "debug build".to_owned(),
                (true, level) => format!("debug build, optimised at level {level}"),
                (false, level) => format!("release build, optimised at level {level}"),
            };
            let files = artifact.filenames.into_iter();
            let is_library = |path: &PathBuf| {
                path.extension()
                    .is_some_and(|found| found == std::env::consts::DLL_EXTENSION)
            };
            let found = files.filter(is_library);
            libraries.extend(found.map(|path| Built {
                path,
                kind: kind.clone(),
            }));
        }
        libraries.pop().ok_or_else(|| {
            let message = format!("{} builds no shared library", manifest.display());
            let hint = "write `[lib]` and, below it, `crate-type = [\"cdylib\"]` into it";
            Failure::usage(Diagnostic::new(message).with_hint(hint))
        })
    }

    fn build_with_make(&self) -> Result<Built, Failure> {
        run(&mut self.command(&[]))?;
        let output = run(&mut self.command(&["-s", "library-path"]))?;
        let printed = String::from_utf8_lossy(&output);
        let path = self.folder.join(printed.trim());
        if printed.trim().is_empty() || !path.is_file() {
            let message = format!("`make library-path` printed `{}`, which is not a file", printed.trim());
            let hint = "let the target `library-path` print the path of the library that `make` builds";
            return Err(Failure::usage(Diagnostic::new(message).with_hint(hint)));
        }
        let kind = "build by make".to_owned();
        Ok(Built { path, kind })
    }

    /// A command in the plugin's folder, without the variables that Cargo sets for a process that it runs.
    fn command(&self, arguments: &[&str]) -> Command {
        let program = match self.tool {
            BuildTool::Cargo => std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")),
            BuildTool::Make => OsString::from("make"),
        };
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.folder);
        if self.release {
            command.arg("--release");
        }
        if let Some(features) = &self.features {
            command.args(["--features", features]);
        }
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
                command.env_remove(&name);
            }
        }
        command.stdin(Stdio::null());
        command
    }
}

/// The folders, then those of the environment variable, as a value of it.
fn followed_by_usual(directories: &[PathBuf]) -> Result<OsString, Failure> {
    let usual = std::env::var_os(PATH_VARIABLE).unwrap_or_default();
    let given = directories
        .iter()
        .map(|directory| std::path::absolute(directory).unwrap_or_else(|_| directory.clone()));
    let all = given.chain(std::env::split_paths(&usual).filter(|path| !path.as_os_str().is_empty()));
    std::env::join_paths(all).map_err(|error| {
        let message = "a folder of `--plugin-directory` cannot be handed on to the tests";
        Failure::usage(Diagnostic::new(message).with_cause(error.to_string()))
    })
}

/// Runs a command and returns its standard output. Its messages go to standard error.
fn run(command: &mut Command) -> Result<Vec<u8>, Failure> {
    let name = written(command);
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| cannot_start(&name, &error))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    Err(Failure::usage(Diagnostic::new(format!(
        "`{name}` failed: {}",
        output.status
    ))))
}

/// A command as a user would type it.
fn written(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    let parts = std::iter::once(program).chain(command.get_args());
    parts.map(|part| part.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

fn cannot_start(name: &str, error: &std::io::Error) -> Failure {
    let diagnostic = Diagnostic::new(format!("`{name}` cannot be started"));
    Failure::usage(diagnostic.with_cause(error.to_string()))
}

/// The age of a file: `3 minutes ago`.
pub(super) fn age(path: &Path) -> String {
    let modified = path.metadata().and_then(|metadata| metadata.modified());
    let Ok(modified) = modified else {
        return "at an unknown time".to_owned();
    };
    let age = SystemTime::now().duration_since(modified).unwrap_or_default();
    match age_in_words(age) {
        Some(age) => format!("{age} ago"),
        None => "just now".to_owned(),
    }
}

/// An age in its largest unit; `None` if it is less than a second.
fn age_in_words(age: Duration) -> Option<String> {
    let seconds = age.as_secs();
    let units = [(86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")];
    let (length, unit) = units.into_iter().find(|(length, _)| seconds >= *length)?;
    Some(counted(usize::try_from(seconds / length).unwrap_or(usize::MAX), unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_in_its_largest_unit() {
        for (seconds, expected) in [
            (0, None),
            (1, Some("1 second")),
            (119, Some("1 minute")),
            (7_300, Some("2 hours")),
            (900_000, Some("10 days")),
        ] {
            assert_eq!(age_in_words(Duration::from_secs(seconds)).as_deref(), expected);
        }
    }
}
