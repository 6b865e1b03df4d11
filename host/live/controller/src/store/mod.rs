//! The watched objects, in as little memory as decisions allow.
//!
//! - [`bindings`]: the bindings, by their keys.
//! - [`Record`]: one binding, with its types. Nothing is parsed after the watch, and bindings share equal values.
//! - [`StoredBinding`]: a record as a decision reads it, whatever the store has of the binding meanwhile.
//! - [`clusters`]: the changes of clusters that the scheduler has to notice; the clusters themselves are in the fleet.
//! - [`policies`]: the facts about policies that bindings lack.
//!
//! A relist replaces objects one by one and, at its end, removes those that it did not name, so no second copy is held.

pub mod bindings;
pub(crate) mod clusters;
mod parts;
pub(crate) mod policies;
mod record;
mod shared;
mod stored;

pub use bindings::BindingStore;
pub(crate) use clusters::{ClusterChange, ClusterStore};
pub(crate) use policies::{PolicyKey, PolicyStore};
pub(crate) use record::{Divided, Record, claim_text};
pub(crate) use shared::{Shared, SharedPlacement};
pub use stored::StoredBinding;
