//! Builds the bundled plugins, and finds their folder.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cargo_metadata::{Message, TargetKind};

use crate::error::Error;

/// The root folder of the repository.
pub(crate) fn repository() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    // The sources that were copied for a planted bug are elsewhere, and are given their plugins.
    here.ancestors()
        .find(|folder| folder.join("plugins").is_dir())
        .unwrap_or(here)
        .to_owned()
}

/// The Cargo that runs this program, or the one that built it.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into()));
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
}

/// Builds every bundled plugin, and returns the folder of their libraries.
pub(crate) fn build() -> Result<PathBuf, Error> {
    let repository = repository();
    let folder = repository.join("plugins");
    let failure = |source| Error::File {
        path: folder.clone(),
        source,
    };
    let mut packages = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(failure)? {
        let name = entry.map_err(failure)?.file_name();
        packages.push(format!("--package=divvy-plugin-{}", name.to_string_lossy()));
    }
    packages.sort();
    let mut command = cargo();
    command
        .args(["build", "--message-format=json-render-diagnostics", "--manifest-path"])
        .arg(repository.join("Cargo.toml"))
        .args(packages)
        .stderr(Stdio::piped());
    if !cfg!(debug_assertions) {
        command.arg("--release");
    }
    let files = artifacts(&mut command, "the bundled plugins")?;
    let library = files.iter().find(|(kind, _)| *kind == TargetKind::CDyLib);
    let folder = library.and_then(|(_, file)| file.parent()).map(Path::to_owned);
    folder.ok_or_else(|| Error::Build {
        wanted: "the bundled plugins".to_owned(),
        message: "no library was built".to_owned(),
    })
}

/// The files that Cargo builds: libraries that are loaded, and programs.
pub(crate) fn artifacts(command: &mut Command, wanted: &str) -> Result<Vec<(TargetKind, PathBuf)>, Error> {
    let failure = |message: String| Error::Build {
        wanted: wanted.to_owned(),
        message,
    };
    let output = command.output().map_err(|error| failure(error.to_string()))?;
    if !output.status.success() {
        let messages = String::from_utf8_lossy(&output.stderr);
        // Profiles name packages that the copy of the workspace lacks.
        let problems = messages
            .lines()
            .filter(|line| !line.starts_with("warning: profile package spec"));
        return Err(failure(problems.collect::<Vec<_>>().join("\n")));
    }
    let mut files = Vec::new();
    for message in Message::parse_stream(output.stdout.as_slice()) {
        let Message::CompilerArtifact(artifact) = message.map_err(|error| failure(error.to_string()))? else {
            continue;
        };
        if let Some(program) = artifact.executable {
            files.push((TargetKind::Bin, program.into()));
        } else if artifact.target.kind.contains(&TargetKind::CDyLib) {
            let library = artifact.filenames.into_iter().find(|file| {
                file.extension()
                    .is_some_and(|extension| extension == std::env::consts::DLL_EXTENSION)
            });
            files.extend(library.map(|file| (TargetKind::CDyLib, file.into())));
        }
    }
    Ok(files)
}
