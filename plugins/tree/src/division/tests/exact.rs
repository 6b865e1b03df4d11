//! The rules of a division over a tree, by exhaustive search for the possible counts and the best ones.
//!
//! This code shares only the tree itself with the division. Bounds are checked count by count, shares before rounding
//! are found by trying every combination of bounds that could hold, and the best counts by comparing all.

use std::cmp::Reverse;
use std::collections::HashMap;

use divvy_framework::division::tree::Amount;

use super::super::{Floor, LeafRule, Share, Tree};
use super::shares::{floor_and_rank, rounded, shares, subsets, take_nearest};

/// A small tree with its candidates.
#[derive(Debug, Clone)]
pub(super) struct Case {
    pub(super) tree: Tree,
    pub(super) replicas: i64,
    pub(super) leaf_of: Vec<u32>,
    pub(super) fits_now: Vec<i64>,
    /// Present replicas; none in a fresh cycle.
    pub(super) last: Vec<i64>,
    pub(super) present: Vec<i64>,
    pub(super) weights: Vec<i64>,
    /// Leaves without a limit of room.
    pub(super) unlimited: Vec<bool>,
}

/// Room of a leaf without a limit, far above all counts of a case.
const UNLIMITED: i64 = 1_000;

/// A case, and the counts that are known to be possible.
pub(super) struct Exact<'a> {
    case: &'a Case,
    known: HashMap<(usize, i64), bool>,
}

impl<'a> Exact<'a> {
    pub(super) fn new(case: &'a Case) -> Self {
        let known = HashMap::new();
        Self { case, known }
    }

    /// Candidates of a leaf; only those with a weight if it divides by weight.
    pub(super) fn candidates(&self, leaf: usize) -> Vec<usize> {
        let by_weight = self.case.tree.nodes()[leaf].leaf.rule == LeafRule::ByWeight;
        let takes_part = |candidate: usize| !by_weight || self.case.weights[candidate] > 0;
        let is_in = |candidate: &usize| self.case.leaf_of[*candidate] as usize == leaf && takes_part(*candidate);
        (0..self.case.leaf_of.len()).filter(is_in).collect()
    }

    fn room(&self, leaf: usize, candidate: usize) -> i64 {
        match self.case.unlimited[leaf] {
            true => UNLIMITED,
            false => self.case.fits_now[candidate] + self.case.last[candidate],
        }
    }

    /// True if a candidate of a leaf may have a count.
    fn may_have(&self, leaf: usize, candidate: usize, count: i64) -> bool {
        let rule = self.case.tree.nodes()[leaf].leaf;
        let fits = count <= self.room(leaf, candidate) && rule.cap.is_none_or(|cap| count <= cap);
        let keeps_floor = match rule.floor {
            Floor::None => true,
            Floor::IfAny(floor) => count == 0 || count >= floor,
            Floor::Always(least) => count >= least,
        };
        fits && keeps_floor
    }

    /// All divisions of a count over the candidates of a leaf.
    fn divisions(&self, leaf: usize, count: i64) -> Vec<Vec<i64>> {
        let mut divisions = vec![vec![]];
        for candidate in self.candidates(leaf) {
            let mut longer = Vec::new();
            for division in divisions {
                let left = count - division.iter().sum::<i64>();
                let counts = (0..=left).filter(|&count| self.may_have(leaf, candidate, count));
                longer.extend(counts.map(|count| [&division[..], &[count]].concat()));
            }
            divisions = longer;
        }
        divisions.retain(|division| division.iter().sum::<i64>() == count);
        divisions
    }

    /// True if a node can have a count.
    pub(super) fn is_possible(&mut self, node: usize, count: i64) -> bool {
        if let Some(&known) = self.known.get(&(node, count)) {
            return known;
        }
        let possible = match self.case.tree.is_leaf(node) {
            true if self.case.unlimited[node] && self.candidates(node).is_empty() => true,
            true => self.can_divide(node, count),
            false => !self.children_counts(node, count).is_empty(),
        };
        self.known.insert((node, count), possible);
        possible
    }

    /// True if the candidates of a leaf can have a count together: sums of what each may have.
    fn can_divide(&self, leaf: usize, count: i64) -> bool {
        let mut sums = vec![0];
        for candidate in self.candidates(leaf) {
            let counts: Vec<i64> = (0..=count)
                .filter(|&count| self.may_have(leaf, candidate, count))
                .collect();
            sums = sums
                .iter()
                .flat_map(|sum| counts.iter().map(move |count| sum + count))
                .collect();
            sums.retain(|&sum| sum <= count);
            sums.sort_unstable();
            sums.dedup();
        }
        sums.contains(&count)
    }

