//! The plugin that does harm on request.

use std::path::PathBuf;
use std::sync::LazyLock;

use super::compile::{library, library_with};
use crate::artifacts::repository;

/// Its library. Compiled once for all tests: another compilation would replace a file that is in use.
pub(crate) static HOSTILE: LazyLock<PathBuf> = LazyLock::new(|| library("hostile", &sources()));

fn sources() -> [PathBuf; 2] {
    ["hostile.c", "attacks.c"].map(|name| repository().join("tests/fixtures").join(name))
}

/// The same plugin, which runs a statement when its library is opened. Each test has a name of its own.
pub(crate) fn opened(name: &str, statement: &str) -> PathBuf {
    library_with(name, &sources(), &[&format!("-DHOSTILE_WHEN_OPENED={statement}")])
}

/// The same plugin with another name, for a worker of its own beside the first.
pub(crate) fn named(name: &str) -> PathBuf {
    library_with(
        &format!("hostile_{name}"),
        &sources(),
        &[&format!("-DHOSTILE_NAME=\"{name}\"")],
    )
}
