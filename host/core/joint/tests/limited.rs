//! Plans of at most so many moves, against every plan of small fleets.

use std::num::NonZeroUsize;

use divvy_families::{Scattered, fewest_moves, grown};
use divvy_joint::{Choice, Demand, Fleet, Plan, Settings, moved_back, plan_at_most, plan_whole};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

const URGENT: i64 = i64::MAX;

fn settings(threads: usize) -> Settings {
    Settings::new(NonZeroUsize::new(threads).unwrap())
}

/// Replicas of a demand by cluster.
type Part = Vec<(u32, u64)>;

/// A fleet in which some workloads run where there is room, and others wait.
fn small(random: &mut Xoshiro256PlusPlus) -> Fleet {
    let clusters = random.random_range(2..4_u32);
    let mut used = vec![vec![0; 2]; clusters as usize];
    let mut demands = Vec::new();
    let running = random.random_range(1..4);
    for number in 0..running + random.random_range(1..4) {
        // Nearly everything wants the first cluster, in which little is free.
        let runs = number < running;
        let others = if runs { 3 } else { 1 };
        let chosen: Vec<u32> = (0..clusters)
            .filter(|cluster| *cluster == 0 || random.random_range(0..4) < others)
            .collect();
        let replicas = random.random_range(1..4_u64);
        let request = vec![random.random_range(1..4_u64), random.random_range(0..3_u64)];
        let mut running: Part = Vec::new();
        if runs {
            running.push((0, replicas));
            for (used, request) in used[0].iter_mut().zip(&request) {
                *used += request * replicas;
            }
        }
        let priority = if runs { URGENT } else { random.random_range(0..2) };
        demands.push(Demand {
            replicas,
            request,
            priority,
            worth: if runs { 1e5 } else { 20.0 * 3_f64.powi(priority as i32) },
            choices: chosen
                .iter()
                .map(|cluster| Choice {
                    cluster: *cluster,
                    cost: 0.0,
                })
                .collect(),
            running,
            largest: None,
            clusters: None,
        });
    }
    let free = |cluster: usize| if cluster == 0 { 2 } else { 9 };
    let room = used
        .into_iter()
        .enumerate()
        .map(|(cluster, used)| {
            let more = used
                .into_iter()
                .map(|used| used + random.random_range(0..free(cluster)));
            more.collect()
        })
        .collect();
    Fleet {
        room,
        demands,
        move_price: 1.0,
    }
}

fn runs(demand: &Demand) -> bool {
    !demand.running.is_empty()
}

/// All ways to place all replicas of a demand.
fn parts(demand: &Demand) -> Vec<Part> {
    let mut parts: Vec<(Part, u64)> = vec![(Vec::new(), demand.replicas)];
    for choice in demand.choices.iter() {
        let longer = parts.iter().flat_map(|(part, left)| {
            (0..=*left).map(move |here| {
                let mut part = part.clone();
                if here > 0 {
                    part.push((choice.cluster, here));
                }
                (part, left - here)
            })
        });
        parts = longer.collect();
    }
    parts
        .into_iter()
        .filter(|(_, left)| *left == 0)
        .map(|(part, _)| part)
        .collect()
}

fn moves(demand: &Demand, part: &Part) -> u64 {
    let here = |cluster: u32| {
        part.iter()
            .find(|(other, _)| *other == cluster)
            .map_or(0, |(_, here)| *here)
    };
    demand
        .running
        .iter()
        .map(|(cluster, replicas)| replicas.saturating_sub(here(*cluster)))
        .sum()
}

/// How many of the higher and of the lower priority a plan places, and with how many moves less.
type Rank = (usize, usize, std::cmp::Reverse<u64>);

/// The best rank of all plans with at most so many moves, by trying each.
fn best(fleet: &Fleet, most: u64) -> Rank {
    let free: Vec<Vec<i64>> = fleet
        .room
        .iter()
        .map(|room| room.iter().map(|room| *room as i64).collect())
        .collect();
    let mut best = (0, 0, std::cmp::Reverse(0));
    try_all(fleet, 0, free, (0, 0, std::cmp::Reverse(0)), most, &mut best);
    best
}

fn try_all(fleet: &Fleet, number: usize, free: Vec<Vec<i64>>, rank: Rank, most: u64, best: &mut Rank) {
    let Some(demand) = fleet.demands.get(number) else {
        *best = rank.max(*best);
        return;
    };
    if !runs(demand) {
        try_all(fleet, number + 1, free.clone(), rank, most, best);
    }
    for part in parts(demand) {
        let mut free = free.clone();
        for (cluster, replicas) in &part {
            for (free, request) in free[*cluster as usize].iter_mut().zip(&demand.request) {
                *free -= (request * replicas) as i64;
            }
        }
        let moved = rank.2.0 + moves(demand, &part);
        if moved > most || free.iter().flatten().any(|free| *free < 0) {
            continue;
        }
        let (high, low) = match (runs(demand), demand.priority) {
            (true, _) => (0, 0),
            (false, 1) => (1, 0),
            (false, _) => (0, 1),
        };
        let rank = (rank.0 + high, rank.1 + low, std::cmp::Reverse(moved));
        try_all(fleet, number + 1, free, rank, most, best);
    }
}

