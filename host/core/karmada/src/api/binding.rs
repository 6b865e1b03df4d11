//! `ResourceBinding` and `ClusterResourceBinding` of `work.karmada.io/v1alpha2`.
//!
//! Both share one type, because their specification and status are the same. Node affinities of a replica are kept as
//! JSON: Divvy's estimate does not read them, but a recorded binding must not lose them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Condition, ObjectMeta, Placement, ResourceList, StringMap, SuspendClusters, Timestamp, Toleration, is_default,
    nullable,
};

/// Scope of a binding: namespaced or cluster-wide.
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

/// A binding of either scope: a resource, its placement, and the clusters that it was scheduled to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// Desired state, and the result of scheduling.
    #[serde(deserialize_with = "nullable")]
    pub spec: ResourceBindingSpec,
    /// State reported by the scheduler.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub status: ResourceBindingStatus,
}

impl ResourceBinding {
    /// The supported group and version.
    pub const API_VERSION: &'static str = "work.karmada.io/v1alpha2";

    /// The binding's scope, according to its kind.
    pub fn scope(&self) -> BindingScope {
        if self.kind == BindingScope::Cluster.kind() {
            BindingScope::Cluster
        } else {
            BindingScope::Namespaced
        }
    }
}

/// Desired state of a binding, and the result of scheduling.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceBindingSpec {
    /// The resource that is propagated.
    #[serde(deserialize_with = "nullable")]
    pub resource: ObjectReference,
    /// Replicas of the resource. Karmada reads an absent field as 0; here absence is kept, so that a workload in the
    /// same input can supply the count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i32>,
    /// Requirements of one replica.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replica_requirements: Option<Arc<ReplicaRequirements>>,
    /// Components of a resource with several pod templates.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub components: Vec<Component>,
    /// The last result: clusters and their replicas.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub clusters: Vec<TargetCluster>,
    /// The rules for choosing clusters and dividing replicas.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<Arc<Placement>>,
    /// Clusters that the resource is being evicted from.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub graceful_eviction_tasks: Vec<GracefulEvictionTask>,
    /// Bindings that this one follows.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub required_by: Vec<BindingReference>,
    /// Name of the responsible scheduler.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub scheduler_name: String,
    /// Time at which a reschedule from scratch was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reschedule_triggered_at: Option<Timestamp>,
    /// Operations that are suspended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspension: Option<BindingSuspension>,
    /// Priority in the scheduling queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule_priority: Option<SchedulePriority>,
    /// The binding's affinity and anti-affinity groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload_affinity_groups: Option<WorkloadAffinityGroups>,
}

/// The workload affinity groups of a binding, each as `<label key>=<label value>`. They never span namespaces.
/// Karmada's detector derives them from [`Placement::workload_affinity`] and the labels of the workload.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct WorkloadAffinityGroups {
    /// The group whose workloads share clusters; empty for none.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub affinity_group: String,
    /// The group whose workloads share no cluster; empty for none.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub anti_affinity_group: String,
}

impl WorkloadAffinityGroups {
    /// True if the binding is in no group.
    pub fn is_empty(&self) -> bool {
        is_default(self)
    }
}

/// The resource of a binding.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// The resource's UID.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub uid: String,
    /// Version of the resource when the binding was written.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub resource_version: String,
}

impl ObjectReference {
    /// True if the reference names exactly this version of the resource.
    pub fn is_in_step(&self, resource: &ObjectMeta) -> bool {
        !self.resource_version.is_empty()
            && self.resource_version == resource.resource_version
            && self.uid == resource.uid
    }
}

/// Requirements of one replica.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ReplicaRequirements {
    /// Requirements on its node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_claim: Option<NodeClaim>,
    /// Resource requests.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub resource_request: ResourceList,
    /// The namespace whose quota applies.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub namespace: String,
    /// Priority class of the pods.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub priority_class_name: String,
}

/// Requirements of a replica on its node.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct NodeClaim {
    /// The required node affinity, as JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hard_node_affinity: Option<Value>,
    /// Labels that a node must have.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub node_selector: StringMap,
    /// Tolerations for taints of nodes.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub tolerations: Vec<Toleration>,
}

/// One component of a resource with several pod templates.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Component {
    /// Name of the component.
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// Replicas of the component.
    #[serde(deserialize_with = "nullable")]
    pub replicas: i32,
    /// Requirements of one of its replicas.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replica_requirements: Option<ReplicaRequirements>,
}

/// A cluster and the replicas assigned to it.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct TargetCluster {
    /// Name of the cluster.
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// Replicas; 0 for a resource without replicas.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub replicas: i32,
    /// Components assigned to it, for a resource with several pod templates.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub components: Vec<TargetComponent>,
}

/// A component and the replicas of it that a cluster runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct TargetComponent {
    /// Name of the component.
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// Replicas of the component.
    #[serde(deserialize_with = "nullable")]
    pub replicas: i32,
}

/// A cluster that the resource is being evicted from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct GracefulEvictionTask {
    /// Name of the cluster.
    #[serde(deserialize_with = "nullable")]
    pub from_cluster: String,
    /// Number of replicas to evict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i32>,
    /// Reason for the eviction, as a word for programs.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub reason: String,
    /// Reason for the eviction, as a sentence for people.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub message: String,
    /// Component that requested the eviction.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub producer: String,
    /// Seconds after which the eviction ends although its replacement is not healthy; `None` for the controller's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grace_period_seconds: Option<i32>,
    /// True to keep the copy until a person decides, false to remove it at once; `None` to remove it once it is replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppress_deletion: Option<bool>,
    /// Time at which the eviction was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub creation_timestamp: Option<Timestamp>,
}

/// A binding that another one follows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct BindingReference {
    /// The namespace; empty for a `ClusterResourceBinding`.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub namespace: String,
    /// The name.
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// Its last result.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub clusters: Vec<TargetCluster>,
}

/// Operations that are suspended for a binding.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct BindingSuspension {
    /// True to suspend dispatching to every cluster. Does not stop scheduling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dispatching: Option<bool>,
    /// Clusters for which dispatching is suspended. Does not stop scheduling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dispatching_on_clusters: Option<SuspendClusters>,
    /// True to suspend scheduling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduling: Option<bool>,
}

/// Priority of a binding in the scheduling queue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SchedulePriority {
    /// Larger values go first.
    #[serde(deserialize_with = "nullable")]
    pub priority: i32,
}

/// State reported by the scheduler.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceBindingStatus {
    /// The last generation that was scheduled.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub scheduler_observed_generation: i64,
    /// Name of the last affinity group used. Karmada's JSON name has `Observing` instead of `Observed`.
    #[serde(
        rename = "schedulerObservingAffinityName",
        deserialize_with = "nullable",
        skip_serializing_if = "is_default"
    )]
    pub scheduler_observed_affinity_name: String,
    /// Time of the last successful scheduling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_scheduled_time: Option<Timestamp>,
    /// Conditions, including `Scheduled`.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub conditions: Vec<Condition>,
}
