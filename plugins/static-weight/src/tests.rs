//! The five stories of the proposal, Karmada's method, and properties.

mod wiring;

use crate::static_weight::{Method, divide, weigh_alike_unless_weighted};
use divvy_framework::division::DivisionError;
use divvy_framework::division::Scratch;
use divvy_framework::division::ties::{identity_hash, karmada_descends, karmada_tie_key, seed_for, tie_key};
use proptest::prelude::*;
use std::collections::BTreeMap;

const BINDINGS: u64 = 10_000;

fn divided(replicas: i64, weights: &[i64], last: &[i64], method: Method, ties: impl Fn(usize) -> u64) -> Vec<i64> {
    let (mut out, mut weights) = (vec![-1; weights.len()], weights.to_vec());
    weigh_alike_unless_weighted(&mut weights);
    divide(
        replicas,
        &weights,
        last,
        method,
        ties,
        &mut out,
        &mut Scratch::default(),
    )
    .unwrap();
    assert_eq!(out.iter().sum::<i64>(), replicas);
    out
}

/// Number of occurrences of each result over many bindings.
fn results(replicas: i64, weights: &[i64], last: &[i64]) -> BTreeMap<Vec<i64>, u64> {
    let identities: Vec<u64> = (1..=weights.len())
        .map(|member| identity_hash(&format!("member{member}")))
        .collect();
    let mut results = BTreeMap::new();
    for binding in 0..BINDINGS {
        let seed = seed_for(0, &format!("1b9d6bcd-bbfd-4b2d-9b5d-{binding:012x}"));
        let ties = |index: usize| tie_key(seed, identities[index]);
        *results
            .entry(divided(replicas, weights, last, Method::EvenRemainder, ties))
            .or_default() += 1;
    }
    results
}

/// Asserts that exactly these results occur, all equally often: Pearson's chi-square is below the 0.999 quantile.
fn check(replicas: i64, weights: &[i64], last: &[i64], expected: &[&[i64]]) {
    let results = results(replicas, weights, last);
    let mut sorted: Vec<&[i64]> = expected.to_vec();
    sorted.sort();
    assert_eq!(
        results.keys().map(Vec::as_slice).collect::<Vec<_>>(),
        sorted,
        "{replicas} {weights:?} {last:?}"
    );
    let quantiles = [0.0, 10.83, 13.82, 16.27, 18.47, 20.52, 22.46, 24.32, 26.12, 27.88];
    let mean = BINDINGS as f64 / expected.len() as f64;
    let statistic: f64 = results
        .values()
        .map(|&count| (count as f64 - mean).powi(2) / mean)
        .sum();
    assert!(statistic <= quantiles[expected.len() - 1], "{statistic} {results:?}");
}

#[test]
fn story_1_expanded_replicas() {
    let new = [0; 4];
    check(7, &[2, 1, 1, 1], &new, &[&[3, 2, 1, 1], &[3, 1, 2, 1], &[3, 1, 1, 2]]);
    check(8, &[2, 1, 1, 1], &[3, 2, 1, 1], &[&[4, 2, 1, 1]]);
}

#[test]
fn story_2_reduced_replicas() {
    let new = [0; 4];
    check(9, &[2, 1, 1, 1], &new, &[&[4, 2, 2, 1], &[4, 2, 1, 2], &[4, 1, 2, 2]]);
    check(8, &[2, 1, 1, 1], &[4, 2, 2, 1], &[&[4, 2, 1, 1], &[4, 1, 2, 1]]);
}

#[test]
fn story_3_modified_weights() {
    let pairs: [&[i64]; 6] = [
        &[2, 2, 1, 1],
        &[2, 1, 2, 1],
        &[2, 1, 1, 2],
        &[1, 2, 2, 1],
        &[1, 2, 1, 2],
        &[1, 1, 2, 2],
    ];
    check(6, &[1; 4], &[0; 4], &pairs);
    check(6, &[2, 1, 1, 1], &[2, 1, 2, 1], &[&[3, 1, 1, 1]]);
    check(7, &[2, 1, 1, 1], &[2, 1, 2, 1], &[&[3, 1, 2, 1]]);
}

#[test]
fn story_4_expanded_clusters() {
    check(5, &[1; 3], &[0; 3], &[&[2, 2, 1], &[2, 1, 2], &[1, 2, 2]]);
    check(5, &[1; 4], &[2, 1, 2, 0], &[&[1, 1, 2, 1], &[2, 1, 1, 1]]);
}

#[test]
fn story_5_reduced_clusters() {
    check(
        5,
        &[1; 4],
        &[0; 4],
        &[&[2, 1, 1, 1], &[1, 2, 1, 1], &[1, 1, 2, 1], &[1, 1, 1, 2]],
    );
    check(5, &[1; 3], &[2, 1, 1], &[&[2, 2, 1], &[2, 1, 2]]);
}

