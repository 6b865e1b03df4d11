//! Builds plugins, and a host, against modified SDKs: edited copies of the crates of this repository.
//!
//! A copy that is checked in would soon have an outdated ABI. These copies are made of the current sources, so that "one minor
//! version newer" and "changed without a new version" are always accurate. They are in the target directory, and only files that
//! differ are written, so that Cargo compiles them once. Everything that is built against them is in one workspace and built by
//! one run of Cargo, so that shared crates are compiled once, too.

mod edit;
mod workspace;

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use crate::artifacts::{self, Artifacts};

pub(crate) use edit::Edit;
pub(crate) use workspace::write_root;

/// Everything that is built against a modified SDK.
static BUILT: LazyLock<Artifacts> = LazyLock::new(|| {
    let manifest = workspace::write_below(Path::new(env!("CARGO_TARGET_TMPDIR")));
    artifacts::build(&manifest, &["--offline", "--workspace"])
});

/// The library of a plugin that serves every extension point, built against the next minor version of the SDK.
pub(crate) fn newer_plugin() -> &'static Path {
    BUILT.library("divvy-fixture-newer-plugin")
}

/// A host of the next minor version.
pub(crate) fn newer_host() -> &'static Path {
    BUILT.binary("divvy-fixture-newer-host")
}

/// The same plugin, built without the SDK's default features.
pub(crate) fn plain_plugin() -> &'static Path {
    BUILT.library("divvy-fixture-plain-plugin")
}

/// The certified library that was built against a change of the SDK which no version announces.
pub(crate) fn unannounced(name: &str) -> &'static Path {
    BUILT.library(&format!("divvy-fixture-{name}"))
}

pub(crate) fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Writes a file unless it already has that text, because Cargo looks at modification times.
pub(crate) fn write(path: &Path, text: &str) {
    if fs::read_to_string(path).is_ok_and(|known| known == text) {
        return;
    }
    let folder = path.parent().expect("a file lies in a folder");
    fs::create_dir_all(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    fs::write(path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
