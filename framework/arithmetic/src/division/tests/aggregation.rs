//! DynamicWeight's and Aggregated's rules.

use super::super::aggregate::{Fill, aggregate};
use super::super::dynamic::divide_by_dynamic_weight;
use super::super::{Cycle, DivisionError, Request, Rounding};
use super::{ALL_ROUNDINGS, back, column, divide, naive, request, reversed, rows, ties, unschedulable};
use proptest::prelude::*;
use std::cmp::Reverse;

const KARMADA: Fill = Fill::Proportional(Rounding::Karmada);
const FLOORS: Fill = Fill::Proportional(Rounding::FloorThenRank);

fn aggregated(request: Request<'_>, fill: Fill) -> Result<Vec<i64>, DivisionError> {
    divide(request.fits_now.len(), |out, scratch| {
        aggregate(&request, fill, |index| index as u64, ties, out, scratch)
    })
}

fn dynamic(request: Request<'_>, rounding: Rounding) -> Result<Vec<i64>, DivisionError> {
    divide(request.fits_now.len(), |out, scratch| {
        divide_by_dynamic_weight(&request, rounding, |index| index as u64, out, scratch)
    })
}

#[test]
fn named_aggregations() {
    use Cycle::{Fresh, Steady};
    let empty = [0; 4];
    for (fill, replicas, fits_now, last, cycle, expected) in [
        (FLOORS, 8, [10; 4], empty, Steady, [8, 0, 0, 0]),
        (FLOORS, 16, [10; 4], empty, Steady, [8, 8, 0, 0]),
        (Fill::Pack, 16, [10; 4], empty, Steady, [10, 6, 0, 0]),
        // The roomiest first, regardless of its index.
        (FLOORS, 12, [4, 6, 20, 6], empty, Steady, [0, 0, 12, 0]),
        (FLOORS, 24, [4, 6, 20, 6], empty, Steady, [0, 5, 19, 0]),
        (Fill::Pack, 24, [4, 6, 20, 6], empty, Steady, [0, 4, 20, 0]),
        // Clusters with replicas come first, and keep them.
        (FLOORS, 5, [4, 6, 20, 6], [3, 0, 0, 0], Steady, [5, 0, 0, 0]),
        (Fill::Pack, 10, [4, 6, 20, 6], [3, 0, 0, 1], Steady, [3, 0, 0, 7]),
        (FLOORS, 10, [4, 6, 20, 6], [3, 0, 0, 1], Steady, [3, 0, 0, 7]),
        (Fill::Pack, 14, [4, 6, 20, 6], [3, 0, 0, 1], Steady, [7, 0, 0, 7]),
        (KARMADA, 12, [4, 6, 20, 6], [3, 0, 0, 1], Steady, [6, 0, 0, 6]),
        // Shrinking: the largest first, and the shortest prefix that has room for the new total.
        (FLOORS, 5, [9; 4], [3, 0, 6, 2], Steady, [0, 0, 5, 0]),
        (FLOORS, 8, [9; 4], [3, 0, 6, 2], Steady, [2, 0, 6, 0]),
        (Fill::Pack, 8, [9; 4], [3, 0, 6, 2], Steady, [2, 0, 6, 0]),
        (Fill::Pack, 0, [9; 4], [3, 0, 6, 2], Steady, [0, 0, 0, 0]),
        // Equal totals change nothing; fresh starts from scratch, by capacity.
        (FLOORS, 11, [9; 4], [3, 0, 6, 2], Steady, [3, 0, 6, 2]),
        (FLOORS, 11, [9; 4], [3, 0, 6, 2], Fresh, [0, 0, 11, 0]),
        (Fill::Pack, 20, [9; 4], [3, 0, 6, 2], Fresh, [5, 0, 15, 0]),
    ] {
        let request = request(replicas, &fits_now, &last, cycle);
        assert_eq!(aggregated(request, fill), Ok(expected.to_vec()), "{fill:?} {request:?}");
    }
}

#[test]
fn named_dynamic_weights() {
    use Cycle::{Fresh, Steady};
    for (rounding, replicas, fits_now, last, cycle, expected) in [
        (Rounding::FloorThenRank, 12, [12, 6, 0], [1, 1, 1], Steady, [7, 4, 1]),
        (Rounding::FloorThenRank, 9, [10, 10, 10], [0, 0, 0], Steady, [3, 3, 3]),
        (Rounding::FloorThenRank, 3, [12, 6, 0], [2, 2, 2], Steady, [1, 1, 1]),
        (Rounding::FloorThenRank, 6, [12, 6, 0], [0, 0, 6], Steady, [0, 0, 6]),
        (Rounding::FloorThenRank, 6, [12, 6, 0], [0, 0, 6], Fresh, [4, 1, 1]),
        (Rounding::Karmada, 6, [12, 6, 0], [0, 0, 6], Fresh, [3, 2, 1]),
        (Rounding::Karmada, 0, [0, 0, 0], [0, 0, 6], Steady, [0, 0, 0]),
    ] {
        let request = request(replicas, &fits_now, &last, cycle);
        let actual = dynamic(request, rounding);
        assert_eq!(actual, Ok(expected.to_vec()), "{rounding:?} {request:?}");
    }
}

#[test]
fn too_small_names_both_figures() {
    for cycle in [Cycle::Steady, Cycle::Fresh] {
        let request = request(12, &[4, 1], &[3, 3], cycle);
        assert_eq!(dynamic(request, Rounding::default()), unschedulable(12, 11));
        assert_eq!(aggregated(request, Fill::default()), unschedulable(12, 11));
        assert_eq!(aggregated(request, Fill::Pack), unschedulable(12, 11));
    }
}

