//! The proposal's stories and its mitigation, and properties.

mod wiring;

use crate::specified::{Group, SpecifiedError, SpecifiedScratch, divide, divide_without_preference};
use divvy_framework::division::DivisionError;
use divvy_framework::division::ties::tie_key;
use proptest::prelude::*;

fn divided(replicas: i64, groups: &[(&[u32], i64)], last: &[i64]) -> Result<Vec<i64>, SpecifiedError> {
    let mut out = vec![-1; last.len()];
    let groups = groups.iter().map(|&(members, replicas)| Group { members, replicas });
    let mut scratch = SpecifiedScratch::default();
    divide(replicas, groups, last, |index| index as u64, &mut out, &mut scratch).map(|()| out)
}

#[test]
fn named_cases() {
    type Case<'a> = (&'a str, i64, &'a [(&'a [u32], i64)], &'a [i64], &'a [i64]);
    let cases: [Case<'_>; 13] = [
        (
            "story 1: as before the migration",
            7,
            &[(&[0], 2), (&[1], 5)],
            &[0, 0],
            &[2, 5],
        ),
        ("usage example: 2 and 2", 4, &[(&[0], 2), (&[1], 2)], &[0, 0], &[2, 2]),
        (
            "story 2: growing",
            11,
            &[(&[0], 3), (&[1, 2], 8)],
            &[2, 1, 4],
            &[3, 3, 5],
        ),
        (
            "story 2: shrinking",
            3,
            &[(&[0], 1), (&[1, 2], 2)],
            &[2, 1, 4],
            &[1, 0, 2],
        ),
        ("story 3: growing", 11, &[(&[0, 1, 2], 11)], &[2, 1, 4], &[3, 3, 5]),
        ("story 3: shrinking", 3, &[(&[0, 1, 2], 3)], &[2, 1, 4], &[1, 0, 2]),
        ("a cluster at zero stops", 2, &[(&[0, 1, 2], 2)], &[0, 1, 5], &[0, 0, 2]),
        ("first scheduling of a region", 5, &[(&[0, 1], 5)], &[0, 0], &[3, 2]),
        (
            "candidates in no group get nothing",
            3,
            &[(&[2], 3)],
            &[4, 4, 4],
            &[0, 0, 3],
        ),
        (
            "one group grows, the other shrinks",
            6,
            &[(&[0, 1], 5), (&[2, 3], 1)],
            &[1, 1, 3, 1],
            &[3, 2, 1, 0],
        ),
        ("a count of zero", 2, &[(&[0], 0), (&[1], 2)], &[7, 0], &[0, 2]),
        ("an empty group with zero", 2, &[(&[], 0), (&[0], 2)], &[0], &[2]),
        ("no group, no replicas", 0, &[], &[3, 3], &[0, 0]),
    ];
    for (name, replicas, groups, last, expected) in cases {
        assert_eq!(divided(replicas, groups, last).as_deref(), Ok(expected), "{name}");
    }
}

#[test]
fn errors() {
    assert_eq!(
        divided(5, &[(&[0], 2), (&[1], 2)], &[0, 0]),
        Err(SpecifiedError::SumMismatch {
            specified: 4,
            requested: 5
        })
    );
    assert_eq!(
        divided(5, &[(&[0], i64::MAX), (&[1], i64::MAX)], &[0, 0]),
        Err(SpecifiedError::SumMismatch {
            specified: 2 * i128::from(i64::MAX),
            requested: 5
        })
    );
    assert_eq!(
        divided(4, &[(&[0], 2), (&[], 2)], &[0, 0]),
        Err(SpecifiedError::NoCandidate { group: 1, replicas: 2 })
    );
    assert_eq!(
        divided(9, &[(&[0], 2), (&[1], 2), (&[2, 0], 2)], &[0; 3]),
        Err(SpecifiedError::Overlap {
            candidate: 0,
            first_group: 0,
            second_group: 2
        })
    );
    assert_eq!(
        divided(2, &[(&[1, 1], 2)], &[0; 3]),
        Err(SpecifiedError::Overlap {
            candidate: 1,
            first_group: 0,
            second_group: 0
        })
    );
    assert_eq!(
        divided(2, &[(&[3], 2)], &[0; 3]),
        Err(SpecifiedError::UnknownCandidate {
            group: 0,
            candidate: 3,
            candidates: 3
        })
    );
    assert_eq!(
        divided(2, &[(&[0], 3), (&[1], -1)], &[0; 3]),
        Err(DivisionError::Negative {
            column: "groups",
            index: 1,
            value: -1
        }
        .into())
    );
}

#[test]
fn without_preference_all_clusters_have_equal_weight() {
    let mut out = [0; 3];
    let ties = |index: usize| index as u64;
    divide_without_preference(7, &[2, 2, 3], ties, &mut out, &mut SpecifiedScratch::default()).unwrap();
    assert_eq!(out, [2, 2, 3]);
}

/// A fleet and its groups: last replicas and group of each candidate. Candidates with the last group number are in no
/// group.
fn fleets() -> impl Strategy<Value = (Vec<(i64, usize)>, Vec<i64>)> {
    (
        prop::collection::vec((0_i64..30, 0_usize..4), 1..12),
        prop::collection::vec(0_i64..80, 3),
    )
}

fn members_of(rows: &[(i64, usize)], group: usize) -> Vec<u32> {
    (0..rows.len() as u32)
        .filter(|&index| rows[index as usize].1 == group)
        .collect()
}

proptest! {
    #[test]
    fn counts_are_met_and_changes_go_one_way((rows, counts) in fleets(), salt in any::<u64>()) {
        let members: Vec<Vec<u32>> = (0..3).map(|group| members_of(&rows, group)).collect();
        let counts: Vec<i64> =
            members.iter().zip(counts).map(|(members, count)| if members.is_empty() { 0 } else { count }).collect();
        let last: Vec<i64> = rows.iter().map(|row| row.0).collect();
        let groups = members.iter().zip(&counts).map(|(members, &replicas)| Group { members, replicas });
        let mut out = vec![-1; rows.len()];
        let ties = |index: usize| tie_key(salt, index as u64);
        let mut scratch = SpecifiedScratch::default();
        divide(counts.iter().sum(), groups, &last, ties, &mut out, &mut scratch).unwrap();
        for (members, &count) in members.iter().zip(&counts) {
            let sum = |column: &[i64]| members.iter().map(|&member| column[member as usize]).sum::<i64>();
            prop_assert_eq!(sum(&out), count);
            let changes: Vec<i64> =
                members.iter().map(|&member| out[member as usize] - last[member as usize]).collect();
            prop_assert!(changes.iter().all(|&change| (change >= 0) == (count >= sum(&last)) || change == 0));
            // Two changes differ by at most one, unless a cluster reached zero.
            let largest = changes.iter().map(|change| change.abs()).max().unwrap_or(0);
            for (&member, change) in members.iter().zip(&changes) {
                prop_assert!(out[member as usize] == 0 || change.abs() + 1 >= largest);
            }
        }
        for (index, row) in rows.iter().enumerate() {
            prop_assert!(row.1 != 3 || out[index] == 0);
        }
    }
}
