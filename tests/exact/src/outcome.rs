//! One case: what the solver of plans found, beside what the exact solver knows.

use std::num::NonZeroUsize;

use divvy_families::{Case, Goal};
use divvy_joint::{Plan, Settings, plan};

use crate::problem::{self, Optimum, TOLERANCE};

/// Moves from which a plan is compared with the fewest.
const MANY_MOVES: f64 = 100.0;

/// What became of one case.
pub struct Outcome {
    pub seed: u64,
    pub description: String,
    pub goal: Goal,
    pub bound: f64,
    /// The least cost if replicas may be cut.
    pub relaxed: f64,
    pub optimum: Optimum,
    pub plan: Plan,
    /// Its moves, and the fewest of all plans that place the same, if that is the goal and they are many.
    pub moves: Option<(f64, f64)>,
}

impl Outcome {
    pub fn new(seed: u64) -> Self {
        let case = Case::new(seed);
        let (plan, relaxation) =
            plan(&case.fleet, &Settings::new(NonZeroUsize::MIN)).unwrap_or_else(|error| panic!("case {seed}: {error}"));
        let moved = plan.moved.iter().sum::<u64>() as f64;
        let moves = (case.goal == Goal::Moves && moved > MANY_MOVES).then(|| {
            let least = problem::fewest_moves(&case.fleet, &plan);
            (moved, least.at_most.min(moved))
        });
        Self {
            seed,
            goal: case.goal,
            bound: relaxation.bound.cost(),
            relaxed: problem::relaxed(&case.fleet),
            optimum: problem::optimum(&case.fleet, &plan),
            moves: moves.filter(|(_, least)| *least > MANY_MOVES),
            description: case.description,
            plan,
        }
    }

    /// What must never be, in words.
    pub fn contradiction(&self) -> Option<String> {
        let tolerance = TOLERANCE * self.optimum.at_most.abs().max(1.0);
        if self.bound > self.relaxed + tolerance {
            return Some(format!(
                "the bound {} is above the least cost of parts, {}",
                self.bound, self.relaxed
            ));
        }
        if self.bound > self.optimum.at_most + tolerance {
            return Some(format!(
                "the bound {} is above a plan's cost, {}",
                self.bound, self.optimum.at_most
            ));
        }
        if self.plan.cost < self.optimum.at_least - tolerance {
            return Some(format!(
                "the plan costs {}, less than any can, {}",
                self.plan.cost, self.optimum.at_least
            ));
        }
        None
    }

    /// How far the plan is above the least cost, as a part of it: at most, and at least.
    pub fn above(&self) -> (f64, f64) {
        // The plan itself is one.
        let known = self.optimum.at_most.min(self.plan.cost);
        let above = |least: f64| match self.plan.cost - least {
            more if more <= TOLERANCE * least.abs().max(1.0) => 0.0,
            more => more / least.max(f64::MIN_POSITIVE),
        };
        (above(self.optimum.at_least), above(known))
    }
}
