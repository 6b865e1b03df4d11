//! Measures a running scheduler: its rate and latency on a real API server, or its memory on one in memory.
//!
//! ```sh
//! cargo build --release && cargo build --release -p divvy-load
//! tests/control-plane/up /tmp/plane
//! target/release/divvy-load run --kubeconfig /tmp/plane/kubeconfig --bindings 2000 --clusters 100
//! target/release/divvy-load scale --bindings 50000,100000 --clusters 1000
//! ```

mod arguments;
mod tables;

use std::error::Error;
use std::process::ExitCode;

use clap::Parser;
use divvy_load::bench::{Bench, BenchOptions, BenchReport};
use divvy_load::{LoadError, scale};
use serde::Serialize;

use arguments::{Arguments, Format, Measurement, RunArguments, ScaleArguments};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    // As many threads as those of `divvy run`.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    let result = runtime.map_err(LoadError::Runtime).and_then(|runtime| {
        let result = runtime.block_on(async {
            match &arguments.measurement {
                Measurement::Run(arguments) => run(arguments).await,
                Measurement::Scale(arguments) => scale(arguments).await,
            }
        });
        runtime.shutdown_background();
        result
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failure(&error),
    }
}

/// Measures on a real API server, removes everything that was created, and prints the figures: those that were measured by then, if
/// it fails or is interrupted.
async fn run(arguments: &RunArguments) -> Result<(), LoadError> {
    let (report, result) = measure(arguments.options()?).await?;
    if result.is_ok() || !report.bursts.is_empty() {
        print(arguments.output, &report, || tables::bursts(&report));
    }
    result
}

/// Measures, and removes everything. Returns what was measured, and the reason if that is not everything.
async fn measure(options: BenchOptions) -> Result<(BenchReport, Result<(), LoadError>), LoadError> {
    let mut bench = Bench::claim(options).await?;
    let plane = bench.plane();
    let mut progress = announce;
    let result = tokio::select! {
        result = bench.run(&mut progress) => result,
        _ = tokio::signal::ctrl_c() => Err(LoadError::Interrupted),
    };
    announce("removing everything");
    // The first error is the one that explains the others.
    let removed = plane.remove().await;
    Ok((bench.report(), result.and(removed)))
}

/// Measures each size on an API server in memory, and prints the figures.
async fn scale(arguments: &ScaleArguments) -> Result<(), LoadError> {
    let reports = scale::run(&arguments.options()?, &mut announce).await?;
    print(arguments.output, &reports, || tables::sizes(&reports));
    Ok(())
}

/// Reports that a step of a long measurement begins.
fn announce(step: &str) {
    eprintln!("{step}");
}

fn print(format: Format, report: &impl Serialize, table: impl FnOnce() -> String) {
    match format {
        Format::Table => print!("{}", table()),
        // Numbers and texts alone, which JSON can express.
        Format::Json => println!("{}", serde_json::to_string_pretty(report).unwrap_or_default()),
    }
}

/// Prints an error, and returns 2 if the control plane or the arguments are at fault, 3 if anything else is.
fn failure(error: &LoadError) -> ExitCode {
    eprintln!("error: {error}");
    if let Some(hint) = error.hint() {
        eprintln!("  hint: {hint}");
    }
    let mut cause = error.source();
    while let Some(error) = cause {
        eprintln!("  cause: {error}");
        cause = error.source();
    }
    ExitCode::from(match error {
        LoadError::Connection(_)
        | LoadError::NotEmpty { .. }
        | LoadError::Request { .. }
        | LoadError::Program(_)
        | LoadError::Interrupted => 2,
        _ => 3,
    })
}
