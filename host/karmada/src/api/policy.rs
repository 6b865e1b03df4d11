//! `PropagationPolicy` and `ClusterPropagationPolicy` of `policy.karmada.io/v1alpha1`.
//!
//! One type for both, since their specifications are one. Failover, conflict resolution and preemption are
//! left out: offline nobody preempts a claim, and a claim that was made is read from the workload itself.

use serde::{Deserialize, Serialize};

use super::{LabelSelector, ObjectMeta, Placement, is_default, nullable};

/// Whether a policy belongs to a namespace.
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
    /// Which resources go where.
    #[serde(deserialize_with = "nullable")]
    pub spec: PropagationSpec,
}

impl PropagationPolicy {
    /// The group and version that this build reads.
    pub const API_VERSION: &'static str = "policy.karmada.io/v1alpha1";

    /// The policy's scope, by its kind.
    pub fn scope(&self) -> PolicyScope {
        if self.kind == PolicyScope::Cluster.kind() {
            PolicyScope::Cluster
        } else {
            PolicyScope::Namespaced
        }
    }
}

/// What a policy propagates, and how.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PropagationSpec {
    /// The resources.
    #[serde(deserialize_with = "nullable")]
    pub resource_selectors: Vec<ResourceSelector>,
    /// Where they go.
    #[serde(deserialize_with = "nullable")]
    pub placement: Placement,
    /// The larger goes before the smaller; absent is 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
    /// Which scheduler decides; empty is the default scheduler.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub scheduler_name: String,
    /// `Lazy` if changes of the policy wait for the workload's next change.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub activation_preference: String,
    /// Whether dispatching to clusters stands still.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspension: Option<Suspension>,
    /// Where the binding's priority comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule_priority: Option<PolicySchedulePriority>,
    /// The total that the binding must have (`specified-replicas.md`: `replicas` beside `placement`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i64>,
}

/// Which resources a policy means.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceSelector {
    /// Group and version.
    #[serde(deserialize_with = "nullable")]
    pub api_version: String,
    /// The kind.
    #[serde(deserialize_with = "nullable")]
    pub kind: String,
    /// The namespace; empty is the policy's, or any for a `ClusterPropagationPolicy`.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub namespace: String,
    /// The name; empty is any. A name voids the label selector.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub name: String,
    /// The labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label_selector: Option<LabelSelector>,
}

/// What stands still.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Suspension {
    /// Dispatching to every cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dispatching: Option<bool>,
    /// Dispatching to some clusters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dispatching_on_clusters: Option<SuspendClusters>,
}

/// Clusters to which dispatching stands still.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SuspendClusters {
    /// Their names.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub cluster_names: Vec<String>,
}

/// Where a binding's priority comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PolicySchedulePriority {
    /// `KubePriorityClass` is the only source that Karmada implements.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub priority_class_source: String,
    /// The class.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub priority_class_name: String,
}
