//! The command line: subcommands, their arguments, and the options that all of them share.
//!
//! Each command has one variant of `Command` and one file: a struct of its arguments and a `run` function, which does
//! the work and returns the exit code. Commands that answer a question about manifests are a [`desk::Question`] instead.
//! A command that fails returns a [`Failure`]. Only this module prints failures, so that all errors look alike.

mod additional;
mod bench;
mod candidates;
mod choosing;
mod chosen_profile;
mod clusters;
mod completions;
mod connection;
mod desk;
mod diff;
mod ends;
mod explain;
mod headroom;
mod input;
mod libraries;
mod logging;
mod man_pages;
mod missing_clusters;
mod moving;
mod origin;
mod output;
mod plugin;
mod policies;
mod profile;
mod record;
mod replay;
mod run;
mod schedule;
mod seed;
mod setup;
mod survive;
mod tables;
mod time;
mod worker;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{ArgAction, Args, ColorChoice, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::exit::{EXIT_CODES, Exit};
use crate::report::console::Console;
use crate::report::errors::Failure;
use crate::report::text::{is_hidden, printable};

/// Help heading of the options that every command accepts.
const GLOBAL: &str = "Global options";

const EXAMPLES: &str = "\
Examples:
  divvy schedule -f fleet.yaml -f policies/
  kubectl get clusters,rb -A -o json | divvy schedule -f -
  divvy diff -f dump/ --drain eu-1
  divvy headroom -f dump/ deployment/web
  divvy survive -f dump/
  divvy policies -f dump/
  divvy profile check --profile production.toml
  divvy plugin list";

/// Divides the replicas of workloads across Kubernetes clusters. Plugins make every decision.
#[derive(Debug, Parser)]
#[command(
    name = "divvy",
    version = version(),
    arg_required_else_help = true,
    subcommand_required = true,
    after_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"),
    max_term_width = 100,
)]
pub(crate) struct CommandLine {
    #[command(flatten)]
    general: GeneralArguments,
    #[command(subcommand)]
    command: Command,
}

/// Options that every command accepts.
#[derive(Debug, Args)]
struct GeneralArguments {
    /// When to use colour; `auto` honours `NO_COLOR`
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = GLOBAL)]
    color: ColorChoice,
    /// Print more: `-v` for progress, `-vv` for reasons, `-vvv` for everything
    ///
    /// The environment variable DIVVY_LOG sets the level of each target instead: `DIVVY_LOG=warn,divvy::plugin::average=debug`
    /// prints warnings, and the log of the plugin `average`. The targets of all plugins begin with `divvy::plugin`.
    #[arg(long, short, global = true, action = ArgAction::Count, help_heading = GLOBAL)]
    verbose: u8,
    /// End with exit code 3 if a call of a plugin does not return for this long, such as `30s`; 0s waits forever
    #[arg(long, global = true, value_name = "DURATION", default_value = "10s", value_parser = connection::duration, help_heading = GLOBAL)]
    hang_limit: Duration,
}

/// The commands. Each is documented at its arguments: documentation here would replace all of it in the help.
#[derive(Debug, Subcommand)]
enum Command {
    Schedule(schedule::ScheduleArguments),
    Diff(Box<diff::DiffArguments>),
    Headroom(Box<headroom::HeadroomArguments>),
    Survive(Box<survive::SurviveArguments>),
    Policies(Box<policies::PoliciesArguments>),
    Run(run::RunArguments),
    Explain(explain::ExplainArguments),
    MissingClusters(missing_clusters::MissingClustersArguments),
    Replay(replay::ReplayArguments),
    Bench(bench::BenchArguments),
    /// Show and check profiles: which plugins, in which order, with which configuration
    #[command(subcommand)]
    Profile(profile::ProfileCommand),
    /// List plugins, show what each accepts, create and test new ones
    #[command(subcommand)]
    Plugin(plugin::PluginCommand),
    Completions(completions::CompletionsArguments),
    #[command(hide = true)]
    ManPages(man_pages::ManPagesArguments),
    /// Run a plugin for another process of divvy, which is standard input
    #[command(name = worker::NAME, hide = true)]
    Worker,
    /// Print the version, as `--version` does
    Version,
}

