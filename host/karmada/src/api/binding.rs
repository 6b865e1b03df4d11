//! `ResourceBinding` and `ClusterResourceBinding` of `work.karmada.io/v1alpha2`.
//!
//! One type for both, since specification and status are one. Node affinities of a replica are kept as
//! JSON: Divvy's general estimate does not read them, but a recorded binding must not lose them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Condition, ObjectMeta, Placement, ResourceList, StringMap, SuspendClusters, Timestamp, Toleration, is_default,
    nullable,
};

/// Whether a binding belongs to a namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BindingScope {
    /// A `ResourceBinding`.
    Namespaced,
    /// A `ClusterResourceBinding`.
    Cluster,
}

impl BindingScope {
    /// The kind of a binding of this scope.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Namespaced => "ResourceBinding",
            Self::Cluster => "ClusterResourceBinding",
        }
    }
}

/// A binding of either scope: a resource, its placement, and the clusters it was given.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceBinding {
    /// `work.karmada.io/v1alpha2`.
    #[serde(deserialize_with = "nullable")]
    pub api_version: String,
    /// `ResourceBinding` or `ClusterResourceBinding`.
    #[serde(deserialize_with = "nullable")]
    pub kind: String,
    /// Name, namespace, UID, labels, annotations.
    #[serde(deserialize_with = "nullable")]
    pub metadata: ObjectMeta,
    /// What is wanted.
    #[serde(deserialize_with = "nullable")]
    pub spec: ResourceBindingSpec,
    /// What schedulers found.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub status: ResourceBindingStatus,
}

impl ResourceBinding {
    /// The group and version that this build reads.
    pub const API_VERSION: &'static str = "work.karmada.io/v1alpha2";

    /// The binding's scope, by its kind.
    pub fn scope(&self) -> BindingScope {
        if self.kind == BindingScope::Cluster.kind() {
            BindingScope::Cluster
        } else {
            BindingScope::Namespaced
        }
    }
}

/// What is wanted of a binding.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceBindingSpec {
    /// The resource that is propagated.
    #[serde(deserialize_with = "nullable")]
    pub resource: ObjectReference,
    /// The replicas of the resource. Absent is 0 in Karmada; absence itself is kept, so that a
    /// workload in the same input can supply the count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i32>,
    /// What one replica needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replica_requirements: Option<ReplicaRequirements>,
    /// The parts of a resource with several pod templates.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub components: Vec<Component>,
    /// The last result.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub clusters: Vec<TargetCluster>,
    /// The rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
    /// Clusters that the resource is being taken from.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub graceful_eviction_tasks: Vec<GracefulEvictionTask>,
    /// Bindings that this one follows.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub required_by: Vec<BindingReference>,
    /// Which scheduler decides.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub scheduler_name: String,
    /// When a division from scratch was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reschedule_triggered_at: Option<Timestamp>,
    /// What stands still.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspension: Option<BindingSuspension>,
    /// The order in which bindings are scheduled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule_priority: Option<SchedulePriority>,
    /// Karmada's groups of workloads that attract or repel each other, kept as they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload_affinity_groups: Option<Value>,
}

/// The resource of a binding.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ObjectReference {
    /// Group and version.
    #[serde(deserialize_with = "nullable")]
    pub api_version: String,
    /// The kind.
    #[serde(deserialize_with = "nullable")]
    pub kind: String,
    /// The namespace; empty for resources that have none.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub namespace: String,
    /// The name.
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// The resource's unique identifier.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub uid: String,
    /// The resource's version when the binding was written.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub resource_version: String,
}

/// What one replica needs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReplicaRequirements {
    /// What it asks of a node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_claim: Option<NodeClaim>,
    /// What it asks of resources.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub resource_request: ResourceList,
    /// The namespace whose quota applies.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub namespace: String,
    /// The pods' priority class.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub priority_class_name: String,
}

/// What a replica asks of a node.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeClaim {
    /// The required node affinity, as JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hard_node_affinity: Option<Value>,
    /// Labels that a node must have.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub node_selector: StringMap,
    /// Taints of nodes that are tolerated.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub tolerations: Vec<Toleration>,
}

/// One part of a resource with several pod templates.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Component {
    /// The part's name.
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// Its replicas.
    #[serde(deserialize_with = "nullable")]
    pub replicas: i32,
    /// What one of them needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replica_requirements: Option<ReplicaRequirements>,
}

/// A cluster and the replicas it was given.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TargetCluster {
    /// The cluster.
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// The replicas; 0 for a resource that has none.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub replicas: i32,
}

/// A cluster that the resource is being taken from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GracefulEvictionTask {
    /// The cluster.
    #[serde(deserialize_with = "nullable")]
    pub from_cluster: String,
    /// How many replicas.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i32>,
    /// Why, as a word.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub reason: String,
    /// Why, as a sentence.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub message: String,
    /// Who asked for it.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub producer: String,
}

/// A binding that another one follows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BindingReference {
    /// The namespace; empty for a `ClusterResourceBinding`.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub namespace: String,
    /// The name.
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// Its result.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub clusters: Vec<TargetCluster>,
}

/// What stands still at a binding.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BindingSuspension {
    /// Dispatching to every cluster. Does not stop scheduling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dispatching: Option<bool>,
    /// Dispatching to some clusters. Does not stop scheduling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dispatching_on_clusters: Option<SuspendClusters>,
    /// Scheduling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduling: Option<bool>,
}

/// A binding's place in the queue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SchedulePriority {
    /// The larger goes first.
    #[serde(deserialize_with = "nullable")]
    pub priority: i32,
}

/// What schedulers found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceBindingStatus {
    /// The generation that was decided last.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub scheduler_observed_generation: i64,
    /// The affinity group that was used last. Karmada's JSON name says `Observing`.
    #[serde(
        rename = "schedulerObservingAffinityName",
        deserialize_with = "nullable",
        skip_serializing_if = "is_default"
    )]
    pub scheduler_observed_affinity_name: String,
    /// When the last scheduling succeeded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_scheduled_time: Option<Timestamp>,
    /// Conditions, `Scheduled` among them.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub conditions: Vec<Condition>,
}
