//! Sharing among groups gives what a tree of one level gives: counts, contradictions and nearest counts.

use super::super::sharing::{
    Constraint as GroupConstraint, Contradiction, Group, Limit, Rule, Share as GroupShare, SharingError, contradiction,
    share,
};
use super::super::tree::{
    Amount, Constraint, ConstraintKind, Leaf, LeafRule, Members, Node, Share, Tree, TreeError, divide, find_conflict,
    nearest_counts,
};
use super::super::{Cycle, Rounding, Scratch};
use super::{ALL_ROUNDINGS, request, ties};
use proptest::prelude::*;

/// The same group as a node.
fn node(group: &Group) -> Node {
    Node {
        share: match group.share {
            GroupShare::Keeps => Share::Keeps,
            GroupShare::Weight(weight) => Share::Weight(weight),
            GroupShare::Rest => Share::Rest,
        },
        least: group.least.map(Amount::Count),
        most: group.most.map(Amount::Count),
        leaf: Leaf {
            rule: match group.rule {
                Rule::ByRoom => LeafRule::ByRoom,
                Rule::Evenly => LeafRule::Evenly,
                Rule::Fewest => LeafRule::Fewest,
            },
            ..Leaf::default()
        },
        tie: group.tie,
    }
}

fn limit(kind: ConstraintKind) -> Limit {
    let count = |amount: Amount| match amount {
        Amount::Count(count) => count,
        Amount::Percent(_) => panic!("no group has a percentage"),
    };
    match kind {
        ConstraintKind::Exactly(replicas) => Limit::Exactly(replicas),
        ConstraintKind::Least(least) => Limit::Least(count(least)),
        ConstraintKind::Most(most) => Limit::Most(count(most)),
        ConstraintKind::Room {
            candidates, available, ..
        } => Limit::Room { candidates, available },
        other => panic!("no group has {other:?}"),
    }
}

fn group() -> impl Strategy<Value = Group> {
    let share = prop_oneof![
        2 => Just(GroupShare::Keeps),
        3 => (1..6_u32).prop_map(GroupShare::Weight),
        1 => Just(GroupShare::Rest),
    ];
    let count = || prop_oneof![4 => 0..9_i64, 1 => 0..60_i64, 1 => Just(i64::MAX)];
    let bound = || prop::option::weighted(0.4, count());
    let rule = prop::sample::select(vec![Rule::ByRoom, Rule::Evenly, Rule::Fewest]);
    (share, bound(), bound(), any::<bool>(), rule, 0..6_u64).prop_map(|(share, least, most, is_exact, rule, tie)| {
        Group {
            share,
            least,
            most: if is_exact && least.is_some() { least } else { most },
            rule,
            tie: super::super::ties::mix64(tie),
        }
    })
}

/// One candidate: room, last replicas, group.
fn candidates() -> impl Strategy<Value = Vec<(i64, i64, usize)>> {
    let room = prop_oneof![8 => 0..14_i64, 1 => 0..2_000_i64, 1 => Just(i64::MAX)];
    prop::collection::vec((room, prop_oneof![1 => Just(0_i64), 1 => 0..9_i64], 0..5_usize), 1..16)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn groups_share_as_a_tree_of_one_level_divides(
        groups in prop::collection::vec(group(), 1..5),
        candidates in candidates(),
        replicas in prop_oneof![8 => 0..70_i64, 1 => 0..3_000_i64],
        is_fresh in any::<bool>(),
        rounding in prop::sample::select(&ALL_ROUNDINGS[..]),
    ) {
        let fits_now: Vec<i64> = candidates.iter().map(|row| row.0).collect();
        let last: Vec<i64> = candidates.iter().map(|row| row.1).collect();
        let group_of: Vec<u32> = candidates.iter().map(|row| row.2.min(groups.len()) as u32).collect();
        let cycle = if is_fresh { Cycle::Fresh } else { Cycle::Steady };
        let request = request(replicas, &fits_now, &last, cycle);
        let mut tree = Tree::default();
        tree.divide_among(0, groups.iter().map(node));
        let leaf_of: Vec<u32> = group_of.iter().map(|group| group + 1).collect();
        let members = Members { leaf_of: &leaf_of, weights: &[] };
        let mut scratch = Scratch::default();
        let (mut one, mut other) = (vec![-1; last.len()], vec![-2; last.len()]);
        let by_tree = divide(&request, &tree, members, rounding, ties, &mut one, &mut scratch);
        let shared = share(&request, &groups, &group_of, rounding, ties, &mut other, &mut scratch);
        match (by_tree, shared) {
            (Ok(()), Ok(())) => prop_assert_eq!(one, other),
            (Err(TreeError::Unsatisfiable { requested }), Err(SharingError::Unsatisfiable { requested: same })) => {
                prop_assert_eq!(requested, same);
                let conflict = find_conflict(&request, &tree, members, &mut scratch).unwrap();
                let constraints = conflict.iter().map(|&Constraint { node, kind }| GroupConstraint {
                    group: node - 1,
                    limit: limit(kind),
                });
                let expected = Contradiction {
                    constraints: constraints.collect(),
                    instead: nearest_counts(&request, &tree, members, &mut scratch).unwrap().instead(),
                };
                prop_assert_eq!(contradiction(&request, &groups, &group_of), Ok(expected));
            }
            (Err(TreeError::Division(error)), Err(SharingError::Division(same))) => prop_assert_eq!(error, same),
            (by_tree, shared) => prop_assert!(false, "{by_tree:?}, but {shared:?}"),
        }
    }
}
