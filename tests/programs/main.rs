//! Tests that need programs besides Rust and a C compiler: a compiler of C++, Go, make, fish and zsh. `.ci/run programs` installs them; a
//! test whose program is missing fails, and names it.
//!
//! A member of its own, so that the command in README.md passes on a machine without them. What it shares with `tests/main.rs` is used
//! from there.
//!
//! - [`c_plugins`]: new plugins in C, which make builds.
//! - [`cpp`]: the header and plugins in C++. [`go`]: the example in Go. [`go_crashes`]: its runtime handles signals itself.
//! - [`shells`]: completions in fish and zsh.

mod c_plugins;
mod cpp;
mod go;
mod go_crashes;
mod shells;

#[path = "../artifacts.rs"]
#[allow(dead_code, reason = "the other tests use the rest")]
mod artifacts;
#[path = "../c_interface/compile.rs"]
#[allow(dead_code, reason = "the other tests use the rest")]
mod compile;
#[path = "../command_line/new_plugins/created.rs"]
#[allow(dead_code, reason = "the other tests use the rest")]
mod created;
#[path = "../attribution/ended.rs"]
mod ended;
#[path = "../c_interface/hostile.rs"]
#[allow(dead_code, reason = "the other tests use the rest")]
mod hostile;
#[path = "../c_interface/layout.rs"]
#[allow(dead_code, reason = "the other tests use the rest")]
mod layout;
#[path = "../manifests.rs"]
#[allow(dead_code, reason = "the other tests use the rest")]
mod manifests;
#[path = "../scheduling.rs"]
#[allow(dead_code, reason = "the other tests use the rest")]
mod scheduling;
#[path = "../shell.rs"]
mod shell;

use std::process::{Command, Output};

use artifacts::{with_bundled_plugins, workspace};

/// Runs `divvy` and returns its exit code, standard output and standard error.
fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(workspace().binary("divvy"));
    let output = with_bundled_plugins(command.args(arguments)).output();
    let Output { status, stdout, stderr } = output.expect("the binary can be started");
    let text = |bytes| String::from_utf8(bytes).expect("divvy writes UTF-8");
    (status.code(), text(stdout), text(stderr))
}
