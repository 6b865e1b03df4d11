//! Named cases, and one property.

mod wiring;

use crate::duplicated::divide;
use divvy_framework::division::DivisionError;
use proptest::prelude::*;

#[test]
fn named_cases() {
    for (name, replicas, candidates, expected) in [
        ("one candidate", 3, 1, vec![3]),
        ("several", 3, 4, vec![3; 4]),
        ("none", 3, 0, vec![]),
        ("zero replicas", 0, 2, vec![0; 2]),
        ("the largest count", i32::MAX.into(), 2, vec![i32::MAX.into(); 2]),
    ] {
        let mut out = vec![-1; candidates];
        assert_eq!(divide(replicas, &mut out), Ok(()), "{name}");
        assert_eq!(out, expected, "{name}");
    }
    let negative = DivisionError::Negative {
        column: "replicas",
        index: 0,
        value: -1,
    };
    assert_eq!(divide(-1, &mut [0]), Err(negative));
}

proptest! {
    #[test]
    fn all_get_the_full_count(replicas in 0_i64..=i64::MAX, mut out in prop::collection::vec(any::<i64>(), 0..20)) {
        divide(replicas, &mut out).unwrap();
        prop_assert!(out.iter().all(|&count| count == replicas));
    }
}
