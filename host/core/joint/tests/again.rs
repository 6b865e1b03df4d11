//! Plans from former ones: valid whatever the former was, and nearly as good as new ones after small changes.

mod valid;

use std::num::NonZeroUsize;
use std::sync::Arc;

use divvy_families::{Policies, Scattered, fewest_moves, grown};
use divvy_joint::{Choice, Fleet, Former, Malformed, Prices, Settings, plan, plan_again, plan_whole, plan_whole_again};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use valid::check;

fn settings() -> Settings {
    Settings::new(NonZeroUsize::MIN)
}

fn fleets() -> Vec<Fleet> {
    let policies = Policies {
        is_spread: true,
        ..Policies::new(400, 30, 0.9, 0.8)
    };
    vec![
        Scattered::probe(300, 30, 8, 0.9).instance(1).fleet,
        Scattered::mild(300, 20, 8, 0.95).instance(2).fleet,
        policies.instance(3).fleet,
        fewest_moves(grown(policies.instance(4), 4).fleet),
    ]
}

/// One workload in a hundred has other replicas, and perhaps a cluster has lost half of its room or may not be used any more.
fn changed(mut fleet: Fleet, random: &mut Xoshiro256PlusPlus) -> Fleet {
    for _ in 0..fleet.demands.len().div_ceil(100) {
        let number = random.random_range(0..fleet.demands.len());
        let demand = &mut fleet.demands[number];
        let running: u64 = demand.running.iter().map(|(_, replicas)| replicas).sum();
        demand.replicas = random.random_range(1..=2 * demand.replicas).max(running);
    }
    let cluster = random.random_range(0..fleet.room.len());
    match random.random_range(0..3) {
        0 => fleet.room[cluster].iter_mut().for_each(|room| *room /= 2),
        1 => {
            for demand in &mut fleet.demands {
                let left = demand
                    .choices
                    .iter()
                    .filter(|choice| choice.cluster as usize != cluster);
                demand.choices = left.copied().collect::<Arc<[Choice]>>();
            }
        }
        _ => {}
    }
    fleet
}

#[test]
fn nothing_changes_where_nothing_has_changed() {
    for (number, fleet) in fleets().iter().enumerate() {
        let (first, relaxation) = plan(fleet, &settings()).unwrap();
        let former = Former {
            placed: &first.placed,
            prices: &relaxation.prices,
        };
        let again = plan_again(fleet, former, &settings()).unwrap();
        check(fleet, &again.plan);
        assert!(again.plan.cost <= first.cost * (1.0 + 1e-9), "fleet {number}");
        assert!((again.bound.cost() - relaxation.bound.cost()).abs() <= 1e-6 * first.cost || again.steps > 0);
    }
}

#[test]
fn a_plan_after_small_changes_is_nearly_as_good_as_a_new_one() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let (mut without_steps, mut all) = (0, 0);
    for (number, fleet) in fleets().into_iter().enumerate() {
        let (first, relaxation) = plan(&fleet, &settings()).unwrap();
        for round in 0..6 {
            let changed = changed(fleet.clone(), &mut random);
            let former = Former {
                placed: &first.placed,
                prices: &relaxation.prices,
            };
            let again = plan_again(&changed, former, &settings()).unwrap();
            check(&changed, &again.plan);
            let (new, new_relaxation) = plan(&changed, &settings()).unwrap();
            assert!(
                again.bound.cost() <= again.plan.cost.min(new.cost),
                "fleet {number}, round {round}"
            );
            assert!(
                new_relaxation.bound.cost() <= again.plan.cost,
                "fleet {number}, round {round}"
            );
            assert_eq!(
                again.prices.bound(&changed).unwrap().cost() > 0.0,
                again.bound.cost() > 0.0
            );
            assert!(
                again.plan.cost <= 1.03 * new.cost,
                "fleet {number}, round {round}: {} instead of {}",
                again.plan.cost,
                new.cost
            );
            all += 1;
            without_steps += usize::from(again.steps == 0);
        }
    }
    // The others are so small that whole replicas are far above any bound.
    assert!(without_steps > 2, "{without_steps} of {all} need no steps");
}

