//! Any other object: a workload, or a resource that is propagated whole.
//!
//! The raw value is kept, because the location of the replicas and the pod template is configurable
//! (`crate::workloads::WorkloadKinds`) and so cannot be part of a type.

use serde_json::Value;

use super::{ObjectMeta, TypeMeta};

/// An object that is not a cluster, policy or binding.
#[derive(Debug, Clone, PartialEq)]
pub struct Resource {
    /// `apiVersion` and `kind`.
    pub type_meta: TypeMeta,
    /// Name, namespace, labels, annotations.
    pub metadata: ObjectMeta,
    /// The object, or as much of it as is read after its demand is known: `spec.replicas` and the like, and the whole of a
    /// CustomResourceDefinition.
    pub value: Value,
}
