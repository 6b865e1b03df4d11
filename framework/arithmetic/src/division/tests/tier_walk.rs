//! Quotas of tiers.

use super::super::tiers::{LastTier, TierMembers, divide_among_tiers};
use super::super::{Cycle, DivisionError, Request};
use super::{divide, request, unschedulable};
use proptest::prelude::*;

const TIERS: [u32; 4] = [0, 0, 1, 1];

fn quotas(request: &Request<'_>, tier_of: &[u32], rest: LastTier, tiers: usize) -> Result<Vec<i64>, DivisionError> {
    divide(tiers, |out, scratch| {
        divide_among_tiers(request, tier_of, rest, out, scratch)
    })
}

fn check(replicas: i64, fits_now: [i64; 4], last: [i64; 4], cycle: Cycle, expected: Result<[i64; 2], DivisionError>) {
    let request = request(replicas, &fits_now, &last, cycle);
    let actual = quotas(&request, &TIERS, LastTier::WithinCapacity, 2);
    assert_eq!(actual, expected.map(Vec::from), "{request:?}");
}

#[test]
fn named_walks() {
    use Cycle::{Fresh, Steady};
    // proposals/priority-aggregated.md, "Use case and its behavior".
    for (replicas, expected) in [(8, [8, 0]), (16, [16, 0]), (28, [20, 8]), (36, [20, 16])] {
        check(replicas, [10; 4], [0; 4], Steady, Ok(expected));
        check(replicas, [10; 4], [0; 4], Fresh, Ok(expected));
    }
    // Growth: existing replicas stay, although the better tier has room by now.
    check(12, [3, 0, 10, 10], [4, 0, 6, 0], Steady, Ok([6, 6]));
    check(15, [3, 0, 10, 10], [4, 0, 6, 0], Steady, Ok([7, 8]));
    // Fresh: the way back to the better tier.
    check(10, [3, 0, 10, 10], [4, 0, 6, 0], Fresh, Ok([7, 3]));
    // Shrinkage drains the worst.
    check(5, [0; 4], [4, 0, 6, 0], Steady, Ok([4, 1]));
    check(3, [0; 4], [4, 0, 6, 0], Steady, Ok([3, 0]));
    check(10, [9; 4], [4, 0, 6, 0], Steady, Ok([4, 6]));
    // Too small, with both figures.
    check(34, [3, 0, 10, 10], [4, 0, 6, 0], Steady, unschedulable(34, 33));
    check(34, [3, 0, 10, 10], [4, 0, 6, 0], Fresh, unschedulable(34, 33));
}

#[test]
fn the_last_tier_with_candidates_may_take_the_rest() {
    let two = request(9, &[1, 2], &[0, 0], Cycle::Steady);
    assert_eq!(quotas(&two, &[0, 1], LastTier::TakesTheRest, 3), Ok(vec![1, 8, 0]));
    let none = |replicas| request(replicas, &[], &[], Cycle::Steady);
    assert_eq!(quotas(&none(9), &[], LastTier::TakesTheRest, 2), unschedulable(9, 0));
    assert_eq!(quotas(&none(0), &[], LastTier::WithinCapacity, 0), Ok(vec![]));
}

#[test]
fn columns_that_do_not_belong_together() {
    let refused = |tier_of: &[u32]| {
        let request = request(1, &[1, 2], &[0, 0], Cycle::Steady);
        let error = quotas(&request, tier_of, LastTier::WithinCapacity, 2).expect_err("the columns differ");
        error.to_string()
    };
    assert_eq!(refused(&[0, 2]), "candidate 1 is in tier 2, but there are only 2 tiers");
    assert_eq!(refused(&[0]), "column `tier_of` has 1 entries, expected 2");
}

#[test]
fn members_of_tiers() {
    let mut tiers = TierMembers::default();
    assert_eq!((tiers.tiers(), tiers.members(0)), (0, &[][..]));
    let priorities = [0, i64::MAX, 3, 3, i64::MIN, 0];
    tiers.rebuild_from_priorities(&priorities).unwrap();
    assert_eq!(tiers.tiers(), 4);
    assert_eq!(tiers.tier_of(), [2, 0, 1, 1, 3, 2]);
    let members: Vec<_> = (0..5).map(|tier| tiers.members(tier).to_vec()).collect();
    assert_eq!(members, [vec![1], vec![2, 3], vec![0, 5], vec![4], vec![]]);
    tiers.rebuild_from_tiers(&[2, 0], 4).unwrap();
    let members: Vec<_> = (0..4).map(|tier| tiers.members(tier).to_vec()).collect();
    assert_eq!(members, [vec![1], vec![], vec![0], vec![]]);
    tiers.rebuild_from_priorities(&[]).unwrap();
    assert_eq!(tiers.tiers(), 0);
    assert!(tiers.rebuild_from_tiers(&[4], 4).is_err());
    assert_eq!(tiers.members(usize::MAX), [0; 0]);
}

proptest! {
    /// A better tier is exhausted before a worse one gains, a worse one is empty before a better one loses.
    #[test]
    fn better_tiers_come_first(
        rows in prop::collection::vec((0_i64..30, 0_i64..30, 0_u32..4), 0..12),
        replicas in 0_i64..500,
        fresh in any::<bool>(),
    ) {
        let (fits_now, last): (Vec<i64>, Vec<i64>) = rows.iter().map(|row| (row.0, row.1)).unzip();
        let tier_of: Vec<u32> = rows.iter().map(|row| row.2).collect();
        let cycle = if fresh { Cycle::Fresh } else { Cycle::Steady };
        let request = request(replicas, &fits_now, &last, cycle);
        let sums = |column: &[i64]| {
            let mut sums = [0; 4];
            for (&tier, &value) in tier_of.iter().zip(column) {
                sums[tier as usize] += value;
            }
            sums
        };
        let (fits_sums, last_sums) = (sums(&fits_now), sums(&last));
        let available = fits_sums.iter().sum::<i64>() + last_sums.iter().sum::<i64>();
        match quotas(&request, &tier_of, LastTier::WithinCapacity, 4) {
            Err(error) => {
                prop_assert_eq!(Err::<(), _>(error), unschedulable(replicas, available));
                prop_assert!(available < replicas);
            }
            Ok(quotas) => {
                prop_assert_eq!(quotas.iter().sum::<i64>(), replicas);
                for better in 0..4 {
                    let capacity = fits_sums[better] + last_sums[better];
                    prop_assert!(quotas[better] <= capacity);
                    for worse in better + 1..4 {
                        let full = quotas[better] == capacity;
                        if fresh {
                            prop_assert!(full || quotas[worse] == 0);
                        } else {
                            prop_assert!(full || quotas[worse] <= last_sums[worse]);
                            prop_assert!(quotas[better] >= last_sums[better] || quotas[worse] == 0);
                        }
                    }
                }
            }
        }
    }
}
