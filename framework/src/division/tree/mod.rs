//! Division over a tree: nodes share what their parent gets, down to leaves that divide over candidates.
//!
//! A node has bounds, and takes its share among its siblings by [weight](Share::Weight), by [keeping](Share::Keeps) what it has, or
//! as the [rest](Share::Rest). A leaf has a [rule](LeafRule), and a floor and a cap for each of its candidates. The division is exact,
//! in this order, at each node from the root down:
//!
//! 1. Bounds, floors and caps of all nodes below, and the room of the candidates. Without a division that keeps them all, there is no
//!    result, and [`find_conflict`] names the bounds that contradict each other.
//! 2. The counts of its children: the rest as small as possible, then what is there stays as far as possible, then shares in
//!    proportion to weights by largest remainder.
//! 3. In a leaf, its rule, then the fewest replicas moved.
//!
//! In a fresh cycle, nothing is there. The running time is linear in the candidates, except that finding those that take part under
//! a floor sorts the leaf's candidates. Where bounds leave gaps between the counts that a node can have, which takes floors or
//! percentages of a node's own count, a search looks for the nearest counts; it gives up after a number of attempts
//! ([`TreeError::TooIntricate`]).

mod choice;
mod conflict;
mod counts;
mod keeping;
mod leaf;
mod nearest;
mod node;
mod proportional;
mod quotas;
mod search;

pub use conflict::{Constraint, ConstraintKind, find_conflict};
pub use node::{Amount, Floor, Leaf, LeafRule, Node, Percent, Share, Tree};

use super::columns::{check_column, check_length};
use super::error::DivisionError;
use super::request::{Cycle, Request};
use super::rounding::Rounding;
use super::scratch::Scratch;
use super::tiers::TierMembers;
use counts::{Possible, upper_bound};
use leaf::{Candidates, LeafScratch};
use quotas::{NoQuotas, Quotas};
use search::{Found, Search};

/// Candidates and their leaves, beside a [`Request`].
#[derive(Debug, Clone, Copy)]
pub struct Members<'a> {
    /// The leaf of each candidate; the number of nodes for a candidate in none, which gets nothing.
    pub leaf_of: &'a [u32],
    /// The weight of each candidate, 0 or more, for leaves that divide by weight; may be empty if there are none. A candidate of
    /// such a leaf without weight is in no leaf.
    pub weights: &'a [i64],
}

/// Reason why a division over a tree has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TreeError {
    /// No division keeps all bounds: [`find_conflict`] says which contradict each other.
    #[error("no division of {requested} replicas keeps all bounds")]
    Unsatisfiable {
        /// Replicas to divide.
        requested: i64,
    },
    /// Floors and percentages leave so many gaps between the counts that nodes can have that the search gave up.
    #[error("floors and percentages leave too many gaps between the counts that nodes can have")]
    TooIntricate,
    /// The columns are inconsistent.
    #[error(transparent)]
    Division(#[from] DivisionError),
}

/// Buffers of a division over a tree.
#[derive(Debug, Default)]
pub(super) struct TreeScratch {
    leaf_of: Vec<u32>,
    members: TierMembers,
    /// One entry per candidate in a leaf, in the order of the leaves.
    upper: Vec<i64>,
    last: Vec<i64>,
    weights: Vec<i64>,
    out: Vec<i64>,
    possible: Possible,
    found: Found,
    quotas: Quotas,
    leaf: LeafScratch,
}

