//! The interface in C: the header says what the Rust crate says, and plugins that are written with it work.
//!
//! [`header`] compares every size, offset and constant. [`plugins`] builds the example with the system's compiler and
//! schedules with it. [`tables`] reads a table of the profile. [`host`] uses a plugin of the SDK from C. [`misbehaviour`] does what only a library without the SDK can do.

mod header;
mod host;
mod misbehaviour;
mod plugins;
mod tables;

pub(crate) use plugins::{example, example_that_requires};

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::artifacts;

/// Runs the system's C compiler on `sources` with every warning an error, and returns the path of its output.
#[track_caller]
fn compile(name: &str, sources: &[PathBuf], more: &[&str]) -> PathBuf {
    let output = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let mut command = Command::new(compiler);
    command
        .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-I"])
        .arg(artifacts::repository().join("framework/abi/include"))
        .args(more)
        .args(sources)
        .arg("-o")
        .arg(&output);
    let result = command.output().expect("a C compiler is installed");
    let messages = String::from_utf8_lossy(&result.stderr);
    assert!(result.status.success(), "{command:?}\n{messages}");
    output
}

/// Compiles a shared library.
#[track_caller]
pub(crate) fn library(name: &str, sources: &[PathBuf]) -> PathBuf {
    compile(
        &format!("lib{name}.{}", std::env::consts::DLL_EXTENSION),
        sources,
        &["-shared", "-fPIC", "-fvisibility=hidden"],
    )
}
