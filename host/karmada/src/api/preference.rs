//! How a placement divides replicas: `replicaScheduling` with Karmada's preferences, and objects of any strategy.
//!
//! Karmada knows one list (weights). Any other object under `replicaScheduling` is kept as it was written: which of its
//! lists a strategy reads is declared by the strategy's plugin, not known here. One entry type reads the entries of every
//! list, including the mistakes in the manifests printed in `specified-replicas.md`: fields of the affinity beside an empty
//! `targetCluster`, and `extendFields` where the field itself belongs.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::words::Word;
use super::{ClusterAffinity, is_default, nullable};

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
#[derive(Debug, Clone, Default, PartialEq, Hash)]
pub struct ReplicaSchedulingStrategy {
    /// Duplicated or divided; absent is divided.
    pub replica_scheduling_type: Option<Word<ReplicaSchedulingType>>,
    /// How to divide: Karmada's `Weighted` and `Aggregated`, or any strategy's name.
    pub replica_division_preference: String,
    /// Weights.
    pub weight_preference: Option<ClusterPreferences>,
    /// Any strategy's name (`specified-replicas.md`, solution two).
    pub extend_replica_division_preference: String,
    /// Every other key, as written. `null` is the same as absent.
    pub further: Map<String, Value>,
}

/// Weights of clusters.
#[derive(Debug, Clone, Default, PartialEq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ClusterPreferences {
    /// Fixed weights.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub static_weight_list: Vec<ClusterPreference>,
    /// `AvailableReplicas`, in which case the list is ignored.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub dynamic_weight: String,
}

impl ClusterPreferences {
    /// The key of these preferences under `replicaScheduling`.
    pub const KEY: &'static str = "weightPreference";
    /// The key of the fixed weights.
    pub const STATIC_WEIGHT_LIST: &'static str = "staticWeightList";
    /// The one dynamic factor that Karmada knows.
    pub const AVAILABLE_REPLICAS: &'static str = "AvailableReplicas";

    /// True if weights follow what is available.
    pub fn is_dynamic(&self) -> bool {
        self.dynamic_weight == Self::AVAILABLE_REPLICAS
    }
}

/// A preference for a group of clusters: one entry of any list.
#[derive(Debug, Clone, Default, PartialEq, Hash)]
pub struct ClusterPreference {
    /// The group. Absent or `null` in the manifests printed in `specified-replicas.md`.
    pub target_cluster: Option<ClusterAffinity>,
    /// The keys that say what the group gets, such as `weight`.
    pub fields: BTreeMap<String, Value>,
    /// `extendFields` (`specified-replicas.md`, solution two).
    pub extend_fields: BTreeMap<String, i64>,
    /// The affinity beside `targetCluster` instead of under it; empty if there is none.
    pub misplaced: ClusterAffinity,
}

impl<'de> Deserialize<'de> for ReplicaSchedulingStrategy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = ReplicaSchedulingStrategy;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut read = ReplicaSchedulingStrategy::default();
                while let Some(key) = map.next_key::<String>()? {
                    match key.as_str() {
                        "replicaSchedulingType" => read.replica_scheduling_type = map.next_value()?,
                        "replicaDivisionPreference" => read.replica_division_preference = text(&mut map)?,
                        "extendReplicaDivisionPreference" => read.extend_replica_division_preference = text(&mut map)?,
                        ClusterPreferences::KEY => read.weight_preference = map.next_value()?,
                        _ => {
                            let value: Value = map.next_value()?;
                            if !value.is_null() {
                                read.further.insert(key, value);
                            }
                        }
                    }
                }
                Ok(read)
            }
        }
        deserializer.deserialize_map(Object)
    }
}

/// A text; `null` is the empty one.
fn text<'de, A: MapAccess<'de>>(map: &mut A) -> Result<String, A::Error> {
    Ok(map.next_value::<Option<String>>()?.unwrap_or_default())
}