#[test]
fn a_whole_plan_after_a_refusal_is_nearly_as_good_as_a_new_one() {
    for (number, fleet) in fleets().into_iter().enumerate() {
        let (first, relaxation) = plan_whole(&fleet, &settings()).unwrap();
        let former = Former {
            placed: &first.placed,
            prices: &relaxation.prices,
        };
        // What was to move first stays where it runs, or waits.
        let mut refused = fleet.clone();
        let is_changed = |number: &usize| first.placed[*number] != fleet.demands[*number].running;
        let changed = (0..fleet.demands.len()).find(is_changed).expect("something is placed");
        let demand = &mut refused.demands[changed];
        demand.replicas = demand.running.iter().map(|(_, replicas)| replicas).sum();
        let of_running = demand.running.iter().map(|(cluster, _)| Choice {
            cluster: *cluster,
            cost: 0.0,
        });
        demand.choices = of_running.collect();
        let again = plan_whole_again(&refused, former, &settings()).unwrap();
        check(&refused, &again.plan);
        for (demand, placed) in refused.demands.iter().zip(&again.plan.placed) {
            let sum: u64 = placed.iter().map(|(_, replicas)| replicas).sum();
            assert!(sum == demand.replicas || *placed == demand.running, "fleet {number}");
        }
        let (new, new_relaxation) = plan_whole(&refused, &settings()).unwrap();
        assert!(new_relaxation.bound.cost() <= again.plan.cost, "fleet {number}");
        assert!(
            again.plan.cost <= 1.03 * new.cost,
            "fleet {number}: {} instead of {}",
            again.plan.cost,
            new.cost
        );
    }
}

#[test]
fn any_former_plan_gives_a_valid_one() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
    for (number, fleet) in fleets().into_iter().enumerate() {
        let (first, _) = plan(&fleet, &settings()).unwrap();
        for _ in 0..4 {
            let clusters = fleet.room.len() as u32;
            let any = |random: &mut Xoshiro256PlusPlus| -> Vec<(u32, u64)> {
                let all = (0..clusters).filter_map(|cluster| {
                    let replicas = random.random_range(0..9_u64).saturating_sub(5) * 40;
                    (replicas > 0).then_some((cluster, replicas))
                });
                all.collect()
            };
            let placed: Vec<Vec<(u32, u64)>> = fleet.demands.iter().map(|_| any(&mut random)).collect();
            let by_cluster = fleet
                .room
                .iter()
                .map(|room| room.iter().map(|_| random.random_range(0.0..0.01)).collect());
            let prices = Prices {
                by_cluster: by_cluster.collect(),
            };
            let former = Former {
                placed: &placed,
                prices: &prices,
            };
            let again = plan_again(&fleet, former, &settings()).unwrap();
            check(&fleet, &again.plan);
            assert!(again.bound.cost() <= again.plan.cost.min(first.cost), "fleet {number}");
            // The same on any number of threads.
            let threads = NonZeroUsize::new(3).unwrap();
            let other = plan_again(&fleet, former, &Settings { threads, ..settings() }).unwrap();
            assert!(other.plan == again.plan, "fleet {number}");
        }
    }
}

#[test]
fn a_former_plan_of_other_workloads_is_refused() {
    let fleet = &fleets()[0];
    let (first, relaxation) = plan(fleet, &settings()).unwrap();
    let former = Former {
        placed: &first.placed[1..],
        prices: &relaxation.prices,
    };
    let error = plan_again(fleet, former, &settings()).unwrap_err();
    assert_eq!(
        error,
        Malformed::Former {
            expected: 300,
            actual: 299
        }
    );
}
