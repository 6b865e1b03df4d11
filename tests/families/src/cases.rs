//! Random fleets: every family, load and history, with and without prices.

use divvy_joint::Fleet;
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{Instance, Policies, Scattered, fewest_moves, grown, moves_priced};

/// Most workloads.
const WORKLOADS: usize = 200;
/// Most clusters.
const CLUSTERS: usize = 20;
/// Choices of a workload that has clusters of its own choice, unless it is bound to few.
const CHOICES: usize = 8;

/// What a plan is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// All that waits, by the fewest moves.
    Moves,
    /// The least cost of clusters, moves and what is left out.
    Cost,
}

/// A random fleet, and what is planned for it.
#[derive(Clone, Debug)]
pub struct Case {
    /// What it was made of, for people.
    pub description: String,
    /// The fleet. By cost, all workloads have one priority, so that the worth of what is left out is all that counts.
    pub fleet: Fleet,
    /// What is planned for.
    pub goal: Goal,
}

impl Case {
    /// The case with a number, always the same.
    pub fn new(seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let (workloads, clusters) = (random.random_range(1..=WORKLOADS), random.random_range(2..=CLUSTERS));
        let load = random.random_range(0.6..1.1);
        let (family, instance) = instance(&mut random, (workloads, clusters), load, seed);
        let has_grown = random.random_range(0..3) > 0;
        let instance = if has_grown { grown(instance, seed) } else { instance };
        let goal = match has_grown && random.random_range(0..2) == 0 {
            true => Goal::Moves,
            false => Goal::Cost,
        };
        let price = [0.0, 0.03, 0.1, 0.3, 1.0, 3.0][random.random_range(0..6_usize)];
        let (mut fleet, objective) = match goal {
            Goal::Moves => (fewest_moves(instance.fleet), "fewest moves".to_owned()),
            Goal::Cost if has_grown => (
                moves_priced(instance.fleet, price),
                format!("least cost, a move costs {price}"),
            ),
            Goal::Cost => (instance.fleet, "least cost, nothing runs".to_owned()),
        };
        if goal == Goal::Cost {
            fleet.demands.iter_mut().for_each(|demand| demand.priority = 0);
        }
        Self {
            description: format!("{family}, {workloads} × {clusters}, load {load:.2}, {objective}"),
            fleet,
            goal,
        }
    }
}

fn instance(
    random: &mut Xoshiro256PlusPlus,
    (workloads, clusters): (usize, usize),
    load: f64,
    seed: u64,
) -> (String, Instance) {
    let choices = CHOICES.min(clusters);
    match random.random_range(0..4) {
        0 => (
            "probe".to_owned(),
            Scattered::probe(workloads, clusters, choices, load).instance(seed),
        ),
        1 => (
            "mild".to_owned(),
            Scattered::mild(workloads, clusters, choices, load).instance(seed),
        ),
        _ => {
            let policies = Policies {
                has_gpus: random.random_range(0..3) == 0,
                is_spread: random.random_range(0..3) == 0,
                ..Policies::new(
                    workloads,
                    clusters,
                    load,
                    [1.0, 0.8, 0.6][random.random_range(0..3_usize)],
                )
            };
            let (gpus, spread) = (policies.has_gpus, policies.is_spread);
            let options = [(gpus, ", GPUs"), (spread, ", spread")];
            let options: String = options.iter().filter(|(has, _)| *has).map(|(_, text)| *text).collect();
            (
                format!("policies fit={}{options}", policies.fit),
                policies.instance(seed),
            )
        }
    }
}
