//! `divvy bench run`: the running scheduler on a real API server, beside a bare client.

use std::time::Duration;

use clap::Args;
use divvy_load::LoadError;
use divvy_load::bench::{Bench, BenchOptions, BenchReport, median};

use super::{Format, announce, failure, mebibytes, runtime, scheduler};
use crate::command::Exit;
use crate::command::connection::{ConnectionArguments, duration};
use crate::command::setup::ProfileArguments;
use crate::report::console::Console;
use crate::report::errors::Failure;
use crate::report::grid::{Cell, Column, Grid};
use crate::report::{structured, style};

const EXAMPLES: &str = "\
Examples:
  tests/control-plane/up /tmp/plane
  divvy bench run --kubeconfig /tmp/plane/kubeconfig --bindings 2000 --clusters 100
  divvy bench run --kubeconfig /tmp/plane/kubeconfig --clusters 1000 --write-latency 7ms --rounds 3 -o json

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
/// a control plane of its own, which it fills and empties.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, after_help = "See `--help` for examples.")]
pub(super) struct LoadArguments {
    #[command(flatten)]
    profile: ProfileArguments,
    #[command(flatten)]
    connection: ConnectionArguments,
    /// Bindings of a burst
    #[arg(long, value_name = "NUMBER", default_value_t = 2000, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    bindings: u32,
    /// Clusters
    #[arg(long, value_name = "NUMBER", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    clusters: u32,
    /// Kinds that each cluster serves
    #[arg(long, value_name = "NUMBER", default_value_t = 300, value_parser = clap::value_parser!(u16).range(0..=5_000))]
    apis: u16,
    /// Measure a further burst with this delay before every write
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    write_latency: Option<Duration>,
    /// Times that each burst is measured; the table shows medians
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    rounds: u16,
    /// Maximum number of bindings written at the same time, by the scheduler and by the bare client
    #[arg(long, value_name = "NUMBER", default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..=1024))]
    write_concurrency: u16,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t = Format::Table)]
    output: Format,
}

/// Measures, removes everything that was created, and prints the figures.
///
/// A control plane that is not empty, or refuses a request, ends it with exit code 2. What was measured before is printed.
pub(super) fn run(arguments: &LoadArguments, console: &Console) -> Result<Exit, Failure> {
    let mut scheduler = scheduler(&arguments.profile, arguments.write_concurrency)?;
    scheduler.arguments.extend(arguments.connection.repeated());
    let options = BenchOptions {
        connection: arguments.connection.options("bench"),
        scheduler,
        bindings: arguments.bindings as usize,
        clusters: arguments.clusters as usize,
        apis: usize::from(arguments.apis),
        write_latency: arguments.write_latency,
        rounds: usize::from(arguments.rounds),
    };
    let runtime = runtime()?;
    let (report, result) = runtime
        .block_on(measure(options, console))
        .map_err(|error| failure(&error))?;
    runtime.shutdown_background();
    if result.is_ok() || !report.bursts.is_empty() {
        console.print(|out| match arguments.output {
            Format::Table => table(&report).write(out, console.width()),
            Format::Json => structured::write_value(&report, out),
        })?;
    }
    result.map(|()| Exit::Success).map_err(|error| failure(&error))
}

/// Measures, and removes everything. Returns what was measured, and the reason if that is not everything.
async fn measure(options: BenchOptions, console: &Console) -> Result<(BenchReport, Result<(), LoadError>), LoadError> {
    let mut bench = Bench::claim(options).await?;
    let plane = bench.plane();
    let mut progress = |step: &str| announce(console, step);
    let result = tokio::select! {
        result = bench.run(&mut progress) => result,
        _ = tokio::signal::ctrl_c() => Err(LoadError::Interrupted),
    };
    announce(console, "removing everything");
    // The first error is the one that explains the others.
    let removed = plane.remove().await;
    Ok((bench.report(), result.and(removed)))
}

fn table(report: &BenchReport) -> Grid<'_> {
    let titles = [
        "BARE CLIENT/s",
        "BINDINGS/s",
        "RATIO",
        "OWN RATIO",
        "CPU",
        "MEMORY",
        "EVENTS",
    ];
    let mut columns = vec![Column::left("BURST")];
    columns.extend(titles.map(Column::right));
    let mut grid = Grid::new(columns);
    let own = |events: bool| {
        let mut bursts = report.bursts.iter();
        let burst = bursts.find(|burst| burst.events == events && burst.write_latency_ms == 0);
        burst.map(|burst| median(&burst.scheduler_per_second))
    };
    for burst in &report.bursts {
        let events = if burst.events { "with events" } else { "without events" };
        let delayed = match burst.write_latency_ms {
            0 => String::new(),
            delay => format!(", {delay} ms per write"),
        };
        let rate = median(&burst.scheduler_per_second);
        let own = own(burst.events).filter(|_| burst.write_latency_ms > 0);
        grid.cells(vec![
            Cell::plain(format!("{} bindings, {events}{delayed}", report.bindings)),
            Cell::plain(format!("{:.1}", median(&burst.bare_per_second))),
            Cell::plain(format!("{rate:.1}")),
            Cell::plain(percent(burst.ratio)),
            own.map_or_else(Cell::empty, |own| Cell::plain(percent(rate / own))),
            Cell::plain(format!("{:.2} ms", median(&burst.cpu_ms_per_binding))),
            Cell::plain(mebibytes(burst.peak_memory_bytes)),
            Cell::plain(format!("{} + {}", burst.bare_events, burst.scheduler_events)),
        ]);
    }
    let Some(steady) = &report.steady else {
        return grid;
    };
    grid.blank();
    let line = |who: &str, latency: &divvy_load::bench::Latency| {
        format!(
            "{who}: p50 {:.1} ms, p99 {:.1} ms, max {:.1} ms",
            latency.p50_ms, latency.p99_ms, latency.max_ms
        )
    };
    let (rate, count) = (steady.per_second, steady.bindings);
    grid.text(
        0,
        format!(
            "latency at {rate:.0} bindings/s, {count} bindings, {} clusters",
            report.clusters
        ),
        style::PLAIN,
    );
    grid.text(2, line("divvy run", &steady.scheduler), style::PLAIN);
    grid.text(2, line("bare client", &steady.bare), style::PLAIN);
    grid
}

fn percent(ratio: f64) -> String {
    format!("{:.0} %", ratio * 100.0)
}
