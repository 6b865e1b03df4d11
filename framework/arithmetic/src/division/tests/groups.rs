//! Bounds for groups of candidates.

use super::super::groups::{Bounds, GroupsError};
use super::super::{Cycle, DivisionError, Request, Rounding, Scratch, within_groups};
use super::{ALL_ROUNDINGS, request, ties};
use proptest::prelude::*;

fn bounded(
    request: &Request<'_>,
    group_of: &[u32],
    bounds: &[Bounds],
    rounding: Rounding,
) -> Result<Vec<i64>, GroupsError> {
    let mut scratch = Scratch::default();
    let mut divide = |filler: i64| {
        let mut out = vec![filler; request.fits_now.len()];
        within_groups(request, group_of, bounds, rounding, ties, &mut out, &mut scratch).map(|()| out)
    };
    let first = divide(-1);
    // Contents that an earlier call left in the buffers do not matter.
    assert_eq!(first, divide(-2));
    first
}

const fn bounds(least: i64, most: i64) -> Bounds {
    Bounds { least, most }
}

fn check(replicas: i64, fits_now: [i64; 4], last: [i64; 4], cycle: Cycle, expected: Result<[i64; 4], &str>) {
    // Two groups, the first with half to three quarters of ten, and a candidate in no group.
    let request = request(replicas, &fits_now, &last, cycle);
    let of = [bounds(5, 7), bounds(0, 3)];
    let actual = bounded(&request, &[0, 0, 1, 2], &of, Rounding::FloorThenRank);
    let actual = actual.map_err(|error| error.to_string());
    assert_eq!(actual, expected.map(Vec::from).map_err(str::to_owned), "{request:?}");
}

#[test]
fn named_bounds() {
    use Cycle::{Fresh, Steady};
    let none = [0; 4];
    // The first group gets its minimum, and the other five are divided by the room below the upper bounds: 2, 3 and 9.
    check(10, [6, 6, 9, 9], none, Fresh, Ok([3, 2, 1, 4]));
    check(10, [6, 6, 9, 9], none, Steady, Ok([3, 2, 1, 4]));
    // Upper bounds hold wherever there is room.
    check(13, [90, 90, 90, 3], none, Fresh, Ok([4, 3, 3, 3]));
    // Replicas within the bounds stay.
    check(10, [6, 6, 9, 9], [5, 0, 2, 3], Steady, Ok([5, 0, 2, 3]));
    // Too few in the first group: replicas come from the others, in proportion to their existing replicas.
    check(10, [6, 6, 9, 9], [2, 0, 2, 6], Steady, Ok([4, 1, 2, 3]));
    // Too many in the second group.
    check(10, [6, 6, 9, 9], [5, 0, 5, 0], Steady, Ok([5, 0, 3, 2]));
    // Growth and shrinkage within the bounds.
    check(12, [6, 6, 9, 9], [5, 0, 2, 3], Steady, Ok([5, 0, 2, 5]));
    check(7, [6, 6, 9, 9], [5, 0, 2, 3], Steady, Ok([5, 0, 1, 1]));
    let refused = |replicas, fits_now, message| check(replicas, fits_now, none, Steady, Err(message));
    refused(
        4,
        [9; 4],
        "4 replicas are too few: the groups must have at least 5 together",
    );
    refused(9, [2, 2, 9, 9], "group 0 must have at least 5 replicas, but only 4 fit");
    refused(
        14,
        [9, 9, 9, 3],
        "14 replicas are too many: the groups can have at most 13 together, by capacity and upper bounds",
    );
    refused(40, [9; 4], "40 replicas do not fit: the candidates together hold 36");
}

