//! Extreme inputs: any input gives an error or a result with the right sum, never a panic, and no loop per replica.

use super::super::aggregate::{Fill, aggregate};
use super::super::apportionment::equal_shares;
use super::super::dynamic::divide_by_dynamic_weight;
use super::super::even_change::change_evenly;
use super::super::level_fill::{fill_evenly, water_level};
use super::super::tiers::{LastTier, divide_among_tiers};
use super::super::{Cycle, DivisionError, Rounding, Scratch};
use super::{ALL_ROUNDINGS, request, ties};
use proptest::prelude::*;

type Division<'a> = &'a dyn Fn(&mut [i64], &mut Scratch) -> Result<(), DivisionError>;

/// Passes every division over the same columns, which may be invalid, to `check`.
fn every_division(
    replicas: i64,
    first: &[i64],
    second: &[i64],
    tier_of: &[u32],
    mut check: impl FnMut(&str, Division<'_>),
) {
    for rounding in ALL_ROUNDINGS {
        check("rounding", &|out, scratch| {
            rounding.divide(replicas, first, second, ties, out, scratch)
        });
    }
    check("equal_shares", &|out, scratch| {
        equal_shares(replicas, first, ties, out, scratch)
    });
    check("change_evenly", &|out, scratch| {
        change_evenly(replicas, first, ties, out, scratch)
    });
    check("fill_evenly", &|out, scratch| {
        fill_evenly(replicas, first, second, second, ties, out, scratch)
    });
    for cycle in [Cycle::Steady, Cycle::Fresh] {
        let request = request(replicas, first, second, cycle);
        for rounding in ALL_ROUNDINGS {
            check("dynamic", &|out, scratch| {
                divide_by_dynamic_weight(&request, rounding, ties, out, scratch)
            });
        }
        for fill in [Fill::Pack, Fill::default(), Fill::Proportional(Rounding::Webster)] {
            check("aggregate", &|out, scratch| {
                aggregate(&request, fill, ties, ties, out, scratch)
            });
        }
        for last_tier in [LastTier::WithinCapacity, LastTier::TakesTheRest] {
            check("tiers", &|out, scratch| {
                divide_among_tiers(&request, tier_of, last_tier, out, scratch)
            });
        }
    }
}

fn any_count() -> impl Strategy<Value = i64> {
    let max32 = i64::from(i32::MAX);
    prop_oneof![
        4 => 0_i64..10,
        2 => max32 - 3..=max32,
        2 => i64::MAX - 3..=i64::MAX,
        1 => any::<i64>(),
    ]
}

fn any_column() -> impl Strategy<Value = Vec<i64>> {
    let lengths = prop_oneof![9 => Just(5_usize), 1 => 0_usize..7];
    (lengths, any::<bool>()).prop_flat_map(|(length, sane)| {
        let max32 = i64::from(i32::MAX);
        let entry = if sane {
            prop_oneof![0..10_i64, max32 - 3..=max32].boxed()
        } else {
            any_count().boxed()
        };
        prop::collection::vec(entry, length)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn nothing_panics_and_results_sum_up(
        replicas in any_count(),
        first in any_column(),
        second in any_column(),
        tier_of in prop::collection::vec(0_u32..6, 5),
        length in prop_oneof![9 => Just(5_usize), 1 => 0_usize..7],
    ) {
        let mut scratch = Scratch::default();
        every_division(replicas, &first, &second, &tier_of, |name, division| {
            let mut out = vec![-1; length];
            if division(&mut out, &mut scratch).is_ok() {
                assert!(out.iter().all(|&count| count >= 0), "{name} {out:?}");
                let sum: i128 = out.iter().map(|&count| i128::from(count)).sum();
                assert_eq!(sum, i128::from(replicas), "{name} {out:?}");
            }
        });
        let (level, left) = water_level(&first, replicas, &mut Scratch::default());
        prop_assert!(level >= 0 && left >= 0);
    }
}

/// Five thousand candidates and totals up to i32::MAX in a debug build: a loop per replica would take minutes.
#[test]
fn large_fleets_and_large_totals() {
    let mut scratch = Scratch::default();
    let spread: Vec<i64> = (0..5000).map(|index| (ties(index) % 1_000_000) as i64).collect();
    let doubling: Vec<i64> = (0..5000).map(|index| 1 << (index % 31)).collect();
    let equal = vec![1_000_000; 5000];
    let tier_of: Vec<u32> = (0..5000).map(|index| index as u32).collect();
    for weights in [&spread, &doubling, &equal] {
        for replicas in [1, 4999, 100_000, 2_000_000_000, i64::from(i32::MAX)] {
            every_division(replicas, weights, &spread, &tier_of, |name, division| {
                let mut out = vec![-1; 5000];
                division(&mut out, &mut scratch).unwrap_or_else(|error| panic!("{name}: {error}"));
                assert_eq!(out.iter().sum::<i64>(), replicas, "{name}");
            });
        }
    }
}