/// Divides over a tree; see the [module](self). `out` has one entry per candidate, is overwritten and adds up to
/// `request.replicas`.
///
/// * `rounding`: how changes in proportion to room are rounded. Weights always share by largest remainder.
/// * `ties`: tie order of the candidates, smaller keys first.
///
/// # Errors
/// A [`TreeError`]. Columns of different lengths, negative entries, candidates of a node with children, sums beyond 64 bits and
/// weights beyond 63 bits are a [`DivisionError`].
///
/// ```
/// use divvy_framework::division::tree::{self, Amount, Members, Node, Percent, Share, Tree};
/// use divvy_framework::division::{Cycle, Request, Rounding, Scratch};
///
/// // 60 : 40, but at most 30 percent in the second half.
/// let weighing = |weight| Node { share: Share::Weight(weight), ..Node::default() };
/// let most = Percent::new(30).map(Amount::Percent);
/// let mut tree = Tree::default();
/// tree.divide_among(0, [weighing(60), Node { most, ..weighing(40) }]);
/// let request = Request::new(10, &[9, 9, 9], &[0; 3], Cycle::Steady);
/// let members = Members { leaf_of: &[1, 1, 2], weights: &[] };
/// let (mut out, mut scratch) = ([0; 3], Scratch::default());
/// tree::divide(&request, &tree, members, Rounding::default(), |i| i as u64, &mut out, &mut scratch)?;
/// assert_eq!(out, [4, 3, 3]);
/// assert_eq!(scratch.node_counts(), [10, 7, 3]);
/// # Ok::<(), tree::TreeError>(())
/// ```
pub fn divide(
    request: &Request<'_>,
    tree: &Tree,
    members: Members<'_>,
    rounding: Rounding,
    ties: impl Fn(usize) -> u64,
    out: &mut [i64],
    scratch: &mut Scratch,
) -> Result<(), TreeError> {
    check_length("out", out.len(), request.fits_now.len())?;
    let mut memory = std::mem::take(&mut scratch.tree);
    let divided = memory
        .find_counts(request, tree, members, rounding, scratch)
        .and_then(|()| memory.divide_leaves(tree, rounding, ties, out, scratch));
    scratch.tree = memory;
    divided
}

impl Scratch {
    /// The count of each node in the last [`divide`].
    #[must_use]
    pub fn node_counts(&self) -> &[i64] {
        &self.tree.quotas.counts
    }

    /// The fewest and the most replicas that a node could have in the last [`divide`], given the count of its parent: by its own
    /// bounds, those below it and the room of its candidates.
    #[must_use]
    pub fn node_bounds(&self, node: usize) -> Option<(i64, i64)> {
        let Quotas { low, high, .. } = &self.tree.quotas;
        low.get(node).copied().zip(high.get(node).copied())
    }
}

impl TreeScratch {
    /// Reads the columns, and works out the counts of all nodes.
    fn find_counts(
        &mut self,
        request: &Request<'_>,
        tree: &Tree,
        members: Members<'_>,
        rounding: Rounding,
        scratch: &mut Scratch,
    ) -> Result<(), TreeError> {
        self.gather(request, tree, members)?;
        self.find_possible(tree, &[]);
        let Self {
            possible,
            found,
            quotas,
            upper,
            ..
        } = self;
        let requested = request.replicas;
        let refused = |error| match error {
            NoQuotas::Impossible => TreeError::Unsatisfiable { requested },
            NoQuotas::TooIntricate => TreeError::TooIntricate,
            NoQuotas::Division(error) => error.into(),
        };
        // Room beyond the replicas counts where growth is divided in proportion to it.
        let largest = upper.iter().fold(0_i64, |sum, &upper| sum.saturating_add(upper));
        let mut search = Search::new(tree, possible, found, largest.max(requested));
        // Dividing a node with children finds out whether it can have its count.
        if tree.is_leaf(0) && !search.contains(0, requested).map_err(|error| refused(error.into()))? {
            return Err(TreeError::Unsatisfiable { requested });
        }
        quotas.counts[0] = requested;
        (quotas.low[0], quotas.high[0]) = (requested, requested);
        for node in (0..tree.nodes().len()).filter(|&node| !tree.is_leaf(node)) {
            quotas
                .divide(tree, node, rounding, &mut search, scratch)
                .map_err(refused)?;
        }
        Ok(())
    }

    /// Candidates of a node.
    fn members(&self, node: usize) -> &[u32] {
        self.members.members(node)
    }

