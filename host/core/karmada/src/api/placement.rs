//! `Placement` of `policy.karmada.io/v1alpha1`: choosing clusters, spreading over them and dividing replicas.
//!
//! Includes overflow affinities (Karmada v1.18) and the `clusterPriority` of `priority-aggregated.md`. In a manifest,
//! an affinity term contains the fields of its affinity inline. They are read through a flat private struct, because
//! serde's `flatten` would lose the paths of errors and slow down the reader.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::words::Word;
use super::{FieldSelector, LabelSelector, ReplicaSchedulingStrategy, Toleration, Unmatchable, is_default, nullable};

/// The rules for choosing clusters and dividing replicas.
#[derive(Debug, Clone, Default, PartialEq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Placement {
    /// Clusters to choose from. Mutually exclusive with `cluster_affinities`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_affinity: Option<ClusterAffinity>,
    /// Groups of clusters, tried in order.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub cluster_affinities: Vec<ClusterAffinityTerm>,
    /// Tolerations for taints of clusters.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub cluster_tolerations: Vec<Toleration>,
    /// Bounds on the number of groups of clusters.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub spread_constraints: Vec<SpreadConstraint>,
    /// Division of the replicas. If absent, they are duplicated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replica_scheduling: Option<ReplicaSchedulingStrategy>,
    /// Priorities of clusters, for any strategy (`priority-aggregated.md`, alternatives): lists by key, as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_priority: Option<Map<String, Value>>,
    /// Workloads that share clusters, and workloads that share none (Karmada v1.17, alpha).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload_affinity: Option<WorkloadAffinity>,
}

/// Affinity and anti-affinity between workloads. Both are requirements.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct WorkloadAffinity {
    /// Workloads of one group share clusters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub affinity: Option<WorkloadAffinityTerm>,
    /// Workloads of one group share no cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anti_affinity: Option<WorkloadAffinityTerm>,
}

/// Grouping of workloads. Karmada has two types with the same field, one for each kind of group.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct WorkloadAffinityTerm {
    /// Key of the label of the workload whose value names the group. A workload without it is in no group.
    #[serde(deserialize_with = "nullable")]
    pub group_by_label_key: String,
}

/// A set of clusters. An absent or empty field restricts nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ClusterAffinity {
    /// Selects clusters by label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label_selector: Option<LabelSelector>,
    /// Selects clusters by provider, region or zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field_selector: Option<FieldSelector>,
    /// Selects clusters by name.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub cluster_names: Vec<String>,
    /// Names of clusters that are excluded.
    #[serde(
        rename = "exclude",
        deserialize_with = "nullable",
        skip_serializing_if = "is_default"
    )]
    pub exclude_clusters: Vec<String>,
}

impl ClusterAffinity {
    /// The affinity that selects clusters by name.
    pub fn by_names<Name: Into<String>>(names: impl IntoIterator<Item = Name>) -> Self {
        Self {
            cluster_names: names.into_iter().map(Into::into).collect(),
            ..Self::default()
        }
    }

    /// The reason why a selector matches nothing, so that the affinity selects no cluster; `None` if there is none.
    pub fn unmatchable(&self) -> Option<Unmatchable<'_>> {
        let labels = self.label_selector.as_ref().and_then(LabelSelector::unmatchable);
        labels.or_else(|| self.field_selector.as_ref().and_then(FieldSelector::unmatchable))
    }

    /// True if no field is set, so that every cluster is selected.
    pub fn is_empty(&self) -> bool {
        is_default(self)
    }
}

/// A named group of clusters, with the tiers into which it may overflow.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(from = "FlatAffinityTerm", into = "FlatAffinityTerm")]
pub struct ClusterAffinityTerm {
    /// Name of the group, which the binding's status records.
    pub affinity_name: String,
    /// The clusters of the group.
    pub affinity: ClusterAffinity,
    /// Further clusters, used only for replicas that do not fit into the group (Karmada v1.18).
    pub overflow_affinities: Vec<OverflowClusterAffinity>,
}

/// A tier of clusters into which a group may overflow.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "FlatAffinityTerm", into = "FlatAffinityTerm")]
pub struct OverflowClusterAffinity {
    /// Name of the tier.
    pub affinity_name: String,
    /// The clusters of the tier.
    pub affinity: ClusterAffinity,
}

/// An affinity term as written in a manifest.
#[derive(Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
struct FlatAffinityTerm {
    #[serde(deserialize_with = "nullable")]
    affinity_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    label_selector: Option<LabelSelector>,
    #[serde(skip_serializing_if = "Option::is_none")]
    field_selector: Option<FieldSelector>,
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    cluster_names: Vec<String>,
    #[serde(
        rename = "exclude",
        deserialize_with = "nullable",
        skip_serializing_if = "is_default"
    )]
    exclude_clusters: Vec<String>,
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    overflow_affinities: Vec<OverflowClusterAffinity>,
}

impl From<FlatAffinityTerm> for ClusterAffinityTerm {
    fn from(flat: FlatAffinityTerm) -> Self {
        Self {
            affinity_name: flat.affinity_name,
            affinity: ClusterAffinity {
                label_selector: flat.label_selector,
                field_selector: flat.field_selector,
                cluster_names: flat.cluster_names,
                exclude_clusters: flat.exclude_clusters,
            },
            overflow_affinities: flat.overflow_affinities,
        }
    }
}

impl From<ClusterAffinityTerm> for FlatAffinityTerm {
    fn from(term: ClusterAffinityTerm) -> Self {
        let affinity = term.affinity;
        Self {
            affinity_name: term.affinity_name,
            label_selector: affinity.label_selector,
            field_selector: affinity.field_selector,
            cluster_names: affinity.cluster_names,
            exclude_clusters: affinity.exclude_clusters,
            overflow_affinities: term.overflow_affinities,
        }
    }
}

impl From<FlatAffinityTerm> for OverflowClusterAffinity {
    fn from(flat: FlatAffinityTerm) -> Self {
        let ClusterAffinityTerm {
            affinity_name,
            affinity,
            ..
        } = flat.into();
        Self {
            affinity_name,
            affinity,
        }
    }
}

impl From<OverflowClusterAffinity> for FlatAffinityTerm {
    fn from(tier: OverflowClusterAffinity) -> Self {
        let (affinity_name, affinity) = (tier.affinity_name, tier.affinity);
        ClusterAffinityTerm {
            affinity_name,
            affinity,
            ..ClusterAffinityTerm::default()
        }
        .into()
    }
}

pub use divvy_framework_view::words::SpreadField;

/// Bounds on the number of groups of clusters to choose.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SpreadConstraint {
    /// The field to group by. Mutually exclusive with `spread_by_label`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread_by_field: Option<Word<SpreadField>>,
    /// The label key to group by.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub spread_by_label: String,
    /// Maximum number of groups; 0 means no limit.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub max_groups: i64,
    /// Minimum number of groups; 0 means 1.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub min_groups: i64,
}
