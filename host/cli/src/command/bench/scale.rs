//! `divvy bench scale`: memory of the running scheduler, and its decisions without an API server that limits them.

use clap::Args;
use divvy_load::scale::{ScaleOptions, ScaleReport};

use super::{Format, announce, failure, mebibytes, runtime, scheduler};
use crate::command::Exit;
use crate::command::setup::ProfileArguments;
use crate::report::console::Console;
use crate::report::errors::Failure;
use crate::report::grid::{Cell, Column, Grid};
use crate::report::structured;

const EXAMPLES: &str = "\
Examples:
  divvy bench scale --bindings 50000,100000 --clusters 1000
  divvy bench scale --bindings 1000000 --clusters 10000 --pending 1000 -o json

The scheduler is a child process. It watches an in-memory API server that this process provides over HTTP: bindings with \
the managed fields of four writers and the states of five clusters, and clusters of `--apis` kinds.

READY is the time until everything is listed. DECISIONS/s counts bindings that wait for their first decision, from the \
first that is written to the last; writes cost nothing there, so it is the scheduler's own limit, on a machine \
shared with the API server's process. MEMORY is that of the idle scheduler, PEAK the most until then, RELISTED the most after \
all watches expired and everything was listed again, and PER BINDING its growth per additional binding, \
compared with the line above.";

/// Measure the memory of a running scheduler, and its decisions without an API server that limits them.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, after_help = "See `--help` for examples.")]
pub(super) struct ScaleArguments {
    #[command(flatten)]
    profile: ProfileArguments,
    /// Scheduled bindings; several numbers are measured one after the other
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', default_value = "50000,100000")]
    bindings: Vec<u32>,
    /// Bindings that wait for their first decision
    #[arg(long, value_name = "NUMBER", default_value_t = 1000)]
    pending: u32,
    /// Clusters
    #[arg(long, value_name = "NUMBER", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    clusters: u32,
    /// Kinds that each cluster serves
    #[arg(long, value_name = "NUMBER", default_value_t = 300, value_parser = clap::value_parser!(u16).range(0..=5_000))]
    apis: u16,
    /// Maximum number of bindings written at the same time
    #[arg(long, value_name = "NUMBER", default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..=1024))]
    write_concurrency: u16,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t = Format::Table)]
    output: Format,
}

/// Measures each size and prints the figures.
pub(super) fn run(arguments: &ScaleArguments, console: &Console) -> Result<Exit, Failure> {
    let options = ScaleOptions {
        scheduler: scheduler(&arguments.profile, arguments.write_concurrency)?,
        bindings: arguments.bindings.iter().map(|number| *number as usize).collect(),
        pending: arguments.pending as usize,
        clusters: arguments.clusters as usize,
        apis: usize::from(arguments.apis),
    };
    let runtime = runtime()?;
    let mut progress = |step: &str| announce(console, step);
    let reports = runtime.block_on(divvy_load::scale::run(&options, &mut progress));
    let reports = reports.map_err(|error| failure(&error))?;
    runtime.shutdown_background();
    console.print(|out| match arguments.output {
        Format::Table => table(&reports).write(out, console.width()),
        Format::Json => structured::write_value(&reports, out),
    })?;
    Ok(Exit::Success)
}

fn table(reports: &[ScaleReport]) -> Grid<'_> {
    let titles = [
        "BINDINGS",
        "CLUSTERS",
        "READY",
        "DECISIONS/s",
        "MEMORY",
        "PEAK",
        "RELISTED",
        "PER BINDING",
    ];
    let mut grid = Grid::new(titles.map(Column::right).to_vec());
    for report in reports {
        grid.cells(vec![
            Cell::plain(report.bindings.to_string()),
            Cell::plain(report.clusters.to_string()),
            Cell::plain(format!("{:.1} s", report.ready_seconds)),
            Cell::plain(format!("{:.0}", report.decisions_per_second)),
            Cell::plain(mebibytes(report.idle_bytes)),
            Cell::plain(mebibytes(report.peak_bytes)),
            Cell::plain(mebibytes(report.peak_after_relist_bytes)),
            report
                .bytes_per_further_binding
                .map_or_else(Cell::empty, |bytes| Cell::plain(format!("{:.2} KB", bytes / 1_000.0))),
        ]);
    }
    grid
}