    /// True if a child may have a count within its own bounds and can have it.
    fn child_may_have(&mut self, child: usize, count: i64, of: i64) -> bool {
        let node = self.case.tree.nodes()[child];
        let least = match node.least {
            None => 0,
            Some(Amount::Count(least)) => least,
            Some(Amount::Percent(percent)) => percent.floor_of(of),
        };
        let most = match node.most {
            None => i64::MAX,
            Some(Amount::Count(most)) => most,
            Some(Amount::Percent(percent)) => percent.ceil_of(of),
        };
        least <= count && count <= most && self.is_possible(child, count)
    }

    /// All counts of the children of a node that are possible and add up to its own.
    fn children_counts(&mut self, node: usize, count: i64) -> Vec<Vec<i64>> {
        let mut all = vec![vec![]];
        for child in self.case.tree.children(node) {
            let mut longer = Vec::new();
            for counts in all {
                let left = count - counts.iter().sum::<i64>();
                for own in 0..=left {
                    if self.child_may_have(child, own, count) {
                        longer.push([&counts[..], &[own]].concat());
                    }
                }
            }
            all = longer;
        }
        all.retain(|counts| counts.iter().sum::<i64>() == count);
        all
    }

    /// Contents of a node.
    fn present(&self, node: usize) -> i64 {
        let children = self.case.tree.children(node);
        match children.is_empty() {
            true => self
                .candidates(node)
                .iter()
                .map(|&candidate| self.case.present[candidate])
                .sum(),
            false => children.map(|child| self.present(child)).sum(),
        }
    }

    /// The counts of all nodes; the root's must be possible.
    pub(super) fn node_counts(&mut self) -> Vec<i64> {
        let mut counts = vec![0; self.case.tree.nodes().len()];
        counts[0] = self.case.replicas;
        for node in 0..counts.len() {
            if !self.case.tree.is_leaf(node) {
                let best = self.best_children(node, counts[node]);
                counts[self.case.tree.children(node)].copy_from_slice(&best);
            }
        }
        counts
    }

    /// The counts of a node's children: the smallest rest, then the counts nearest to the existing ones, then those
    /// nearest to the shares.
    fn best_children(&mut self, node: usize, count: i64) -> Vec<i64> {
        let mut all = self.children_counts(node, count);
        let children: Vec<usize> = self.case.tree.children(node).collect();
        let nodes: Vec<_> = children.iter().map(|&child| self.case.tree.nodes()[child]).collect();
        let last: Vec<i64> = children.iter().map(|&child| self.present(child)).collect();
        let ties: Vec<u64> = nodes.iter().map(|node| node.tie).collect();
        let room: i64 = self.case.fits_now.iter().chain(&self.case.last).sum();
        let mut bounds = Vec::new();
        for &child in &children {
            let may = |own: &i64| self.child_may_have(child, *own, count);
            let possible: Vec<i64> = (0..=room.max(count)).filter(may).collect();
            bounds.push((possible[0], possible[possible.len() - 1]));
        }
        let positions = |wanted: &dyn Fn(Share) -> bool| -> Vec<usize> {
            (0..nodes.len()).filter(|&index| wanted(nodes[index].share)).collect()
        };
        let rest = positions(&|share| share == Share::Rest);
        let keeping = positions(&|share| share == Share::Keeps);
        let weighing = positions(&|share| matches!(share, Share::Weight(_)));

        let of = |counts: &[i64], positions: &[usize]| positions.iter().map(|&index| counts[index]).sum::<i64>();
        let smallest = all.iter().map(|counts| of(counts, &rest)).min().unwrap();
        all.retain(|counts| of(counts, &rest) == smallest);

        let left = count - smallest;
        let low: i64 = weighing.iter().map(|&index| bounds[index].0).sum();
        let high: i64 = weighing.iter().map(|&index| bounds[index].1).sum();
        let kept: Vec<i64> = keeping
            .iter()
            .map(|&index| last[index].clamp(bounds[index].0, bounds[index].1))
            .collect();
        let sum: i64 = kept.iter().sum();
        let change = sum.max(left - high).min(left - low) - sum;
        let weights: Vec<i64> = (keeping.iter().zip(&kept))
            .map(|(&index, kept)| {
                if change > 0 {
                    bounds[index].1 - kept
                } else {
                    kept - bounds[index].0
                }
            })
            .collect();
        let targets = match change {
            0 => kept.clone(),
            _ => {
                let changes = floor_and_rank(change.abs(), &weights, &kept, |index| ties[keeping[index]]);
                kept.iter()
                    .zip(changes)
                    .map(|(kept, of)| kept + of * change.signum())
                    .collect()
            }
        };
        take_nearest(&mut all, &keeping, &targets, &last, &ties);

        let left = left - of(&all[0], &keeping);
        let weights: Vec<i64> = (weighing.iter())
            .map(|&index| match nodes[index].share {
                Share::Weight(weight) => i64::from(weight),
                _ => 0,
            })
            .collect();
        let weighing_bounds: Vec<(i64, i64)> = weighing.iter().map(|&index| bounds[index]).collect();
        let weighing_last: Vec<i64> = weighing.iter().map(|&index| last[index]).collect();
        let tie = |index: usize| ties[weighing[index]];
        if !weighing.is_empty() {
            let targets = rounded(left, &weights, &weighing_bounds, &weighing_last, tie);
            take_nearest(&mut all, &weighing, &targets, &last, &ties);
        }
        all.swap_remove(0)
    }