/// Parses the arguments of this process, runs the command and returns its exit code. A [`Failure`] is printed to
/// standard error, and its exit code is used instead.
pub(crate) fn main() -> ExitCode {
    completions::answer::<CommandLine>();
    let line = match parse() {
        Ok(line) => line,
        Err(error) => return print_usage(&error),
    };
    let color = match line.general.color {
        ColorChoice::Auto => anstream::ColorChoice::Auto,
        ColorChoice::Always => anstream::ColorChoice::Always,
        ColorChoice::Never => anstream::ColorChoice::Never,
    };
    let console = Console::new(color, line.general.verbose);
    worker::announce(matches!(line.command, Command::Run(_)));
    // How a worker ends is for the process that started it.
    let _armed = (!matches!(line.command, Command::Worker)).then(ends::arm);
    // A running scheduler has a log of its own.
    let logs = match &line.command {
        Command::Run(_) => Ok(()),
        _ => logging::start(&console),
    };
    // A running scheduler releases its lease before it ends.
    let watched = match &line.command {
        Command::Run(_) | Command::Worker | Command::Completions(_) | Command::ManPages(_) | Command::Version => Ok(()),
        _ => ends::watch(line.general.hang_limit).map(|watchdog| {
            if let Some(watchdog) = watchdog {
                watchdog.stay();
            }
        }),
    };
    let done = logs.and(watched).and_then(|()| match &line.command {
        Command::Schedule(arguments) => desk::ask(arguments, &console),
        Command::Diff(arguments) => desk::ask(&**arguments, &console),
        Command::Headroom(arguments) => desk::ask(&**arguments, &console),
        Command::Survive(arguments) => desk::ask(&**arguments, &console),
        Command::Policies(arguments) => desk::ask(&**arguments, &console),
        Command::Run(arguments) => run::run(arguments, &console),
        Command::Explain(arguments) => explain::run(arguments, &console),
        Command::MissingClusters(arguments) => missing_clusters::run(arguments, &console),
        Command::Replay(arguments) => replay::run(arguments, &console),
        Command::Bench(arguments) => bench::run(arguments, &console),
        Command::Profile(command) => profile::run(command, &console),
        Command::Plugin(command) => plugin::run(command, &console),
        Command::Completions(arguments) => completions::run(arguments, &CommandLine::command(), &console),
        Command::ManPages(arguments) => man_pages::run(arguments, CommandLine::command()),
        Command::Worker => worker::run(),
        Command::Version => {
            let text = format!("divvy {}", version());
            console.print(|out| writeln!(out, "{text}")).map(|()| Exit::Success)
        }
    });
    let exit = done.unwrap_or_else(|failure: Failure| {
        console.report(&failure);
        failure.exit
    });
    exit.into()
}

/// Parses the arguments of this process.
fn parse() -> Result<CommandLine, clap::Error> {
    let command = CommandLine::command();
    // kubectl runs `kubectl-divvy` for `kubectl divvy`, which is what the usage must say.
    let called = std::env::args_os().next().map(PathBuf::from);
    let is_of_kubectl = called.is_some_and(|path| path.file_stem() == Some("kubectl-divvy".as_ref()));
    let mut command = match is_of_kubectl {
        true => command.bin_name("kubectl divvy"),
        false => command,
    };
    let matches = command.try_get_matches_from_mut(std::env::args_os());
    let matches = matches.map_err(plugin::with_replacement)?;
    CommandLine::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

/// Prints help, the version or an error of usage. Output that cannot be written is an error, too.
fn print_usage(error: &clap::Error) -> ExitCode {
    let has_controls = std::env::args_os().any(|argument| argument.to_string_lossy().contains(is_hidden));
    let printed = match error.use_stderr() {
        // The message quotes the arguments, and a terminal would obey them.
        true if has_controls => {
            let text = error.render().to_string();
            let lines = text.lines().map(printable);
            lines.for_each(|line| eprintln!("{line}"));
            Ok(())
        }
        true => error.print(),
        false => Console::check_output()
            .and_then(|()| error.print())
            .and_then(|()| std::io::stdout().flush()),
    };
    match printed {
        Err(fault) if fault.kind() != std::io::ErrorKind::BrokenPipe => {
            let failure = Failure::output(&fault);
            eprintln!("{}", failure.text());
            failure.exit.into()
        }
        _ => ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2)),
    }
}

/// `0.1.0 (plugin ABI 1.0)`.
fn version() -> String {
    format!(
        "{} (plugin ABI {})",
        env!("CARGO_PKG_VERSION"),
        divvy_framework_abi::ABI_VERSION
    )
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
