//! The library under test, which cargo builds and reports the path of.
//!
//! `cargo test` builds tests and not the library, and a file that merely has the right name may be an old one. So the
//! kit builds the library in the same way as the tests, and takes its path from cargo's messages, as `divvy plugin
//! test` does.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use super::binary::written;
use super::error::HostError;

/// Environment variable with the features for building the library; `divvy plugin test` sets it to those of its own
/// argument.
const FEATURES: &str = "DIVVY_PLUGIN_FEATURES";

/// The library under test.
#[derive(Debug, Clone, Default)]
pub(super) struct Tested {
    /// A file to test; otherwise, the library of the crate that the test is in.
    pub(super) library: Option<PathBuf>,
    /// Features to build the crate with.
    pub(super) features: Option<String>,
}

/// Libraries that this process has built, by folder and features, because tests run concurrently and each build starts
/// a process.
static BUILT: Mutex<BTreeMap<(PathBuf, String), PathBuf>> = Mutex::new(BTreeMap::new());

/// Folder of the crate that the test is in, as cargo names it for the test.
pub(super) fn folder() -> Result<PathBuf, HostError> {
    let folder = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    folder.filter(|folder| folder.is_dir()).ok_or(HostError::UnknownCrate)
}

impl Tested {
    /// Folder in which the scheduler runs, to which all paths are relative. Without a crate, that of the test.
    pub(super) fn folder(&self) -> Result<PathBuf, HostError> {
        match (folder(), &self.library) {
            (Err(_), Some(_)) => Ok(PathBuf::from(".")),
            (folder, _) => folder,
        }
    }

    /// Path of the library, which is built if it is the crate's own.
    pub(super) fn path(&self) -> Result<PathBuf, HostError> {
        if let Some(library) = &self.library {
            let path = self.folder()?.join(library);
            return Ok(std::path::absolute(&path).unwrap_or(path));
        }
        let folder = folder()?;
        let features = self.features.clone().or_else(|| std::env::var(FEATURES).ok());
        let features = features.unwrap_or_default();
        let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(path) = built.get(&(folder.clone(), features.clone())) {
            return Ok(path.clone());
        }
        let path = build(&folder, &features)?;
        built.insert((folder, features), path.clone());
        Ok(path)
    }
}

/// Builds the crate in a folder with the profile of this test, and returns the path of its library.
fn build(folder: &Path, features: &str) -> Result<PathBuf, HostError> {
    let program = PathBuf::from(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let manifest = folder.join("Cargo.toml");
    let mut arguments: Vec<OsString> = ["build", "--lib", "--message-format=json-render-diagnostics"]
        .map(OsString::from)
        .to_vec();
    // `cargo test` has written the lock file, and has downloaded all that the library needs.
    arguments.push("--frozen".into());
    arguments.extend(["--manifest-path".into(), manifest.clone().into()]);
    if !cfg!(debug_assertions) {
        arguments.push("--release".into());
    }
    if !features.is_empty() {
        arguments.extend(["--features".into(), features.into()]);
    }
    let mut command = Command::new(&program);
    command.args(&arguments).current_dir(folder).stdin(Stdio::null());
    for (name, _) in std::env::vars_os() {
        // Variables that cargo sets for this test do not apply to the crates that it builds.
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    let ended = command.output().map_err(|source| HostError::NotStarted {
        program: program.clone(),
        source,
    })?;
    if !ended.status.success() {
        return Err(HostError::BuildFailed {
            command: written(&program, &arguments),
            status: ended.status,
            messages: String::from_utf8_lossy(&ended.stderr).into_owned(),
        });
    }
    library_in(&String::from_utf8_lossy(&ended.stdout), &manifest).ok_or(HostError::NoLibrary { manifest })
}

/// The shared library of the crate with this manifest, in messages of cargo. A dependency may also have a shared
/// library.
pub(super) fn library_in(messages: &str, manifest: &Path) -> Option<PathBuf> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let manifest = real(manifest);
    let messages = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let own = messages.filter(|message| {
        let is_library = message["target"]["kind"]
            .as_array()
            .is_some_and(|kinds| kinds.iter().any(|kind| kind == "cdylib"));
        let path = message["manifest_path"].as_str();
        message["reason"] == "compiler-artifact"
            && is_library
            && path.is_some_and(|path| real(path.as_ref()) == manifest)
    });
    let mut files = own.filter_map(|message| {
        let files = message["filenames"].as_array()?;
        let mut files = files.iter().filter_map(Value::as_str).map(PathBuf::from);
        files.find(|file| {
            file.extension()
                .is_some_and(|found| found == std::env::consts::DLL_EXTENSION)
        })
    });
    files.next_back()
}
