//! Claims of resources by policies, names of bindings, and the defaults of the API server.
//!
//! Everything here is a pure function of objects in memory. Karmada's detector does the same against a live API server
//! (`pkg/detector`). Preemption is left out: offline, a claim lasts as long as its policy selects the resource.

mod claim;
mod defaults;
mod index;
mod naming;
mod scope;
#[cfg(test)]
mod tests;
pub mod wire;

pub use claim::{Claim, KnownPolicy, Policies, claimed_among, claimed_by, permanent_id, release, selects};
pub(crate) use claim::{may_select, selects_regardless_of_labels};
pub use defaults::{default_resource_models, default_spread_constraint};
pub use naming::binding_name;
pub use scope::is_cluster_scoped;
