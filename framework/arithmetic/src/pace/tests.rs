//! Single steps by name: what each bound does. `framework/calls/src/pace/tests.rs` follows whole moves.

use super::*;

/// A situation of clusters that are given as (current, ready, target), with unlimited room.
fn next(
    clusters: &[(i64, i64, i64)],
    room: &[i64],
    total: i64,
    (surge, unavailable): (i64, i64),
    limit: u32,
) -> Result<Vec<i64>, Wait> {
    let column = |value: fn(&(i64, i64, i64)) -> i64| clusters.iter().map(value).collect::<Vec<i64>>();
    let (current, ready, target) = (column(|c| c.0), column(|c| c.1), column(|c| c.2));
    let room = if room.is_empty() {
        vec![i64::MAX; clusters.len()]
    } else {
        room.to_vec()
    };
    let situation = Situation {
        current: &current,
        present: &current,
        ready: &ready,
        target: &target,
        room: &room,
        total,
        max_surge: surge,
        max_unavailable: unavailable,
        max_clusters: (limit > 0).then_some(limit),
    };
    let mut next = Vec::new();
    step(&situation, |index| index as u64, &mut next).map(|()| next)
}

#[test]
fn new_replicas_come_first_and_the_old_go_once_they_are_ready() {
    assert_eq!(next(&[(10, 10, 0), (0, 0, 10)], &[], 10, (3, 0), 0), Ok(vec![10, 3]));
    // The new ones are not ready yet.
    assert_eq!(
        next(&[(10, 10, 0), (3, 0, 10)], &[], 10, (3, 0), 0),
        Err(Wait::Readiness)
    );
    assert_eq!(next(&[(10, 10, 0), (3, 2, 10)], &[], 10, (3, 0), 0), Ok(vec![8, 5]));
    assert_eq!(next(&[(10, 10, 0), (3, 3, 10)], &[], 10, (3, 0), 0), Ok(vec![7, 6]));
    assert_eq!(next(&[(1, 1, 0), (12, 12, 10)], &[], 10, (3, 0), 0), Ok(vec![0, 10]));
}

#[test]
fn what_may_be_unavailable_is_exchanged_within_the_total() {
    assert_eq!(next(&[(10, 10, 0), (0, 0, 10)], &[], 10, (0, 4), 0), Ok(vec![6, 4]));
    assert_eq!(next(&[(6, 6, 0), (4, 1, 10)], &[], 10, (0, 4), 0), Ok(vec![5, 5]));
    assert_eq!(next(&[(6, 6, 0), (4, 0, 10)], &[], 10, (0, 4), 0), Err(Wait::Readiness));
    assert_eq!(next(&[(10, 10, 0), (0, 0, 10)], &[], 10, (2, 3), 0), Ok(vec![7, 5]));
}

#[test]
fn replicas_that_are_not_ready_go_first_and_cost_no_allowance() {
    assert_eq!(
        next(&[(4, 4, 0), (6, 0, 0), (0, 0, 10)], &[], 10, (1, 0), 0),
        Ok(vec![4, 0, 7])
    );
    assert_eq!(next(&[(6, 4, 2), (4, 4, 8)], &[], 10, (1, 0), 0), Ok(vec![4, 7]));
}

#[test]
fn nothing_is_taken_that_has_nowhere_to_go() {
    let move_to = |room: i64| next(&[(10, 10, 0), (0, 0, 10)], &[0, room], 10, (0, 5), 0);
    assert_eq!(move_to(2), Ok(vec![8, 2]));
    assert_eq!(move_to(0), Err(Wait::Room));
    // What is beyond the total goes in any case.
    assert_eq!(
        next(&[(12, 12, 0), (0, 0, 10)], &[0, 0], 10, (0, 1), 0),
        Ok(vec![10, 0])
    );
}

#[test]
fn a_cluster_is_emptied_to_open_another_within_the_number_of_clusters() {
    // Both the surge and a part of the first cluster would need a third cluster.
    assert_eq!(
        next(&[(3, 3, 0), (7, 7, 0), (0, 0, 10)], &[], 10, (2, 3), 2),
        Ok(vec![0, 7, 5])
    );
    assert_eq!(
        next(&[(5, 5, 0), (5, 5, 0), (0, 0, 10)], &[], 10, (2, 3), 2),
        Err(Wait::Clusters)
    );
    // The one that gets the most is opened.
    assert_eq!(
        next(&[(4, 4, 0), (4, 4, 0), (0, 0, 1), (0, 0, 7)], &[], 8, (0, 4), 2),
        Ok(vec![0, 4, 0, 4])
    );
}

#[test]
fn allowances_that_permit_nothing_are_the_reason() {
    assert_eq!(
        next(&[(10, 10, 0), (0, 0, 10)], &[], 10, (0, 0), 0),
        Err(Wait::Allowance)
    );
    assert_eq!(next(&[(3, 3, 3)], &[], 3, (1, 0), 0), Err(Wait::Allowance));
}

#[test]
fn counts_near_the_limit_do_not_overflow() {
    let most = i64::from(i32::MAX);
    let moved = next(&[(most, most, 0), (0, 0, most)], &[], most, (most, most), 0);
    assert_eq!(moved, Ok(vec![0, most]));
    let beyond = next(
        &[(i64::MAX, i64::MAX, 0), (0, 0, i64::MAX)],
        &[],
        i64::MAX,
        (i64::MAX, 0),
        0,
    );
    assert_eq!(beyond, Ok(vec![i64::MAX, i64::MAX]));
}

#[test]
fn reasons_keep_their_numbers() {
    for wait in Wait::ALL {
        assert_eq!(Wait::from_number(wait.number()), Some(wait));
    }
    assert_eq!((Wait::from_number(0), Wait::from_number(99)), (None, Some(Wait::Other)));
}
