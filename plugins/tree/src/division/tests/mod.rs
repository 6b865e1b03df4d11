//! Division over trees.

mod exact;
mod gaps;
mod groups;
mod random;
mod shares;

use divvy_framework::division::ties::mix64;
use divvy_framework::division::tree::{Amount, Percent};
use divvy_framework::division::{Cycle, DivisionError, Request, Rounding};

use super::{
    Constraint, ConstraintKind, Floor, Leaf, LeafRule, Members, Memory, NearestCounts, Node, Share, Tree, TreeError,
    divide, find_conflict, nearest_counts,
};

/// Distinct tie keys that are unrelated to the position.
fn ties(index: usize) -> u64 {
    mix64(index as u64 + 1)
}

const fn weighing(weight: u32) -> Node {
    Node {
        share: Share::Weight(weight),
        ..KEEPING
    }
}

const KEEPING: Node = Node {
    share: Share::Keeps,
    least: None,
    most: None,
    leaf: Leaf {
        rule: LeafRule::ByRoom,
        floor: Floor::None,
        cap: None,
    },
    tie: 0,
};

fn percent(number: u32) -> Option<Amount> {
    Percent::new(number).map(Amount::Percent)
}

/// A tree of one level.
fn level(children: impl IntoIterator<Item = Node>) -> Tree {
    let mut tree = Tree::default();
    let tied = (0..).zip(children).map(|(tie, node)| Node { tie, ..node });
    tree.divide_among(0, tied);
    tree
}

/// The counts of candidates and of nodes; rows have a leaf, replicas that fit now, and last replicas.
fn divided(
    tree: &Tree,
    replicas: i64,
    rows: &[(u32, i64, i64)],
    cycle: Cycle,
) -> Result<(Vec<i64>, Vec<i64>), TreeError> {
    let fits_now: Vec<i64> = rows.iter().map(|row| row.1).collect();
    let last: Vec<i64> = rows.iter().map(|row| row.2).collect();
    let leaf_of: Vec<u32> = rows.iter().map(|row| row.0).collect();
    let members = Members {
        leaf_of: &leaf_of,
        weights: &[],
    };
    let (mut out, mut memory) = (vec![-1; rows.len()], Memory::default());
    let request = Request::new(replicas, &fits_now, &last, cycle);
    divide(
        &request,
        tree,
        members,
        Rounding::default(),
        ties,
        &mut out,
        &mut memory,
    )?;
    Ok((out, memory.node_counts().to_vec()))
}

fn node_counts(tree: &Tree, replicas: i64, rows: &[(u32, i64, i64)]) -> Result<Vec<i64>, TreeError> {
    divided(tree, replicas, rows, Cycle::Steady).map(|(_, nodes)| nodes)
}

#[test]
fn what_bounds_keep_from_one_goes_to_the_others_by_weight() {
    let bounded = |least, most, weight| Node {
        least,
        most,
        ..weighing(weight)
    };
    let tree = level([
        bounded(None, percent(20), 50),
        bounded(None, None, 30),
        bounded(percent(30), None, 20),
    ]);
    let rows = [(1, 900, 0), (2, 900, 0), (3, 900, 0)];
    // 50, 30 and 20; the first is held at 20, the last at 30 of the 80 that are left.
    assert_eq!(node_counts(&tree, 100, &rows), Ok(vec![100, 20, 48, 32]));
    // Room is a bound like others.
    assert_eq!(
        node_counts(&tree, 100, &[(1, 900, 0), (2, 10, 0), (3, 900, 0)]),
        Ok(vec![100, 20, 10, 70])
    );
}

/// Weights of 5 and 1 share three replicas as 2½ and ½.
#[test]
fn a_remainder_stays_where_it_is() {
    let tree = level([weighing(5), weighing(1)]);
    for last in [(2, 1), (3, 0)] {
        let rows = [(1, 9, last.0), (2, 9, last.1)];
        assert_eq!(node_counts(&tree, 3, &rows), Ok(vec![3, last.0, last.1]));
    }
}

#[test]
fn a_fresh_cycle_forgets_what_is_there() {
    let tree = level([KEEPING, weighing(1)]);
    let rows = [(1, 0, 9), (2, 20, 0)];
    assert_eq!(node_counts(&tree, 10, &rows), Ok(vec![10, 9, 1]));
    let fresh = divided(&tree, 10, &rows, Cycle::Fresh);
    assert_eq!(fresh, Ok((vec![0, 10], vec![10, 0, 10])));
}

/// The first of a node's children, and never another node's.
#[test]
fn children_are_given_once() {
    let mut tree = Tree::default();
    assert_eq!(tree.divide_among(0, [KEEPING]), 1..2);
    assert_eq!(tree.divide_among(0, [KEEPING]), 2..2);
    assert_eq!(tree.divide_among(9, [KEEPING]), 2..2);
    assert_eq!(tree.nodes().len(), 2);
    tree.reset();
    assert!(tree.is_leaf(0));
}

/// Exactly 20 in the first half, and room for 5 in the second.
#[test]
fn the_nearest_counts_are_on_both_sides() {
    let exactly = Some(Amount::Count(20));
    let tree = level([
        Node {
            least: exactly,
            most: exactly,
            ..KEEPING
        },
        KEEPING,
    ]);
    let members = Members {
        leaf_of: &[1, 2],
        weights: &[],
    };
    let nearest = |replicas| {
        let request = Request::new(replicas, &[30, 5], &[0; 2], Cycle::Steady);
        let nearest = nearest_counts(&request, &tree, members, &mut Memory::default());
        nearest.map(|NearestCounts { below, above }| (below, above))
    };
    assert_eq!(nearest(10), Ok((None, Some(20))));
    assert_eq!(nearest(40), Ok((Some(25), None)));
}