/// The problem that the proposal fixes: with five equal clusters, single replicas reach every cluster equally often.
#[test]
fn remainders_of_one_and_two_are_drawn_evenly() {
    let one: Vec<Vec<i64>> = (0..5)
        .map(|winner| (0..5).map(|index| i64::from(index == winner)).collect())
        .collect();
    check(1, &[1; 5], &[0; 5], &one.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let mut two = Vec::new();
    for first in 0..5 {
        for second in first + 1..5 {
            two.push(
                (0..5)
                    .map(|index| i64::from(index == first || index == second))
                    .collect::<Vec<_>>(),
            );
        }
    }
    check(2, &[1; 5], &[0; 5], &two.iter().map(Vec::as_slice).collect::<Vec<_>>());
}

#[test]
fn named_cases() {
    use Method::{EvenRemainder, Webster};
    for (name, method, replicas, weights, last, expected) in [
        ("current realization", EvenRemainder, 7, [2, 1, 1], [0; 3], [4, 2, 1]),
        ("no weights", EvenRemainder, 5, [0; 3], [0, 0, 1], [2, 1, 2]),
        ("no weights, webster", Webster, 5, [0; 3], [0, 0, 1], [2, 2, 1]),
        ("one weight", EvenRemainder, 5, [0, 3, 0], [9, 0, 9], [0, 5, 0]),
        ("one weight, webster", Webster, 5, [0, 3, 0], [9, 0, 9], [0, 5, 0]),
        ("nothing to divide", EvenRemainder, 0, [1, 2, 3], [5; 3], [0; 3]),
        (
            "webster favours small weights",
            Webster,
            10,
            [5, 3, 3],
            [0; 3],
            [4, 3, 3],
        ),
        (
            "webster ignores the last result",
            Webster,
            1,
            [1; 3],
            [0, 1, 0],
            [1, 0, 0],
        ),
        (
            "heavy weights",
            EvenRemainder,
            4,
            [i64::MAX, i64::MAX, 0],
            [0; 3],
            [2, 2, 0],
        ),
        (
            "heavy weights, webster",
            Webster,
            4,
            [i64::MAX, i64::MAX, 0],
            [0; 3],
            [2, 2, 0],
        ),
    ] {
        assert_eq!(
            divided(replicas, &weights, &last, method, |index| index as u64),
            expected,
            "{name}"
        );
    }
}

/// The design's measurement of Karmada: five equal clusters, one replica, one bit of the UID.
#[test]
fn karmadas_tie_rule_chooses_only_the_ends() {
    let mut totals = [0; 5];
    for binding in 0..1000 {
        let descends = karmada_descends(&format!("1b9d6bcd-bbfd-4b2d-9b5d-{binding:012x}"));
        let ties = |index: usize| karmada_tie_key(descends, index as u64);
        for (total, share) in totals
            .iter_mut()
            .zip(divided(1, &[1; 5], &[0; 5], Method::Webster, ties))
        {
            *total += share;
        }
    }
    assert_eq!(totals[1..4], [0, 0, 0]);
    assert_eq!(totals[0] + totals[4], 1000);
    assert!((400..600).contains(&totals[0]), "{totals:?}");
}

#[test]
fn errors() {
    let mut scratch = Scratch::default();
    for method in [Method::EvenRemainder, Method::Webster] {
        let no_candidates = divide(3, &[], &[], method, |_| 0, &mut [], &mut scratch);
        assert_eq!(no_candidates, Err(DivisionError::NoWeight { requested: 3 }));
        let short = divide(3, &[0], &[0, 0], method, |_| 0, &mut [0, 0], &mut scratch);
        assert!(matches!(short, Err(DivisionError::LengthMismatch { .. })), "{short:?}");
        let negative = divide(3, &[1, -1], &[0, 0], method, |_| 0, &mut [0, 0], &mut scratch);
        assert_eq!(
            negative,
            Err(DivisionError::Negative {
                column: "weights",
                index: 1,
                value: -1
            })
        );
    }
}

proptest! {
    /// Inertia: dividing again from the result changes nothing, even if ties are reversed.
    #[test]
    fn repeating_a_division_changes_nothing(
        weights in prop::collection::vec(0_i64..9, 1..10), replicas in 0_i64..100, salt in any::<u64>(),
    ) {
        let ties = |index: usize| tie_key(salt, index as u64);
        let first = divided(replicas, &weights, &vec![0; weights.len()], Method::EvenRemainder, ties);
        let again = divided(replicas, &weights, &first, Method::EvenRemainder, |index| !ties(index));
        prop_assert_eq!(first, again);
    }

    #[test]
    fn shares_are_within_one_of_the_quota(
        weights in prop::collection::vec(0_i64..=i64::MAX, 1..10), replicas in 0_i64..=i64::from(i32::MAX),
    ) {
        let shares = divided(replicas, &weights, &vec![0; weights.len()], Method::EvenRemainder, |index| index as u64);
        let sum: i128 = weights.iter().map(|&weight| i128::from(weight)).sum();
        prop_assume!(sum > 0);
        for (&share, &weight) in shares.iter().zip(&weights) {
            let floor = (i128::from(replicas) * i128::from(weight) / sum) as i64;
            prop_assert!(share == floor || share == floor + 1);
            prop_assert!(weight > 0 || share == 0);
        }
    }

    #[test]
    fn the_order_of_the_input_does_not_matter(
        rows in prop::collection::vec((0_i64..5, 0_i64..5), 1..10), replicas in 0_i64..60, webster in any::<bool>(),
    ) {
        let method = if webster { Method::Webster } else { Method::EvenRemainder };
        let (weights, last): (Vec<i64>, Vec<i64>) = rows.iter().copied().unzip();
        let shares = divided(replicas, &weights, &last, method, |index| tie_key(7, index as u64));
        let (weights, last): (Vec<i64>, Vec<i64>) = rows.iter().rev().copied().unzip();
        let mut mirrored =
            divided(replicas, &weights, &last, method, |index| tie_key(7, (rows.len() - 1 - index) as u64));
        mirrored.reverse();
        prop_assert_eq!(shares, mirrored);
    }
}
