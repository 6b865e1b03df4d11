//! The watched objects in memory, in as little of it as a decision allows.
//!
//! - [`bindings`]: bindings as compact JSON with a few columns, their placements shared.
//! - [`clusters`]: what the scheduler has to notice about clusters; the clusters themselves are in the fleet.
//! - [`policies`]: the facts about policies that bindings lack.
//!
//! A relist replaces objects one by one and removes at its end those that it did not name, so that no second copy of
//! anything is held.

pub mod bindings;
pub mod clusters;
pub mod policies;
mod shared;

pub use bindings::{BindingStore, Record};
pub use clusters::{ClusterChange, ClusterStore};
pub use policies::{PolicyKey, PolicyStore};
pub use shared::{Shared, SharedPlacement};
