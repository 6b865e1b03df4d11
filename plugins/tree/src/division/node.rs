//! The shape of a tree: its nodes, how each takes its share from its parent, and its bounds.
//!
//! Nodes are numbered: the root is 0, and the children of a node are consecutive and come after it. A tree knows
//! neither clusters nor names. Callers assign each candidate to a leaf.

use std::ops::Range;

use divvy_framework::division::tree::Amount;

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
