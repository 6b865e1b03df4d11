//! Which policy claims a resource, what its binding is called, what the API server would have filled in.
//!
//! Everything here is a pure function of objects that were read. Karmada's detector does the same against a
//! live API server (`pkg/detector`); preemption is left out, because offline a claim that was made stays made.

mod claim;
mod defaults;
mod naming;
mod scope;
#[cfg(test)]
mod tests;
pub mod wire;

pub use claim::{Claim, Policies, claimed_by};
pub use defaults::default_spread_constraint;
pub use naming::binding_name;
pub use scope::is_cluster_scoped;
