//! Named moves, step by step.

use divvy_framework::prelude::*;
use divvy_framework::testing::{Move, MovingCluster, Step};

use crate::Surge;

/// A move of ten replicas from `old` to `new`.
fn moving() -> Move {
    Move::new(10)
        .cluster(MovingCluster::new("new").target(10))
        .cluster(MovingCluster::new("old").running(10))
}

/// The results of an undisturbed move, as (new, old).
fn steps(moving: &Move) -> Vec<(i64, i64)> {
    let steps = moving.steps(&Surge).expect("every step keeps the rules");
    let pairs = steps.into_iter().map(|step| match step {
        Step::Next(next) => (next[0], next[1]),
        Step::Waits(reason) => panic!("waits for {reason}"),
    });
    pairs.collect()
}

#[test]
fn new_replicas_come_first_then_the_old_go() {
    assert_eq!(
        steps(&moving().max_surge(3)),
        [(3, 10), (6, 7), (9, 4), (10, 1), (10, 0)]
    );
    assert_eq!(steps(&moving().max_surge(10)), [(10, 10), (10, 0)]);
}

#[test]
fn what_may_be_unavailable_makes_steps_larger() {
    assert_eq!(
        steps(&moving().max_surge(3).max_unavailable(2)),
        [(5, 8), (10, 3), (10, 0)]
    );
    assert_eq!(steps(&moving().max_unavailable(10)), [(10, 0)]);
}

#[test]
fn it_waits_for_readiness_room_and_clusters() {
    let waits = |moving: Move| moving.step_checked(&Surge).expect("it keeps the rules");
    let unready = moving().cluster(MovingCluster::new("new").current(2).present(2).target(10));
    assert_eq!(waits(unready.max_surge(2)), Step::Waits(Wait::Readiness));
    let full = moving().cluster(MovingCluster::new("new").target(10).room(0));
    assert_eq!(waits(full.max_surge(2)), Step::Waits(Wait::Room));
    assert_eq!(
        waits(moving().max_surge(2).max_clusters(1)),
        Step::Waits(Wait::Clusters)
    );
    assert_eq!(waits(moving()), Step::Waits(Wait::Allowance));
}

#[test]
fn replicas_that_are_not_ready_go_first() {
    let broken = Move::new(10)
        .max_surge(1)
        .cluster(MovingCluster::new("broken").current(4).present(4))
        .cluster(MovingCluster::new("new").target(10))
        .cluster(MovingCluster::new("old").running(6));
    assert_eq!(broken.step_checked(&Surge), Ok(Step::Next(vec![0, 5, 6])));
}

/// A cluster that is gone has no row in the snapshot, and its replicas are not ready.
#[test]
fn a_cluster_that_is_gone_is_left_first() {
    let gone = Move::new(4)
        .max_surge(1)
        .cluster(MovingCluster::new("gone").current(2).gone())
        .cluster(MovingCluster::new("new").target(4))
        .cluster(MovingCluster::new("old").running(2));
    assert_eq!(gone.step_checked(&Surge), Ok(Step::Next(vec![0, 3, 2])));
}
