//! Division over trees.

mod exact;
mod random;

use super::super::tree::{
    Amount, Constraint, ConstraintKind, Floor, Leaf, LeafRule, Members, Node, Percent, Share, Tree, TreeError, divide,
    find_conflict,
};
use super::super::{Cycle, Request, Rounding, Scratch};
use super::ties;