#[test]
fn contradictory_bounds_and_columns_are_refused() {
    let request = request(1, &[1, 2], &[0, 0], Cycle::Steady);
    let refused = |group_of: &[u32], of: &[Bounds]| {
        let error = bounded(&request, group_of, of, Rounding::default()).expect_err("it is refused");
        error.to_string()
    };
    assert_eq!(
        refused(&[0, 1], &[bounds(3, 2)]),
        "group 0 must have at least 3 and at most 2 replicas"
    );
    assert_eq!(
        refused(&[0, 1], &[bounds(-1, 2)]),
        "column `bounds` holds -1 at index 0, expected 0 or more"
    );
    assert_eq!(
        refused(&[0, 2], &[bounds(0, 2)]),
        "candidate 1 is in tier 2, but there are only 2 tiers"
    );
    assert_eq!(
        refused(&[0], &[bounds(0, 2)]),
        "column `group_of` has 1 entries, expected 2"
    );
}

/// One candidate: room, last replicas, group.
fn candidates() -> impl Strategy<Value = Vec<(i64, i64, u32)>> {
    prop::collection::vec((0..9_i64, 0..6_i64, 0..4_u32), 1..12)
}

proptest! {
    #[test]
    fn results_keep_the_bounds_or_say_why_not(
        candidates in candidates(),
        limits in prop::array::uniform3((0..8_i64, 0..12_i64)),
        replicas in 0..60_i64,
        is_fresh in any::<bool>(),
        rounding in prop::sample::select(&ALL_ROUNDINGS[..]),
    ) {
        let fits_now: Vec<i64> = candidates.iter().map(|row| row.0).collect();
        let last: Vec<i64> = candidates.iter().map(|row| row.1).collect();
        let group_of: Vec<u32> = candidates.iter().map(|row| row.2).collect();
        let of = limits.map(|(least, more)| bounds(least, least + more));
        let cycle = if is_fresh { Cycle::Fresh } else { Cycle::Steady };
        let request = request(replicas, &fits_now, &last, cycle);
        let sum_of = |column: &[i64], group: u32| -> i64 {
            let pairs = column.iter().zip(&group_of);
            pairs.filter(|(_, of)| **of == group).map(|(value, _)| value).sum()
        };
        let room = |group| sum_of(&fits_now, group) + sum_of(&last, group);
        let all = of.iter().chain([&Bounds::NONE]);
        let ceilings: i64 = (0..).zip(all).map(|(group, bounds)| bounds.most.min(room(group))).sum();
        let has_room = (0..).zip(&of).all(|(group, bounds)| room(group) >= bounds.least);
        let least: i64 = of.iter().map(|bounds| bounds.least).sum();
        match bounded(&request, &group_of, &of, rounding) {
            Ok(out) => {
                prop_assert_eq!(out.iter().sum::<i64>(), replicas);
                for (group, bounds) in (0..).zip(&of) {
                    let count = sum_of(&out, group);
                    prop_assert!(bounds.least <= count && count <= bounds.most, "{group}: {count} in {out:?}");
                }
                for (index, &count) in out.iter().enumerate() {
                    prop_assert!(count <= fits_now[index] + last[index], "{out:?}");
                }
                let is_within = (0..).zip(&of).all(|(group, bounds)| {
                    (bounds.least..=bounds.most).contains(&sum_of(&last, group))
                });
                if !is_fresh && is_within {
                    let present: i64 = last.iter().sum();
                    let pairs = || out.iter().zip(&last);
                    // Only the change is divided.
                    prop_assert!(present > replicas || pairs().all(|(count, last)| count >= last));
                    prop_assert!(present < replicas || pairs().all(|(count, last)| count <= last));
                }
            }
            Err(GroupsError::TooFew { .. }) => prop_assert!(least > replicas),
            Err(GroupsError::NoRoom { .. }) => prop_assert!(!has_room),
            Err(GroupsError::TooMany { available, .. }) => {
                prop_assert!(available == ceilings && ceilings < replicas);
            }
            Err(GroupsError::Division(DivisionError::Unschedulable { .. })) => {
                prop_assert!(fits_now.iter().chain(&last).sum::<i64>() < replicas);
            }
            Err(error) => prop_assert!(false, "{error}"),
        }
    }
}
