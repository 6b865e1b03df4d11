//! Fleets are what their families say.

use divvy_families::{Affinity, Instance, Policies, Scattered, Strategy, fewest_moves, grown};
use divvy_joint::{Demand, Fleet};

fn used(fleet: &Fleet, cluster: usize, resource: usize) -> u64 {
    let here = |demand: &Demand| {
        let running = demand.running.iter().filter(|(other, _)| *other as usize == cluster);
        running
            .map(|(_, replicas)| replicas * demand.request[resource])
            .sum::<u64>()
    };
    fleet.demands.iter().map(here).sum()
}

/// What all workloads request of a resource, as a part of what all clusters have.
fn load(fleet: &Fleet, resource: usize) -> f64 {
    let wanted: u64 = fleet
        .demands
        .iter()
        .map(|demand| demand.replicas * demand.request[resource])
        .sum();
    let room: u64 = fleet.room.iter().map(|room| room[resource]).sum();
    wanted as f64 / room as f64
}

fn part(instance: &Instance, is_meant: impl Fn(&Demand) -> bool) -> f64 {
    let demands = &instance.fleet.demands;
    demands.iter().filter(|demand| is_meant(demand)).count() as f64 / demands.len() as f64
}

#[test]
fn a_seed_always_makes_the_same_fleet() {
    let policies = Policies::new(300, 40, 0.9, 0.8);
    assert_eq!(policies.instance(1).fleet, policies.instance(1).fleet);
    assert_ne!(policies.instance(1).fleet, policies.instance(2).fleet);
    let probe = Scattered::probe(300, 40, 10, 0.9);
    assert_eq!(probe.instance(1).fleet, probe.instance(1).fleet);
}

#[test]
fn loads_and_sizes_are_those_of_the_family() {
    let all = [
        Scattered::probe(5_000, 100, 15, 0.9).instance(1),
        Scattered::mild(5_000, 100, 15, 0.7).instance(1),
        Policies::new(5_000, 100, 0.97, 1.0).instance(1),
        Policies {
            has_gpus: true,
            is_spread: true,
            ..Policies::new(5_000, 100, 0.8, 0.6)
        }
        .instance(1),
    ];
    for (instance, wanted) in all.iter().zip([0.9, 0.7, 0.97, 0.8]) {
        for resource in 0..instance.fleet.room[0].len() {
            let load = load(&instance.fleet, resource);
            assert!((load - wanted).abs() < 0.01, "{load} instead of {wanted}");
        }
        // Half of the workloads have one or two replicas, and yet there are eleven each.
        let replicas: u64 = instance.fleet.demands.iter().map(|demand| demand.replicas).sum();
        assert!((9.0..14.0).contains(&(replicas as f64 / 5_000.0)), "{replicas}");
        assert!(part(instance, |demand| demand.replicas <= 2) > 0.5);
    }
    let rigid = |demand: &Demand| demand.choices.len() <= 4;
    assert!((0.3..0.4).contains(&part(&all[0], rigid)));
    assert!((0.08..0.12).contains(&part(&all[1], rigid)));
    let gpus = |demand: &Demand| demand.request[2] > 0;
    assert!((0.005..0.2).contains(&part(&all[3], gpus)));
    assert!(all[3].fleet.room.iter().filter(|room| room[2] > 0).count() <= 6);
    assert!((0.1..0.6).contains(&part(&all[3], |demand| demand.clusters == Some(5))));
}

#[test]
fn policies_choose_and_divide_as_the_family_says() {
    let instance = Policies::new(60_000, 1_000, 0.9, 1.0).instance(3);
    let mut policies = instance.policies.clone();
    policies.sort_by_key(|policy| format!("{policy:?}"));
    policies.dedup();
    let strategy = |strategy: Strategy| policies.iter().filter(|policy| policy.strategy == strategy).count();
    // Policies by name that divide alike are the same here, so the parts are those of the others.
    let regional = policies
        .iter()
        .filter(|policy| policy.affinity != Affinity::Names)
        .count();
    assert!(regional > 300, "{regional}");
    let parts = [Strategy::Dynamic, Strategy::Aggregated, Strategy::Average].map(strategy);
    assert!(parts[0] > 2 * parts[1] - 40 && parts[1] > parts[2] / 2, "{parts:?}");
    for (demand, policy) in instance.fleet.demands.iter().zip(&instance.policies).take(2_000) {
        match &policy.affinity {
            Affinity::Names => assert!((1..=4).contains(&demand.choices.len())),
            Affinity::Regions { regions, is_production } => {
                let is_chosen = |cluster: usize| {
                    let location = instance.clusters[cluster];
                    regions.contains(&location.region)
                        && is_production.is_none_or(|wanted| wanted == location.is_production)
                };
                let chosen: Vec<u32> = (0..1_000).filter(|cluster| is_chosen(*cluster as usize)).collect();
                assert!(demand.choices.iter().map(|choice| choice.cluster).eq(chosen));
            }
        }
    }
}

#[test]
fn a_fleet_that_grew_keeps_room_and_limits_and_leaves_some_waiting() {
    let policies = Policies {
        is_spread: true,
        ..Policies::new(2_000, 60, 0.97, 0.5)
    };
    let instance = grown(policies.instance(5), 5);
    let fleet = fewest_moves(instance.fleet);
    for cluster in 0..fleet.room.len() {
        for resource in 0..2 {
            assert!(used(&fleet, cluster, resource) <= fleet.room[cluster][resource]);
        }
    }
    let (mut waiting, mut spread) = (0, 0);
    for (demand, policy) in fleet.demands.iter().zip(&instance.policies) {
        let running: u64 = demand.running.iter().map(|(_, replicas)| replicas).sum();
        assert!(running == 0 || running == demand.replicas);
        waiting += usize::from(running == 0);
        if let (Some(least), 1..) = (policy.spread, running) {
            assert!((least as usize..=5).contains(&demand.running.len()), "{demand:?}");
            spread += 1;
        }
    }
    assert!(
        (20..400).contains(&waiting) && spread > 100,
        "{waiting} wait, {spread} are spread"
    );
}
