//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum, value_parser};
use divvy_client::ConnectionOptions;
use divvy_load::LoadError;
use divvy_load::bench::BenchOptions;
use divvy_load::scale::ScaleOptions;
use divvy_load::scheduler::SchedulerOptions;

/// Measure a running scheduler.
#[derive(Debug, Parser)]
#[command(name = "divvy-load", max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) measurement: Measurement,
}

/// The measurements.
#[derive(Debug, Subcommand)]
pub(crate) enum Measurement {
    Run(RunArguments),
    Scale(ScaleArguments),
}

/// Arguments that select the scheduler.
#[derive(Debug, Args)]
struct SchedulerArguments {
    /// The binary that is measured; without it, `divvy` beside this program
    #[arg(long, value_name = "FILE")]
    divvy: Option<PathBuf>,
    /// Profile, as for `divvy run`
    #[arg(long, value_name = "PROFILE")]
    profile: Option<String>,
    /// Folder with plugins, as for `divvy run`; may be repeated
    #[arg(long = "plugin-directory", value_name = "DIRECTORY")]
    plugin_directories: Vec<PathBuf>,
    /// Maximum number of bindings written at the same time, by the scheduler and by the bare client
    #[arg(long, value_name = "NUMBER", default_value_t = 32, value_parser = value_parser!(u16).range(1..=1024))]
    write_concurrency: u16,
}

const RUN_NOTES: &str = "\
The control plane must hold no clusters, bindings or policies but those of an earlier measurement that was \
interrupted; any other is refused, and no option overrides that. Everything that is created carries the label \
`divvy.io/bench` and is removed at the end, after an error and after SIGINT too: clusters, a policy, bindings and their \
events. Only the namespace `divvy-bench` stays, empty. Bursts that were measured by then are printed.

Burst: bindings wait when the scheduler starts; BINDINGS/s counts from the first condition `Scheduled` to the last. \
The bare client lists the same six kinds, keeps the same watches open, and then sends the same two merge patches per \
binding, and two events where EVENTS says so, with as many bindings under way. But it decides nothing and reads no \
object. CPU is that of the scheduler process per binding, MEMORY its peak.

Steady load: bindings are created at half the rate of the burst with events, each at its time, however long earlier \
ones take. LATENCY is the time from sending the creation to seeing the condition. The bare client writes as soon as \
the creation is answered.";

/// Measure a running scheduler on a real API server, beside a bare client that makes the same calls.
///
/// Starts `divvy run` as a child process: drain rate of a burst, latency of a steady load, CPU time and peak memory. Needs
/// a control plane of its own, which it fills and empties: `tests/control-plane/up DIR` starts one.
#[derive(Debug, Args)]
#[command(after_long_help = RUN_NOTES)]
pub(crate) struct RunArguments {
    #[command(flatten)]
    scheduler: SchedulerArguments,
    /// Kubeconfig file of Karmada's API server
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// Context of the kubeconfig, instead of its current one
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
    /// Bindings of a burst
    #[arg(long, value_name = "NUMBER", default_value_t = 2000, value_parser = value_parser!(u32).range(2..=1_000_000))]
    bindings: u32,
    /// Clusters
    #[arg(long, value_name = "NUMBER", default_value_t = 100, value_parser = value_parser!(u32).range(1..=100_000))]
    clusters: u32,
    /// Kinds that each cluster serves
    #[arg(long, value_name = "NUMBER", default_value_t = 300, value_parser = value_parser!(u16).range(0..=5_000))]
    apis: u16,
    /// Measure a further burst with this delay before every write, such as `7ms`
    #[arg(long, value_name = "DURATION", value_parser = milliseconds)]
    write_latency: Option<Duration>,
    /// Times that each burst is measured; the table shows medians
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = value_parser!(u16).range(1..=1_000))]
    rounds: u16,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t = Format::Table)]
    pub(crate) output: Format,
}

const SCALE_NOTES: &str = "\
The scheduler is a child process. It watches an in-memory API server that this process provides over HTTP: bindings with \
the managed fields of four writers and the states of five clusters, and clusters of `--apis` kinds.

