//! Decides about fleets of a family, and prints what that takes and how near to the bound it comes.

#[path = "../tests/families/mod.rs"]
mod families;

use std::num::NonZeroUsize;
use std::time::Instant;

use divvy_joint::{Fleet, Settings, place_waiting, plan};
use families::{Family, fewest_moves, grown};

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
    let family = if family == "mild" {
        Family::mild(workloads, clusters, 15, load)
    } else {
        Family::probe(workloads, clusters, 15, load)
    };
    let fleet = family.fleet(seed);
    let fleet = if mode == "moves" {
        fewest_moves(grown(fleet, seed))
    } else {
        fleet
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
    let all: u64 = fleet.demands.iter().map(|demand| demand.replicas).sum();
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
