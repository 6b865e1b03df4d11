//! The tie order: fixed values, independence and equal chances.

use super::super::Scratch;
use super::super::apportionment::equal_shares;
use super::super::ties::{identity_hash, karmada_descends, mix64, seed_for, tie_key};

/// Recorded decisions must replay: these values never change.
#[test]
fn the_algorithm_is_fixed() {
    // SplitMix64 from state 0: its first output is the finaliser of the golden gamma.
    assert_eq!(mix64(0x9e37_79b9_7f4a_7c15), 0xe220_a839_7b1d_cdaf);
    // FNV-1a of "a" is 0xaf63dc4c8601ec8c.
    assert_eq!(identity_hash("a"), mix64(0xaf63_dc4c_8601_ec8c));
    assert_ne!(seed_for(0, "uid"), seed_for(1, "uid"));
    assert_ne!(seed_for(0, "uid"), seed_for(0, "uie"));
    // FNV-1a with 32 bits of "a" is 0xe40c292c, of "b" 0xe70c2de5.
    assert!(!karmada_descends("a"));
    assert!(karmada_descends("b"));
}

#[test]
fn without_a_uid_names_ascend_as_in_karmada() {
    assert!(!karmada_descends(""));
}

/// Pearson's statistic of counts that should be equal.
fn chi_square(counts: &[u64]) -> f64 {
    let expected = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    counts
        .iter()
        .map(|&count| (count as f64 - expected).powi(2) / expected)
        .sum()
}

#[test]
fn every_subset_of_equals_is_equally_likely() {
    let identities = ["member1", "member2", "member3", "member4", "member5"].map(identity_hash);
    let mut scratch = Scratch::default();
    // Bounds: the chi-square quantile of 0.999 for 4, 9, 9 and 4 degrees of freedom.
    for (remainder, bound) in [(1, 18.47), (2, 27.88), (3, 27.88), (4, 18.47)] {
        let mut subsets = std::collections::BTreeMap::new();
        for binding in 0..10_000 {
            let seed = seed_for(0, &format!("5f1c0c9e-0000-4000-8000-{binding:012x}"));
            let mut out = [0; 5];
            let ties = |index: usize| tie_key(seed, identities[index]);
            equal_shares(remainder, &[0; 5], ties, &mut out, &mut scratch).unwrap();
            *subsets.entry(out).or_insert(0) += 1;
        }
        let counts: Vec<u64> = subsets.into_values().collect();
        assert_eq!(counts.len(), [5, 10, 10, 5][remainder as usize - 1]);
        assert!(chi_square(&counts) < bound, "{remainder}: {counts:?}");
    }
}

/// All 24 orders of four clusters are equally likely over neighbouring profile seeds for one binding.
#[test]
fn neighbouring_seeds_draw_independent_orders() {
    let identities = ["a", "b", "c", "d"].map(identity_hash);
    let mut orders = std::collections::BTreeMap::new();
    for profile_seed in 0..10_000 {
        let seed = seed_for(profile_seed, "5f1c0c9e-7d5e-4a39-a3a5-6f1d3c1e6b0f");
        let mut order = [0, 1, 2, 3];
        order.sort_by_key(|&index: &usize| tie_key(seed, identities[index]));
        *orders.entry(order).or_insert(0) += 1;
    }
    let counts: Vec<u64> = orders.into_values().collect();
    assert_eq!(counts.len(), 24);
    assert!(chi_square(&counts) < 49.73, "{counts:?}");
}
