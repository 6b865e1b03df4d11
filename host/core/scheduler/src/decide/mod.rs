//! The bindings of this scheduler, and the conditions under which one of them is decided again.
//!
//! Everything here is a pure function of objects; the rules are those of karmada-scheduler, each with its source.
//!
//! - [`ownership`]: the bindings that this scheduler may touch.
//! - [`rules`]: the rules by which a woken binding is decided, in order.
//! - [`policy`]: the request in a policy's annotations, and the annotation that records it.
//! - [`stored_hash`]: the hashes in annotations that outlive a process.
//! - [`failure`]: the annotation of a binding on which a plugin's worker died.
//! - [`affinity`]: the clusters whose changes concern a binding.
//! - [`clearing`]: the failures that remove a result.

pub mod affinity;
pub mod clearing;
pub mod failure;
pub mod ownership;
pub mod policy;
pub mod rules;
pub mod stored_hash;

pub use crate::input::{APPLIED_PLACEMENT, APPLIED_POLICY, PLUGIN_FAILURE, WRITTEN_ANNOTATIONS};
