//! Help of commands with many options: a page of two screens for `-h` and `--help`, and everything for `divvy help COMMAND`, as cargo
//! has it.

use clap::{ArgAction, Args};
use divvy_command::program::GLOBAL;

/// Heading of the options that select the input.
pub(super) const INPUT: &str = "Input";
/// Heading of the options about plugins and what they decide.
pub(super) const DECIDING: &str = "Profile and plugins";
/// Heading of the options about what counts besides the input.
pub(super) const ASSUMPTIONS: &str = "Assumptions";
/// Heading of the options that set the exit code.
pub(super) const LIMITS: &str = "Limits for pipelines";
/// Heading of the options that select the form of the answer.
pub(super) const ANSWER: &str = "Answer";

/// `-h` and `--help` of a command with a long page. The command must switch clap's own flag off.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct HelpArguments {
    /// Print this page; `divvy help COMMAND` prints every option in full
    #[arg(id = "help", long, short, action = ArgAction::HelpShort, help_heading = GLOBAL)]
    _help: Option<bool>,
}
