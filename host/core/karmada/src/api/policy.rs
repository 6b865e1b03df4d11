//! `PropagationPolicy` and `ClusterPropagationPolicy` of `policy.karmada.io/v1alpha1`.
//!
//! Both share one type, because their specifications are the same. Failover and conflict resolution are left out. Offline, no
//! policy preempts a claim, and existing claims are read from the workloads themselves; reviews of policies read `preemption`.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{LabelSelector, ObjectMeta, Placement, is_default, nullable};

/// Scope of a policy: namespaced or cluster-wide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PolicyScope {
    /// A `PropagationPolicy`.
    Namespaced,
    /// A `ClusterPropagationPolicy`.
    Cluster,
}

impl PolicyScope {
    /// The kind of a policy of this scope.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Namespaced => "PropagationPolicy",
            Self::Cluster => "ClusterPropagationPolicy",
        }
    }
}

/// A policy of either scope.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct PropagationPolicy {
    /// `policy.karmada.io/v1alpha1`.
    #[serde(deserialize_with = "nullable")]
    pub api_version: String,
    /// `PropagationPolicy` or `ClusterPropagationPolicy`.
    #[serde(deserialize_with = "nullable")]
    pub kind: String,
    /// Name, namespace, labels, annotations.
    #[serde(deserialize_with = "nullable")]
    pub metadata: ObjectMeta,
    /// Resources to propagate, and where to.
    #[serde(deserialize_with = "nullable")]
    pub spec: PropagationSpec,
}

impl PropagationPolicy {
    /// The supported group and version.
    pub const API_VERSION: &'static str = "policy.karmada.io/v1alpha1";

    /// The policy's scope, according to its kind.
    pub fn scope(&self) -> PolicyScope {
        if self.kind == PolicyScope::Cluster.kind() {
            PolicyScope::Cluster
        } else {
            PolicyScope::Namespaced
        }
    }
}

/// Desired state of a policy: the resources to propagate, and how.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct PropagationSpec {
    /// Selectors of the resources. A resource must match at least one.
    #[serde(deserialize_with = "nullable")]
    pub resource_selectors: Vec<ResourceSelector>,
    /// Rules for choosing clusters and dividing replicas.
    #[serde(deserialize_with = "nullable")]
    pub placement: Arc<Placement>,
    /// Priority over other policies, larger first; absent means 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
    /// Name of the responsible scheduler; empty means the default scheduler.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub scheduler_name: String,
    /// `Lazy` if changes to the policy take effect only with the workload's next change.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub activation_preference: String,
    /// `Always` if the policy takes resources away from policies of lower priority.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub preemption: String,
    /// Override policies without which the policy does not act: of its own namespace, or `ClusterOverridePolicy` objects.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub dependent_overrides: Vec<String>,
    /// True if what a workload's pods refer to, such as ConfigMaps, follows the workload to its clusters.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub propagate_deps: bool,
    /// Operations that are suspended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspension: Option<Suspension>,
    /// Source of the binding's priority in the scheduling queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule_priority: Option<PolicySchedulePriority>,
    /// Total that the binding must have (`specified-replicas.md`: `replicas` next to `placement`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i64>,
}

/// Selects resources by type, namespace, name and labels.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceSelector {
    /// Group and version.
    #[serde(deserialize_with = "nullable")]
    pub api_version: String,
    /// The kind.
    #[serde(deserialize_with = "nullable")]
    pub kind: String,
    /// The namespace; empty means the policy's own, or any for a `ClusterPropagationPolicy`.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub namespace: String,
    /// The name; empty means any. If a name is given, the label selector is ignored.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub name: String,
    /// Selects resources by label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label_selector: Option<LabelSelector>,
}

/// Operations that are suspended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Suspension {
    /// True to suspend dispatching to every cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dispatching: Option<bool>,
    /// Clusters for which dispatching is suspended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dispatching_on_clusters: Option<SuspendClusters>,
}

/// Clusters for which dispatching is suspended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SuspendClusters {
    /// Names of the clusters.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub cluster_names: Vec<String>,
}

/// Source of a binding's priority in the scheduling queue.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct PolicySchedulePriority {
    /// Kind of source. Karmada implements only `KubePriorityClass`.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub priority_class_source: String,
    /// Name of the priority class.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub priority_class_name: String,
}
