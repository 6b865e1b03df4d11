//! What holds of each strategy whatever the input, from random manifests through its real library to decisions.
//!
//! - [`patches`]: changed clusters decide as those that were always so.
//! - [`results`]: sums, capacity, independence of the order of the input.
//! - [`steadiness`]: what a division keeps of the last one, as its rules define it.
//! - [`shapes`]: what each strategy is for: evenness, few clusters, proportions, preferred clusters first.

mod patches;
mod results;
mod shapes;
mod situation;
mod steadiness;

use proptest::test_runner::Config;

/// So many inputs a property: each goes through JSON, the whole cycle and a library without optimisation.
const CASES: u32 = 96;

/// Failures are told with their input; they are worth a named case, not a file of seeds.
fn configuration() -> Config {
    Config {
        cases: CASES,
        failure_persistence: None,
        ..Config::default()
    }
}
