//! Plans and bounds against what can be known without them.
//!
//! What can be known, and where it is tested:
//!
//! | | test |
//! |---|---|
//! | no plan is below the bound, nor below that of any other prices | here, by trying every plan; `tests/prices.rs` |
//! | bound ≤ least cost of parts ≤ least cost | `tests/exact` of the repository, beside an exact solver |
//! | plans of puzzles are near the least cost | `tests/near.rs`, beside what that solver found |
//! | room to the last unit, all replicas, only choices, limits | `tests/valid`, for every plan of these tests |
//! | the same on any number of threads, for any order of the input | here; `tests/command_line/rebalance.rs`, because callers sort |
//! | moves near their bound, and none if nothing waits | here |
//! | the same plan in another currency; more room never raises a bound | `tests/prices.rs` |
//! | a gap is the sum of its parts | `tests/prices.rs` |
//! | a bound is below what rounding may have added | `tests/prices.rs` |
//! | a plan from any former one is valid, and near a new one | `tests/again.rs` |

mod valid;

use std::num::NonZeroUsize;

use divvy_families::{Scattered, fewest_moves, grown};
use divvy_joint::{Choice, Demand, Fleet, Plan, Relaxation, Settings, place_waiting, plan, plan_whole};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use valid::check;

fn settings(threads: usize) -> Settings {
    Settings::new(NonZeroUsize::new(threads).unwrap())
}

/// Tries every way to place a small fleet.
struct Exhaustive<'a> {
    fleet: &'a Fleet,
    free: Vec<Vec<i64>>,
    /// What the present demand has.
    here: Vec<(u32, u64)>,
    best: f64,
}

/// The least cost of a small fleet, by trying everything.
fn least_cost(fleet: &Fleet) -> f64 {
    let free = |room: &Vec<u64>| room.iter().map(|room| *room as i64).collect();
    let mut exhaustive = Exhaustive {
        fleet,
        free: fleet.room.iter().map(free).collect(),
        here: Vec::new(),
        best: f64::INFINITY,
    };
    exhaustive.begin(0, 0.0);
    exhaustive.best
}

impl Exhaustive<'_> {
    /// Places the demands from this one on, where those before it cost so much.
    fn begin(&mut self, number: usize, cost: f64) {
        match self.fleet.demands.get(number) {
            _ if cost >= self.best => {}
            None => self.best = cost,
            Some(demand) => {
                let before = std::mem::take(&mut self.here);
                self.place(demand, (number, 0), demand.replicas, cost);
                self.here = before;
            }
        }
    }

    /// Places what is left of a demand in its choices from this one on.
    fn place(&mut self, demand: &Demand, (number, choice): (usize, usize), left: u64, cost: f64) {
        let Some(at) = demand.choices.get(choice) else {
            let leave = demand.running.iter().map(|(cluster, replicas)| {
                let now = self
                    .here
                    .iter()
                    .find(|(other, _)| other == cluster)
                    .map_or(0, |(_, now)| *now);
                replicas.saturating_sub(now) as f64
            });
            let moved = leave.sum::<f64>() * self.fleet.move_price;
            return self.begin(number + 1, cost + moved + demand.worth * left as f64);
        };
        let cluster = at.cluster as usize;
        let room = self.free[cluster]
            .iter()
            .zip(&demand.request)
            .filter(|(_, request)| **request > 0);
        let fits = room
            .map(|(free, request)| *free as u64 / request)
            .min()
            .unwrap_or(u64::MAX);
        let used = self.here.iter().filter(|(_, replicas)| *replicas > 0).count();
        let is_spread_out = demand.clusters.is_some_and(|most| used >= most as usize);
        let most = fits.min(left).min(demand.largest.unwrap_or(u64::MAX));
        for replicas in 0..=if is_spread_out { 0 } else { most } {
            self.take(cluster, demand, replicas as i64);
            self.here.push((at.cluster, replicas));
            self.place(
                demand,
                (number, choice + 1),
                left - replicas,
                cost + at.cost * replicas as f64,
            );
            self.here.pop();
            self.take(cluster, demand, -(replicas as i64));
        }
    }

    fn take(&mut self, cluster: usize, demand: &Demand, replicas: i64) {
        for (free, request) in self.free[cluster].iter_mut().zip(&demand.request) {
            *free -= replicas * *request as i64;
        }
    }
}

/// A fleet of a few clusters and workloads in which some run, more than fits somewhere at times.
fn small(random: &mut Xoshiro256PlusPlus) -> Fleet {
    let clusters = random.random_range(1..4_usize);
    let room = (0..clusters)
        .map(|_| vec![random.random_range(0..9), random.random_range(0..9)])
        .collect();
    let demands = (0..random.random_range(1..5))
        .map(|_| {
            let chosen: Vec<u32> = (0..clusters as u32).filter(|_| random.random_range(0..3) > 0).collect();
            let whole = random.random_range(0..2) == 0;
            let choices: Vec<Choice> = chosen
                .iter()
                .map(|cluster| Choice {
                    cluster: *cluster,
                    cost: if whole {
                        0.0
                    } else {
                        f64::from(random.random_range(0..5_u32))
                    },
                })
                .collect();
            let replicas = random.random_range(0..5);
            let mut left = replicas;
            let mut running = Vec::new();
            for cluster in 0..clusters as u32 {
                let here = random.random_range(0..=left).min(random.random_range(0..3));
                if here > 0 {
                    running.push((cluster, here));
                    left -= here;
                }
            }
            Demand {
                replicas,
                request: vec![random.random_range(0..4), random.random_range(0..4)],
                priority: random.random_range(0..3),
                worth: f64::from(random.random_range(1..30_u32)),
                choices: choices.into(),
                running,
                largest: (random.random_range(0..3) == 0).then(|| random.random_range(1..4)),
                clusters: (random.random_range(0..4) == 0).then(|| random.random_range(1..3)),
            }
        })
        .collect();
    Fleet {
        room,
        demands,
        move_price: f64::from(random.random_range(0..4_u32)),
    }
}

