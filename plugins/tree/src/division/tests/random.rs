//! Random small trees, compared with the exhaustive solver.

use super::exact::{Case, Exact};
use super::*;

/// Random numbers of a case.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix64(self.0) % end
    }

    fn count(&mut self, end: i64) -> i64 {
        self.below(end.cast_unsigned()).cast_signed()
    }

    fn one_in(&mut self, number: u64) -> bool {
        self.below(number) == 0
    }

    fn bound(&mut self, shares: &[u32]) -> Option<Amount> {
        match self.below(6) {
            0 => Some(Amount::Count(self.count(5))),
            1 => {
                let percent = shares[self.below(shares.len() as u64) as usize];
                Percent::new(percent).map(Amount::Percent)
            }
            _ => None,
        }
    }

    fn leaf(&mut self) -> Leaf {
        let rules = [LeafRule::ByRoom, LeafRule::Evenly, LeafRule::ByWeight, LeafRule::Fewest];
        let rule = rules[self.below(4) as usize];
        let floor = match self.below(5) {
            0 => Floor::IfAny(1 + self.count(4)),
            // A floor for all leaves the rule `fewest` nothing to decide, and is refused together with it.
            1 if rule != LeafRule::Fewest => Floor::Always(self.count(3)),
            _ => Floor::None,
        };
        let cap = self.one_in(4).then(|| self.count(6));
        Leaf { rule, floor, cap }
    }

    fn children(&mut self) -> Vec<Node> {
        let number = 1 + self.below(3);
        let mut has_rest = false;
        let mut children = Vec::new();
        for _ in 0..number {
            let share = match self.below(5) {
                0 | 1 => Share::Keeps,
                2 if !has_rest => Share::Rest,
                _ => Share::Weight(1 + self.below(5) as u32),
            };
            has_rest |= share == Share::Rest;
            let mut node = Node {
                share,
                least: self.bound(&[0, 10, 25, 30, 50]),
                most: self.bound(&[0, 20, 40, 50, 60, 100]),
                leaf: self.leaf(),
                tie: mix64(self.below(u64::MAX)),
            };
            if self.one_in(12) {
                let exactly = Some(Amount::Count(self.count(5)));
                (node.least, node.most) = (exactly, exactly);
            }
            children.push(node);
        }
        children
    }

    fn case(&mut self) -> Case {
        let mut tree = Tree::default();
        *tree.node_mut(0).unwrap() = Node {
            leaf: self.leaf(),
            ..Node::default()
        };
        if !self.one_in(12) {
            let children = self.children();
            for child in tree.divide_among(0, children) {
                if self.one_in(3) {
                    let children = self.children();
                    for child in tree.divide_among(child, children) {
                        if self.one_in(6) {
                            let children = self.children();
                            tree.divide_among(child, children);
                        }
                    }
                }
            }
        }
        let nodes = tree.nodes().len();
        let leaves: Vec<usize> = (0..nodes).filter(|&node| tree.is_leaf(node)).collect();
        let is_fresh = self.one_in(4);
        let (mut leaf_of, mut fits_now, mut last, mut weights) = (vec![], vec![], vec![], vec![]);
        for _ in 0..1 + self.below(7) {
            let leaf = match self.one_in(15) {
                true => nodes,
                false => leaves[self.below(leaves.len() as u64) as usize],
            };
            leaf_of.push(leaf as u32);
            fits_now.push(self.count(6));
            last.push(if self.one_in(2) { 0 } else { self.count(5) });
            weights.push(self.count(4));
        }
        let room: i64 = fits_now.iter().chain(&last).sum();
        let present = if is_fresh { vec![0; last.len()] } else { last.clone() };
        Case {
            // Usually there is room.
            replicas: self.count(10).min(room + self.count(2)),
            unlimited: vec![false; nodes],
            tree,
            leaf_of,
            fits_now,
            last,
            present,
            weights,
        }
    }
}

/// The division of a case, with the counts of its nodes.
fn divided(case: &Case) -> Result<(Vec<i64>, Vec<i64>), TreeError> {
    let mut memory = Memory::default();
    let cycle = if case.present == case.last {
        Cycle::Steady
    } else {
        Cycle::Fresh
    };
    let request = Request::new(case.replicas, &case.fits_now, &case.last, cycle);
    let mut out = vec![-1; case.last.len()];
    let rounding = Rounding::default();
    divide(
        &request,
        &case.tree,
        members(case),
        rounding,
        ties,
        &mut out,
        &mut memory,
    )?;
    // Contents from an earlier call do not matter.
    let (counts, mut again) = (memory.node_counts().to_vec(), vec![-2; out.len()]);
    divide(
        &request,
        &case.tree,
        members(case),
        rounding,
        ties,
        &mut again,
        &mut memory,
    )?;
    assert_eq!(out, again);
    Ok((out, counts))
}

fn members(case: &Case) -> Members<'_> {
    Members {
        leaf_of: &case.leaf_of,
        weights: &case.weights,
    }
}

