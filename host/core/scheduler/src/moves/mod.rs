//! Moves: results that take replicas from one cluster and give them to another, written in steps.
//!
//! Everything here is a pure function of what is observed. Where a move stands is kept on the binding, so a step never depends on what
//! a process remembers; any step may be the last before a crash.
//!
//! - [`change`]: the results that are written in steps, those that are written at once, and why.
//! - [`readiness`]: the replicas that are known to be ready.
//! - [`mark`]: the annotation of a binding that is on its way.
//! - [`budgets`]: the moves that may be under way at once.
//! - [`failback`]: replicas that left a cluster against its policy's wish, and their way back.
//! - [`planned`]: the annotation of a binding that a plan gives a target.
//! - [`replacement`]: the reports that let Karmada end an eviction.
//! - [`look`]: a binding as its move sees it.
//! - [`world`]: what else a move reads.
//! - [`step`]: the next result of a move, or the reason why there is none.
//! - [`claim`]: what a move uses of the budgets then, and what may end its wait.

pub mod budgets;
pub mod change;
pub mod claim;
pub mod failback;
pub mod look;
pub mod mark;
pub mod planned;
pub mod readiness;
mod reason;
pub mod replacement;
mod shortcut;
pub mod step;
#[cfg(test)]
mod tests;
pub mod world;
