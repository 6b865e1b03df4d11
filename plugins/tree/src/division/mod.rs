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

mod choice;
mod columns;
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
pub use node::{Floor, Leaf, LeafRule, Node, Share, Tree};

use std::fmt;

use divvy_framework::division::ranking::RankingScratch;
use divvy_framework::division::{DivisionError, Request, Rounding, Scratch};

use columns::check_length;
use run::TreeScratch;

/// Memory that divisions over trees reuse. It holds no state but the counts of the last division.
#[derive(Debug, Default)]
pub struct Memory {
    tree: TreeScratch,
    buffers: Buffers,
}

/// Buffers of the SDK's divisions.
#[derive(Debug, Default)]
struct Buffers {
    division: Scratch,
    ranking: RankingScratch,
}

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
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TreeError {
    /// No division keeps all bounds: [`find_conflict`] finds those that contradict each other.
    Unsatisfiable {
        /// Replicas to divide.
        requested: i64,
    },
    /// Floors and percentages leave so many gaps between the counts that nodes can have that the search gave up.
    TooIntricate,
    /// The columns are inconsistent.
    Division(DivisionError),
}

impl fmt::Display for TreeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsatisfiable { requested } => {
                write!(formatter, "no division of {requested} replicas keeps all bounds")
            }
            Self::TooIntricate => {
                formatter.write_str("floors and percentages leave too many gaps between the counts that nodes can have")
            }
            Self::Division(error) => error.fmt(formatter),
        }
    }
}

impl std::error::Error for TreeError {}

impl From<DivisionError> for TreeError {
    fn from(error: DivisionError) -> Self {
        Self::Division(error)
    }
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
pub fn divide(
    request: &Request<'_>,
    tree: &Tree,
    members: Members<'_>,
    rounding: Rounding,
    ties: impl Fn(usize) -> u64,
    out: &mut [i64],
    memory: &mut Memory,
) -> Result<(), TreeError> {
    check_length("out", out.len(), request.fits_now.len())?;
    let Memory { tree: scratch, buffers } = memory;
    scratch.find_counts(request, tree, members, rounding, buffers)?;
    scratch.divide_leaves(tree, rounding, ties, out, buffers)
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
pub fn nearest_counts(
    request: &Request<'_>,
    tree: &Tree,
    members: Members<'_>,
    memory: &mut Memory,
) -> Result<NearestCounts, TreeError> {
    memory.tree.nearest(request, tree, members)
}

impl Memory {
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

#[cfg(test)]
mod tests;
