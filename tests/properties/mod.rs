//! Properties of each strategy for any input, from random manifests through its real library to decisions.
//!
//! - [`cordons`]: clusters that a filter cordons, under every strategy.
//! - [`patches`]: decisions do not depend on the history of changes to clusters.
//! - [`results`]: sums, capacity, independence of the order of the input.
//! - [`steadiness`]: the replicas that a division keeps from the last result, as defined by its rules.
//! - [`shapes`]: the purpose of each strategy: evenness, few clusters, proportions, preferred clusters first.

mod cordons;
mod patches;
mod results;
mod shapes;
mod situation;
mod steadiness;

use proptest::test_runner::Config;

/// Inputs per property, in the gate and in all. Each runs through JSON, the whole cycle and a library without optimisation.
const CASES: (u32, u32) = (24, 96);

/// Failures are reported with their input and are not persisted: they deserve a named case rather than a file of seeds.
fn configuration() -> Config {
    Config {
        cases: divvy_built::cases(CASES.0, CASES.1),
        failure_persistence: None,
        ..Config::default()
    }
}
