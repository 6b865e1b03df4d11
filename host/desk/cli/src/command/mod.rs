//! The command line: subcommands, their arguments, and the options that all of them share.
//!
//! Each command has one variant of `Command` and one file: a struct of its arguments and a `run` function, which does
//! the work and returns the exit code. Commands that answer a question about manifests are a [`desk::Question`] instead.
//! A command that fails returns a [`Failure`]. Only this module prints failures, so that all errors look alike.

mod bench;
mod candidates;
mod carry_out;
mod choosing;
mod clusters;
mod completions;
mod desk;
mod diff;
mod effects;
mod explain;
mod headroom;
mod help;
mod input;
mod missing_clusters;
mod moving;
mod origin;
mod output;
mod policies;
mod profile;
mod programs;
mod reasons;
mod rebalance;
mod record;
mod replay;
mod schedule;
mod survive;
mod tables;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use divvy_command::console::Console;
use divvy_command::errors::Failure;
use divvy_command::exit::{EXIT_CODES, Exit};
use divvy_command::man_pages::{self, ManPagesArguments};
use divvy_command::program::{self, GeneralArguments, HangArguments};
use divvy_command::worker;

use programs::{Call, PassedOn, Program};

const EXAMPLES: &str = "\
Examples:
  divvy schedule -f fleet.yaml -f policies/
  kubectl get clusters,rb -A -o json | divvy schedule -f -
  divvy diff -f dump/ --drain eu-1
  divvy headroom -f dump/ deployment/web
  divvy survive -f dump/
  divvy rebalance -f dump/
  divvy policies -f dump/
  divvy profile check --profile production.toml
  divvy plugin list";

/// Divides the replicas of workloads across Kubernetes clusters. Plugins make every decision.
#[derive(Debug, Parser)]
#[command(
    name = "divvy",
    version = program::version(),
    arg_required_else_help = true,
    subcommand_required = true,
    after_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"),
    max_term_width = 100,
)]
pub(crate) struct CommandLine {
    #[command(flatten)]
    general: GeneralArguments,
    #[command(flatten)]
    hanging: HangArguments,
    #[command(subcommand)]
    command: Command,
}

/// The commands. Each is documented at its arguments: documentation here would replace all of it in the help.
#[derive(Debug, Subcommand)]
enum Command {
    Schedule(schedule::ScheduleArguments),
    Diff(Box<diff::DiffArguments>),
    Headroom(Box<headroom::HeadroomArguments>),
    Survive(Box<survive::SurviveArguments>),
    Rebalance(Box<rebalance::RebalanceArguments>),
    Policies(Box<policies::PoliciesArguments>),
    /// Schedule the bindings of a live Karmada control plane
    #[command(disable_help_flag = true)]
    Run(PassedOn),
    Explain(explain::ExplainArguments),
    MissingClusters(missing_clusters::MissingClustersArguments),
    Replay(replay::ReplayArguments),
    Bench(bench::BenchArguments),
    /// Show and check profiles: which plugins, in which order, with which configuration
    #[command(subcommand)]
    Profile(profile::ProfileCommand),
    /// List plugins, show what each accepts, create and test new ones
    #[command(disable_help_flag = true)]
    Plugin(PassedOn),
    Completions(completions::CompletionsArguments),
    #[command(hide = true)]
    ManPages(ManPagesArguments),
    /// Print the version, as `--version` does
    Version,
}

/// Parses the arguments of this process, runs the command and returns its exit code. A [`Failure`] is printed to
/// standard error, and its exit code is used instead.
pub(crate) fn main() -> ExitCode {
    if let Some(code) = worker::serve_if_asked() {
        return code;
    }
    completions::answer::<CommandLine>();
    if let Some(call) = Call::of(CommandLine::command, std::env::args_os()) {
        let failure = call.program.execute(call.arguments);
        eprintln!("{}", failure.text());
        return failure.exit.into();
    }
    match program::parse::<CommandLine>(|error| error) {
        Ok(line) => program::run(&line.general, &line.hanging, |console| line.command.run(console)),
        Err(code) => code,
    }
}

impl Command {
    fn run(&self, console: &Console) -> Result<Exit, Failure> {
        match self {
            Self::Schedule(arguments) => desk::ask(arguments, console),
            Self::Diff(arguments) => desk::ask(&**arguments, console),
            Self::Headroom(arguments) => desk::ask(&**arguments, console),
            Self::Survive(arguments) => desk::ask(&**arguments, console),
            Self::Rebalance(arguments) => rebalance::run(arguments, console),
            Self::Policies(arguments) => desk::ask(&**arguments, console),
            Self::Explain(arguments) => explain::run(arguments, console),
            Self::MissingClusters(arguments) => missing_clusters::run(arguments, console),
            Self::Replay(arguments) => replay::run(arguments, console),
            Self::Bench(arguments) => bench::run(arguments, console),
            Self::Profile(command) => profile::run(command, console),
            Self::Completions(arguments) => completions::run(arguments, &CommandLine::command(), console),
            Self::ManPages(arguments) => {
                man_pages::write(&arguments.directory, CommandLine::command(), &programs::NAMES)
            }
            Self::Version => {
                let text = format!("divvy {}", program::version());
                console.print(|out| writeln!(out, "{text}")).map(|()| Exit::Success)
            }
            Self::Run(passed_on) => Err(Program::Scheduler.execute(passed_on.arguments.clone())),
            Self::Plugin(passed_on) => Err(Program::Plugin.execute(passed_on.arguments.clone())),
        }
    }
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
