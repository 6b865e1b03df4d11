//! `divvy bench`: measures the time per cycle and per event of every recorded case.
//!
//! A cycle is timed as the scheduler runs it, from a finished plan to the verified result. This includes looking up
//! names, compiling selectors and every plugin's preparation. An event is planning followed by the cycle: the cost of
//! one changed binding.
//!
//! Rounds alternate between two snapshots that differ in one cluster. A production fleet changes all the time, so work
//! that is cached per snapshot must not improve the figures.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use divvy_command::console::Console;
use divvy_command::errors::Failure;
use divvy_command::exit::Exit;
use divvy_command::form;
use divvy_command::grid::{Cell, Column, Grid};
use divvy_command::progress::Progress;
use divvy_command::setup::ProfileArguments;
use divvy_recordings::{Case, CaseRunner, RecordedFleet};
use divvy_scheduler::fleet::{Fleet, FleetSnapshot};
use divvy_scheduler::profile::Profile;
use serde::Serialize;

use super::replay::{choose, read};

/// Minimum number of rounds before the clock starts, so that caches are filled and memory is allocated.
const WARM_UP_ROUNDS: usize = 20;

/// Label in which the two snapshots of a fleet differ.
const ROUND_LABEL: &str = "divvy.io/bench-round";

const EXAMPLES: &str = "\
Examples:
  divvy bench tests/conformance/bench.jsonl.gz --profile karmada
  divvy bench yesterday.jsonl.gz -n 1000 -o json | jq 'map(.p50_us) | max'

Times are for one core. Compare figures from the same run only: machines and their load differ.";

/// Measure how fast scheduling cycles are, on recorded cases.
///
/// Reads the same files as `divvy replay` and ignores the recorded decisions. Rounds alternate between
/// two snapshots of the fleet that differ in one cluster, so that caching per snapshot does not improve the figures.
/// P50, P99, MAX and BINDINGS/s cover the cycle alone; EVENT P50 covers planning the binding and then the cycle.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, after_help = "See `--help` for examples.")]
pub(super) struct BenchArguments {
    /// Recordings
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    profile: ProfileArguments,
    /// Number of cycles and of events to time per case
    #[arg(short = 'n', long, value_name = "NUMBER", default_value_t = 300, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    cycles: u32,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t = Format::Table)]
    output: Format,
}

/// Output format of the figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Aligned columns
    Table,
    /// JSON
    Json,
}

/// Times of one case, in microseconds.
#[derive(Debug, Serialize)]
struct CaseTimes {
    case: String,
    clusters: usize,
    p50_us: f64,
    p99_us: f64,
    max_us: f64,
    /// Planning followed by the cycle.
    event_p50_us: f64,
    bindings_per_second: f64,
    /// `Scheduled`, or the kind of error with which the cycle ends.
    result: &'static str,
}

/// Times every case of every recording, then prints the figures.
///
/// A case that cannot be scheduled is timed too, and RESULT names its error. A recording that cannot be read, or a
/// profile that cannot be built, ends the run with exit code 2 and without figures.
pub(super) fn run(arguments: &BenchArguments, console: &Console) -> Result<Exit, Failure> {
    let mut all = Vec::new();
    for file in &arguments.files {
        let recording = read(file)?;
        let chosen = choose(&arguments.profile, file, &recording)?;
        let profile = Arc::new(chosen.build_without_tables(&arguments.profile.directories()?)?);
        let fleets: BTreeMap<&str, [FleetSnapshot; 2]> = recording
            .fleets
            .iter()
            .map(|(name, fleet)| (name.as_str(), alternating(fleet, &profile)))
            .collect();
        let mut runner = CaseRunner::new(Arc::clone(&profile)).with_tables(&recording.tables);
        let progress = Progress::counting("timing", recording.cases.len());
        for case in &recording.cases {
            progress.advance();
            // Reading a recording rejects cases that name an unknown fleet, so no case is skipped here.
            let Some(fleets) = fleets.get(case.fleet.as_str()) else {
                continue;
            };
            all.push(time(&mut runner, case, fleets, arguments.cycles as usize));
        }
    }
    console.print(|out| match arguments.output {
        Format::Table => table(&all).write(out, console.width()),
        Format::Json => form::write_value(&all, out),
    })?;
    Ok(Exit::Success)
}

