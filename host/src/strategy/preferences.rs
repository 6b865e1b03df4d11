//! The JSON of `divvy.io/preferences` (and of the proposal's `metadata.annotation`) into rules.
//!
//! Keys that Divvy knows become rules. What else there is is passed on, and unknown keys are no error here: the plugin
//! judges them. A strategy from outside may read anything, so it is given the known keys too.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::error::StrategyError;
use super::request::PreferenceRule;
use super::rules::{PRIORITY, REPLICAS, WEIGHT, read_rules};
use crate::api::{
    ClusterAffinity, ClusterPreference, FieldSelector, PriorityPreference, SelectorOperator, SelectorRequirement,
};
use crate::manifests::Warning;

/// What preferences in JSON say.
#[derive(Debug, Default)]
pub(super) struct JsonPreferences {
    /// The value as written.
    pub(super) value: Option<Value>,
    /// Counts by cluster and region; the key that gave them.
    pub(super) counts: Option<(String, Vec<PreferenceRule>)>,
    /// Regions that share one count (`idcs`).
    pub(super) regions: Option<PreferenceRule>,
    /// Weights.
    pub(super) weights: Option<Vec<PreferenceRule>>,
    /// Whether weights follow what is available.
    pub(super) dynamic_weight: bool,
    /// Priorities for `PriorityAggregated`.
    pub(super) priorities: Option<Vec<PreferenceRule>>,
    /// Priorities beside another strategy.
    pub(super) cluster_priority: Option<Vec<PreferenceRule>>,
}

/// The key of priorities beside a strategy: the host alone acts on them.
const CLUSTER_PRIORITY: &str = "clusterPriority";

/// The keys that become rules. A bundled strategy sees them as such, or is not meant by them.
const RULES: [&str; 7] = [
    "specifiedClusters",
    "specifiedIdcs",
    "idcs",
    "staticSpecifyList",
    "staticWeightList",
    "preferredPriorityList",
    "dynamicWeight",
];

impl JsonPreferences {
    /// What the strategy's plugin is given to read; `None` if nothing is left for it.
    pub(super) fn for_plugin(&self, is_bundled: bool) -> Option<Value> {
        let mut object = self.value.as_ref()?.as_object()?.clone();
        let was_empty = object.is_empty();
        object.retain(|key, _| key != CLUSTER_PRIORITY && !(is_bundled && RULES.contains(&key.as_str())));
        // An empty object that somebody wrote is the plugin's to judge; one that was emptied here says nothing more.
        (was_empty || !object.is_empty()).then_some(Value::Object(object))
    }
}

/// An entry of `specifiedClusters` and `specifiedIdcs`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedCount {
    name: String,
    replicas: i64,
}

/// An entry of `idcs`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    name: String,
}

/// The clusters of these regions: an idc of the proposal is a region.
fn in_regions(regions: Vec<String>) -> ClusterAffinity {
    ClusterAffinity {
        field_selector: Some(FieldSelector {
            match_expressions: vec![SelectorRequirement {
                key: "region".to_owned(),
                operator: SelectorOperator::In.into(),
                values: regions,
            }],
        }),
        ..ClusterAffinity::default()
    }
}

