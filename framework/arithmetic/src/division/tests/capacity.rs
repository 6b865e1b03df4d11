//! Even filling under capacities, and the even change.

use super::super::DivisionError;
use super::super::Scratch;
use super::super::even_change::change_evenly;
use super::super::level_fill::{fill_evenly, water_level};
use super::{back, column, divide, naive, reversed, rows, ties, unschedulable};
use proptest::prelude::*;

fn check_fill(replicas: i64, capacities: &[i64], scores: &[i64], expected: Result<&[i64], DivisionError>) {
    let last = vec![0; capacities.len()];
    let actual = divide(capacities.len(), |out, scratch| {
        fill_evenly(replicas, capacities, scores, &last, |index| index as u64, out, scratch)
    });
    assert_eq!(actual, expected.map(<[i64]>::to_vec), "{replicas} into {capacities:?}");
}

#[test]
fn named_fills() {
    check_fill(6, &[9, 9, 9], &[0; 3], Ok(&[2, 2, 2]));
    check_fill(8, &[9, 9, 9], &[0, 0, 100], Ok(&[3, 2, 3]));
    check_fill(12, &[1, 10, 10], &[0, 50, 80], Ok(&[1, 5, 6]));
    check_fill(5, &[0, 2, 9], &[9, 9, 0], Ok(&[0, 2, 3]));
    check_fill(12, &[1, 10, 1], &[0; 3], Ok(&[1, 10, 1]));
    check_fill(0, &[0, 0], &[0; 2], Ok(&[0, 0]));
    check_fill(0, &[], &[], Ok(&[]));
    check_fill(1, &[5, 5], &[-3, -2], Ok(&[0, 1]));
    check_fill(13, &[1, 10, 1], &[0; 3], unschedulable(13, 12));
    check_fill(1, &[], &[], unschedulable(1, 0));
}

fn check_change(last: &[i64], replicas: i64, expected: &[i64]) {
    let actual = divide(last.len(), |out, scratch| {
        change_evenly(replicas, last, |index| index as u64, out, scratch)
    });
    assert_eq!(actual.unwrap(), expected, "{last:?} to {replicas}");
}

#[test]
fn named_changes() {
    // proposals/specified-replicas.md, story 2 (region B of two clusters) and story 3.
    check_change(&[1, 4], 8, &[3, 5]);
    check_change(&[1, 4], 2, &[0, 2]);
    check_change(&[2, 1, 4], 11, &[3, 3, 5]);
    check_change(&[2, 1, 4], 3, &[1, 0, 2]);
    // README of the plugin `specified`, "Rule".
    check_change(&[0, 1, 5], 2, &[0, 0, 2]);
    check_change(&[3, 3], 6, &[3, 3]);
    check_change(&[3, 3], 0, &[0, 0]);
    check_change(&[0, 0, 0], 2, &[1, 1, 0]);
    check_change(&[1, 10, 10, 10], 20, &[0, 6, 7, 7]);
    check_change(&[], 0, &[]);
    let empty = divide(0, |out, scratch| change_evenly(3, &[], ties, out, scratch));
    assert_eq!(empty, Err(DivisionError::NoWeight { requested: 3 }));
}

#[test]
fn levels() {
    let level = |capacities: &[i64], replicas| water_level(capacities, replicas, &mut Scratch::default());
    assert_eq!(level(&[], 5), (0, 5));
    assert_eq!(level(&[3, 3], 10), (3, 4));
    assert_eq!(level(&[0, 0, 7], 3), (3, 0));
    assert_eq!(level(&[-4, 7], 3), (3, 0));
    assert_eq!(level(&[i64::MAX; 3], i64::MAX), (i64::MAX / 3, i64::MAX % 3));
}

proptest! {
    #[test]
    fn fills_equal_the_proposals_loop(rows in rows(60), part in 0.0..=1.0) {
        let [capacities, scores, last] = [column(&rows, |row| row.0), column(&rows, |row| row.1), column(&rows, |row| row.2)];
        let replicas = (capacities.iter().sum::<i64>() as f64 * part) as i64;
        let run = |rows: &[(i64, i64, i64)], ties: &dyn Fn(usize) -> u64| divide(rows.len(), |out, scratch| fill_evenly(
            replicas, &column(rows, |row| row.0), &column(rows, |row| row.1), &column(rows, |row| row.2), ties, out, scratch,
        )).unwrap();
        let filled = run(&rows, &ties);
        prop_assert_eq!(&filled, &naive::fill_evenly(replicas, &capacities, &scores, &last, ties));
        let (moved, positions) = reversed(&rows);
        prop_assert_eq!(back(&run(&moved, &|index| ties(positions[index])), &positions), filled);
    }

    /// No replica can move from a candidate to one that has at least two fewer and room.
    #[test]
    fn fills_are_max_min_fair(rows in rows(i64::from(i32::MAX)), part in 0.0..=1.0) {
        let capacities = column(&rows, |row| row.0);
        let replicas = (capacities.iter().sum::<i64>() as f64 * part) as i64;
        let filled = divide(rows.len(), |out, scratch| fill_evenly(
            replicas, &capacities, &column(&rows, |row| row.1), &column(&rows, |row| row.2), ties, out, scratch,
        )).unwrap();
        prop_assert_eq!(filled.iter().sum::<i64>(), replicas);
        let most = filled.iter().max().unwrap();
        for (count, capacity) in filled.iter().zip(&capacities) {
            prop_assert!(count <= capacity);
            prop_assert!(count == capacity || count + 1 >= *most);
        }
    }

    #[test]
    fn changes_equal_the_stepwise_rule(rows in rows(40), replicas in 0_i64..900) {
        let run = |last: &[i64], ties: &dyn Fn(usize) -> u64| divide(last.len(), |out, scratch| {
            change_evenly(replicas, last, ties, out, scratch)
        }).unwrap();
        let last = column(&rows, |row| row.0);
        let changed = run(&last, &ties);
        prop_assert_eq!(&changed, &naive::change_evenly(replicas, &last, ties));
        let (moved, positions) = reversed(&last);
        prop_assert_eq!(back(&run(&moved, &|index| ties(positions[index])), &positions), changed);
    }

    /// No count moves against the direction of the change, and an unchanged total changes no count.
    #[test]
    fn changes_go_one_way(rows in rows(i64::from(i32::MAX)), replicas in 0_i64..=i64::MAX) {
        let last = column(&rows, |row| row.0);
        let present: i64 = last.iter().sum();
        for replicas in [replicas, replicas % (present + 1), present] {
            let changed = divide(last.len(), |out, scratch| change_evenly(replicas, &last, ties, out, scratch)).unwrap();
            prop_assert_eq!(changed.iter().map(|&count| i128::from(count)).sum::<i128>(), i128::from(replicas));
            for (changed, last) in changed.iter().zip(&last) {
                prop_assert!(replicas < present || changed >= last);
                prop_assert!(replicas > present || changed <= last);
            }
        }
    }
}