impl Serialize for ReplicaSchedulingStrategy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(kind) = &self.replica_scheduling_type {
            map.serialize_entry("replicaSchedulingType", kind)?;
        }
        if !self.replica_division_preference.is_empty() {
            map.serialize_entry("replicaDivisionPreference", &self.replica_division_preference)?;
        }
        if let Some(weights) = &self.weight_preference {
            map.serialize_entry(ClusterPreferences::KEY, weights)?;
        }
        if !self.extend_replica_division_preference.is_empty() {
            map.serialize_entry(
                "extendReplicaDivisionPreference",
                &self.extend_replica_division_preference,
            )?;
        }
        for (key, value) in &self.further {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for ClusterPreference {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entry;
        impl<'de> Visitor<'de> for Entry {
            type Value = ClusterPreference;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut read = ClusterPreference::default();
                while let Some(key) = map.next_key::<String>()? {
                    match key.as_str() {
                        "targetCluster" => read.target_cluster = map.next_value()?,
                        "extendFields" => read.extend_fields = map.next_value::<Option<_>>()?.unwrap_or_default(),
                        "labelSelector" => read.misplaced.label_selector = map.next_value()?,
                        "fieldSelector" => read.misplaced.field_selector = map.next_value()?,
                        "clusterNames" => {
                            read.misplaced.cluster_names = map.next_value::<Option<_>>()?.unwrap_or_default();
                        }
                        "exclude" => {
                            read.misplaced.exclude_clusters = map.next_value::<Option<_>>()?.unwrap_or_default();
                        }
                        // The fields that Karmada and the proposals define are numbers, so that another type is refused
                        // where it is written; those of other lists are judged by what their plugins declare.
                        "weight" | "replicas" | "priority" => {
                            if let Some(number) = map.next_value::<Option<i64>>()? {
                                read.fields.insert(key, number.into());
                            }
                        }
                        _ => {
                            let value: Value = map.next_value()?;
                            if !value.is_null() {
                                read.fields.insert(key, value);
                            }
                        }
                    }
                }
                Ok(read)
            }
        }
        deserializer.deserialize_map(Entry)
    }
}

impl Serialize for ClusterPreference {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(target) = &self.target_cluster {
            map.serialize_entry("targetCluster", target)?;
        }
        for (key, value) in &self.fields {
            map.serialize_entry(key, value)?;
        }
        if !self.extend_fields.is_empty() {
            map.serialize_entry("extendFields", &self.extend_fields)?;
        }
        if let Some(labels) = &self.misplaced.label_selector {
            map.serialize_entry("labelSelector", labels)?;
        }
        if let Some(fields) = &self.misplaced.field_selector {
            map.serialize_entry("fieldSelector", fields)?;
        }
        if !self.misplaced.cluster_names.is_empty() {
            map.serialize_entry("clusterNames", &self.misplaced.cluster_names)?;
        }
        if !self.misplaced.exclude_clusters.is_empty() {
            map.serialize_entry("exclude", &self.misplaced.exclude_clusters)?;
        }
        map.end()
    }
}

/// A list of preferences under `replicaScheduling`.
#[derive(Debug, Clone, Copy)]
pub struct PreferenceList<'a> {
    /// The key of the object that holds the list.
    pub object: &'a str,
    /// The key of the list.
    pub list: &'a str,
    /// Its entries.
    pub entries: PreferenceEntries<'a>,
}

/// The entries of a list of preferences.
#[derive(Debug, Clone, Copy)]
pub enum PreferenceEntries<'a> {
    /// Of Karmada's own list.
    Typed(&'a [ClusterPreference]),
    /// Of any other list, as written.
    Written(&'a [Value]),
}

impl PreferenceEntries<'_> {
    /// True if there is no entry.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Typed(entries) => entries.is_empty(),
            Self::Written(entries) => entries.is_empty(),
        }
    }
}

impl ReplicaSchedulingStrategy {
    /// Every list of every object, Karmada's own first, then by key.
    pub fn lists(&self) -> impl Iterator<Item = PreferenceList<'_>> {
        let weights = self.weight_preference.iter().map(|weights| PreferenceList {
            object: ClusterPreferences::KEY,
            list: ClusterPreferences::STATIC_WEIGHT_LIST,
            entries: PreferenceEntries::Typed(&weights.static_weight_list),
        });
        let further = self.further.iter().flat_map(|(object, value)| {
            let lists = value.as_object().into_iter().flatten();
            lists.filter_map(move |(list, value)| {
                Some(PreferenceList {
                    object,
                    list,
                    entries: PreferenceEntries::Written(value.as_array()?),
                })
            })
        });
        weights.chain(further)
    }
}
