//! The watched objects in memory, in as little of it as a decision allows.
//!
//! - [`bindings`]: the bindings, by their keys.
//! - [`Record`]: one binding, with its types. Nothing is parsed after the watch; what many bindings have in common is shared.
//! - [`clusters`]: what the scheduler has to notice about clusters; the clusters themselves are in the fleet.
//! - [`policies`]: the facts about policies that bindings lack.
//!
//! A relist replaces objects one by one and removes at its end those that it did not name, so that no second copy of
//! anything is held.

pub mod bindings;
pub(crate) mod clusters;
mod parts;
pub(crate) mod policies;
mod record;
mod shared;

pub use bindings::BindingStore;
pub(crate) use clusters::{ClusterChange, ClusterStore};
pub(crate) use policies::{PolicyKey, PolicyStore};
pub(crate) use record::{Divided, Record, claim_text};
pub(crate) use shared::{Shared, SharedPlacement};