    /// Rank of a division of a leaf; smaller is better. Equally good divisions differ only by tie.
    pub(super) fn cost(&self, leaf: usize, count: i64, division: &[i64]) -> Vec<i128> {
        let candidates = self.candidates(leaf);
        let pairs = candidates.iter().zip(division);
        let moved: i64 = pairs
            .map(|(&candidate, &count)| (self.case.present[candidate] - count).max(0))
            .sum();
        let taking = i128::from(division.iter().filter(|count| **count > 0).count() as i64);
        match self.case.tree.nodes()[leaf].leaf.rule {
            LeafRule::ByRoom => vec![moved.into()],
            LeafRule::Fewest => vec![moved.into(), taking],
            LeafRule::Evenly => {
                let mut sorted = division.to_vec();
                sorted.sort_unstable();
                let smallest_first = sorted.into_iter().map(|count| -i128::from(count));
                smallest_first.chain([moved.into()]).collect()
            }
            LeafRule::ByWeight => {
                let (set, weights, bounds) = self.heaviest(leaf, count);
                if (0..division.len()).any(|index| division[index] > 0 && !set.contains(&index)) {
                    return vec![i128::MAX];
                }
                let (shares, of) = shares(count, &weights, &bounds);
                let away = set
                    .iter()
                    .zip(shares)
                    .map(|(&index, share)| i128::from(division[index]) * of - share);
                vec![away.map(|away| away * away).sum(), moved.into()]
            }
        }
    }

    /// The candidates that take part in a division by weight, their weights and their bounds.
    fn heaviest(&self, leaf: usize, count: i64) -> (Vec<usize>, Vec<i64>, Vec<(i64, i64)>) {
        let (candidates, rule) = (self.candidates(leaf), self.case.tree.nodes()[leaf].leaf);
        let most = |index: usize| {
            let counts = 0..=self.case.fits_now.iter().chain(&self.case.last).sum::<i64>();
            counts
                .filter(|&count| self.may_have(leaf, candidates[index], count))
                .max()
                .unwrap_or(0)
        };
        let least = match rule.floor {
            // None, or at least one, is any count.
            Floor::None | Floor::IfAny(..=1) => 0,
            Floor::IfAny(least) | Floor::Always(least) => least,
        };
        let mut positions: Vec<usize> = (0..candidates.len()).collect();
        if matches!(rule.floor, Floor::IfAny(2..)) {
            positions.retain(|&index| most(index) >= least);
            let size = (count / least).min(positions.len() as i64) as usize;
            positions.sort_by_key(|&index| {
                let candidate = candidates[index];
                let kept = self.case.present[candidate].min(most(index));
                (
                    Reverse(self.case.weights[candidate]),
                    Reverse(kept),
                    super::ties(candidate),
                )
            });
            // Subsets in the order of their members.
            let subsets = subsets(&positions, size);
            let has_room = |subset: &Vec<usize>| subset.iter().map(|&index| most(index)).sum::<i64>() >= count;
            positions = subsets.into_iter().find(has_room).unwrap_or_default();
        }
        let weights = positions
            .iter()
            .map(|&index| self.case.weights[candidates[index]])
            .collect();
        let bounds = positions.iter().map(|&index| (least, most(index).max(least))).collect();
        (positions, weights, bounds)
    }

    /// All divisions of a leaf, for comparison.
    pub(super) fn best_cost(&self, leaf: usize, count: i64) -> Vec<i128> {
        let divisions = self.divisions(leaf, count);
        divisions
            .iter()
            .map(|division| self.cost(leaf, count, division))
            .min()
            .unwrap()
    }
}
