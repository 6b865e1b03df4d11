//! From manifests to what the cycle decides: one input for each binding, sorted by name.
//!
//! A binding in the manifests is the truth; its workload supplies what it lacks; a workload without a binding
//! gets one if a policy matches. Every binding is worked out on its own, so the order of documents changes
//! nothing. Nothing here looks at clusters, estimates or divides.

mod binding;
mod resolve;
#[cfg(test)]
mod tests;

pub use binding::{BindingInput, SkipReason};
pub use resolve::{ResolveOptions, Resolved, resolve};
