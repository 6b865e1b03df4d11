//! `Placement` of `policy.karmada.io/v1alpha1`: which clusters, how spread, how divided.
//!
//! Includes overflow affinities (Karmada v1.18) and the `clusterPriority` of `priority-aggregated.md`.
//! An affinity term holds its affinity's fields inline in a manifest; they are read by way of a flat
//! private struct, because serde's `flatten` would lose the path of an error and the speed of the reader.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::words::Word;
use super::{FieldSelector, LabelSelector, ReplicaSchedulingStrategy, Toleration, is_default, nullable};

/// The rule by which clusters are chosen and replicas divided.
#[derive(Debug, Clone, Default, PartialEq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Placement {
    /// The clusters to choose from. Not together with `cluster_affinities`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_affinity: Option<ClusterAffinity>,
    /// Groups of clusters, tried one after the other.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub cluster_affinities: Vec<ClusterAffinityTerm>,
    /// Taints that are tolerated.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub cluster_tolerations: Vec<Toleration>,
    /// How far to spread.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub spread_constraints: Vec<SpreadConstraint>,
    /// How replicas are divided. Absent is duplicated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replica_scheduling: Option<ReplicaSchedulingStrategy>,
    /// Priorities of clusters beside any strategy (`priority-aggregated.md`, alternatives): lists by key, as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_priority: Option<Map<String, Value>>,
}

/// A set of clusters. Parts that are absent or empty do not restrict.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ClusterAffinity {
    /// By label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label_selector: Option<LabelSelector>,
    /// By provider, region or zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field_selector: Option<FieldSelector>,
    /// By name.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub cluster_names: Vec<String>,
    /// Clusters that are left out.
    #[serde(
        rename = "exclude",
        deserialize_with = "nullable",
        skip_serializing_if = "is_default"
    )]
    pub exclude_clusters: Vec<String>,
}

impl ClusterAffinity {
    /// The clusters of these names.
    pub fn by_names<Name: Into<String>>(names: impl IntoIterator<Item = Name>) -> Self {
        Self {
            cluster_names: names.into_iter().map(Into::into).collect(),
            ..Self::default()
        }
    }

    /// Whether no part is given, which selects every cluster.
    pub fn is_empty(&self) -> bool {
        is_default(self)
    }
}

/// A named group of clusters, with the tiers that it may overflow into.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "FlatAffinityTerm", into = "FlatAffinityTerm")]
pub struct ClusterAffinityTerm {
    /// The group's name, which the binding's status carries.
    pub affinity_name: String,
    /// The clusters of the group.
    pub affinity: ClusterAffinity,
    /// Further clusters, taken in only as far as the group has no room (Karmada v1.18).
    pub overflow_affinities: Vec<OverflowClusterAffinity>,
}

/// A tier of clusters behind a group.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "FlatAffinityTerm", into = "FlatAffinityTerm")]
pub struct OverflowClusterAffinity {
    /// The tier's name.
    pub affinity_name: String,
    /// The clusters of the tier.
    pub affinity: ClusterAffinity,
}

/// An affinity term as it stands in a manifest.
#[derive(Default, Serialize, Deserialize)]
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

impl FlatAffinityTerm {
    fn new(
        affinity_name: String,
        affinity: ClusterAffinity,
        overflow_affinities: Vec<OverflowClusterAffinity>,
    ) -> Self {
        Self {
            affinity_name,
            label_selector: affinity.label_selector,
            field_selector: affinity.field_selector,
            cluster_names: affinity.cluster_names,
            exclude_clusters: affinity.exclude_clusters,
            overflow_affinities,
        }
    }

    fn split(self) -> (String, ClusterAffinity, Vec<OverflowClusterAffinity>) {
        let affinity = ClusterAffinity {
            label_selector: self.label_selector,
            field_selector: self.field_selector,
            cluster_names: self.cluster_names,
            exclude_clusters: self.exclude_clusters,
        };
        (self.affinity_name, affinity, self.overflow_affinities)
    }
}

impl From<FlatAffinityTerm> for ClusterAffinityTerm {
    fn from(flat: FlatAffinityTerm) -> Self {
        let (affinity_name, affinity, overflow_affinities) = flat.split();
        Self {
            affinity_name,
            affinity,
            overflow_affinities,
        }
    }
}

impl From<ClusterAffinityTerm> for FlatAffinityTerm {
    fn from(term: ClusterAffinityTerm) -> Self {
        Self::new(term.affinity_name, term.affinity, term.overflow_affinities)
    }
}

impl From<FlatAffinityTerm> for OverflowClusterAffinity {
    fn from(flat: FlatAffinityTerm) -> Self {
        let (affinity_name, affinity, _) = flat.split();
        Self {
            affinity_name,
            affinity,
        }
    }
}

impl From<OverflowClusterAffinity> for FlatAffinityTerm {
    fn from(tier: OverflowClusterAffinity) -> Self {
        Self::new(tier.affinity_name, tier.affinity, Vec::new())
    }
}

pub use divvy_framework_view::words::SpreadField;

/// How many groups of clusters to choose.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SpreadConstraint {
    /// The field to group by. Not together with `spread_by_label`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread_by_field: Option<Word<SpreadField>>,
    /// The label key to group by.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub spread_by_label: String,
    /// At most so many groups; 0 is no limit.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub max_groups: i64,
    /// At least so many groups; 0 is read as 1.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub min_groups: i64,
}
