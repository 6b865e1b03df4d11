//! Counts with gaps between them, searches that must not take long, and extreme numbers.

use super::*;

/// Minima of 50 percent each, and one replica elsewhere: only odd counts can be divided.
#[test]
fn counts_may_be_possible_one_by_one() {
    let half = Node {
        least: percent(50),
        ..weighing(1)
    };
    let one = Some(Amount::Count(1));
    let mut tree = level([weighing(1), weighing(1)]);
    tree.divide_among(
        1,
        [
            half,
            half,
            Node {
                least: one,
                most: one,
                ..KEEPING
            },
        ],
    );
    let rows = [
        (2, i64::MAX / 4, 0),
        (3, i64::MAX / 4, 0),
        (4, i64::MAX / 4, 0),
        (5, i64::MAX / 4, 0),
    ];
    for (replicas, expected) in [(6, [3, 3]), (8, [5, 3]), (2_000_000_000, [1_000_000_001, 999_999_999])] {
        let nodes = node_counts(&tree, replicas, &rows).expect("it can be divided");
        assert_eq!(nodes[1..3], expected, "of {replicas}");
    }
}

/// Two children of at most 40 percent each can share 4 or 6 replicas, but not 5.
#[test]
fn a_search_finds_what_rounding_makes_possible() {
    let share = Node {
        most: percent(40),
        ..weighing(1)
    };
    let mut tree = level([weighing(1), weighing(1)]);
    tree.divide_among(1, [share, share]);
    let rows = [(2, 99, 0), (3, 99, 0), (4, 99, 0)];
    // Both are equally near, so the tie decides.
    assert_eq!(node_counts(&tree, 10, &rows), Ok(vec![10, 6, 4, 3, 3]));
    // Existing replicas decide before the tie.
    let rows = [(2, 99, 6), (3, 97, 2), (4, 97, 2)];
    assert_eq!(node_counts(&tree, 10, &rows), Ok(vec![10, 4, 6, 2, 2]));
}

/// A gap in one child is compensated where the fewest replicas move.
#[test]
fn the_counts_beside_a_gap_move_the_fewest_replicas() {
    let quarters = Node {
        leaf: Leaf {
            floor: Floor::IfAny(4),
            cap: Some(4),
            ..Leaf::default()
        },
        ..weighing(6)
    };
    let tree = level([quarters, weighing(4), weighing(10)]);
    let rows = |last: [i64; 3]| {
        let [first, second, third] = last;
        [(1, 9, first), (1, 9, 0), (2, 99, second), (3, 99, third)]
    };
    // 6, 4 and 10 are due. The first can have 4 or 8.
    assert_eq!(node_counts(&tree, 20, &rows([4, 6, 10])), Ok(vec![20, 4, 6, 10]));
    assert_eq!(node_counts(&tree, 20, &rows([4, 4, 12])), Ok(vec![20, 4, 4, 12]));
    let eight = [(1, 9, 4), (1, 9, 4), (2, 99, 2), (3, 99, 10)];
    assert_eq!(node_counts(&tree, 20, &eight), Ok(vec![20, 8, 2, 10]));
}

/// The two candidates that keep the most have no room for the count, and three cannot all reach the floor.
#[test]
fn one_that_keeps_less_takes_part_for_its_room() {
    for rule in [LeafRule::ByRoom, LeafRule::Fewest] {
        let tree = level([Node {
            leaf: Leaf {
                rule,
                floor: Floor::IfAny(5),
                cap: None,
            },
            ..KEEPING
        }]);
        let rows = [(1, 0, 5), (1, 0, 6), (1, 1, 5), (1, 9, 0)];
        let counts = divided(&tree, 14, &rows, Cycle::Steady).map(|(counts, _)| counts);
        assert_eq!(counts, Ok(vec![0, 6, 0, 8]), "{rule:?}");
    }
}

/// Two billion replicas take as few steps as two hundred.
#[test]
fn no_search_goes_one_by_one() {
    let shared = |least, most, rule, floor| Node {
        least: percent(least),
        most: percent(most),
        leaf: Leaf {
            rule,
            floor: Floor::IfAny(floor),
            cap: None,
        },
        ..weighing(1)
    };
    for scale in [100, 1_000_000_000] {
        let mut tree = level([weighing(3), weighing(1)]);
        // At most 40 percent each: only a few small counts. Floors leave a gap up to the scale.
        tree.divide_among(
            1,
            [
                shared(0, 40, LeafRule::Evenly, scale),
                shared(10, 40, LeafRule::Evenly, 1),
            ],
        );
        tree.divide_among(
            2,
            [
                shared(30, 70, LeafRule::Evenly, scale / 2),
                shared(0, 60, LeafRule::Evenly, 1),
            ],
        );
        let rows: Vec<(u32, i64, i64)> = (3..7).map(|leaf| (leaf, 4 * scale, 0)).collect();
        let nodes = node_counts(&tree, 2 * scale, &rows).expect("it can be divided");
        assert_eq!(nodes[1] + nodes[2], 2 * scale);
        assert!(nodes[1] <= 8, "{nodes:?}");
        assert!(nodes[5] >= scale / 2, "{nodes:?}");
    }
}