/// The case after a division: added replicas take room, and removed ones release it.
fn after(case: &Case, counts: &[i64]) -> Case {
    let mut after = case.clone();
    for (index, &count) in counts.iter().enumerate() {
        after.fits_now[index] = case.fits_now[index] + case.last[index] - count;
    }
    (after.last, after.present) = (counts.to_vec(), counts.to_vec());
    after
}

fn leave_out(case: &Case, kept: &[Constraint]) -> Case {
    let mut without = case.clone();
    for node in 0..case.tree.nodes().len() {
        let keeps = |wanted: fn(&ConstraintKind) -> bool| kept.iter().any(|one| one.node == node && wanted(&one.kind));
        let properties = without.tree.node_mut(node).unwrap();
        let exactly = keeps(|kind| matches!(kind, ConstraintKind::Exactly(_)));
        if !exactly && !keeps(|kind| matches!(kind, ConstraintKind::Least(_))) {
            properties.least = None;
        }
        if !exactly && !keeps(|kind| matches!(kind, ConstraintKind::Most(_))) {
            properties.most = None;
        }
        if !keeps(|kind| matches!(kind, ConstraintKind::Floor(_))) {
            properties.leaf.floor = Floor::None;
        }
        if !keeps(|kind| matches!(kind, ConstraintKind::Cap(_))) {
            properties.leaf.cap = None;
        }
        without.unlimited[node] = !keeps(|kind| matches!(kind, ConstraintKind::Room { .. }));
    }
    without
}

/// Checks that these constraints contradict each other, and that none of them can be left out.
fn check_conflict(case: &Case, conflict: &[Constraint]) {
    let is_possible = |kept: &[Constraint]| {
        let without = leave_out(case, kept);
        Exact::new(&without).is_possible(0, case.replicas)
    };
    assert!(!is_possible(conflict), "{conflict:?} do not contradict each other");
    for index in 0..conflict.len() {
        let mut others = conflict.to_vec();
        let one = others.remove(index);
        assert!(is_possible(&others), "{one:?} can be left out of {conflict:?}");
    }
}

fn check(case: &Case) -> bool {
    let mut exact = Exact::new(case);
    let possible = exact.is_possible(0, case.replicas);
    let room: i64 = case.fits_now.iter().chain(&case.last).sum();
    let (counts, nodes) = match divided(case) {
        Ok(divided) => divided,
        Err(TreeError::Unsatisfiable { requested }) => {
            assert!(!possible, "there is a division");
            assert_eq!(requested, case.replicas);
            let request = Request::new(case.replicas, &case.fits_now, &case.last, Cycle::Steady);
            let conflict = find_conflict(&request, &case.tree, members(case), &mut Memory::default());
            check_conflict(case, &conflict.unwrap());
            let nearest = nearest_counts(&request, &case.tree, members(case), &mut Memory::default());
            let mut is_possible = |count: &i64| exact.is_possible(0, *count);
            let expected = NearestCounts {
                below: (0..case.replicas).rev().find(&mut is_possible),
                above: (case.replicas..=room).find(&mut is_possible),
            };
            assert_eq!(nearest.unwrap(), expected, "instead of {}", case.replicas);
            return false;
        }
        Err(error) => panic!("{error}"),
    };
    assert!(possible, "{counts:?}");
    assert_eq!(counts.iter().sum::<i64>(), case.replicas);
    assert!(case.replicas <= room);
    assert_eq!(nodes, exact.node_counts(), "of nodes");
    for leaf in (0..nodes.len()).filter(|&node| case.tree.is_leaf(node)) {
        let division: Vec<i64> = exact
            .candidates(leaf)
            .iter()
            .map(|&candidate| counts[candidate])
            .collect();
        assert_eq!(division.iter().sum::<i64>(), nodes[leaf], "in leaf {leaf}");
        let cost = exact.cost(leaf, nodes[leaf], &division);
        assert_eq!(
            cost,
            exact.best_cost(leaf, nodes[leaf]),
            "of {division:?} in leaf {leaf}"
        );
    }
    let settled = after(case, &counts);
    assert_eq!(
        divided(&settled).map(|(counts, _)| counts),
        Ok(counts),
        "is not at rest"
    );
    true
}

#[test]
fn ten_thousand_small_trees_are_divided_as_by_trying_everything() {
    const WANTED: u32 = 10_000;
    let (mut divided, mut refused) = (0, 0);
    for seed in 0.. {
        let case = Numbers(mix64(seed)).case();
        match std::panic::catch_unwind(|| check(&case)) {
            Ok(true) => divided += 1,
            Ok(false) => refused += 1,
            // The difference has been printed.
            Err(_) => panic!("seed {seed}: {case:#?}"),
        }
        if divided == WANTED {
            break;
        }
    }
    // Also check contradictions.
    assert!(refused > WANTED, "only {refused} trees have no division");
}
