//! The `divvy-plugin` command, which `divvy plugin` calls: the bench of those who write plugins.
//!
//! It lists plugins, shows what each accepts, creates new ones, tests them in the scheduler, and checks that they keep their contracts.

mod command;
mod report;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use divvy_command::program::{self, GeneralArguments, HangArguments};
use divvy_command::{completing, worker};

/// List plugins, show what each accepts, create and test new ones.
#[derive(Debug, Parser)]
#[command(
    name = "divvy-plugin",
    version = program::version(),
    arg_required_else_help = true,
    subcommand_required = true,
    max_term_width = 100,
)]
struct CommandLine {
    #[command(flatten)]
    general: GeneralArguments,
    #[command(flatten)]
    hanging: HangArguments,
    #[command(subcommand)]
    command: command::PluginCommand,
}

fn main() -> ExitCode {
    if let Some(code) = worker::serve_if_asked() {
        return code;
    }
    completing::answer_below_divvy(CommandLine::command, "plugin");
    let line: CommandLine = match program::parse(command::with_replacement) {
        Ok(line) => line,
        Err(code) => return code,
    };
    program::run(&line.general, &line.hanging, |console| {
        command::run(&line.command, CommandLine::command, console)
    })
}

#[cfg(test)]
mod tests {
    //! Consistency of the argument definitions.

    use clap::CommandFactory;

    #[test]
    fn the_definitions_are_consistent() {
        super::CommandLine::command().debug_assert();
    }
}