READY is the time until everything is listed. DECISIONS/s counts bindings that wait for their first decision, from the \
first that is written to the last; writes cost nothing there, so it is the scheduler's own limit, on a machine \
shared with the API server's process. MEMORY is that of the idle scheduler, PEAK the most until then, RELISTED the most after \
all watches expired and everything was listed again, and PER BINDING its growth per additional binding, \
compared with the line above.";

/// Measure the memory of a running scheduler, and its decisions without an API server that limits them.
#[derive(Debug, Args)]
#[command(after_long_help = SCALE_NOTES)]
pub(crate) struct ScaleArguments {
    #[command(flatten)]
    scheduler: SchedulerArguments,
    /// Scheduled bindings; several numbers are measured one after the other
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', default_value = "50000,100000")]
    bindings: Vec<u32>,
    /// Bindings that wait for their first decision
    #[arg(long, value_name = "NUMBER", default_value_t = 1000)]
    pending: u32,
    /// Clusters
    #[arg(long, value_name = "NUMBER", default_value_t = 1000, value_parser = value_parser!(u32).range(1..=100_000))]
    clusters: u32,
    /// Kinds that each cluster serves
    #[arg(long, value_name = "NUMBER", default_value_t = 300, value_parser = value_parser!(u16).range(0..=5_000))]
    apis: u16,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t = Format::Table)]
    pub(crate) output: Format,
}

/// Output format of the figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Aligned columns
    Table,
    /// JSON
    Json,
}

impl SchedulerArguments {
    fn options(&self) -> Result<SchedulerOptions, LoadError> {
        let program = match &self.divvy {
            Some(file) => file.clone(),
            None => std::env::current_exe()
                .map_err(LoadError::Program)?
                .with_file_name("divvy"),
        };
        let profile = self.profile.iter().map(|profile| format!("--profile={profile}"));
        let directories = self.plugin_directories.iter();
        let directories = directories.map(|directory| format!("--plugin-directory={}", directory.display()));
        Ok(SchedulerOptions {
            program,
            arguments: profile.chain(directories).collect(),
            concurrency: usize::from(self.write_concurrency),
            events: false,
            write_latency: Duration::ZERO,
        })
    }
}

impl RunArguments {
    /// The measurement.
    pub(crate) fn options(&self) -> Result<BenchOptions, LoadError> {
        let mut scheduler = self.scheduler.options()?;
        let kubeconfig = self
            .kubeconfig
            .iter()
            .map(|file| format!("--kubeconfig={}", file.display()));
        let context = self.context.iter().map(|name| format!("--context={name}"));
        scheduler.arguments.extend(kubeconfig.chain(context));
        Ok(BenchOptions {
            connection: ConnectionOptions {
                kubeconfig: self.kubeconfig.clone(),
                context: self.context.clone(),
                user_agent: format!("divvy-load/{}", env!("CARGO_PKG_VERSION")),
            },
            scheduler,
            bindings: self.bindings as usize,
            clusters: self.clusters as usize,
            apis: usize::from(self.apis),
            write_latency: self.write_latency,
            rounds: usize::from(self.rounds),
        })
    }
}

impl ScaleArguments {
    /// The measurement.
    pub(crate) fn options(&self) -> Result<ScaleOptions, LoadError> {
        Ok(ScaleOptions {
            scheduler: self.scheduler.options()?,
            bindings: self.bindings.iter().map(|number| *number as usize).collect(),
            pending: self.pending as usize,
            clusters: self.clusters as usize,
            apis: usize::from(self.apis),
        })
    }
}

/// Parses a duration such as `7ms`.
fn milliseconds(text: &str) -> Result<Duration, String> {
    let number = text.strip_suffix("ms").and_then(|number| number.parse().ok());
    number
        .map(Duration::from_millis)
        .ok_or_else(|| "expected milliseconds such as `7ms`".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definitions_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn a_latency_has_a_unit() {
        assert_eq!(milliseconds("7ms"), Ok(Duration::from_millis(7)));
        for wrong in ["", "7", "ms", "-1ms", "7s"] {
            assert!(milliseconds(wrong).is_err(), "{wrong}");
        }
    }
}
