//! The shape of a tree: its nodes, how each takes its share from its parent, and its bounds.
//!
//! Nodes are numbered: the root is 0, and the children of a node are consecutive and come after it. A tree knows
//! neither clusters nor names. Callers assign each candidate to a leaf.

use std::fmt;
use std::ops::Range;

/// Parts of a [`Percent`] that are one hundred percent.
pub(super) const WHOLE: i128 = 100_000_000;

/// A percentage from 0 to 100 with up to six decimal places, exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Percent(u32);

impl Percent {
    /// A whole number of percent; `None` above 100.
    #[must_use]
    pub const fn new(percent: u32) -> Option<Self> {
        match percent {
            0..=100 => Some(Self(percent * 1_000_000)),
            _ => None,
        }
    }

    /// Reads a number from 0 to 100 with up to six decimal places, such as `12.5`; `None` for any other text.
    ///
    /// ```
    /// use divvy_framework::division::tree::Percent;
    ///
    /// assert_eq!(Percent::parse("12.5").unwrap().to_string(), "12.5%");
    /// assert_eq!(Percent::parse("100.1"), None);
    /// ```
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (whole, fraction) = match text.split_once('.') {
            Some((_, "")) => return None,
            Some(parts) => parts,
            None => (text, ""),
        };
        let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || fraction.len() > 6 || !is_digits(whole) || !is_digits(fraction) {
            return None;
        }
        let millionths: u32 = format!("{fraction:0<6}").parse().ok()?;
        let whole: u32 = whole.parse().ok()?;
        let parts = whole.checked_mul(1_000_000)?.checked_add(millionths)?;
        (i128::from(parts) <= WHOLE).then_some(Self(parts))
    }

    /// The sum; `None` if it exceeds 100 percent.
    #[must_use]
    pub fn checked_add(self, other: Self) -> Option<Self> {
        let parts = self.0.checked_add(other.0)?;
        (i128::from(parts) <= WHOLE).then_some(Self(parts))
    }

    /// This share of a count, rounded down.
    #[must_use]
    pub fn floor_of(self, count: i64) -> i64 {
        // At most the count itself, so it fits.
        (i128::from(count.max(0)) * self.parts() / WHOLE) as i64
    }

    /// This share of a count, rounded up.
    #[must_use]
    pub fn ceil_of(self, count: i64) -> i64 {
        ((i128::from(count.max(0)) * self.parts() + WHOLE - 1) / WHOLE) as i64
    }

    /// The percentage in parts of [`WHOLE`].
    pub(super) fn parts(self) -> i128 {
        self.0.into()
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, millionths) = (self.0 / 1_000_000, self.0 % 1_000_000);
        match millionths {
            0 => write!(formatter, "{whole}%"),
            _ => write!(
                formatter,
                "{whole}.{}%",
                format!("{millionths:06}").trim_end_matches('0')
            ),
        }
    }
}

/// A bound: a number of replicas, or a share of what the parent gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// Replicas, 0 or more.
    Count(i64),
    /// A share of the parent's count. A lower bound is rounded down, an upper bound up.
    Percent(Percent),
}

impl fmt::Display for Amount {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => count.fmt(formatter),
            Self::Percent(percent) => percent.fmt(formatter),
        }
    }
}

/// Share of a node among its siblings, within its bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Share {
    /// Keeps what it has. Replicas that its siblings with weights cannot take go to such nodes in proportion to the
    /// room below their upper bounds; replicas that those siblings need are taken from such nodes in proportion to what
    /// is above their lower bounds.
    #[default]
    Keeps,
    /// In proportion to this weight.
    Weight(u32),
    /// Only what no sibling can take. At most one child of a node; a second one [keeps](Self::Keeps).
    Rest,
}

