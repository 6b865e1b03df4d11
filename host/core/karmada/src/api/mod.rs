//! Karmada's and Kubernetes' objects, as far as a scheduler needs them.
//!
//! The field names are Karmada's own (`pkg/apis/{cluster,policy,work}` of karmada-io/karmada), plus the extensions that
//! Karmada's proposals define. Reading follows the rules of a Kubernetes client: unlisted fields are ignored, `null`
//! equals absent, and a word that a newer Karmada may add (an operator, a taint effect) is kept as `Unknown` instead of
//! failing the whole object. The types are designed for `serde_json`, without `flatten` and untagged enums, so that a
//! fleet of thousands of clusters parses in one pass.
//!
//! This module does not apply defaults (`crate::policy::defaults`), does not validate (`divvy_manifests`) and never
//! talks to an API server. Generated types (k8s-openapi) were considered and rejected: they are hundreds of thousands
//! of lines, keep quantities as text, and do not cover Karmada.

mod binding;
mod cluster;
mod dependency;
mod label_syntax;
mod metadata;
mod overriding;
mod placement;
mod policy;
mod preference;
pub mod quantity;
mod read;
#[cfg(feature = "schema")]
mod schema;
mod selector;
mod small_map;
mod taint;
mod time;
mod words;
mod workload;

#[cfg(test)]
mod tests;

pub use binding::{
    BindingReference, BindingScope, BindingSuspension, Component, GracefulEvictionTask, NodeClaim, ObjectReference,
    ReplicaRequirements, ResourceBinding, ResourceBindingSpec, ResourceBindingStatus, SchedulePriority, TargetCluster,
    TargetComponent, WorkloadAffinityGroups,
};
pub use cluster::{
    AllocatableModeling, ApiEnablement, ApiResource, Cluster, ClusterSpec, ClusterStatus, ResourceModel,
    ResourceModelRange, ResourceSummary,
};
pub use dependency::{Dependency, DependencyKind};
pub use label_syntax::{is_label_key, is_label_value};
pub use metadata::{Condition, ObjectMeta, TypeMeta};
pub use overriding::{
    FederatedResourceQuota, OverridePolicy, OverrideRule, OverrideSpec, Overriders, PlaintextOverrider, QuotaSpec,
    QuotaStatus,
};
pub use placement::{
    ClusterAffinity, ClusterAffinityTerm, OverflowClusterAffinity, Placement, SpreadConstraint, SpreadField,
    WorkloadAffinity, WorkloadAffinityTerm,
};
pub use policy::{
    PolicySchedulePriority, PolicyScope, PropagationPolicy, PropagationSpec, ResourceSelector, SuspendClusters,
    Suspension,
};
pub use preference::{
    ClusterPreference, ClusterPreferences, PreferenceEntries, PreferenceList, ReplicaSchedulingStrategy,
    ReplicaSchedulingType,
};
pub use quantity::Quantity;
pub use read::{ReadFields, ReadJson};
pub use selector::{
    FieldSelector, LabelSelector, LabelSelectorRequirement, SelectorOperator, SelectorRequirement, Unmatchable,
};
pub use small_map::SmallMap;
pub use taint::{Taint, TaintEffect, Toleration, TolerationOperator};
pub use time::Timestamp;
pub use words::{Enumeration, Word};
pub use workload::{CustomKind, Resource, TemplateReference};

use serde::{Deserialize, Deserializer};

/// Labels or annotations.
pub type StringMap = SmallMap<String>;

/// Resources by name (`cpu`, `memory`, `pods`, `nvidia.com/gpu`).
pub type ResourceList = SmallMap<Quantity>;

/// Reads `null` as the default, as every Go client of Kubernetes does.
fn nullable<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

/// True if a value is its type's default, for fields that Kubernetes omits when empty.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