/// Two snapshots of a fleet: as recorded, and with one label of its last cluster changed.
fn alternating(fleet: &RecordedFleet, profile: &Profile) -> [FleetSnapshot; 2] {
    let mut store = Fleet::new(profile.needs_raw_clusters());
    store.extend(&fleet.clusters);
    let recorded = store.snapshot();
    if let Some(last) = fleet.clusters.last() {
        let mut changed = last.clone();
        changed.metadata.labels.insert(ROUND_LABEL.to_owned(), "odd".to_owned());
        store.upsert(&changed);
    }
    [recorded, store.snapshot()]
}

fn time(runner: &mut CaseRunner, case: &Case, fleets: &[FleetSnapshot; 2], rounds: usize) -> CaseTimes {
    let mut prepared = runner.prepare(case);
    let fleet = |round: usize| &fleets[round % 2];
    let mut result = "Scheduled";
    let cycles = measure(rounds, |round| {
        // The result is the same in every round: cycles are deterministic, and no recorded selector names the label.
        result = runner
            .run(&prepared, fleet(round))
            .map_or_else(|error| error.kind(), |_| "Scheduled");
    });
    let events = measure(rounds, |round| {
        runner.plan_again(&mut prepared);
        let _ = std::hint::black_box(runner.run(&prepared, fleet(round)));
    });
    CaseTimes {
        case: case.name.clone(),
        clusters: fleets[0].len(),
        p50_us: percentile(&cycles, 50),
        p99_us: percentile(&cycles, 99),
        max_us: percentile(&cycles, 100),
        event_p50_us: percentile(&events, 50),
        bindings_per_second: rounds as f64 / cycles.iter().sum::<Duration>().as_secs_f64(),
        result,
    }
}

/// Times `rounds` calls of `work` after a warm-up and returns the times in ascending order. `work` receives the number
/// of the round.
fn measure(rounds: usize, mut work: impl FnMut(usize)) -> Vec<Duration> {
    for round in 0..WARM_UP_ROUNDS.max(rounds / 10) {
        work(round);
    }
    let mut times: Vec<Duration> = (0..rounds)
        .map(|round| {
            let started = Instant::now();
            work(round);
            started.elapsed()
        })
        .collect();
    times.sort_unstable();
    times
}

/// Percentile in microseconds by the nearest-rank method: the smallest time that `percent` of the times do not exceed. There must be
/// at least one time.
fn percentile(times: &[Duration], percent: usize) -> f64 {
    let rank = (times.len() * percent).div_ceil(100).max(1) - 1;
    times[rank].as_nanos() as f64 / 1_000.0
}

fn table(all: &[CaseTimes]) -> Grid<'_> {
    let mut columns = vec![Column::left("CASE")];
    columns.extend(["CLUSTERS", "P50 µs", "P99 µs", "MAX µs", "EVENT P50 µs", "BINDINGS/s"].map(Column::right));
    columns.push(Column::left("RESULT"));
    let mut grid = Grid::new(columns);
    for times in all {
        let mut cells = vec![Cell::plain(&times.case), Cell::plain(times.clusters.to_string())];
        let micros = [times.p50_us, times.p99_us, times.max_us, times.event_p50_us];
        cells.extend(micros.map(|micros| Cell::plain(format!("{micros:.2}"))));
        cells.push(Cell::plain(format!("{:.0}", times.bindings_per_second)));
        cells.push(Cell::plain(times.result));
        grid.cells(cells);
    }
    grid
}
