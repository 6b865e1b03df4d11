//! The counts that each node can have, by its candidates, its bounds and those below it.
//!
//! Usually these are all counts from one to another. A floor that means "none, or at least this many" leaves gaps
//! between them, and percentages below a node make its bounds depend on the count itself; [`search`](super::search)
//! handles such nodes.

use divvy_framework::division::tree::Amount;

use super::node::{Floor, Leaf, Tree};

/// The counts that a node can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Counts {
    /// None: a candidate has less room than it must get, or bounds below contradict each other.
    Nothing,
    /// All from the first to the last.
    Range(i64, i64),
    /// With `k` candidates from `k × floor` to the sum of the `k` largest capacities. These sums, from that of no candidate on, are
    /// `length` entries of [`Possible::sums`].
    Steps {
        /// Fewest replicas of a candidate that has any.
        floor: i64,
        /// The first of the sums.
        start: usize,
        /// Number of sums.
        length: usize,
    },
    /// Any; a search finds them.
    Searched,
}

/// The counts of all nodes of a tree.
#[derive(Debug, Default)]
pub(super) struct Possible {
    by_node: Vec<Counts>,
    sums: Vec<i64>,
}

/// The maximum number of replicas that a leaf may give to a candidate with this capacity.
pub(super) fn upper_bound(leaf: &Leaf, capacity: i64) -> i64 {
    leaf.cap.map_or(capacity, |cap| capacity.min(cap.max(0)))
}

impl Possible {
    /// Forgets all nodes, and makes room for those of a tree.
    pub(super) fn reset(&mut self, nodes: usize) {
        self.sums.clear();
        self.by_node.clear();
        self.by_node.resize(nodes, Counts::Nothing);
    }

    /// The counts of a node.
    #[inline]
    pub(super) fn counts(&self, node: usize) -> Counts {
        self.by_node.get(node).copied().unwrap_or(Counts::Nothing)
    }

    /// True if the node may be unable to have a count between two that it can have.
    #[inline]
    pub(super) fn may_have_gaps(&self, node: usize) -> bool {
        !matches!(self.counts(node), Counts::Range(..))
    }

    /// Sums of the largest capacities, for [`Counts::Steps`].
    #[inline]
    pub(super) fn sums(&self, start: usize, length: usize) -> &[i64] {
        self.sums.get(start..start + length).unwrap_or(&[])
    }

    /// Computes the counts of a leaf whose candidates have these upper bounds.
    pub(super) fn set_leaf(&mut self, node: usize, leaf: &Leaf, upper: &[i64]) {
        let sum = || upper.iter().fold(0_i64, |sum, &upper| sum.saturating_add(upper));
        self.by_node[node] = match leaf.floor {
            Floor::Always(least @ 1..) => match upper.iter().all(|&upper| upper >= least) {
                true => Counts::Range(least.saturating_mul(upper.len() as i64), sum()),
                false => Counts::Nothing,
            },
            Floor::IfAny(floor @ 2..) => self.steps(floor, upper),
            _ => Counts::Range(0, sum()),
        };
    }

    /// Lets a leaf have any count that its floor and its cap allow this many candidates, regardless of room. A leaf
    /// without candidates can then have any count.
    pub(super) fn set_unlimited_leaf(&mut self, node: usize, leaf: &Leaf, candidates: usize) {
        match candidates {
            0 => self.by_node[node] = Counts::Range(0, i64::MAX),
            _ => self.set_leaf(node, leaf, &vec![upper_bound(leaf, i64::MAX); candidates]),
        }
    }

    fn steps(&mut self, floor: i64, upper: &[i64]) -> Counts {
        let start = self.sums.len();
        self.sums.push(0);
        self.sums.extend(upper.iter().filter(|&&upper| upper >= floor));
        let capacities = &mut self.sums[start + 1..];
        capacities.sort_unstable_by_key(|&capacity| std::cmp::Reverse(capacity));
        let mut sum = 0_i64;
        for capacity in capacities {
            sum = sum.saturating_add(*capacity);
            *capacity = sum;
        }
        Counts::Steps {
            floor,
            start,
            length: self.sums.len() - start,
        }
    }

    /// Computes the counts of a node from those of its children.
    pub(super) fn set_inner(&mut self, tree: &Tree, node: usize) {
        let (mut fewest, mut most) = (0_i64, 0_i64);
        for child in tree.children(node) {
            let bounds = &tree.nodes()[child];
            let is_relative = [bounds.least, bounds.most]
                .iter()
                .any(|bound| matches!(bound, Some(Amount::Percent(_))));
            let Counts::Range(first, last) = self.counts(child) else {
                self.by_node[node] = match self.counts(child) {
                    Counts::Nothing => Counts::Nothing,
                    _ => Counts::Searched,
                };
                if self.by_node[node] == Counts::Nothing {
                    return;
                }
                continue;
            };
            if is_relative || self.by_node[node] == Counts::Searched {
                self.by_node[node] = Counts::Searched;
                continue;
            }
            let (low, high) = (first.max(bounds.least_of(0)), last.min(bounds.most_of(0)));
            if low > high {
                self.by_node[node] = Counts::Nothing;
                return;
            }
            fewest = fewest.saturating_add(low);
            most = most.saturating_add(high);
        }
        if self.by_node[node] != Counts::Searched {
            self.by_node[node] = Counts::Range(fewest, most);
        }
    }
}
