//! Decides about a fleet of a family, and prints what that takes and how near to the bound it comes.
//!
//! ```sh
//! cargo run --release -p divvy-joint --example measure -- FAMILY WORKLOADS CLUSTERS LOAD STEPS SEED MODE
//! ```
//!
//! A family is `probe`, `mild` or `policies`, the last with its options after commas, such as `policies,0.8,gpu,spread`. A mode is `plan` for an
//! empty fleet, or `moves` for one that grew.

use std::num::NonZeroUsize;
use std::time::Instant;

use divvy_families::{Instance, Policies, Scattered, fewest_moves, grown};
use divvy_joint::{Fleet, Settings, place_waiting, plan};

fn instance(family: &str, workloads: usize, clusters: usize, load: f64, seed: u64) -> Instance {
    match family {
        "probe" => Scattered::probe(workloads, clusters, 15, load).instance(seed),
        "mild" => Scattered::mild(workloads, clusters, 15, load).instance(seed),
        _ => {
            let mut policies = Policies::new(workloads, clusters, load, 1.0);
            for option in family.split(',').skip(1) {
                match option {
                    "gpu" => policies.has_gpus = true,
                    "spread" => policies.is_spread = true,
                    fit => policies.fit = fit.parse().expect("an option is gpu, spread or a number"),
                }
            }
            policies.instance(seed)
        }
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut next = |default: &str| arguments.next().unwrap_or_else(|| default.to_owned());
    let (family, workloads, clusters, load, steps, seed, mode) = (
        next("probe"),
        next("10000"),
        next("300"),
        next("0.9"),
        next("350"),
        next("1"),
        next("plan"),
    );
    let (workloads, clusters) = (workloads.parse().unwrap(), clusters.parse().unwrap());
    let (load, seed): (f64, u64) = (load.parse().unwrap(), seed.parse().unwrap());
    let instance = instance(&family, workloads, clusters, load, seed);
    let fleet = match mode.as_str() {
        "moves" => fewest_moves(grown(instance, seed).fleet),
        _ => instance.fleet,
    };
    let settings = Settings {
        steps: steps.parse().unwrap(),
        ..Settings::new(NonZeroUsize::MIN)
    };
    let waits = |fleet: &Fleet| {
        fleet
            .demands
            .iter()
            .filter(|demand| demand.running.iter().map(|(_, replicas)| replicas).sum::<u64>() < demand.replicas)
            .count()
    };
    let edges: usize = fleet.demands.iter().map(|demand| demand.choices.len()).sum();
    let all: u64 = fleet.demands.iter().map(|demand| demand.replicas).sum();
    println!("{all} replicas, {edges} choices");
    if mode == "moves" {
        let started = Instant::now();
        let plan = place_waiting(&fleet, true).unwrap();
        let waiting = plan.unplaced.iter().filter(|unplaced| **unplaced > 0).count();
        println!(
            "repair: {} wait, then {waiting}, {} moves, {:?}",
            waits(&fleet),
            plan.moved.iter().sum::<u64>(),
            started.elapsed()
        );
    }
    let started = Instant::now();
    let (plan, relaxation) = plan(&fleet, &settings).unwrap();
    println!(
        "plan: {} above bound {:.4} = {:.3} %, {} steps, unplaced {} of {all} ({} workloads), moved {}, {:?}",
        plan.cost,
        relaxation.bound.cost(),
        (plan.cost / relaxation.bound.cost() - 1.0) * 100.0,
        relaxation.steps,
        plan.unplaced.iter().sum::<u64>(),
        plan.unplaced.iter().filter(|unplaced| **unplaced > 0).count(),
        plan.moved.iter().sum::<u64>(),
        started.elapsed()
    );
}
