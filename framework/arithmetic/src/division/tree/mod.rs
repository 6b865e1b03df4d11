//! Division over a tree: nodes share what their parent gets, down to leaves that divide over candidates.
//!
//! A node has bounds, and takes its share among its siblings by [weight](Share::Weight), by [keeping](Share::Keeps)
//! what it has, or as the [rest](Share::Rest). A leaf has a [rule](LeafRule), and a floor and a cap per candidate. The
//! division meets these goals exactly, in this order, at each node from the root down:
//!
//! 1. Bounds, floors and caps of all nodes below, and the room of the candidates. Without a division that keeps them all, there is no
//!    result, and [`find_conflict`] names the bounds that contradict each other.
//! 2. The counts of its children: the rest is as small as possible, then existing replicas stay as far as possible,
//!    then shares are in proportion to weights, by largest remainder.
//! 3. In a leaf, its rule, then as few moved replicas as possible.
//!
//! In a fresh cycle, no replicas exist. The running time is linear in the candidates, except that choosing participants
//! under a floor sorts the leaf's candidates. Floors and percentages of a node's own count can leave gaps between the
//! counts that a node can have. A search then looks for the nearest counts; it gives up after a number of attempts
//! ([`TreeError::TooIntricate`]).

#[cfg(feature = "preferences")]
mod amount;
mod choice;
mod conflict;
mod counts;
mod growth;
mod leaf;
mod nearest;
mod node;
mod quotas;
mod run;
mod search;

pub use conflict::{Constraint, ConstraintKind, find_conflict};
pub use node::{Amount, Floor, Leaf, LeafRule, Node, Percent, Share, Tree};

use super::columns::check_length;
use super::error::DivisionError;
use super::request::Request;
use super::rounding::Rounding;
use super::scratch::Scratch;
pub(super) use run::TreeScratch;

/// Candidates and their leaves, beside a [`Request`].
#[derive(Debug, Clone, Copy)]
pub struct Members<'a> {
    /// The leaf of each candidate. A candidate in no leaf has the number of nodes here, and gets nothing.
    pub leaf_of: &'a [u32],
    /// The weight of each candidate, 0 or more, for leaves that divide by weight; may be empty if there are none. A
    /// candidate of such a leaf whose weight is 0 is in no leaf.
    pub weights: &'a [i64],
}

/// Why a division over a tree has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TreeError {
    /// No division keeps all bounds: [`find_conflict`] finds those that contradict each other.
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

/// Divides over a tree; see the [module](self). `out` has one entry per candidate, is overwritten and adds up to
/// `request.replicas`.
///
/// * `rounding`: rounding of changes in proportion to room. Shares by weight are always rounded by largest remainder.
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

/// Counts that a tree can divide; see [`nearest_counts`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NearestCounts {
    /// The largest one up to the requested replicas. It may be 0, although a tree with lower bounds has none to divide then.
    pub below: Option<i64>,
    /// The smallest one from the requested replicas on.
    pub above: Option<i64>,
}

impl NearestCounts {
    /// The count to try instead of the requested one: the largest below it, or else the smallest above it.
    #[must_use]
    pub fn instead(&self) -> Option<i64> {
        self.below.filter(|&count| count > 0).or(self.above).or(self.below)
    }
}

/// Finds the counts nearest to the requested replicas that a tree can divide. Both are the request's own if it can divide
/// these. For messages, beside [`find_conflict`].
///
/// # Errors
/// As [`divide`].
///
/// ```
/// use divvy_framework::division::tree::{Amount, Members, NearestCounts, Node, Tree, nearest_counts};
/// use divvy_framework::division::{Cycle, Request, Scratch};
///
/// // Exactly 20 in the first half; room for 5 in the second.
/// let exactly = Some(Amount::Count(20));
/// let mut tree = Tree::default();
/// tree.divide_among(0, [Node { least: exactly, most: exactly, ..Node::default() }, Node::default()]);
/// let members = Members { leaf_of: &[1, 2], weights: &[] };
/// let nearest = |replicas| {
///     let request = Request::new(replicas, &[30, 5], &[0; 2], Cycle::Steady);
///     nearest_counts(&request, &tree, members, &mut Scratch::default())
/// };
/// assert_eq!(nearest(10), Ok(NearestCounts { below: None, above: Some(20) }));
/// assert_eq!(nearest(40), Ok(NearestCounts { below: Some(25), above: None }));
/// ```
pub fn nearest_counts(
    request: &Request<'_>,
    tree: &Tree,
    members: Members<'_>,
    scratch: &mut Scratch,
) -> Result<NearestCounts, TreeError> {
    scratch.tree.nearest(request, tree, members)
}

impl Scratch {
    /// The count of each node in the last [`divide`].
    #[must_use]
    pub fn node_counts(&self) -> &[i64] {
        self.tree.counts()
    }

    /// The minimum and the maximum that a node could have in the last [`divide`], given the count of its parent, its
    /// own bounds, those below it and the room of its candidates.
    #[must_use]
    pub fn node_bounds(&self, node: usize) -> Option<(i64, i64)> {
        self.tree.bounds(node)
    }
}
