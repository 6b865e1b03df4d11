//! Division of replicas by a placement: `replicaScheduling` with Karmada's preferences, and objects of any strategy.
//!
//! Karmada defines one list (weights). Any other object under `replicaScheduling` is kept as written; each strategy's
//! plugin declares which of its lists it reads. One type covers the entries of all lists, including the mistakes in the
//! manifests of `specified-replicas.md`: affinity fields next to an empty `targetCluster`, and `extendFields` in place
//! of the field itself.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::words::Word;
use super::{ClusterAffinity, is_default, nullable};

divvy_framework_view::words! {
    /// Choice between dividing the replicas and giving every cluster all of them.
    ReplicaSchedulingType, expecting "a replica scheduling type" {
        /// Every candidate gets the full replica count.
        Duplicated = "Duplicated",
        /// The candidates share the replicas.
        Divided = "Divided",
    }
}

/// Assignment of replicas to clusters.
#[derive(Debug, Clone, Default, PartialEq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplicaSchedulingStrategy {
    /// Duplicated or divided; absent means divided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replica_scheduling_type: Option<Word<ReplicaSchedulingType>>,
    /// Way to divide: Karmada's `Weighted` or `Aggregated`, or the name of any strategy.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub replica_division_preference: String,
    /// Weights, for `Weighted`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight_preference: Option<ClusterPreferences>,
    /// Name of any strategy (`specified-replicas.md`, solution two).
    #[serde(skip_serializing_if = "String::is_empty")]
    pub extend_replica_division_preference: String,
    /// All other keys, as written, except those with the value `null`.
    #[serde(flatten)]
    pub further: Map<String, Value>,
}

/// Weights of clusters.
#[derive(Debug, Clone, Default, PartialEq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ClusterPreferences {
    /// Fixed weights.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub static_weight_list: Vec<ClusterPreference>,
    /// `AvailableReplicas`, which overrides the fixed weights; empty for none.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub dynamic_weight: String,
}

impl ClusterPreferences {
    /// The key of these preferences under `replicaScheduling`.
    pub const KEY: &'static str = "weightPreference";
    /// The key of the fixed weights.
    pub const STATIC_WEIGHT_LIST: &'static str = "staticWeightList";
    /// The only dynamic factor that Karmada defines.
    pub const AVAILABLE_REPLICAS: &'static str = "AvailableReplicas";

    /// True if weights follow the replicas that each cluster has room for.
    pub fn is_dynamic(&self) -> bool {
        self.dynamic_weight == Self::AVAILABLE_REPLICAS
    }
}

/// A preference for a group of clusters: an entry of any list.
#[derive(Debug, Clone, Default, PartialEq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterPreference {
    /// The clusters. Absent or `null` in some manifests of `specified-replicas.md`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_cluster: Option<ClusterAffinity>,
    /// Named values for these clusters, such as `weight`.
    #[serde(flatten)]
    pub fields: BTreeMap<String, Value>,
    /// `extendFields` (`specified-replicas.md`, solution two).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub extend_fields: BTreeMap<String, i64>,
    /// Affinity fields written next to `targetCluster` instead of inside it; usually empty.
    #[serde(flatten)]
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

/// A string; `null` reads as an empty one.
fn text<'de, A: MapAccess<'de>>(map: &mut A) -> Result<String, A::Error> {
    Ok(map.next_value::<Option<String>>()?.unwrap_or_default())
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
                        // The fields that Karmada and its proposals define are numbers, so a wrong type is refused at
                        // its location. Fields of other lists are checked later, against the plugins' declarations.
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

/// A list of preferences under `replicaScheduling`.
#[derive(Debug, Clone, Copy)]
pub struct PreferenceList<'a> {
    /// Key of the object that contains the list.
    pub object: &'a str,
    /// Key of the list.
    pub list: &'a str,
    /// Entries of the list.
    pub entries: PreferenceEntries<'a>,
}

/// The entries of a list of preferences.
#[derive(Debug, Clone, Copy)]
pub enum PreferenceEntries<'a> {
    /// Entries of Karmada's own list.
    Typed(&'a [ClusterPreference]),
    /// Entries of any other list, as written.
    Written(&'a [Value]),
}

impl PreferenceEntries<'_> {
    /// True if the list has no entries.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Typed(entries) => entries.is_empty(),
            Self::Written(entries) => entries.is_empty(),
        }
    }
}

impl ReplicaSchedulingStrategy {
    /// All lists of all objects: Karmada's own first, then in the order of the keys.
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
