//! `divvy bench`: how long one whole cycle takes, case by case.
//!
//! A cycle is timed as the scheduler runs it: from a binding that was read to the verified result, names looked up,
//! selectors compiled and every plugin's preparation included, on a warm snapshot. Turning a manifest into the binding's
//! tables happens once when it is read and is not part of a cycle.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use divvy_host::fleet::FleetSnapshot;
use divvy_host::replay::{CaseRunner, PreparedCase};
use serde::Serialize;

use super::Exit;
use super::replay::{choose, fleets, progress, read};
use super::setup::ProfileArguments;
use crate::report::console::Console;
use crate::report::errors::Failure;
use crate::report::grid::{Cell, Column, Grid};

const EXAMPLES: &str = "\
Examples:
  divvy bench tests/conformance/bench.jsonl.gz --profile examples/profiles/karmada.toml
  divvy bench yesterday.jsonl.gz -n 1000 -o json | jq 'map(.p50_us) | max'

The times are those of one core. Compare figures of one run: machines differ, and so do moments.";

/// Cycles before the clock starts, at least: caches fill, memory is allocated once.
const WARM_UP_CYCLES: usize = 20;

/// Time how long cycles take on recorded cases.
///
/// Reads the same files as `divvy replay`; what was decided is not looked at.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, after_help = "See `--help` for examples.")]
pub(super) struct BenchArguments {
    /// Recordings
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    profile: ProfileArguments,
    /// Cycles to time for each case
    #[arg(short = 'n', long, value_name = "NUMBER", default_value_t = 300, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    cycles: u32,
    /// How to print the times
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t = Format::Table)]
    output: Format,
}

/// How times are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Aligned columns
    Table,
    /// An array, one object a case
    Json,
}

/// The times of one case.
#[derive(Debug, Serialize)]
struct CaseTimes {
    case: String,
    clusters: usize,
    p50_us: f64,
    p99_us: f64,
    max_us: f64,
    bindings_per_second: f64,
    /// `Scheduled`, or the kind of error that the cycle ends with.
    result: &'static str,
}

/// Times cycles.
pub(super) fn run(arguments: &BenchArguments, console: &Console) -> Result<Exit, Failure> {
    let mut all = Vec::new();
    for file in &arguments.files {
        let recording = read(file)?;
        let chosen = choose(&arguments.profile, file, &recording)?;
        let profile = Arc::new(chosen.build(&arguments.profile.directories()?)?);
        let fleets = fleets(&recording, &profile);
        let mut runner = CaseRunner::new(Arc::clone(&profile));
        let bar = progress(recording.cases.len());
        for case in &recording.cases {
            bar.inc(1);
            // A recording is refused if it has a case without its fleet.
            let Some(fleet) = fleets.get(&case.fleet) else { continue };
            let prepared = runner.prepare(case);
            all.push(time(
                &mut runner,
                &case.name,
                &prepared,
                fleet,
                arguments.cycles as usize,
            ));
        }
        bar.finish_and_clear();
    }
    console.print(|out| match arguments.output {
        Format::Table => table(&all).write(out, console.width()),
        Format::Json => {
            serde_json::to_writer_pretty(&mut *out, &all)?;
            writeln!(out)
        }
    })?;
    Ok(Exit::Success)
}

fn time(
    runner: &mut CaseRunner,
    case: &str,
    prepared: &PreparedCase,
    fleet: &FleetSnapshot,
    cycles: usize,
) -> CaseTimes {
    let mut result = "Scheduled";
    for _ in 0..WARM_UP_CYCLES.max(cycles / 10) {
        result = runner
            .run(prepared, fleet)
            .map_or_else(|error| error.kind(), |_| "Scheduled");
    }
    let mut times: Vec<Duration> = Vec::with_capacity(cycles);
    let began = Instant::now();
    for _ in 0..cycles {
        let started = Instant::now();
        // What comes of it was seen while warming up; the cycle is deterministic.
        let _ = std::hint::black_box(runner.run(prepared, fleet));
        times.push(started.elapsed());
    }
    let whole = began.elapsed();
    times.sort_unstable();
    let microseconds = |duration: Duration| duration.as_nanos() as f64 / 1_000.0;
    // The nearest-rank method: the smallest time that so many of a hundred do not exceed.
    let percentile = |percent: usize| {
        let rank = (times.len() * percent).div_ceil(100).max(1) - 1;
        times.get(rank).copied().unwrap_or_default()
    };
    CaseTimes {
        case: case.to_owned(),
        clusters: fleet.len(),
        p50_us: microseconds(percentile(50)),
        p99_us: microseconds(percentile(99)),
        max_us: microseconds(percentile(100)),
        bindings_per_second: cycles as f64 / whole.as_secs_f64(),
        result,
    }
}

fn table(all: &[CaseTimes]) -> Grid {
    let mut grid = Grid::new(vec![
        Column::left("CASE"),
        Column::right("CLUSTERS"),
        Column::right("P50 µs"),
        Column::right("P99 µs"),
        Column::right("MAX µs"),
        Column::right("BINDINGS/s"),
        Column::left("RESULT"),
    ]);
    for times in all {
        grid.cells(vec![
            Cell::plain(&times.case),
            Cell::plain(times.clusters.to_string()),
            Cell::plain(format!("{:.2}", times.p50_us)),
            Cell::plain(format!("{:.2}", times.p99_us)),
            Cell::plain(format!("{:.2}", times.max_us)),
            Cell::plain(format!("{:.0}", times.bindings_per_second)),
            Cell::plain(times.result),
        ]);
    }
    grid
}