/// Two clusters that each fit i32::MAX add up to -2 in Karmada, three to i32::MAX - 2.
#[test]
fn karmada_refuses_zero_where_its_sum_wraps() {
    let max32 = i64::from(i32::MAX);
    for (candidates, expected) in [(1, true), (2, false), (3, true), (4, false)] {
        let (fits_now, last) = (vec![max32; candidates], vec![0; candidates]);
        let fresh = request(0, &fits_now, &last, Cycle::Fresh);
        assert_eq!(dynamic(fresh, Rounding::Karmada).is_ok(), expected);
        assert_eq!(aggregated(fresh, KARMADA).is_ok(), expected);
        assert_eq!(dynamic(fresh, Rounding::Webster), Ok(vec![0; candidates]));
        let steady = request(0, &fits_now, &last, Cycle::Steady);
        assert_eq!(dynamic(steady, Rounding::Karmada), Ok(vec![0; candidates]));
    }
}

fn cycles() -> impl Strategy<Value = Cycle> {
    prop_oneof![Just(Cycle::Steady), Just(Cycle::Fresh)]
}

fn fills() -> impl Strategy<Value = Fill> {
    let proportional = prop::sample::select(&ALL_ROUNDINGS).prop_map(Fill::Proportional);
    prop_oneof![1 => Just(Fill::Pack), 4 => proportional]
}

proptest! {
    /// Compares with the rule implemented by full sorts, and checks that no share exceeds its capacity.
    #[test]
    fn aggregations_equal_the_sorted_rule(
        rows in rows(60), part in 0.0..=1.1, cycle in cycles(), fill in fills(), huge in any::<bool>(),
    ) {
        // Figures beyond 32 bits take the path for wide ranks.
        let factor = if huge { 1 << 50 } else { 1 };
        let fits_now = column(&rows, |row| row.0 * factor);
        let last = column(&rows, |row| row.1.min(8));
        let present: i64 = last.iter().sum();
        let available = fits_now.iter().sum::<i64>() + present;
        let replicas = (available as f64 * part) as i64;
        let order = |index: usize| if huge { super::super::ties::mix64(index as u64) } else { 100 - index as u64 };
        let run = |fits_now: &[i64], last: &[i64], position: &dyn Fn(usize) -> usize| divide(fits_now.len(), |out, scratch| {
            let request = request(replicas, fits_now, last, cycle);
            aggregate(&request, fill, |index| order(position(index)), |index| ties(position(index)), out, scratch)
        });
        let actual = run(&fits_now, &last, &|index| index);
        if replicas > available {
            prop_assert_eq!(actual, unschedulable(replicas, available));
            return Ok(());
        }
        let actual = actual.unwrap();
        let (moved, positions) = reversed(&fits_now.iter().copied().zip(last.iter().copied()).collect::<Vec<_>>());
        let permuted = run(&column(&moved, |row| row.0), &column(&moved, |row| row.1), &|index| positions[index]);
        prop_assert_eq!(&back(&permuted.unwrap(), &positions), &actual);

        let steady = cycle == Cycle::Steady;
        if steady && replicas == present {
            prop_assert_eq!(actual, last);
            return Ok(());
        }
        let growing = steady && replicas > present;
        let (needed, capacities, mut expected) = if growing {
            (replicas - present, fits_now.clone(), last.clone())
        } else if steady {
            (replicas, last.clone(), vec![0; rows.len()])
        } else {
            (replicas, fits_now.iter().zip(&last).map(|(fits, last)| fits + last).collect(), vec![0; rows.len()])
        };
        let members = naive::prefix(needed, &capacities, |index| {
            (growing && last[index] == 0, Reverse(capacities[index]), order(index))
        });
        let mut left = needed;
        let shares = match fill {
            Fill::Pack => members.iter().map(|&member| {
                let share = capacities[member].min(left);
                left -= share;
                share
            }).collect(),
            Fill::Proportional(rounding) => {
                let weights = column(&members, |member| capacities[member]);
                let last = column(&members, |member| last[member]);
                let ties = |position: usize| ties(members[position]);
                divide(members.len(), |out, scratch| rounding.divide(needed, &weights, &last, ties, out, scratch)).unwrap()
            }
        };
        for (&member, share) in members.iter().zip(shares) {
            prop_assert!(share <= capacities[member]);
            expected[member] += share;
        }
        prop_assert_eq!(actual, expected);
    }

    #[test]
    fn dynamic_weights_hold_their_promises(rows in rows(1000), part in 0.0..=1.1, cycle in cycles()) {
        let (fits_now, last) = (column(&rows, |row| row.0), column(&rows, |row| row.1));
        let present: i64 = last.iter().sum();
        let available = fits_now.iter().sum::<i64>() + present;
        let replicas = (available as f64 * part) as i64;
        for rounding in [Rounding::FloorThenRank, Rounding::Karmada] {
            match dynamic(request(replicas, &fits_now, &last, cycle), rounding) {
                Err(error) => {
                    prop_assert!(replicas > available);
                    prop_assert_eq!(error, DivisionError::Unschedulable { requested: replicas, available });
                }
                Ok(shares) => {
                    prop_assert_eq!(shares.iter().sum::<i64>(), replicas);
                    for ((share, fits), last) in shares.iter().zip(&fits_now).zip(&last) {
                        prop_assert!(*share <= fits + last);
                        if cycle == Cycle::Steady {
                            prop_assert!(replicas < present || share >= last);
                            prop_assert!(replicas > present || share <= last);
                        }
                    }
                }
            }
        }
    }
}
