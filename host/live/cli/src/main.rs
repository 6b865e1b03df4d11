//! The `divvy-scheduler` command, which `divvy run` calls: schedules the bindings of a live control plane until it is stopped.
//!
//! All of it is in `divvy-controller`. Here are the arguments, the log, and the profile, which is loaded again when it changes.

mod estimators;
mod loading;
mod logging;
mod run;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use divvy_command::man_pages;
use divvy_command::program::{self, GeneralArguments};
use divvy_command::{completing, ends, worker};

/// Schedule the bindings of a live Karmada control plane.
///
/// Watches bindings, clusters, policies and quotas, decides whenever karmada-scheduler would, and writes the results.
/// Without `--kubeconfig`, uses `KUBECONFIG`, `~/.kube/config`, or the service account of its pod.
#[derive(Debug, Parser)]
#[command(
    name = "divvy-scheduler",
    version = program::version(),
    after_long_help = run::EXAMPLES,
    after_help = "See `--help` for examples.",
    max_term_width = 100,
)]
struct CommandLine {
    #[command(flatten)]
    general: GeneralArguments,
    #[command(flatten)]
    arguments: run::RunArguments,
    /// Write the man page to this folder, for packages
    #[arg(long, value_name = "DIRECTORY", hide = true)]
    man_pages: Option<PathBuf>,
}

fn main() -> ExitCode {
    if let Some(code) = worker::serve_if_asked() {
        return code;
    }
    completing::answer_below_divvy(CommandLine::command, "run");
    let line: CommandLine = match program::parse(|error| error) {
        Ok(line) => line,
        Err(code) => return code,
    };
    let console = line.general.console();
    if let Some(directory) = &line.man_pages {
        let command = CommandLine::command().name("divvy-run").bin_name("divvy run");
        return console.finish(man_pages::write(directory, command, &[]));
    }
    worker::announce(worker::DEADLINE_OF_SCHEDULER);
    let _armed = ends::arm();
    console.finish(run::run(&line.arguments, &console))
}
