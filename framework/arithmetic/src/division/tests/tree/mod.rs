//! Division over trees.

mod exact;
mod gaps;
mod random;
mod shares;

use super::super::tree::{
    Amount, Constraint, ConstraintKind, Floor, Leaf, LeafRule, Members, Node, Percent, Share, Tree, TreeError, divide,
    find_conflict,
};
use super::super::{Cycle, DivisionError, Request, Rounding, Scratch};
use super::ties;

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
    let (mut out, mut scratch) = (vec![-1; rows.len()], Scratch::default());
    let request = Request::new(replicas, &fits_now, &last, cycle);
    divide(
        &request,
        tree,
        members,
        Rounding::default(),
        ties,
        &mut out,
        &mut scratch,
    )?;
    Ok((out, scratch.node_counts().to_vec()))
}

fn node_counts(tree: &Tree, replicas: i64, rows: &[(u32, i64, i64)]) -> Result<Vec<i64>, TreeError> {
    divided(tree, replicas, rows, Cycle::Steady).map(|(_, nodes)| nodes)
}

#[test]
fn percentages_are_exact() {
    let of = |text: &str| Percent::parse(text).map(|percent| (percent.floor_of(1_000), percent.ceil_of(1_000)));
    assert_eq!(of("33.3"), Some((333, 333)));
    assert_eq!(of("0.05"), Some((0, 1)));
    assert_eq!(of("99.999999"), Some((999, 1_000)));
    assert_eq!(of("100"), Some((1_000, 1_000)));
    for text in [
        "",
        ".5",
        "5.",
        "-1",
        "+1",
        "1e1",
        "100.000001",
        "0.0000001",
        "1 ",
        "4294967296",
    ] {
        assert_eq!(of(text), None, "{text:?}");
    }
    assert_eq!(
        Percent::parse("7.50").map(|percent| percent.to_string()).as_deref(),
        Some("7.5%")
    );
    let whole = Percent::new(100).expect("it is a percentage");
    assert_eq!(whole.floor_of(i64::MAX), i64::MAX);
    assert_eq!(whole.ceil_of(i64::MAX), i64::MAX);
    assert_eq!(
        Percent::new(60).and_then(|most| most.checked_add(Percent::new(41)?)),
        None
    );
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
