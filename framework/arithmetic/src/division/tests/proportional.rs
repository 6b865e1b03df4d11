//! Floors, largest remainders and Webster.

use super::super::apportionment::equal_shares;
use super::super::{DivisionError, Rounding};
use super::{ALL_ROUNDINGS, back, column, divide, naive, reversed, rows, ties};
use proptest::prelude::*;

fn check(rounding: Rounding, replicas: i64, weights: &[i64], last: &[i64], expected: Result<&[i64], DivisionError>) {
    let actual = divide(weights.len(), |out, scratch| {
        rounding.divide(replicas, weights, last, |index| index as u64, out, scratch)
    });
    let expected = expected.map(<[i64]>::to_vec);
    assert_eq!(
        actual, expected,
        "{rounding:?} {replicas} over {weights:?}, last {last:?}"
    );
}

#[test]
fn named_cases() {
    use Rounding::{FloorThenRank, Karmada, LargestRemainder, Webster};
    // Weight before last, last before tie.
    check(FloorThenRank, 7, &[2, 1, 1], &[0, 0, 0], Ok(&[4, 2, 1]));
    check(FloorThenRank, 7, &[2, 1, 1], &[0, 0, 9], Ok(&[4, 1, 2]));
    check(FloorThenRank, 1, &[1, 0, 2], &[9, 9, 0], Ok(&[0, 0, 1]));
    // A case in which the methods differ.
    check(FloorThenRank, 10, &[5, 3, 3], &[0; 3], Ok(&[5, 3, 2]));
    check(LargestRemainder, 10, &[5, 3, 3], &[0; 3], Ok(&[4, 3, 3]));
    // Five equal clusters, one replica: in Karmada, the bit of the UID decides, regardless of the last result.
    check(Karmada, 1, &[1; 5], &[0, 0, 1, 0, 0], Ok(&[1, 0, 0, 0, 0]));
    check(FloorThenRank, 1, &[1; 5], &[0, 0, 1, 0, 0], Ok(&[0, 0, 1, 0, 0]));
    // 1/1 against 3/3: fewer seats first.
    check(Webster, 2, &[3, 1], &[0; 2], Ok(&[1, 1]));
    // 3.71, 1.68 and 1.61: the two small ones are rounded up.
    check(Webster, 7, &[53, 24, 23], &[0; 3], Ok(&[3, 2, 2]));
    for rounding in ALL_ROUNDINGS {
        check(rounding, 0, &[1, 2], &[5, 5], Ok(&[0, 0]));
        check(rounding, 0, &[0, 0], &[0, 0], Ok(&[0, 0]));
        check(rounding, 0, &[], &[], Ok(&[]));
        check(rounding, 6, &[1, 1, 1], &[0; 3], Ok(&[2, 2, 2]));
        check(rounding, 9, &[1, 0], &[0, 9], Ok(&[9, 0]));
        let no_weight = DivisionError::NoWeight { requested: 4 };
        check(rounding, 4, &[0, 0], &[1, 0], Err(no_weight.clone()));
        check(rounding, 4, &[], &[], Err(no_weight));
        let negative = |column, index, value| Err(DivisionError::Negative { column, index, value });
        check(rounding, 4, &[1, -7], &[0, 0], negative("weights", 1, -7));
        check(rounding, -4, &[1], &[0], negative("replicas", 0, -4));
    }
}

/// Shares under the ties of these tests.
fn shares(rounding: Rounding, replicas: i64, weights: &[i64], last: &[i64]) -> Result<Vec<i64>, DivisionError> {
    divide(weights.len(), |out, scratch| {
        rounding.divide(replicas, weights, last, ties, out, scratch)
    })
}

fn check_floors(replicas: i64, weights: &[i64], last: &[i64]) -> Result<(), TestCaseError> {
    prop_assume!(weights.iter().any(|&weight| weight > 0));
    let expected = naive::floor_and_rank(replicas, weights, last, ties);
    prop_assert_eq!(shares(Rounding::FloorThenRank, replicas, weights, last), Ok(expected));
    let expected = naive::largest_remainder(replicas, weights, last, ties);
    prop_assert_eq!(
        shares(Rounding::LargestRemainder, replicas, weights, last),
        Ok(expected)
    );
    Ok(())
}

fn check_webster(replicas: i64, weights: &[i64]) -> Result<(), TestCaseError> {
    prop_assume!(weights.iter().any(|&weight| weight > 0));
    let none = vec![0; weights.len()];
    let expected = naive::webster(replicas, weights, ties);
    prop_assert_eq!(shares(Rounding::Webster, replicas, weights, &none), Ok(expected));
    let expected = naive::webster_in_doubles(replicas, weights, ties);
    prop_assert_eq!(shares(Rounding::Karmada, replicas, weights, &none), Ok(expected));
    Ok(())
}

