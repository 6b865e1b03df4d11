//! The `divvy` command, run the way users run it: exit code, standard output, standard error.
//!
//! Each test runs the command in the folder `tests/fixtures/command-line` and compares its output. The details of
//! rendering are tested in the binary's own crate; these tests cover the interaction of arguments, files and plugins.

mod affinity;
mod carrying_out;
mod choosing;
mod clusters;
mod completing;
mod costs;
mod diff;
mod gate;
mod headroom;
mod help;
mod hostile;
mod inspect;
mod jointly;
mod karmada;
mod kubeconfig;
mod large;
mod logging;
mod moving;
mod new_plugins;
mod operator;
mod overlays;
mod page;
mod place_pending;
mod plugins_and_profiles;
mod policies;
mod profile_lists;
mod quorum;
mod rebalance;
mod replay;
mod reports;
mod safety;
mod schedule;
mod selectors;
mod silence;
mod summaries;
mod survive;
mod tables;
mod time;
mod unopened;
mod verify;

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use snapbox::assert::DEFAULT_ACTION_ENV;
use snapbox::{Assert, IntoData};

use crate::artifacts::{fixture, plugin, repository, workspace};

/// The strategies that divide without a configuration of their own.
const STRATEGIES: [&str; 7] = [
    "Duplicated",
    "StaticWeight",
    "DynamicWeight",
    "Aggregated",
    "Average",
    "Specified",
    "PriorityAggregated",
];

/// Working directory of the commands.
fn folder() -> PathBuf {
    repository().join("tests/fixtures/command-line")
}

/// A command with these arguments, whose environment contains only the path of the bundled plugins.
pub(crate) fn divvy(arguments: &[&str]) -> Command {
    let plugins = plugin("duplicated").parent().expect("a library is in a folder");
    let mut command = Command::new(workspace().binary("divvy"));
    command
        .args(arguments)
        .current_dir(folder())
        .env_clear()
        .env("DIVVY_PLUGIN_PATH", plugins)
        .stdin(Stdio::null());
    command
}

/// Runs a command and returns its exit code, standard output and standard error.
pub(crate) fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = divvy(arguments).output().expect("the binary can be started");
    let text = |bytes| String::from_utf8(bytes).expect("divvy writes UTF-8");
    (status.code(), text(stdout), text(stderr))
}

/// Runs a command as a program that ignores the ends of its children, and has closed what it does not need, starts it.
pub(crate) fn run_below_a_careless_parent(arguments: &[&str]) -> (Option<i32>, String, String) {
    let inner = divvy(arguments);
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", "trap '' CHLD; exec \"$0\" \"$@\" <&-"])
        .arg(inner.get_program())
        .args(inner.get_args())
        .current_dir(folder())
        .env_clear()
        .envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let Output { status, stdout, stderr } = command.output().expect("there is a shell");
    let text = |bytes| String::from_utf8(bytes).expect("divvy writes UTF-8");
    (status.code(), text(stdout), text(stderr))
}

/// Runs a command and compares its exit code, standard output and standard error.
#[track_caller]
fn check(arguments: &[&str], exit: i32, stdout: impl IntoData, stderr: impl IntoData) {
    let (actual_exit, actual_stdout, actual_stderr) = run(arguments);
    let command = arguments.join(" ");
    check_text(&format!("standard error of divvy {command}"), &actual_stderr, stderr);
    check_text(&format!("standard output of divvy {command}"), &actual_stdout, stdout);
    assert_eq!(actual_exit, Some(exit), "exit code of divvy {command}");
}

/// Compares a text, of which `name` is the name in the message, with a snapshot in the code (`snapbox::str!`) or in a file
/// (`snapbox::file!`). With `SNAPSHOTS=overwrite` in the environment, the snapshot becomes the text.
#[track_caller]
fn check_text(name: &str, actual: &str, expected: impl IntoData) {
    let assert = Assert::new().action_env(DEFAULT_ACTION_ENV);
    let compared = assert.try_eq(Some(&name), actual.into_data(), expected.into_data().raw());
    compared.unwrap_or_else(|error| panic!("{error}"));
}
