//! `Cluster` of `cluster.karmada.io/v1alpha1`.
//!
//! Clusters are the largest part of most inputs: there may be thousands, each with hundreds of API resources.
//! Credentials, endpoints and node counts are left out, because no decision reads them. Quantities are parsed once,
//! here.

use serde::{Deserialize, Serialize};

use super::{Condition, ObjectMeta, Quantity, ResourceList, Taint, TypeMeta, is_default, nullable};

/// A member cluster.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Cluster {
    /// `cluster.karmada.io/v1alpha1`.
    #[serde(deserialize_with = "nullable")]
    pub api_version: String,
    /// `Cluster`.
    #[serde(deserialize_with = "nullable")]
    pub kind: String,
    /// Name, labels, annotations.
    #[serde(deserialize_with = "nullable")]
    pub metadata: ObjectMeta,
    /// Location, zones, taints and resource models.
    #[serde(deserialize_with = "nullable")]
    pub spec: ClusterSpec,
    /// State that the cluster last reported.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub status: ClusterStatus,
}

/// The desired state of a cluster.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ClusterSpec {
    /// `Push` or `Pull`.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub sync_mode: String,
    /// The cloud provider.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub provider: String,
    /// The region.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub region: String,
    /// The zone, in the field that Karmada deprecated in favour of `zones`.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub zone: String,
    /// Zones of the cluster's nodes.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub zones: Vec<String>,
    /// Taints.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub taints: Vec<Taint>,
    /// Size classes into which the cluster's nodes are sorted.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub resource_models: Vec<ResourceModel>,
}

/// A size class of nodes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceModel {
    /// Number of this class.
    #[serde(deserialize_with = "nullable")]
    pub grade: u32,
    /// Range of each resource that nodes of this class offer.
    #[serde(deserialize_with = "nullable")]
    pub ranges: Vec<ResourceModelRange>,
}

/// Range of one resource in a size class of nodes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceModelRange {
    /// The resource.
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// Minimum that a node of this class offers, inclusive.
    #[serde(deserialize_with = "nullable")]
    pub min: Quantity,
    /// Maximum, exclusive.
    #[serde(deserialize_with = "nullable")]
    pub max: Quantity,
}

/// State that a cluster reported.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ClusterStatus {
    /// Version of Kubernetes in the cluster.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub kubernetes_version: String,
    /// APIs that the cluster serves.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub api_enablements: Vec<ApiEnablement>,
    /// Conditions, including `Ready` and `CompleteAPIEnablements`.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub conditions: Vec<Condition>,
    /// Resources of the cluster. Without a summary, no replica fits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_summary: Option<ResourceSummary>,
}

/// The resources of one API group and version.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ApiEnablement {
    /// Group and version, e.g. `apps/v1`.
    #[serde(deserialize_with = "nullable")]
    pub group_version: String,
    /// Resources of that group and version.
    #[serde(deserialize_with = "nullable")]
    pub resources: Vec<ApiResource>,
}

/// One resource of an API group.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ApiResource {
    /// The plural name, e.g. `deployments`.
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// The kind, e.g. `Deployment`.
    #[serde(deserialize_with = "nullable")]
    pub kind: String,
}

/// The resources of a cluster, summed over its nodes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceSummary {
    /// Resources that nodes offer to pods.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub allocatable: ResourceList,
    /// Requests of pods that are waiting for a node.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub allocating: ResourceList,
    /// Requests of pods that are assigned to nodes.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub allocated: ResourceList,
    /// Number of nodes in each size class.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub allocatable_modelings: Vec<AllocatableModeling>,
}

/// Number of nodes in one size class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AllocatableModeling {
    /// Number of the class.
    #[serde(deserialize_with = "nullable")]
    pub grade: u32,
    /// Number of nodes.
    #[serde(deserialize_with = "nullable")]
    pub count: i64,
}

impl Cluster {
    /// The supported group and version.
    pub const API_VERSION: &'static str = "cluster.karmada.io/v1alpha1";
    /// The kind.
    pub const KIND: &'static str = "Cluster";

    /// `apiVersion` and `kind` as one value.
    pub fn type_meta(&self) -> TypeMeta {
        TypeMeta {
            api_version: self.api_version.clone(),
            kind: self.kind.clone(),
        }
    }
}
