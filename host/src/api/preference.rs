//! How a placement divides replicas: `replicaScheduling` with Karmada's preferences and the proposals'.
//!
//! Karmada has one type a list (weight), the proposals add three more (replicas, priority, free fields),
//! and the manifests printed in `specified-replicas.md` mix them up: fields of the affinity beside an
//! empty `targetCluster`, `extendFields` where `replicas` belongs, one list's name under another's parent.
//! So one entry type reads them all as written, and `crate::strategy` gives the mixture its meaning.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::words::Word;
use super::{ClusterAffinity, FieldSelector, LabelSelector, is_default, nullable};

divvy_framework_view::words! {
    /// Whether clusters share the replicas or each gets all of them.
    ReplicaSchedulingType, expecting "a replica scheduling type" {
        /// Every candidate gets the full count.
        Duplicated = "Duplicated",
        /// The candidates share the count.
        Divided = "Divided",
    }
}

/// How replicas are assigned.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReplicaSchedulingStrategy {
    /// Duplicated or divided; absent is divided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replica_scheduling_type: Option<Word<ReplicaSchedulingType>>,
    /// How to divide: Karmada's `Weighted` and `Aggregated`, or any strategy's name.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub replica_division_preference: String,
    /// Weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight_preference: Option<ClusterPreferences>,
    /// Counts (`specified-replicas.md`, solution one).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub specify_preference: Option<SpecifyPreference>,
    /// Priorities (`priority-aggregated.md`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority_preference: Option<PriorityPreference>,
    /// Any strategy's name (`specified-replicas.md`, solution two).
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub extend_replica_division_preference: String,
    /// Fields for any strategy (`specified-replicas.md`, solution two).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extend_cluster_preferences: Option<ExtendClusterPreferences>,
}

/// Weights of clusters.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ClusterPreferences {
    /// Fixed weights.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub static_weight_list: Vec<ClusterPreference>,
    /// `AvailableReplicas`, in which case the list is ignored.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub dynamic_weight: String,
}

/// Counts of clusters.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SpecifyPreference {
    /// The counts.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub static_specify_list: Vec<ClusterPreference>,
}

/// Priorities of clusters.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PriorityPreference {
    /// The priorities, larger first.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub preferred_priority_list: Vec<ClusterPreference>,
}

/// Preferences of strategies that Karmada does not know.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ExtendClusterPreferences {
    /// The list as the proposal's types name it.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub extend_static_list: Vec<ClusterPreference>,
    /// The list as the proposal's printed manifests name it.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub static_specify_list: Vec<ClusterPreference>,
}

/// A preference for a group of clusters: one entry of any of the lists.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ClusterPreference {
    /// The group. Absent or `null` in the manifests printed in `specified-replicas.md`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_cluster: Option<ClusterAffinity>,
    /// The group's weight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<i64>,
    /// The group's count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i64>,
    /// The group's priority.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
    /// Whatever the strategy reads.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub extend_fields: BTreeMap<String, i64>,
    /// A field of the affinity that stands beside `targetCluster` instead of under it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label_selector: Option<LabelSelector>,
    /// A field of the affinity that stands beside `targetCluster` instead of under it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field_selector: Option<FieldSelector>,
    /// A field of the affinity that stands beside `targetCluster` instead of under it.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub cluster_names: Vec<String>,
    /// A field of the affinity that stands beside `targetCluster` instead of under it.
    #[serde(
        rename = "exclude",
        deserialize_with = "nullable",
        skip_serializing_if = "is_default"
    )]
    pub exclude_clusters: Vec<String>,
}

impl ClusterPreference {
    /// The affinity that stands beside `targetCluster`, empty where none does.
    pub fn misplaced_affinity(&self) -> ClusterAffinity {
        ClusterAffinity {
            label_selector: self.label_selector.clone(),
            field_selector: self.field_selector.clone(),
            cluster_names: self.cluster_names.clone(),
            exclude_clusters: self.exclude_clusters.clone(),
        }
    }
}
