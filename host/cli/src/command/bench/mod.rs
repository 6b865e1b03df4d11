//! `divvy bench`: how fast cycles are, how fast a running scheduler is, and how large.
//!
//! - [`cases`]: recorded cases, without a control plane.
//! - [`load`]: `divvy run` on a real API server, beside a bare client.
//! - [`scale`]: `divvy run` on an API server in memory.

mod cases;
mod load;
mod scale;

use clap::{Args, Subcommand, ValueEnum};
use divvy_load::LoadError;
use divvy_load::scheduler::SchedulerOptions;

use super::Exit;
use super::connection::connection_failure;
use super::setup::ProfileArguments;
use crate::report::console::Console;
use crate::report::errors::{Diagnostic, Failure};
use crate::report::style;

const EXAMPLES: &str = "\
Examples:
  divvy bench tests/conformance/bench.jsonl.gz --profile karmada
  divvy bench yesterday.jsonl.gz -n 1000 -o json | jq 'map(.p50_us) | max'

  # A running scheduler, on an API server that nothing else uses
  tests/control-plane/up /tmp/plane
  divvy bench run --kubeconfig /tmp/plane/kubeconfig --bindings 2000 --clusters 100

  # Its memory
  divvy bench scale --bindings 50000,100000 --clusters 1000

Times of recorded cases are for one core. Compare figures from the same run only: machines and their load differ.";

/// Measure how fast scheduling is: single cycles, or a running scheduler.
///
/// Recorded cases: reads the same files as `divvy replay` and ignores the recorded decisions. Rounds alternate between
/// two snapshots of the fleet that differ in one cluster, so that caching per snapshot does not improve the figures.
/// P50, P99, MAX and BINDINGS/s cover the cycle alone; EVENT P50 covers planning the binding and then the cycle.
#[derive(Debug, Args)]
#[command(
    after_long_help = EXAMPLES,
    after_help = "See `--help` for examples.",
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true
)]
pub(super) struct BenchArguments {
    #[command(subcommand)]
    command: Option<BenchCommand>,
    #[command(flatten)]
    cases: cases::CaseArguments,
}

/// Measurements of a running scheduler.
#[derive(Debug, Subcommand)]
enum BenchCommand {
    /// Measure a running scheduler on a real API server, beside a bare client
    Run(load::LoadArguments),
    /// Measure the memory of a running scheduler, and its decisions without an API server that limits them
    Scale(scale::ScaleArguments),
}

/// Output format of the figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Aligned columns
    Table,
    /// JSON
    Json,
}

/// Measures what the arguments ask for.
pub(super) fn run(arguments: &BenchArguments, console: &Console) -> Result<Exit, Failure> {
    match &arguments.command {
        None => cases::run(&arguments.cases, console),
        Some(BenchCommand::Run(arguments)) => load::run(arguments, console),
        Some(BenchCommand::Scale(arguments)) => scale::run(arguments, console),
    }
}

/// The scheduler that is measured: this program with a profile.
fn scheduler(profile: &ProfileArguments, concurrency: u16) -> Result<SchedulerOptions, Failure> {
    // A profile that cannot be used is reported here, not in the log of a child process.
    profile.read()?;
    profile.directories()?;
    let program =
        std::env::current_exe().map_err(|error| internal("this program does not know its own path", &error))?;
    Ok(SchedulerOptions {
        program,
        arguments: profile.repeated(),
        concurrency: usize::from(concurrency),
        events: false,
        write_latency: std::time::Duration::ZERO,
    })
}

/// A runtime with as many threads as that of `divvy run`.
fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    runtime.map_err(|error| internal("the runtime cannot be started", &error))
}

/// Reports that a step of a long measurement begins.
fn announce(console: &Console, step: &str) {
    console.tell(|out| writeln!(out, "{}{step}{}", style::FAINT.render(), style::FAINT.render_reset()));
}

fn failure(error: &LoadError) -> Failure {
    let mut diagnostic = Diagnostic::new(error.to_string()).with_causes_of(error);
    diagnostic.hint = error.hint().map(ToOwned::to_owned);
    match error {
        LoadError::Connection(error) => connection_failure(error),
        LoadError::NotEmpty { .. } | LoadError::Request { .. } | LoadError::Interrupted => Failure::usage(diagnostic),
        _ => Failure::internal(diagnostic),
    }
}

fn internal(message: &str, error: &std::io::Error) -> Failure {
    Failure::internal(Diagnostic::new(message).with_cause(error.to_string()))
}

/// Bytes as mebibytes.
fn mebibytes(bytes: u64) -> String {
    format!("{:.0} MiB", bytes as f64 / f64::from(1 << 20))
}