/// Reads preferences. `origin` says where they stand.
pub(super) fn read_preferences(
    text: &str,
    origin: &str,
    warnings: &mut Vec<Warning>,
) -> Result<JsonPreferences, StrategyError> {
    let not_json = |error: serde_json::Error| StrategyError::NotJson {
        origin: origin.to_owned(),
        reason: error.to_string(),
    };
    let value: Value = serde_json::from_str(text).map_err(not_json)?;
    if !value.is_object() {
        return Err(StrategyError::WrongType {
            origin: origin.to_owned(),
            expected: "an object".to_owned(),
            actual: describe(&value).to_owned(),
        });
    }
    let clusters: Option<Vec<NamedCount>> = key(&value, "specifiedClusters", origin)?;
    let regions: Option<Vec<NamedCount>> = key(&value, "specifiedIdcs", origin)?;
    let one_group: Option<Vec<Named>> = key(&value, "idcs", origin)?;
    let specified: Option<Vec<ClusterPreference>> = key(&value, "staticSpecifyList", origin)?;
    let weights: Option<Vec<ClusterPreference>> = key(&value, "staticWeightList", origin)?;
    let priorities: Option<Vec<ClusterPreference>> = key(&value, "preferredPriorityList", origin)?;
    let tiers: Option<PriorityPreference> = key(&value, "clusterPriority", origin)?;
    let dynamic_weight: Option<String> = key(&value, "dynamicWeight", origin)?;

    let counting: Vec<&str> = [
        ("specifiedClusters", clusters.is_some()),
        ("specifiedIdcs", regions.is_some()),
        ("staticSpecifyList", specified.is_some()),
    ]
    .into_iter()
    .filter_map(|(key, is_given)| is_given.then_some(key))
    .collect();
    if let (Some(first), true) = (counting.first(), one_group.is_some()) {
        return Err(StrategyError::Conflict {
            origin: origin.to_owned(),
            first: (*first).to_owned(),
            second: "idcs".to_owned(),
        });
    }

    let mut counts = named_counts(clusters, &format!("{origin}.specifiedClusters"), |name| {
        ClusterAffinity::by_names([name])
    })?;
    let by_region = format!("{origin}.specifiedIdcs");
    counts.extend(named_counts(regions, &by_region, |name| in_regions(vec![name]))?);
    let mut list = |entries: Option<Vec<ClusterPreference>>, key: &str, required| {
        let origin = format!("{origin}.{key}");
        entries
            .map(|entries| read_rules(&entries, &origin, Some(required), false, warnings))
            .transpose()
    };
    counts.extend(list(specified, "staticSpecifyList", REPLICAS)?.unwrap_or_default());
    Ok(JsonPreferences {
        weights: list(weights, "staticWeightList", WEIGHT)?,
        priorities: list(priorities, "preferredPriorityList", PRIORITY)?,
        cluster_priority: list(
            tiers.map(|tiers| tiers.preferred_priority_list),
            "clusterPriority.preferredPriorityList",
            PRIORITY,
        )?,
        counts: counting.first().map(|key| ((*key).to_owned(), counts)),
        regions: one_group.map(|regions| PreferenceRule {
            target: in_regions(regions.into_iter().map(|region| region.name).collect()),
            fields: BTreeMap::new(),
            origin: format!("{origin}.idcs"),
        }),
        dynamic_weight: dynamic_weight.is_some_and(|factor| factor == "AvailableReplicas"),
        value: Some(value),
    })
}

fn named_counts(
    entries: Option<Vec<NamedCount>>,
    origin: &str,
    target: impl Fn(String) -> ClusterAffinity,
) -> Result<Vec<PreferenceRule>, StrategyError> {
    let rules = entries.into_iter().flatten().enumerate().map(|(index, entry)| {
        let origin = format!("{origin}[{index}]");
        if entry.replicas < REPLICAS.least {
            let (field, least) = (REPLICAS.field, REPLICAS.least);
            return Err(StrategyError::TooSmall {
                origin,
                field,
                least,
                actual: entry.replicas,
            });
        }
        let fields = BTreeMap::from([(REPLICAS.field.to_owned(), entry.replicas)]);
        Ok(PreferenceRule {
            target: target(entry.name),
            fields,
            origin,
        })
    });
    rules.collect()
}

/// A key of the preferences as a type; `null` is the same as absent.
fn key<T: DeserializeOwned>(value: &Value, key: &str, origin: &str) -> Result<Option<T>, StrategyError> {
    let Some(field) = value.get(key).filter(|field| !field.is_null()) else {
        return Ok(None);
    };
    T::deserialize(field)
        .map(Some)
        .map_err(|error| StrategyError::WrongType {
            origin: format!("{origin}.{key}"),
            expected: expected(key).to_owned(),
            actual: format!("{} ({error})", describe(field)),
        })
}

/// What belongs under a key.
fn expected(key: &str) -> &'static str {
    match key {
        "specifiedClusters" | "specifiedIdcs" => "a list of `{\"name\": …, \"replicas\": …}`",
        "idcs" => "a list of `{\"name\": …}`",
        "clusterPriority" => "an object with `preferredPriorityList`",
        "dynamicWeight" => "`AvailableReplicas`",
        _ => "a list of objects with `targetCluster`",
    }
}

fn describe(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