#[test]
fn no_plan_is_below_a_bound_and_small_plans_are_near_the_best() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    let (mut same, mut all) = (0, 0);
    for case in 0..1_500 {
        let fleet = small(&mut random);
        let (plan, relaxation) = plan(&fleet, &settings(1)).unwrap();
        check(&fleet, &plan);
        let least = least_cost(&fleet);
        assert!(
            relaxation.bound.cost() <= least + 1e-6,
            "case {case}: bound {} of {least}: {fleet:?}",
            relaxation.bound.cost()
        );
        assert!(plan.cost >= least - 1e-6, "case {case}: {} below {least}", plan.cost);
        // After any number of steps it is a bound.
        let steps = random.random_range(0..60);
        let early = Relaxation::solve(&fleet, &Settings { steps, ..settings(1) }).unwrap();
        assert!(early.bound.cost() <= least + 1e-6, "case {case}, {steps} steps");
        all += 1;
        same += usize::from(plan.cost <= least + 1e-6);
    }
    assert!(same * 10 >= all * 9, "{same} of {all}");
}

#[test]
fn results_do_not_depend_on_threads() {
    for (family, seed) in [
        (Scattered::probe(3_000, 100, 15, 0.9), 1),
        (Scattered::mild(3_000, 60, 12, 0.97), 2),
    ] {
        let fleet = family.instance(seed).fleet;
        let (plan_of_one, relaxation_of_one) = plan(
            &fleet,
            &Settings {
                steps: 60,
                ..settings(1)
            },
        )
        .unwrap();
        for threads in [2, 16] {
            let (plan, relaxation) = plan(
                &fleet,
                &Settings {
                    steps: 60,
                    ..settings(threads)
                },
            )
            .unwrap();
            assert_eq!(plan, plan_of_one);
            assert_eq!(
                relaxation.bound.cost().to_bits(),
                relaxation_of_one.bound.cost().to_bits()
            );
        }
    }
}

#[test]
fn nothing_moves_where_nothing_waits() {
    let fleet = fewest_moves(grown(Scattered::mild(400, 30, 10, 0.5).instance(3), 3).fleet);
    assert!(fleet.demands.iter().all(|demand| !demand.running.is_empty()));
    let (plan, relaxation) = plan(&fleet, &settings(1)).unwrap();
    assert_eq!((plan.cost, relaxation.bound.cost()), (0.0, 0.0));
    assert_eq!(relaxation.steps, 0);
}

fn runs(demand: &Demand) -> bool {
    !demand.running.is_empty()
}

/// Checks that a plan leaves out nothing that runs, and places no parts. Returns the number of workloads that wait.
fn waiting_after(fleet: &Fleet, plan: &Plan) -> usize {
    check(fleet, plan);
    let mut after = 0;
    for (number, demand) in fleet.demands.iter().enumerate() {
        let unplaced = plan.unplaced[number];
        assert!(!runs(demand) || unplaced == 0, "demand {number} lost {unplaced}");
        assert!(
            unplaced == 0 || unplaced == demand.replicas,
            "demand {number} lacks {unplaced}"
        );
        after += usize::from(unplaced > 0);
    }
    after
}

#[test]
fn what_waits_is_placed_and_nothing_else_is_left_out() {
    let (mut waited, mut by_chains, mut by_plan) = (0, 0, 0);
    for seed in 1..9 {
        let mut fleet = fewest_moves(grown(Scattered::mild(800, 40, 5, 0.93).instance(seed), seed).fleet);
        for demand in fleet.demands.iter_mut().filter(|demand| runs(demand)) {
            (demand.priority, demand.worth) = (i64::MAX, 1e5);
        }
        let before = fleet.demands.iter().filter(|demand| !runs(demand)).count();
        let chains = waiting_after(&fleet, &place_waiting(&fleet, true).unwrap());
        let (plan, relaxation) = plan_whole(&fleet, &settings(1)).unwrap();
        let planned = waiting_after(&fleet, &plan);
        assert!(relaxation.bound.cost() <= plan.cost * (1.0 + 1e-9), "seed {seed}");
        assert!(planned <= chains, "seed {seed}");
        waited += before;
        by_chains += chains;
        by_plan += planned;
    }
    assert!(
        waited >= 20 && by_chains * 2 <= waited && by_plan * 4 <= waited,
        "{waited} wait, {by_chains}, {by_plan}"
    );
}

#[test]
fn the_fewest_moves_are_near_the_bound() {
    let (mut all, mut least) = (0.0, 0.0);
    for seed in 1..6 {
        let fleet = fewest_moves(grown(Scattered::mild(2_000, 60, 8, 0.85).instance(seed), seed).fleet);
        let (plan, relaxation) = plan(&fleet, &settings(1)).unwrap();
        check(&fleet, &plan);
        assert_eq!(plan.unplaced.iter().sum::<u64>(), 0, "seed {seed}");
        let moved = plan.moved.iter().sum::<u64>() as f64;
        assert!(moved >= relaxation.bound.cost());
        all += moved;
        least += relaxation.bound.cost();
    }
    assert!(least > 500.0 && all <= 1.1 * least, "{all} moves, at least {least}");
}
