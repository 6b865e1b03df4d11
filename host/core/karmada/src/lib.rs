//! Karmada's objects as a scheduler reads them, and the parts of Karmada's API server and detector that act on them.
//!
//! - [`api`]: Karmada's and Kubernetes' objects.
//! - [`policy`]: claims of resources by policies, names of bindings, defaults, and Karmada's names for ways to divide.
//! - [`workloads`]: replicas and requests of a workload, by kind.
//! - [`detector`]: bindings from policies, workloads and bindings, one object at a time.
//! - [`fields`]: every field of Karmada's resources, to recognise misspelt ones.
//!
//! Nothing here depends on plugins, files or networks: every function works on objects in memory.

pub mod api;
pub mod detector;
pub mod fields;
pub mod policy;
pub mod workloads;
