//! Placements of other bindings: an index by workload affinity group, and the part of it that a decision sees.
//!
//! The caller maintains the index: from the bindings of its input, or from a watch and results that are not written yet.
//! A group belongs to a namespace, so only ResourceBindings are in one, as in Karmada
//! (`pkg/scheduler/framework/plugins/workloadaffinity` and `workloadantiaffinity`).

mod enforced;
mod index;
mod peers;

#[cfg(test)]
mod tests;

pub use enforced::Enforced;
pub use index::{Placements, Targets, targets_of};
pub use peers::{Peer, Peers};
