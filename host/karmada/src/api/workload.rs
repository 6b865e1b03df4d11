//! Any other object: a workload, or a resource that is propagated whole.
//!
//! The raw value stays whole, because where the replicas and the pod template are is a matter of
//! configuration (`crate::workloads::WorkloadKinds`), not of types.

use serde_json::Value;

use super::{ObjectMeta, TypeMeta};

/// An object that is neither cluster, policy nor binding.
#[derive(Debug, Clone, PartialEq)]
pub struct Resource {
    /// `apiVersion` and `kind`.
    pub type_meta: TypeMeta,
    /// Name, namespace, labels, annotations.
    pub metadata: ObjectMeta,
    /// The whole object.
    pub value: Value,
}
