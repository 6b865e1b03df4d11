//! Compares joint plans and their bounds with the optima of an exact solver, HiGHS, in random cases.
//!
//! The bound may never be above the least cost of any plan, nor above that of any division of replicas into parts. Of the plans by cost, 95 in
//! 100 are at most 1 % above the least cost, and none is more than 3 % above. A plan of the fewest moves has at most a tenth more than the
//! fewest that place the same, if these are more than 100.
//!
//! ```sh
//! cargo run --release --locked --manifest-path tests/exact/Cargo.toml -- [NUMBER [FIRST]]
//! ```
//!
//! Without a number, there are 200 cases, or 10,000 with `DIVVY_TESTS=all`. The exact solver begins with the plan and gives up after some
//! seconds. What it knows then still refutes a bound or a plan; what it leaves open is counted, and is not within 1 %.

mod outcome;
mod problem;
mod summary;

use std::convert::Infallible;
use std::num::NonZeroUsize;
use std::process::ExitCode;

use outcome::Outcome;
use summary::Summary;

/// Cases without an argument.
const SHARE: u64 = 200;
/// The same if all tests are to run.
const ALL: u64 = 10_000;

fn main() -> ExitCode {
    let is_all = std::env::var_os("DIVVY_TESTS").is_some_and(|wanted| wanted == "all");
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>());
    let number = arguments.next().unwrap_or(Ok(if is_all { ALL } else { SHARE }));
    let (Ok(number), Ok(first), None) = (number, arguments.next().unwrap_or(Ok(0)), arguments.next()) else {
        eprintln!("error: expected at most two numbers: how many cases, and the first");
        return ExitCode::from(2);
    };
    let seeds: Vec<u64> = (first..first.saturating_add(number)).collect();
    let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let mut summary = Summary::default();
    let Ok(()) = divvy_parallel::each(
        &seeds,
        threads,
        || |seed: &u64| Outcome::new(*seed),
        |outcome| {
            if let Some(problem) = summary.add(outcome) {
                println!("{problem}");
            }
            Ok::<(), Infallible>(())
        },
    );
    print!("{summary}");
    if summary.is_met() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