proptest! {
    #[test]
    fn floors_equal_the_sorted_rule(rows in rows(1000), replicas in 0_i64..5000) {
        let (weights, last) = (column(&rows, |row| row.0), column(&rows, |row| row.1));
        check_floors(replicas, &weights, &last)?;
        let actual = divide(rows.len(), |out, scratch| equal_shares(replicas, &last, ties, out, scratch));
        let equal = vec![1; rows.len()];
        prop_assert_eq!(actual, Ok(naive::floor_and_rank(replicas, &equal, &last, ties)));
    }

    /// Ranks that do not pack into 64 bits take another path to the same result.
    #[test]
    fn wide_ranks_equal_the_sorted_rule(rows in rows(i64::MAX), replicas in 0_i64..1_000_000) {
        check_floors(replicas, &column(&rows, |row| row.0), &column(&rows, |row| row.1))?;
    }

    #[test]
    fn webster_equals_one_seat_at_a_time(rows in rows(50), replicas in 0_i64..400) {
        let weights = column(&rows, |row| row.0);
        check_webster(replicas, &weights)?;
        let in_doubles = naive::webster_in_doubles(replicas, &weights, ties);
        prop_assert_eq!(in_doubles, naive::webster(replicas, &weights, ties));
    }

    #[test]
    fn webster_equals_one_seat_at_a_time_for_heavy_weights(rows in rows(i64::MAX), replicas in 0_i64..200) {
        check_webster(replicas, &column(&rows, |row| row.0))?;
    }

    #[test]
    fn webster_among_equals_equals_one_seat_at_a_time(
        shares_in in prop::collection::vec(any::<bool>(), 1..12), weight in 1_i64..=i64::MAX, replicas in 0_i64..60,
    ) {
        let weights: Vec<i64> = shares_in.iter().map(|&shares| if shares { weight } else { 0 }).collect();
        check_webster(replicas, &weights)?;
    }

    /// Weights that differ by a few units near 2^53, where doubles treat different fractions as equal.
    #[test]
    fn webster_in_doubles_ties_where_doubles_do(
        offsets in prop::collection::vec(0_i64..6, 1..12),
        multiples in prop::collection::vec(prop::sample::select(vec![1_i64, 3, 5]), 12),
        replicas in 0_i64..60,
    ) {
        let weights = offsets.iter().zip(multiples).map(|(offset, multiple)| ((1_i64 << 53) + offset) * multiple);
        check_webster(replicas, &weights.collect::<Vec<_>>())?;
    }

    /// The naive rule cannot count to two billion. Instead, check that no seat could go to a more deserving candidate.
    #[test]
    fn webster_is_optimal_for_huge_totals(rows in rows(i64::from(i32::MAX)), replicas in 0_i64..=i64::MAX) {
        let weights = column(&rows, |row| row.0);
        prop_assume!(weights.iter().any(|&weight| weight > 0));
        let seats = shares(Rounding::Webster, replicas, &weights, &vec![0; rows.len()]).unwrap();
        prop_assert_eq!(seats.iter().map(|&count| i128::from(count)).sum::<i128>(), i128::from(replicas));
        for (&giver_weight, &giver_seats) in weights.iter().zip(&seats) {
            for (&taker_weight, &taker_seats) in weights.iter().zip(&seats) {
                // The giver's last seat is worth at least the taker's next.
                prop_assert!(giver_seats == 0 || i128::from(giver_weight) * (2 * i128::from(taker_seats) + 1)
                    >= i128::from(taker_weight) * (2 * i128::from(giver_seats) - 1));
            }
        }
    }

    #[test]
    fn shares_sum_up_and_do_not_depend_on_the_order(rows in rows(1000), replicas in 0_i64..100_000) {
        prop_assume!(rows.iter().any(|row| row.0 > 0));
        let (moved, positions) = reversed(&rows);
        for rounding in ALL_ROUNDINGS {
            let run = |rows: &[(i64, i64, i64)], ties: &dyn Fn(usize) -> u64| divide(rows.len(), |out, scratch| {
                rounding.divide(replicas, &column(rows, |row| row.0), &column(rows, |row| row.1), ties, out, scratch)
            }).unwrap();
            let shares = run(&rows, &ties);
            prop_assert_eq!(shares.iter().sum::<i64>(), replicas);
            let moved_ties = |index: usize| ties(positions[index]);
            prop_assert_eq!(&back(&run(&moved, &moved_ties), &positions), &shares);
            for (&share, row) in shares.iter().zip(&rows) {
                prop_assert!(row.0 > 0 || share == 0);
            }
        }
    }

    /// If the weights are the capacities, no share exceeds a capacity.
    #[test]
    fn no_share_exceeds_its_weight_while_the_total_does_not(rows in rows(1000), part in 0.0..=1.0) {
        let weights = column(&rows, |row| row.0);
        let sum: i64 = weights.iter().sum();
        prop_assume!(sum > 0);
        let replicas = (sum as f64 * part) as i64;
        for rounding in ALL_ROUNDINGS {
            let shares = shares(rounding, replicas, &weights, &column(&rows, |row| row.1)).unwrap();
            prop_assert!(shares.iter().zip(&weights).all(|(share, weight)| share <= weight), "{shares:?}");
        }
    }

    /// Inertia (`proposals/static-weight-evenly.md`): dividing the same again changes nothing, under any ties.
    #[test]
    fn an_unchanged_total_changes_nothing(rows in rows(50), replicas in 0_i64..500) {
        let weights = column(&rows, |row| row.0);
        prop_assume!(weights.iter().any(|&weight| weight > 0));
        let first = naive::floor_and_rank(replicas, &weights, &column(&rows, |row| row.1), ties);
        let again = divide(rows.len(), |out, scratch| {
            Rounding::FloorThenRank.divide(replicas, &weights, &first, |index| !ties(index), out, scratch)
        });
        prop_assert_eq!(again.unwrap(), first);
    }
}
