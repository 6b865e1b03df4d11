//! Tests of the divisions: tables of named cases, then properties against the naive rules.

mod aggregation;
mod capacity;
mod extremes;
mod groups;
mod naive;
mod proportional;
mod shares;
mod tie_order;
mod tier_walk;

use super::{Cycle, DivisionError, Request, Rounding, Scratch};
use proptest::prelude::*;

const ALL_ROUNDINGS: [Rounding; 4] = [
    Rounding::FloorThenRank,
    Rounding::LargestRemainder,
    Rounding::Webster,
    Rounding::Karmada,
];

fn request<'a>(replicas: i64, fits_now: &'a [i64], last: &'a [i64], cycle: Cycle) -> Request<'a> {
    Request {
        replicas,
        fits_now,
        last,
        cycle,
    }
}

fn unschedulable<Counts>(requested: i64, available: i64) -> Result<Counts, DivisionError> {
    Err(DivisionError::Unschedulable { requested, available })
}

/// Runs a division twice with the same scratch: leftovers of the first call must not affect the second.
fn divide(
    candidates: usize,
    division: impl Fn(&mut [i64], &mut Scratch) -> Result<(), DivisionError>,
) -> Result<Vec<i64>, DivisionError> {
    let mut scratch = Scratch::default();
    let mut first = vec![-1; candidates];
    let result = division(&mut first, &mut scratch);
    let mut second = vec![-2; candidates];
    assert_eq!(result, division(&mut second, &mut scratch));
    if result.is_ok() {
        assert_eq!(first, second);
        assert!(first.iter().all(|&count| count >= 0), "{first:?}");
    }
    result.map(|()| first)
}

/// Distinct tie keys that are unrelated to the position.
fn ties(index: usize) -> u64 {
    super::ties::mix64(index as u64 + 1)
}

/// Rows of columns: one tuple per candidate, so that a permutation moves a candidate as a whole.
fn rows(max_value: i64) -> impl Strategy<Value = Vec<(i64, i64, i64)>> {
    let small = 0..=4_i64.min(max_value);
    let entry = || prop_oneof![small.clone(), 0..=max_value];
    prop::collection::vec((entry(), entry(), entry()), 1..24)
}

fn column<Row: Copy, Value>(rows: &[Row], part: impl Fn(Row) -> Value) -> Vec<Value> {
    rows.iter().map(|&row| part(row)).collect()
}

/// The rows in reverse order, and the old position for each new one.
fn reversed<Row: Copy>(rows: &[Row]) -> (Vec<Row>, Vec<usize>) {
    let positions: Vec<usize> = (0..rows.len()).rev().collect();
    (positions.iter().map(|&position| rows[position]).collect(), positions)
}

/// Restores the old order of `out`, which was computed over permuted rows.
fn back(out: &[i64], positions: &[usize]) -> Vec<i64> {
    let mut restored = vec![0; out.len()];
    for (&count, &position) in out.iter().zip(positions) {
        restored[position] = count;
    }
    restored
}
