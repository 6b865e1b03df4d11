//! Prices, bounds and gaps, by what must hold for any of them.

use std::num::NonZeroUsize;
use std::sync::Arc;

use divvy_families::{Instance, Policies, Scattered, fewest_moves, grown, moves_priced};
use divvy_joint::{
    Choice, Demand, Fleet, Malformed, Plan, Prices, Relaxation, Settings, place_waiting, plan, plan_whole,
};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

fn settings() -> Settings {
    Settings::new(NonZeroUsize::MIN)
}

/// Small fleets of all families, empty and grown, by cost and by moves.
fn fleets() -> Vec<Fleet> {
    let instances: Vec<Instance> = vec![
        Scattered::probe(120, 12, 6, 0.95).instance(1),
        Scattered::mild(150, 10, 6, 1.05).instance(2),
        Policies::new(200, 20, 0.9, 0.8).instance(3),
        Policies {
            has_gpus: true,
            is_spread: true,
            ..Policies::new(150, 20, 1.0, 0.6)
        }
        .instance(4),
    ];
    let grown = instances.iter().cloned().zip(0..).flat_map(|(instance, seed)| {
        let fleet = grown(instance, seed).fleet;
        [fewest_moves(fleet.clone()), moves_priced(fleet, 0.3)]
    });
    let grown: Vec<Fleet> = grown.collect();
    instances
        .into_iter()
        .map(|instance| instance.fleet)
        .chain(grown)
        .collect()
}

/// All kinds of plans of a fleet.
fn plans(fleet: &Fleet) -> Vec<Plan> {
    vec![
        plan(fleet, &settings()).unwrap().0,
        plan_whole(fleet, &settings()).unwrap().0,
        place_waiting(fleet, false).unwrap(),
    ]
}

/// Prices of which some are 0 and some far too high.
fn any_prices(fleet: &Fleet, random: &mut Xoshiro256PlusPlus) -> Prices {
    let highest = 10.0_f64.powi(random.random_range(-6..1));
    let price = |random: &mut Xoshiro256PlusPlus| match random.random_range(0..3) {
        0 => 0.0,
        _ => random.random_range(0.0..highest),
    };
    let by_cluster = fleet
        .room
        .iter()
        .map(|room| room.iter().map(|_| price(random)).collect());
    Prices {
        by_cluster: by_cluster.collect(),
    }
}

#[test]
fn no_plan_is_below_the_bound_of_any_prices() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    for (number, fleet) in fleets().iter().enumerate() {
        let plans = plans(fleet);
        let solved = Relaxation::solve(fleet, &settings()).unwrap();
        let mut positive = 0;
        for round in 0..30 {
            let prices = match round {
                // Those of another fleet, and those of this one.
                0 => Relaxation::solve(&doubled_room(fleet), &settings()).unwrap().prices,
                1 => solved.prices.clone(),
                _ => any_prices(fleet, &mut random),
            };
            let bound = prices.bound(fleet).unwrap().cost();
            positive += usize::from(bound > 0.0);
            for plan in &plans {
                assert!(bound <= plan.cost, "fleet {number}: {bound} above {}", plan.cost);
            }
        }
        let again = solved.prices.bound(fleet).unwrap().cost();
        let bound = solved.bound.cost();
        assert!(
            (again - bound).abs() <= 1e-6 * bound.max(1.0),
            "fleet {number}: {again}, {bound}"
        );
        assert!(positive > 0, "fleet {number} has no bound");
    }
}

fn doubled_room(fleet: &Fleet) -> Fleet {
    let room = fleet.room.iter().map(|room| room.iter().map(|room| 2 * room).collect());
    Fleet {
        room: room.collect(),
        ..fleet.clone()
    }
}

/// The same fleet in another currency.
fn times(fleet: &Fleet, factor: f64) -> Fleet {
    let demands = fleet.demands.iter().map(|demand| Demand {
        worth: demand.worth * factor,
        choices: demand
            .choices
            .iter()
            .map(|choice| Choice {
                cost: choice.cost * factor,
                ..*choice
            })
            .collect::<Arc<[Choice]>>(),
        ..demand.clone()
    });
    Fleet {
        demands: demands.collect(),
        room: fleet.room.clone(),
        move_price: fleet.move_price * factor,
    }
}