    /// Gathers the columns of the candidates by leaf.
    fn gather(&mut self, request: &Request<'_>, tree: &Tree, of: Members<'_>) -> Result<(), DivisionError> {
        request.change_and_available()?;
        let (candidates, nodes) = (request.fits_now.len(), tree.nodes().len());
        check_length("leaf_of", of.leaf_of.len(), candidates)?;
        if !of.weights.is_empty() {
            check_column("weights", of.weights, candidates)?;
        }
        let Self {
            leaf_of,
            members,
            upper,
            last,
            weights,
            quotas,
            ..
        } = self;
        let weight_of = |candidate: usize| of.weights.get(candidate).copied().unwrap_or(0);
        let none = nodes as u32;
        let divides_by_weight = |leaf: u32| {
            let leaf = tree.nodes().get(leaf as usize);
            leaf.is_some_and(|node| node.leaf.rule == LeafRule::ByWeight)
        };
        leaf_of.clear();
        leaf_of.extend(of.leaf_of.iter().enumerate().map(|(candidate, &leaf)| {
            match divides_by_weight(leaf) && weight_of(candidate) == 0 {
                true => none,
                false => leaf,
            }
        }));
        members.rebuild_from_tiers(leaf_of, nodes + 1)?;
        quotas.reset(nodes);
        for column in [&mut *upper, &mut *last, &mut *weights] {
            column.clear();
        }
        for (node, properties) in tree.nodes().iter().enumerate() {
            let members = members.members(node);
            if let (Some(&member), false) = (members.first(), tree.is_leaf(node)) {
                return Err(DivisionError::TierOutOfRange {
                    index: member as usize,
                    tier: node as u32,
                    tiers: nodes,
                });
            }
            let mut present = 0;
            for &member in members {
                let member = member as usize;
                let there = match request.cycle {
                    Cycle::Steady => request.last[member],
                    Cycle::Fresh => 0,
                };
                upper.push(upper_bound(&properties.leaf, request.capacity(member)));
                last.push(there);
                weights.push(weight_of(member));
                // Cannot overflow: the sum of the last replicas has been checked.
                present += there;
            }
            quotas.last[node] = present;
        }
        for node in (0..nodes).rev() {
            quotas.last[node] += tree.children(node).map(|child| quotas.last[child]).sum::<i64>();
        }
        Ok(())
    }

    /// Works out which counts the nodes can have, with unlimited room in some leaves.
    fn find_possible(&mut self, tree: &Tree, unlimited: &[bool]) {
        let Self {
            members,
            upper,
            possible,
            ..
        } = self;
        possible.reset(tree.nodes().len());
        let mut start = 0;
        for (node, properties) in tree.nodes().iter().enumerate().filter(|(node, _)| tree.is_leaf(*node)) {
            let members = members.members(node);
            let end = start + members.len();
            match unlimited.get(node) {
                Some(true) => possible.set_unlimited_leaf(node, &properties.leaf, members.len()),
                _ => possible.set_leaf(node, &properties.leaf, &upper[start..end]),
            }
            start = end;
        }
        // Children come after their parents.
        for node in (0..tree.nodes().len()).rev().filter(|&node| !tree.is_leaf(node)) {
            possible.set_inner(tree, node);
        }
    }

    fn divide_leaves(
        &mut self,
        tree: &Tree,
        rounding: Rounding,
        ties: impl Fn(usize) -> u64,
        counts: &mut [i64],
        scratch: &mut Scratch,
    ) -> Result<(), TreeError> {
        let Self {
            members,
            upper,
            last,
            weights,
            out,
            quotas,
            leaf,
            ..
        } = self;
        out.clear();
        out.resize(upper.len(), 0);
        let mut start = 0;
        for (node, properties) in tree.nodes().iter().enumerate().filter(|(node, _)| tree.is_leaf(*node)) {
            let members = members.members(node);
            let range = start..start + members.len();
            start = range.end;
            let candidates = Candidates {
                upper: &upper[range.clone()],
                last: &last[range.clone()],
                weights: &weights[range.clone()],
            };
            let tie = |place: usize| ties(members[place] as usize);
            let part = (&properties.leaf, quotas.counts[node]);
            leaf.divide(part, candidates, rounding, tie, &mut out[range.clone()], scratch)?;
            for (&member, &count) in members.iter().zip(&out[range]) {
                counts[member as usize] = count;
            }
        }
        for &outsider in members.members(tree.nodes().len()) {
            counts[outsider as usize] = 0;
        }
        Ok(())
    }
}
