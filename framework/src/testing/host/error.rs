//! Errors of runs in which the scheduler did not answer.

use std::path::PathBuf;

/// Why a whole cycle or a verification could not be run. `Debug` prints the same text as `Display`, so `unwrap` in a
/// test shows a readable text.
#[derive(thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum HostError {
    /// The scheduler's binary is not found.
    #[error(
        "`{}` is not found, so there is no scheduler to run the plugin in\n  hint: {}",
        program.display(),
        if *is_named {
            "the environment variable `DIVVY` names it: expected the path of the binary `divvy`"
        } else {
            "set the environment variable `DIVVY` to the path of the binary, or put `divvy` on the PATH; `divvy plugin \
             test` sets it"
        }
    )]
    BinaryMissing {
        /// The program that was not found.
        program: PathBuf,
        /// True if the environment variable `DIVVY` names it.
        is_named: bool,
    },
    /// A program cannot be started.
    #[error("`{}` cannot be started: {source}", program.display())]
    NotStarted {
        /// The binary of the scheduler, or cargo.
        program: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// Cargo, which sets the path of the crate, did not start the test.
    #[error(
        "the environment variable `CARGO_MANIFEST_DIR` is not set, so the crate of the plugin is not known\n  hint: run the \
         tests with `cargo test`, or name the library with `library`"
    )]
    UnknownCrate,
    /// The library cannot be built.
    #[error("`{command}` failed: {status}\n{messages}")]
    BuildFailed {
        command: String,
        status: std::process::ExitStatus,
        messages: String,
    },
    /// The crate builds no shared library.
    #[error(
        "{} builds no shared library\n  hint: write `[lib]` and, below it, `crate-type = [\"cdylib\"]` into it",
        manifest.display()
    )]
    NoLibrary {
        /// The manifest of the crate.
        manifest: PathBuf,
    },
    /// The scheduler refuses the manifests, the profile, the plugin or an argument.
    #[error("`{command}` failed: {status}\n{message}")]
    Refused {
        command: String,
        status: std::process::ExitStatus,
        message: String,
    },
    /// This version of the SDK cannot read the scheduler's output.
    #[error("the output of `{command}` cannot be read: {source}\n{output}")]
    Unreadable {
        command: String,
        source: serde_json::Error,
        output: String,
    },
}

impl std::fmt::Debug for HostError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, formatter)
    }
}
