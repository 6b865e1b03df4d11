//! Karmada's objects as a scheduler reads them, and what Karmada's API server and detector do with them.
//!
//! - [`api`]: Karmada's and Kubernetes' objects.
//! - [`policy`]: which policy claims a resource; names of bindings; defaults; Karmada's names for ways to divide.
//! - [`workloads`]: replicas and requests of a workload, by its kind.
//! - [`detector`]: bindings from policies, workloads and bindings, one object at a time.
//!
//! Nothing here knows plugins, files or networks: every function is one of objects that are at hand.

pub mod api;
pub mod detector;
pub mod policy;
pub mod workloads;