/// Checks what every plan keeps, and returns its rank.
fn rank(fleet: &Fleet, plan: &Plan, most: u64) -> Rank {
    let mut free: Vec<Vec<i64>> = fleet
        .room
        .iter()
        .map(|room| room.iter().map(|room| *room as i64).collect())
        .collect();
    let (mut counts, mut moved) = ([0, 0], 0);
    for (number, demand) in fleet.demands.iter().enumerate() {
        let placed = &plan.placed[number];
        let sum: u64 = placed.iter().map(|(_, replicas)| replicas).sum();
        let is_whole = sum == demand.replicas;
        assert!(is_whole || !runs(demand) && sum == 0, "demand {number} has {placed:?}");
        for (cluster, replicas) in placed {
            assert!(demand.choices.iter().any(|choice| choice.cluster == *cluster));
            for (free, request) in free[*cluster as usize].iter_mut().zip(&demand.request) {
                *free -= (request * replicas) as i64;
            }
        }
        moved += moves(demand, placed);
        if !runs(demand) && is_whole {
            counts[usize::from(demand.priority == 0)] += 1;
        }
    }
    assert!(free.iter().flatten().all(|free| *free >= 0), "{free:?}");
    assert!(moved <= most, "{moved} moves of {most}");
    assert_eq!(moved, plan.moved.iter().sum::<u64>());
    (counts[0], counts[1], std::cmp::Reverse(moved))
}

#[test]
fn a_limit_is_kept_and_small_plans_are_near_the_best() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(11);
    let (mut same, mut all, mut limited) = (0, 0, 0);
    for case in 0..400 {
        let fleet = small(&mut random);
        let (unlimited, _) = plan_whole(&fleet, &settings(1)).unwrap();
        let needed: u64 = unlimited.moved.iter().sum();
        for most in 0..=needed + 1 {
            let plan = plan_at_most(&fleet, &unlimited, most).unwrap();
            let (found, least) = (rank(&fleet, &plan, most), best(&fleet, most));
            assert!(found <= least, "case {case}, {most} moves: {found:?} of {least:?}");
            all += 1;
            same += usize::from(found == least);
            limited += usize::from(most < needed);
        }
    }
    assert!(limited >= 100, "{limited} limits of {all} were below what a plan needs");
    assert!(same * 100 >= all * 95, "{same} of {all} are the best");
}

#[test]
fn more_moves_never_place_less() {
    let families = [
        (Scattered::mild(800, 30, 4, 0.97), 1),
        (Scattered::mild(800, 30, 4, 0.97), 6),
        (Scattered::probe(400, 30, 10, 0.8), 3),
    ];
    for (family, seed) in families {
        let mut fleet = fewest_moves(grown(family.instance(seed), seed).fleet);
        for demand in fleet.demands.iter_mut().filter(|demand| runs(demand)) {
            (demand.priority, demand.worth) = (URGENT, 1e5);
        }
        let (unlimited, _) = plan_whole(&fleet, &settings(1)).unwrap();
        let placed = |plan: &Plan| plan.unplaced.iter().filter(|unplaced| **unplaced == 0).count();
        let needed: u64 = unlimited.moved.iter().sum();
        assert!(needed > 20, "seed {seed}: {needed}");
        let counts: Vec<usize> = (0..=4)
            .map(|part| {
                let most = needed * part / 4;
                let plan = plan_at_most(&fleet, &unlimited, most).unwrap();
                assert!(plan.moved.iter().sum::<u64>() <= most);
                placed(&plan)
            })
            .collect();
        assert!(counts.is_sorted(), "seed {seed}: {counts:?}");
        assert!(counts[4] >= placed(&unlimited), "seed {seed}: {counts:?}");
        // Most of what waits needs few moves.
        assert!(counts[2] > counts[0], "seed {seed}: {counts:?}");
    }
}

/// What the clusters of a plan cost, without its moves.
fn cost_of_clusters(fleet: &Fleet, plan: &Plan) -> f64 {
    let demands = fleet.demands.iter().zip(&plan.placed);
    let costs = demands.flat_map(|(demand, placed)| {
        placed.iter().map(|(cluster, replicas)| {
            let choice = demand.choices.iter().find(|choice| choice.cluster == *cluster).unwrap();
            choice.cost * *replicas as f64
        })
    });
    costs.sum()
}

#[test]
fn moves_are_taken_back_as_far_as_the_cost_allows() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(13);
    let (mut fewer, mut moved) = (0, 0);
    for case in 0..400 {
        let mut fleet = small(&mut random);
        for demand in &mut fleet.demands {
            let choices = demand.choices.iter().map(|choice| Choice {
                cost: f64::from(random.random_range(1..9_u32)),
                ..*choice
            });
            demand.choices = choices.collect();
        }
        fleet.move_price = 0.01;
        let (plan, _) = plan_whole(&fleet, &settings(1)).unwrap();
        let most = plan.moved.iter().sum();
        rank(&fleet, &plan, most);
        for more in [0.0, 3.0, 1e9] {
            let back = moved_back(&fleet, &plan, more).unwrap();
            let after = rank(&fleet, &back, most).2.0;
            assert_eq!(back.unplaced, plan.unplaced, "case {case}");
            let cost = cost_of_clusters(&fleet, &back) - cost_of_clusters(&fleet, &plan);
            assert!(cost <= more + 1e-9, "case {case}: {cost} more than {more}");
            (fewer, moved) = (fewer + usize::from(after < most), moved + usize::from(most > 0));
        }
    }
    assert!(fewer >= 100, "{fewer} of {moved} plans have fewer moves");
}
