//! `Cluster` of `cluster.karmada.io/v1alpha1`.
//!
//! The largest part of any input: thousands of them, each with hundreds of API resources. Credentials,
//! endpoints and node counts are left out, since no decision reads them. Quantities are parsed here, once.

use serde::{Deserialize, Serialize};

use super::{Condition, ObjectMeta, Quantity, ResourceList, Taint, TypeMeta, is_default, nullable};

/// A member cluster.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
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
    /// Where the cluster is and what it repels.
    #[serde(deserialize_with = "nullable")]
    pub spec: ClusterSpec,
    /// What the cluster reported last.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub status: ClusterStatus,
}

/// The desired state of a cluster.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
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
    /// The zone; Karmada's deprecated field beside `zones`.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub zone: String,
    /// The zones that the cluster's nodes are in.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub zones: Vec<String>,
    /// Taints.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub taints: Vec<Taint>,
    /// The sizes into which the cluster's nodes are sorted.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub resource_models: Vec<ResourceModel>,
}

/// One size of nodes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceModel {
    /// The index of this size.
    #[serde(deserialize_with = "nullable")]
    pub grade: u32,
    /// What a node of this size offers, by resource.
    #[serde(deserialize_with = "nullable")]
    pub ranges: Vec<ResourceModelRange>,
}

/// The range of one resource in a size of nodes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceModelRange {
    /// The resource.
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// The least that a node of this size offers.
    #[serde(deserialize_with = "nullable")]
    pub min: Quantity,
    /// What a node of this size stays below.
    #[serde(deserialize_with = "nullable")]
    pub max: Quantity,
}

/// What a cluster reported.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ClusterStatus {
    /// The version of its Kubernetes.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub kubernetes_version: String,
    /// The APIs that it serves.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub api_enablements: Vec<ApiEnablement>,
    /// Conditions, `Ready` and `CompleteAPIEnablements` among them.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub conditions: Vec<Condition>,
    /// Its resources; without them nothing fits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_summary: Option<ResourceSummary>,
}

/// The resources of one API group and version.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ApiEnablement {
    /// Group and version, e.g. `apps/v1`.
    #[serde(deserialize_with = "nullable")]
    pub group_version: String,
    /// Its resources.
    #[serde(deserialize_with = "nullable")]
    pub resources: Vec<ApiResource>,
}

/// One resource of an API group.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
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
#[serde(rename_all = "camelCase", default)]
pub struct ResourceSummary {
    /// What nodes offer to pods.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub allocatable: ResourceList,
    /// What pods that wait for a node ask for.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub allocating: ResourceList,
    /// What pods on nodes ask for.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub allocated: ResourceList,
    /// How many nodes of each size there are.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub allocatable_modelings: Vec<AllocatableModeling>,
}

/// The number of nodes of one size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AllocatableModeling {
    /// The index of the size.
    #[serde(deserialize_with = "nullable")]
    pub grade: u32,
    /// The number of nodes.
    #[serde(deserialize_with = "nullable")]
    pub count: i64,
}

impl Cluster {
    /// The group and version that this build reads.
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
