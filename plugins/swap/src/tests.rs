//! Named moves, step by step.

use divvy_framework::prelude::*;
use divvy_framework::testing::{Move, MovingCluster, Step};

use crate::Swap;

fn moving() -> Move {
    Move::new(10)
        .cluster(MovingCluster::new("new").target(10))
        .cluster(MovingCluster::new("old").running(10))
}

/// The results of an undisturbed move, as (new, old).
fn steps(moving: &Move) -> Vec<(i64, i64)> {
    let steps = moving.steps(&Swap).expect("every step keeps the rules");
    let pairs = steps.into_iter().map(|step| match step {
        Step::Next(next) => (next[0], next[1]),
        Step::Waits(reason) => panic!("waits for {reason}"),
    });
    pairs.collect()
}

#[test]
fn replicas_are_exchanged_within_the_total_even_if_a_surge_is_allowed() {
    assert_eq!(steps(&moving().max_unavailable(4)), [(4, 6), (8, 2), (10, 0)]);
    assert_eq!(steps(&moving().max_surge(5).max_unavailable(5)), [(5, 5), (10, 0)]);
}

#[test]
fn without_anything_that_may_be_unavailable_it_waits() {
    let waits = moving().max_surge(5).step_checked(&Swap);
    assert_eq!(waits, Ok(Step::Waits(Wait::Allowance)));
}

/// A surge that was begun by another pace is brought back, never below what is ready.
#[test]
fn what_is_beyond_the_total_goes_once_enough_is_ready() {
    let surged = |ready: i64| {
        Move::new(10)
            .cluster(MovingCluster::new("new").running(3).ready(ready).target(10))
            .cluster(MovingCluster::new("old").running(10))
    };
    assert_eq!(surged(0).step_checked(&Swap), Ok(Step::Waits(Wait::Readiness)));
    assert_eq!(surged(3).step_checked(&Swap), Ok(Step::Next(vec![6, 7])));
}
