//! Bounds that contradict each other, if no division keeps them all.
//!
//! Each constraint is left out in turn. If there is still no division without it, it was not needed for the contradiction and stays
//! out. Those that remain contradict each other, and none of them can be left out.

use divvy_framework::division::Request;
use divvy_framework::division::tree::Amount;

use super::columns::capacity;
use super::node::{Floor, Tree};
use super::run::TreeScratch;
use super::{Members, Memory, TreeError};

/// A constraint that takes part in a contradiction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Constraint {
    /// The node.
    pub node: usize,
    /// The constraint.
    pub kind: ConstraintKind,
}

/// The kind of a [`Constraint`], with its figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConstraintKind {
    /// Exactly this many replicas: equal bounds.
    Exactly(i64),
    /// The lower bound.
    Least(Amount),
    /// The upper bound.
    Most(Amount),
    /// The floor of each candidate of a leaf.
    Floor(Floor),
    /// The cap of each candidate of a leaf.
    Cap(i64),
    /// The room of a leaf's candidates.
    Room {
        /// Number of candidates.
        candidates: usize,
        /// Replicas that fit them together, existing ones included; saturates at `i64::MAX`.
        available: i64,
        /// Replicas that fit the smallest of them; 0 if there is none.
        smallest: i64,
    },
}

impl ConstraintKind {
    /// The order in which the constraints of a node are named.
    const fn rank(&self) -> u8 {
        match self {
            Self::Exactly(_) => 0,
            Self::Least(_) => 1,
            Self::Most(_) => 2,
            Self::Floor(_) => 3,
            Self::Cap(_) => 4,
            Self::Room { .. } => 5,
        }
    }
}

/// Finds constraints that no division of the replicas keeps together, none of which can be left out. For a request that
/// [`divide`](super::divide) finds unsatisfiable; for any other, the result is empty. The constraints found do not
/// depend on the order of siblings; they are in the order of their nodes.
///
/// # Errors
/// As [`divide`](super::divide).
pub fn find_conflict(
    request: &Request<'_>,
    tree: &Tree,
    members: Members<'_>,
    memory: &mut Memory,
) -> Result<Vec<Constraint>, TreeError> {
    let scratch = &mut memory.tree;
    let mut trial = Trial {
        tree: tree.clone(),
        unlimited: vec![false; tree.nodes().len()],
    };
    let mut conflict = Vec::new();
    if trial.is_possible(request, members, scratch)? {
        return Ok(conflict);
    }
    let nodes = 0..tree.nodes().len();
    let rooms: Vec<ConstraintKind> = nodes.map(|node| room(request, scratch.members(node))).collect();
    for constraint in constraints(tree, &rooms) {
        let before = trial.clone();
        trial.leave_out(constraint);
        if trial.is_possible(request, members, scratch)? {
            trial = before;
            conflict.push(constraint);
        }
    }
    conflict.sort_by_key(|constraint| (constraint.node, constraint.kind.rank()));
    Ok(conflict)
}

/// A tree without some of its constraints.
#[derive(Clone)]
struct Trial {
    tree: Tree,
    unlimited: Vec<bool>,
}

impl Trial {
    fn leave_out(&mut self, Constraint { node, kind }: Constraint) {
        if let (ConstraintKind::Room { .. }, Some(unlimited)) = (kind, self.unlimited.get_mut(node)) {
            *unlimited = true;
        }
        let Some(node) = self.tree.node_mut(node) else {
            return;
        };
        match kind {
            ConstraintKind::Exactly(_) => (node.least, node.most) = (None, None),
            ConstraintKind::Least(_) => node.least = None,
            ConstraintKind::Most(_) => node.most = None,
            ConstraintKind::Floor(_) => node.leaf.floor = Floor::None,
            ConstraintKind::Cap(_) => node.leaf.cap = None,
            ConstraintKind::Room { .. } => {}
        }
    }

    fn is_possible(
        &self,
        request: &Request<'_>,
        members: Members<'_>,
        scratch: &mut TreeScratch,
    ) -> Result<bool, TreeError> {
        scratch.is_possible(request, &self.tree, members, &self.unlimited)
    }
}

/// The room of a leaf's candidates.
fn room(request: &Request<'_>, candidates: &[u32]) -> ConstraintKind {
    let capacities = candidates
        .iter()
        .map(|&candidate| capacity(request, candidate as usize));
    ConstraintKind::Room {
        candidates: candidates.len(),
        available: capacities.clone().fold(0, i64::saturating_add),
        smallest: capacities.min().unwrap_or(0),
    }
}

/// All constraints of a tree. Room comes first, so that it is left out wherever a bound also makes the contradiction: a
/// bound means more to the author of a policy. Otherwise, tie keys order them.
fn constraints(tree: &Tree, rooms: &[ConstraintKind]) -> Vec<Constraint> {
    let leaves = rooms.iter().enumerate().filter(|(node, _)| tree.is_leaf(*node));
    let room = leaves.map(|(node, &kind)| Constraint { node, kind });
    let mut constraints: Vec<Constraint> = room.collect();
    for (node, properties) in tree.nodes().iter().enumerate() {
        let mut add = |kind| constraints.push(Constraint { node, kind });
        match (properties.least, properties.most) {
            (Some(Amount::Count(least)), Some(Amount::Count(most))) if least == most => {
                add(ConstraintKind::Exactly(least));
            }
            (least, most) => {
                least.into_iter().for_each(|least| add(ConstraintKind::Least(least)));
                most.into_iter().for_each(|most| add(ConstraintKind::Most(most)));
            }
        }
        if tree.is_leaf(node) {
            if properties.leaf.floor != Floor::None {
                add(ConstraintKind::Floor(properties.leaf.floor));
            }
            properties
                .leaf
                .cap
                .into_iter()
                .for_each(|cap| add(ConstraintKind::Cap(cap)));
        }
    }
    let tie = |constraint: &Constraint| tree.nodes().get(constraint.node).map_or(0, |node| node.tie);
    constraints.sort_by_key(|constraint| (constraint.kind.rank() < 5, tie(constraint), constraint.kind.rank()));
    constraints
}