#[test]
fn a_plan_is_the_same_in_another_currency() {
    for (number, fleet) in fleets().iter().enumerate() {
        let (plan_of_one, of_one) = plan(fleet, &settings()).unwrap();
        for factor in [2.0, 0.25] {
            let (plan, relaxation) = plan(&times(fleet, factor), &settings()).unwrap();
            assert!(plan.placed == plan_of_one.placed, "fleet {number} times {factor}");
            assert_eq!(plan.cost, plan_of_one.cost * factor, "fleet {number}");
            assert_eq!(relaxation.bound.cost(), of_one.bound.cost() * factor, "fleet {number}");
        }
    }
}

#[test]
fn more_room_never_raises_a_bound() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
    for (number, fleet) in fleets().iter().enumerate() {
        let solved = Relaxation::solve(fleet, &settings()).unwrap();
        let (plan, _) = plan(fleet, &settings()).unwrap();
        for _ in 0..10 {
            let mut larger = fleet.clone();
            for room in larger.room.iter_mut().flatten() {
                *room += random.random_range(0..1 + *room / 4);
            }
            let before = solved.prices.bound(fleet).unwrap().cost();
            let after = solved.prices.bound(&larger).unwrap().cost();
            assert!(
                after <= before * (1.0 + 1e-12),
                "fleet {number}: {after} after {before}"
            );
            // The plan still fits, so no bound of the larger fleet is above it.
            let solved = Relaxation::solve(&larger, &settings()).unwrap();
            assert!(solved.bound.cost() <= plan.cost, "fleet {number}");
        }
    }
}

#[test]
fn a_gap_says_where_all_of_it_is() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
    for (number, fleet) in fleets().iter().enumerate() {
        let solved = Relaxation::solve(fleet, &settings()).unwrap().prices;
        for plan in plans(fleet) {
            for prices in [solved.clone(), any_prices(fleet, &mut random)] {
                let bound = prices.bound(fleet).unwrap().cost();
                let gap = prices.gap(fleet, &plan).unwrap();
                assert_eq!(
                    (gap.demands.len(), gap.idle.len()),
                    (fleet.demands.len(), fleet.room.len())
                );
                // A bound below 0 is raised to it, and then the gap is larger.
                let above = plan.cost - bound;
                assert!(
                    (gap.sum() - above).abs() <= 1e-6 * plan.cost.max(1.0) || bound == 0.0 && gap.sum() >= above,
                    "fleet {number}: {} of {above}",
                    gap.sum()
                );
            }
        }
    }
}

#[test]
fn a_bound_is_below_what_rounding_may_have_added() {
    // Nothing competes, so the least cost is the sum of the costs, which no sum of binary fractions meets.
    for (count, tenths) in [(1_000, 1), (3_333, 7), (10_000, 3)] {
        let demand = Demand {
            replicas: 1,
            request: vec![1],
            priority: 0,
            worth: 10.0,
            choices: Arc::from([Choice {
                cluster: 0,
                cost: f64::from(tenths) / 10.0,
            }]),
            running: Vec::new(),
            largest: None,
            clusters: None,
        };
        // Different priorities keep them apart.
        let demands = (0..count).map(|priority| Demand {
            priority,
            ..demand.clone()
        });
        let fleet = Fleet {
            room: vec![vec![count as u64]],
            demands: demands.collect(),
            move_price: 0.0,
        };
        let least = count as f64 * f64::from(tenths) / 10.0;
        let bound = Relaxation::solve(&fleet, &settings()).unwrap().bound.cost();
        assert!(bound < least && bound > least * (1.0 - 2e-9), "{bound} of {least}");
    }
}

#[test]
fn prices_of_another_fleet_are_refused() {
    let fleet = &fleets()[0];
    let solved = Relaxation::solve(fleet, &settings()).unwrap().prices;
    let changed = |change: fn(&mut Prices)| {
        let mut prices = solved.clone();
        change(&mut prices);
        prices.bound(fleet).unwrap_err()
    };
    let missing = changed(|prices| prices.by_cluster.truncate(11));
    assert_eq!(
        missing,
        Malformed::Prices {
            expected: 12,
            actual: 11
        }
    );
    let short = changed(|prices| prices.by_cluster[3].truncate(1));
    assert_eq!(
        short.to_string(),
        "the list of prices of cluster 3 has 1 resources, but 2 are expected: give each cluster and each demand a value for every resource"
    );
    let negative = changed(|prices| prices.by_cluster[2][0] = -1.0);
    assert_eq!(
        negative.to_string(),
        "a price of cluster 2 is -1, but must be a finite number of at least 0"
    );
}