/// Leaves with one candidate each, which gets all or nothing: the subset-sum problem, which no search solves quickly in
/// every case.
#[test]
fn a_search_that_takes_too_long_gives_up() {
    let whole = |size: i64| Node {
        leaf: Leaf {
            floor: Floor::IfAny(size),
            cap: Some(size),
            ..Leaf::default()
        },
        ..weighing(1)
    };
    // Even sizes have no odd sum.
    let sizes: Vec<i64> = (0..40)
        .map(|number| 100_000 + 2 * (number * number + 7 * number))
        .collect();
    let tree = level(sizes.iter().map(|&size| whole(size)));
    let rows: Vec<(u32, i64, i64)> = (1..).zip(&sizes).map(|(leaf, &size)| (leaf, size, 0)).collect();
    assert_eq!(
        node_counts(&tree, sizes[3] + sizes[30], &rows).map(|nodes| nodes[0]),
        Ok(sizes[3] + sizes[30])
    );
    assert_eq!(
        node_counts(&tree, 20 * 100_001 + 1, &rows),
        Err(TreeError::TooIntricate)
    );
}

#[test]
fn extreme_numbers_give_a_result_or_an_error() {
    let most = i64::MAX;
    let heavy = level([weighing(u32::MAX), weighing(1), KEEPING]);
    let rows = [(1, most, 0), (2, most, 0), (3, most, 5)];
    let nodes = node_counts(&heavy, most, &rows).expect("it can be divided");
    assert_eq!(
        nodes.iter().skip(1).map(|&count| i128::from(count)).sum::<i128>(),
        i128::from(most)
    );
    assert_eq!(nodes[3], 5);
    let capped = |floor, cap| Node {
        leaf: Leaf {
            rule: LeafRule::Evenly,
            floor,
            cap: Some(cap),
        },
        ..KEEPING
    };
    for node in [
        capped(Floor::IfAny(most), most),
        capped(Floor::Always(most), most),
        capped(Floor::IfAny(2), 0),
        capped(Floor::None, -1),
        Node {
            least: Some(Amount::Count(most)),
            ..KEEPING
        },
        Node {
            most: Some(Amount::Count(-1)),
            ..KEEPING
        },
    ] {
        let refused = node_counts(&level([node]), 7, &[(1, 9, 0), (1, 9, 0)]);
        assert_eq!(refused, Err(TreeError::Unsatisfiable { requested: 7 }), "{node:?}");
    }
    assert_eq!(node_counts(&level([KEEPING]), 0, &[]), Ok(vec![0, 0]));
    // Weights of candidates beyond the arithmetic are refused, not wrapped.
    let by_weight = level([Node {
        leaf: Leaf {
            rule: LeafRule::ByWeight,
            ..Leaf::default()
        },
        ..KEEPING
    }]);
    let weighted = |weights: &[i64]| {
        let request = Request::new(9, &[9, 9], &[0, 0], Cycle::Steady);
        let (members, mut out) = (
            Members {
                leaf_of: &[1, 1],
                weights,
            },
            [0; 2],
        );
        let divided = divide(
            &request,
            &by_weight,
            members,
            Rounding::default(),
            ties,
            &mut out,
            &mut Memory::default(),
        );
        divided.map(|()| out)
    };
    assert_eq!(weighted(&[most / 2, most / 2]).map(|out| out[0] + out[1]), Ok(9));
    let column = "weights";
    assert_eq!(
        weighted(&[most, most]),
        Err(DivisionError::SumTooLarge { column }.into())
    );
    assert_eq!(
        weighted(&[-1, 2]),
        Err(DivisionError::Negative {
            column,
            index: 0,
            value: -1
        }
        .into())
    );
}

#[test]
fn candidates_must_be_in_leaves() {
    let mut tree = level([KEEPING]);
    tree.divide_among(1, [KEEPING]);
    let refused = |leaf: u32| node_counts(&tree, 1, &[(leaf, 9, 0)]);
    let out_of_range = |tier, tiers| Err(DivisionError::TierOutOfRange { index: 0, tier, tiers }.into());
    assert_eq!(refused(1), out_of_range(1, 3));
    assert_eq!(refused(4), out_of_range(4, 4));
    // The number of nodes means no leaf.
    assert_eq!(
        divided(&tree, 0, &[(3, 9, 4)], Cycle::Steady).map(|(out, _)| out),
        Ok(vec![0])
    );
}