/// Rule by which a leaf divides its count over its candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LeafRule {
    /// Keeps present replicas. Growth is divided in proportion to the room that is left, and shrinkage in proportion to the present
    /// replicas.
    #[default]
    ByRoom,
    /// As evenly as possible.
    Evenly,
    /// In proportion to the weights of the candidates.
    ByWeight,
    /// Keeps present replicas, on as few candidates as possible.
    Fewest,
}

/// Minimum replicas of each candidate of a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Floor {
    /// No lower bound.
    #[default]
    None,
    /// None at all, or at least this many.
    IfAny(i64),
    /// Always at least this many.
    Always(i64),
}

/// A node without children: it divides its count over its candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Leaf {
    /// The rule by which it divides.
    pub rule: LeafRule,
    /// Minimum replicas of each candidate.
    pub floor: Floor,
    /// Maximum replicas of each candidate, 0 or more, in addition to its capacity.
    pub cap: Option<i64>,
}

/// A node of a [`Tree`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Node {
    /// Its share among its siblings. The root gets all replicas.
    pub share: Share,
    /// Fewest replicas.
    pub least: Option<Amount>,
    /// Most replicas.
    pub most: Option<Amount>,
    /// How it divides its count if it has no children.
    pub leaf: Leaf,
    /// Tie key: among equal siblings, the one with the smaller key is served first. The keys of siblings should differ.
    pub tie: u64,
}

impl Node {
    /// Minimum replicas if the parent gets `count`.
    pub(super) fn least_of(&self, count: i64) -> i64 {
        match self.least {
            None => 0,
            Some(Amount::Count(least)) => least.max(0),
            Some(Amount::Percent(percent)) => percent.floor_of(count),
        }
    }

    /// Maximum replicas if the parent gets `count`.
    pub(super) fn most_of(&self, count: i64) -> i64 {
        match self.most {
            None => i64::MAX,
            Some(Amount::Count(most)) => most,
            Some(Amount::Percent(percent)) => percent.ceil_of(count),
        }
    }
}

/// Nodes that share the replicas, from the root down.
///
/// ```
/// use divvy_framework::division::tree::{Node, Share, Tree};
///
/// let weighing = |weight| Node { share: Share::Weight(weight), ..Node::default() };
/// let mut tree = Tree::default();
/// let regions = tree.divide_among(0, [weighing(60), weighing(40)]);
/// let zones = tree.divide_among(regions.start, [weighing(1), weighing(1)]);
/// assert_eq!((regions, zones), (1..3, 3..5));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    nodes: Vec<Node>,
    children: Vec<Range<usize>>,
}

impl Default for Tree {
    /// A tree of one leaf.
    fn default() -> Self {
        Self {
            nodes: vec![Node::default()],
            children: vec![Range::default()],
        }
    }
}

impl Tree {
    /// Removes all nodes but the root, which becomes a leaf. Keeps the memory.
    pub fn reset(&mut self) {
        self.nodes.clear();
        self.nodes.push(Node::default());
        self.children.clear();
        self.children.push(0..0);
    }

    /// Gives a node its children and returns their numbers. A node that has children already, or does not exist, gets none.
    pub fn divide_among(&mut self, parent: usize, children: impl IntoIterator<Item = Node>) -> Range<usize> {
        let start = self.nodes.len();
        if self.children.get(parent).is_none_or(|known| !known.is_empty()) {
            return start..start;
        }
        self.nodes.extend(children);
        let added = start..self.nodes.len();
        self.children.resize(added.end, 0..0);
        self.children[parent] = added.clone();
        added
    }

    /// The nodes, the root first.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Mutable access to a node; `None` if it does not exist.
    pub fn node_mut(&mut self, node: usize) -> Option<&mut Node> {
        self.nodes.get_mut(node)
    }

    /// The numbers of a node's children; empty for a leaf.
    #[must_use]
    pub fn children(&self, node: usize) -> Range<usize> {
        self.children.get(node).cloned().unwrap_or_default()
    }

    /// True if the node divides over candidates.
    #[must_use]
    pub fn is_leaf(&self, node: usize) -> bool {
        self.children(node).is_empty()
    }
}
