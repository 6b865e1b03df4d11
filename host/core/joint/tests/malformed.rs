//! Fleets that cannot be decided about: each is an error that says what is wrong with it.

use std::num::NonZeroUsize;

use divvy_joint::{Choice, Demand, Fleet, Settings, place_waiting, plan, plan_whole};

fn fleet() -> Fleet {
    let choices = [0, 1].map(|cluster| Choice { cluster, cost: 0.0 });
    Fleet {
        room: vec![vec![4, 8], vec![4, 8]],
        demands: vec![Demand {
            replicas: 3,
            request: vec![1, 2],
            priority: 0,
            worth: 1.0,
            choices: choices.into(),
            running: vec![(1, 2)],
            largest: None,
            clusters: None,
        }],
        move_price: 1.0,
    }
}

/// A change that makes a fleet malformed.
type Edit = fn(&mut Fleet);

#[test]
fn what_is_wrong_with_a_fleet_is_said() {
    let settings = Settings::new(NonZeroUsize::MIN);
    assert!(plan(&fleet(), &settings).is_ok());
    let edits: [(Edit, &str); 11] = [
        (
            |fleet| fleet.room[1] = vec![4],
            "cluster 1 has 1 resources, but 2 are expected",
        ),
        (
            |fleet| fleet.demands[0].request = vec![],
            "demand 0 has 0 resources, but 2 are expected",
        ),
        (
            |fleet| fleet.move_price = -1.0,
            "the price of a move is -1, but must be a finite number of at least 0",
        ),
        (|fleet| fleet.move_price = f64::NAN, "the price of a move is NaN"),
        (
            |fleet| fleet.demands[0].worth = 0.0,
            "the worth of demand 0 is 0, but must be a finite number above 0",
        ),
        (
            |fleet| {
                fleet.demands[0].choices = [Choice {
                    cluster: 0,
                    cost: f64::INFINITY,
                }]
                .into()
            },
            "the cost of cluster 0 for demand 0 is inf",
        ),
        (
            |fleet| fleet.demands[0].choices = [1, 0].map(|cluster| Choice { cluster, cost: 0.0 }).into(),
            "choices of demand 0 name cluster 0, but must be in ascending order and below 2",
        ),
        (
            |fleet| fleet.demands[0].running = vec![(2, 1)],
            "running replicas of demand 0 name cluster 2",
        ),
        (
            |fleet| fleet.demands[0].running = vec![(0, 2), (1, 2)],
            "demand 0 has 4 running replicas, but wants 3",
        ),
        (
            |fleet| fleet.room[0][1] = u64::MAX,
            "the room of resource 1 adds up to 18446744073709551623",
        ),
        (
            |fleet| fleet.demands[0].replicas = u64::MAX,
            "the number of replicas adds up to 18446744073709551615",
        ),
    ];
    for (edit, expected) in edits {
        let mut fleet = fleet();
        edit(&mut fleet);
        let errors = [
            plan(&fleet, &settings).map(drop),
            plan_whole(&fleet, &settings).map(drop),
            place_waiting(&fleet, true).map(drop),
        ];
        for error in errors {
            let text = error.expect_err(expected).to_string();
            assert!(text.contains(expected), "{text}");
        }
    }
}

#[test]
fn the_largest_numbers_are_planned() {
    let mut fleet = fleet();
    let largest = 1 << 60;
    fleet.room = vec![vec![largest, largest], vec![largest, largest]];
    let demand = &mut fleet.demands[0];
    (demand.replicas, demand.request) = (largest, vec![1, 2]);
    let (plan, relaxation) = plan(&fleet, &Settings::new(NonZeroUsize::MIN)).expect("it is a fleet");
    // Twice a half of a cluster's second resource.
    assert_eq!(plan.placed, [vec![(0, largest / 2), (1, largest / 2)]]);
    assert_eq!(plan.unplaced, [0]);
    assert!(relaxation.bound.cost() <= plan.cost);
}

#[test]
fn a_fleet_without_clusters_or_workloads_has_a_plan() {
    let settings = Settings::new(NonZeroUsize::MIN);
    let (empty, relaxation) = plan_whole(&Fleet::default(), &settings).expect("it is a fleet");
    assert_eq!((empty.cost, relaxation.bound.cost()), (0.0, 0.0));
    let mut without_clusters = fleet();
    without_clusters.room.clear();
    without_clusters.demands[0].choices = [].into();
    without_clusters.demands[0].running.clear();
    let (plan, _) = plan_whole(&without_clusters, &settings).expect("it is a fleet");
    assert_eq!(plan.unplaced, [3]);
}
