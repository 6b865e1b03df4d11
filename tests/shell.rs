//! Scripts of shells in which the tested `divvy` is found.

use std::process::Command;

use crate::artifacts::{repository, workspace};

/// Runs a script in a shell in which `divvy` is found, and returns what it prints.
///
/// # Panics
///
/// Panics if the shell is missing, with the package that has it, or if the script fails.
pub(crate) fn in_shell(shell: &str, arguments: &[&str], script: &str) -> String {
    let divvy = workspace().binary("divvy").parent().expect("a binary is in a folder");
    let path = std::env::join_paths([divvy, "/usr/bin".as_ref(), "/bin".as_ref()]).expect("no folder has a colon");
    let output = Command::new(shell)
        .args(arguments)
        .arg(script)
        .current_dir(repository())
        .env_clear()
        .env("PATH", path)
        .env("HOME", "/nonexistent")
        .env("TERM", "dumb")
        .output();
    let output = output
        .unwrap_or_else(|error| panic!("`{shell}` cannot be started ({error}): install Debian's package `{shell}`"));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{shell}: {stderr}");
    String::from_utf8(output.stdout).expect("candidates are UTF-8")
}
