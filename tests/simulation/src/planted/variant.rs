//! The simulation compiled against edited sources.

use std::fs;
use std::path::{Path, PathBuf};

use divvy_built::repository;
use walkdir::WalkDir;

use super::Bug;
use crate::error::Error;

/// Name of the program, which must not replace that of the clean simulation.
const PROGRAM: &str = "planted-simulation";

/// The crates that a bug may edit, and what of the host compiles against them.
const EDITED: [&str; 6] = [
    "live/controller",
    "live/estimator",
    "desk/forecast",
    "core/burst",
    "core/client",
    "core/scheduler",
];

/// What of the tests compiles against them.
const COMPILED: [&str; 2] = ["simulation", "world"];

/// Compiles the simulation with a bug. Returns the program.
pub(super) fn build(bug: &Bug) -> Result<PathBuf, Error> {
    let repository = repository();
    let folder = repository.join("target/planted");
    for name in EDITED {
        copy(&repository.join("host").join(name), &folder.join(name), Some(bug))?;
    }
    for name in COMPILED {
        copy(&repository.join("tests").join(name), &folder.join(name), None)?;
    }
    let manifest = folder.join("simulation/Cargo.toml");
    let text = read(&manifest)?.replacen(
        "name = \"divvy-simulation\"\npath",
        &format!("name = \"{PROGRAM}\"\npath"),
        1,
    );
    write(&manifest, &text)?;
    let workspace = read(&repository.join("Cargo.toml"))?;
    write(&folder.join("Cargo.toml"), &workspace_manifest(&workspace))?;
    write(&folder.join("Cargo.lock"), &read(&repository.join("Cargo.lock"))?)?;
    let mut command = divvy_built::cargo();
    command
        .env("CARGO_INCREMENTAL", "1")
        .args([
            "build",
            "--offline",
            "--message-format=json-render-diagnostics",
            "--manifest-path",
        ])
        .arg(folder.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(repository.join("target"))
        .args(["--package=divvy-simulation", "--bin", PROGRAM]);
    if !cfg!(debug_assertions) {
        command.arg("--release");
    }
    let failure = |message| Error::Build {
        wanted: bug.name.to_owned(),
        message,
    };
    let built = divvy_built::artifacts(&mut command).map_err(|messages| {
        // Profiles name packages that the copy of the workspace lacks.
        let problems = messages
            .lines()
            .filter(|line| !line.starts_with("warning: profile package spec"));
        failure(problems.collect::<Vec<_>>().join("\n"))
    })?;
    built.binary(PROGRAM).map(Path::to_owned).map_err(failure)
}

/// Checks that the edits of a bug apply to the sources.
#[cfg(test)]
pub(super) fn check(bug: &Bug) -> Result<(), Error> {
    for edit in bug.edits {
        let file = repository().join("host").join(edit.file);
        edited(&file, read(&file)?, bug)?;
    }
    Ok(())
}

/// Copies a crate, with the edits of a bug. Files that would stay the same are not written, so that Cargo compiles little.
fn copy(from: &Path, to: &Path, bug: Option<&Bug>) -> Result<(), Error> {
    divvy_built::remove_what_is_gone(to, from).map_err(|source| Error::File {
        path: to.to_owned(),
        source,
    })?;
    for entry in WalkDir::new(from).sort_by_file_name().into_iter().flatten() {
        if !entry.file_type().is_file() {
            continue;
        }
        let Ok(relative) = entry.path().strip_prefix(from) else {
            continue;
        };
        let mut text = read(entry.path())?;
        if let Some(bug) = bug {
            text = edited(entry.path(), text, bug)?;
        }
        if relative == Path::new("Cargo.toml") {
            text = without_tests(&text);
        }
        // The manifest has the program's name already.
        if bug.is_none() && relative == Path::new("Cargo.toml") && to.join(relative).is_file() {
            text = text.replacen(
                "name = \"divvy-simulation\"\npath",
                &format!("name = \"{PROGRAM}\"\npath"),
                1,
            );
        }
        write(&to.join(relative), &text)?;
    }
    Ok(())
}

/// A manifest without what only tests need: some of it depends on the crate whose copy this is.
fn without_tests(manifest: &str) -> String {
    let mut is_left_out = false;
    let lines = manifest.lines().filter(|line| {
        if line.starts_with('[') {
            is_left_out = *line == "[dev-dependencies]";
        }
        !is_left_out
    });
    lines.fold(String::new(), |manifest, line| manifest + line + "\n")
}

/// A file with the edits of a bug.
fn edited(file: &Path, mut text: String, bug: &Bug) -> Result<String, Error> {
    let host = repository().join("host");
    for edit in bug.edits.iter().filter(|edit| host.join(edit.file) == file) {
        let count = text.matches(edit.from).count();
        if count != 1 {
            return Err(Error::Patch {
                bug: bug.name,
                file: file.to_owned(),
                count,
                from: edit.from,
            });
        }
        text = text.replacen(edit.from, edit.to, 1);
    }
    Ok(text)
}

/// The manifest of a workspace of the copies; all other crates are those of the repository.
fn workspace_manifest(workspace: &str) -> String {
    let lines = workspace.lines().map(|line| match line {
        _ if line.starts_with("members = ") => {
            let members: Vec<String> = EDITED.iter().chain(&COMPILED).map(|name| format!("{name:?}")).collect();
            format!("members = [{}]", members.join(", "))
        }
        _ if line.starts_with("default-members = ") || line.starts_with("exclude = ") => String::new(),
        // Each bug compiles some of them again, which without optimisation takes a twentieth of the time. Lives take three times as long,
        // since everything else is optimised.
        "[profile.release.package]" => "[profile.release.package]\n\
             divvy-controller.codegen-units = 256\n\
             divvy-controller.opt-level = 1\n\
             divvy-forecast.codegen-units = 256\n\
             divvy-forecast.opt-level = 1\n\
             divvy-scheduler.codegen-units = 256\n\
             divvy-scheduler.opt-level = 1\n\
             divvy-simulation.codegen-units = 256\n\
             divvy-simulation.opt-level = 0\n\
             divvy-world.codegen-units = 256\n\
             divvy-world.opt-level = 1"
            .to_owned(),
        _ if EDITED
            .iter()
            .any(|name| line.contains(&format!("path = \"host/{name}\""))) =>
        {
            line.replace("host/", "")
        }
        _ if COMPILED
            .iter()
            .any(|name| line.contains(&format!("path = \"tests/{name}\""))) =>
        {
            line.replace("tests/", "")
        }
        _ => line
            .replace("path = \"host/", "path = \"../../host/")
            .replace("path = \"tests/", "path = \"../../tests/")
            .replace("path = \"framework", "path = \"../../framework"),
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn read(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).map_err(|source| Error::File {
        path: path.to_owned(),
        source,
    })
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    if fs::read_to_string(path).is_ok_and(|known| known == text) {
        return Ok(());
    }
    let failure = |source| Error::File {
        path: path.to_owned(),
        source,
    };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failure)?;
    }
    fs::write(path, text).map_err(failure)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use serde_json::Value;

    use super::*;

    /// The crates of the workspace by name: folder, and crates of the workspace that it is compiled with.
    fn workspace() -> BTreeMap<String, (PathBuf, Vec<String>)> {
        let mut command = divvy_built::cargo();
        command.args(["metadata", "--no-deps", "--offline", "--format-version=1"]);
        command.current_dir(repository());
        let output = command.output().expect("cargo runs");
        let metadata: Value = serde_json::from_slice(&output.stdout).expect("metadata");
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let packages = list(&metadata["packages"]).into_iter().map(|package| {
            let dependencies = list(&package["dependencies"]).into_iter();
            let compiled =
                dependencies.filter(|dependency| dependency["kind"] != "dev" && dependency["path"].is_string());
            let folder = Path::new(&text(&package["manifest_path"]))
                .parent()
                .map(Path::to_owned)
                .unwrap_or_default();
            let names = compiled.map(|dependency| text(&dependency["name"])).collect();
            (text(&package["name"]), (folder, names))
        });
        packages.collect()
    }

    #[test]
    fn whatever_is_compiled_between_the_simulation_and_an_edited_crate_is_copied() {
        let workspace = workspace();
        let folders = EDITED.iter().map(|name| repository().join("host").join(name));
        let copied: BTreeSet<PathBuf> = folders
            .chain(COMPILED.iter().map(|name| repository().join("tests").join(name)))
            .collect();
        let (mut to_visit, mut parts) = (vec!["divvy-simulation".to_owned()], BTreeSet::new());
        while let Some(name) = to_visit.pop() {
            if parts.insert(name.clone()) {
                to_visit.extend(workspace[&name].1.iter().cloned());
            }
        }
        assert!(parts.len() > EDITED.len());
        // A crate that is not copied would be compiled with the edited one and with the other.
        for name in parts {
            let (folder, dependencies) = &workspace[&name];
            let of_copied = dependencies.iter().find(|other| copied.contains(&workspace[*other].0));
            if let Some(other) = of_copied {
                assert!(
                    copied.contains(folder),
                    "`{name}` depends on `{other}`, which bugs edit"
                );
            }
        }
    }
}
