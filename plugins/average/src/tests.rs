//! The proposal's story and its loop, and properties.

mod wiring;

use crate::average::{AverageColumns, AverageScratch, divide};
use divvy_framework::division::DivisionError;
use divvy_framework::division::ties::tie_key;
use proptest::prelude::*;
use std::cmp::Reverse;

fn divided(replicas: i64, columns: AverageColumns<'_>, ties: impl Fn(usize) -> u64) -> Result<Vec<i64>, DivisionError> {
    let mut out = vec![-1; columns.fits_now.len()];
    divide(replicas, columns, ties, &mut out, &mut AverageScratch::default()).map(|()| out)
}

#[test]
fn named_cases() {
    for (name, replicas, fits_now, last, scores, expected) in [
        ("story 1 of the proposal", 6, [10; 3], [0; 3], [0; 3], [2, 2, 2]),
        ("the remainder is not lost", 8, [10; 3], [0; 3], [0; 3], [3, 3, 2]),
        ("the remainder by score", 7, [10; 3], [5, 0, 0], [0, 0, 100], [2, 2, 3]),
        ("then by last", 7, [10; 3], [0, 3, 0], [100; 3], [2, 3, 2]),
        ("a full cluster stops", 10, [1, 10, 10], [0; 3], [0; 3], [1, 5, 4]),
        ("last replicas are capacity", 6, [0, 0, 9], [2, 2, 0], [0; 3], [2, 2, 2]),
        (
            "a full last result is levelled",
            6,
            [6; 3],
            [6, 0, 0],
            [0; 3],
            [2, 2, 2],
        ),
        ("shrinking levels too", 3, [0; 3], [6, 1, 1], [0; 3], [1, 1, 1]),
        ("all capacity used", 8, [1, 2, 3], [0, 1, 1], [0; 3], [1, 3, 4]),
        ("nothing", 0, [1, 2, 3], [0, 1, 1], [0; 3], [0; 3]),
    ] {
        let columns = AverageColumns {
            fits_now: &fits_now,
            last: &last,
            scores: &scores,
        };
        assert_eq!(
            divided(replicas, columns, |index| index as u64),
            Ok(expected.to_vec()),
            "{name}"
        );
    }
}

#[test]
fn errors() {
    let columns = AverageColumns {
        fits_now: &[1, 2],
        last: &[1, 0],
        scores: &[0, 0],
    };
    let too_small = DivisionError::Unschedulable {
        requested: 5,
        available: 4,
    };
    assert_eq!(divided(5, columns, |_| 0), Err(too_small));
    let negative = AverageColumns {
        fits_now: &[1, -2],
        ..columns
    };
    let expected = DivisionError::Negative {
        column: "fits_now",
        index: 1,
        value: -2,
    };
    assert_eq!(divided(1, negative, |_| 0), Err(expected));
    let short = AverageColumns { last: &[1], ..columns };
    assert!(matches!(
        divided(1, short, |_| 0),
        Err(DivisionError::LengthMismatch { .. })
    ));
}

/// The steps of the proposal as written, with the remainder pending from the start.
fn proposals_loop(replicas: i64, capacities: &[i64], order: &[usize]) -> Vec<i64> {
    let average = replicas / capacities.len() as i64;
    let mut assigned: Vec<i64> = capacities.iter().map(|&capacity| capacity.min(average)).collect();
    let mut pending = replicas - assigned.iter().sum::<i64>();
    while pending > 0 {
        for &index in order {
            if pending > 0 && assigned[index] < capacities[index] {
                assigned[index] += 1;
                pending -= 1;
            }
        }
    }
    assigned
}

proptest! {
    #[test]
    fn equals_the_proposals_loop_and_is_max_min_fair(
        rows in prop::collection::vec((0_i64..40, 0_i64..6, -2_i64..3), 1..12), part in 0.0..=1.0, salt in any::<u64>(),
    ) {
        let fits_now: Vec<i64> = rows.iter().map(|row| row.0).collect();
        let last: Vec<i64> = rows.iter().map(|row| row.1).collect();
        let scores: Vec<i64> = rows.iter().map(|row| row.2).collect();
        let capacities: Vec<i64> = rows.iter().map(|row| row.0 + row.1).collect();
        let replicas = (capacities.iter().sum::<i64>() as f64 * part) as i64;
        let ties = |index: usize| tie_key(salt, index as u64);
        let columns = AverageColumns { fits_now: &fits_now, last: &last, scores: &scores };
        let shares = divided(replicas, columns, ties).unwrap();

        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by_key(|&index| (Reverse(scores[index]), Reverse(last[index]), ties(index)));
        prop_assert_eq!(&shares, &proposals_loop(replicas, &capacities, &order));
        let most = *shares.iter().max().unwrap();
        for (&share, &capacity) in shares.iter().zip(&capacities) {
            prop_assert!(share == capacity || (share < capacity && share + 1 >= most));
        }
    }
}
