//! Manifests printed in `specified-replicas.md` that deviate from the types in the same document, and how each is read.
//!
//! | written | read as |
//! |---|---|
//! | the strategies `SpecifiedClusters`, `SpecifiedRegions`, `Regions` | `Specified` |
//! | `specifiedClusters: [{name, replicas}]` in preferences | entries of `staticSpecifyList` by cluster name |
//! | `specifiedIdcs: [{name, replicas}]` | the same by region: an idc is a region |
//! | `idcs: [{name}]` | one entry for all these regions, whose count is the total |
//! | any of these, or `staticSpecifyList`, without a strategy | `Specified` |
//! | `staticSpecifyList` under `extendClusterPreferences` | `extendStaticList` |
//! | `replicas` in a policy without `replicaScheduling` | `Specified`, all clusters as one group with that total |
//! | the strategy `Regions` without a list | the same |
//!
//! Each produces a warning that shows the clean form, except for keys of preferences, which have no cleaner form.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::error::InvalidBinding;
use super::request::{PreferenceRule, StrategyRequest, StrategySource};
use divvy_karmada::api::{ClusterAffinity, FieldSelector, SelectorOperator, SelectorRequirement};
use divvy_spanned::{Warning, read_value};

/// The strategy that the printed manifests mean.
pub(super) const STRATEGY: &str = "Specified";
/// List of that strategy, also its key under `extendClusterPreferences` as printed.
pub(super) const LIST: &str = "staticSpecifyList";
/// Field of the list's entries.
const REPLICAS: &str = "replicas";
/// Other names of the strategy.
const NAMES: [&str; 3] = ["SpecifiedClusters", "SpecifiedRegions", REGIONS];
/// The name for a list of regions that share one total.
const REGIONS: &str = "Regions";
const CLUSTER_COUNTS: &str = "specifiedClusters";
const REGION_COUNTS: &str = "specifiedIdcs";
const GROUP: &str = "idcs";

/// The keys of preferences that belong to the strategy's list.
pub(super) const KEYS: [&str; 3] = [CLUSTER_COUNTS, REGION_COUNTS, GROUP];

/// Resolves another name of the strategy, with a warning. Returns every other name unchanged.
pub(super) fn strategy<'name>(name: &'name str, warnings: &mut Vec<Warning>) -> &'name str {
    if !NAMES.contains(&name) {
        return name;
    }
    let message = format!("the strategy `{name}` is read as `{STRATEGY}`");
    let hint = format!("write `replicaDivisionPreference: {STRATEGY}`");
    warnings.push(Warning::new(message).with_hint(hint));
    STRATEGY
}

/// Counts that preferences give under keys of their own.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// Key that implies the strategy, if there is one.
    pub(super) implied_by: Option<&'static str>,
    /// Counts by cluster and region; `None` if no key gives any.
    pub(super) rules: Option<Vec<PreferenceRule>>,
    /// Regions that share one count.
    group: Option<PreferenceRule>,
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

/// Reads the counts. A key that is `null` counts as absent.
pub(super) fn read_counts(preferences: &Map<String, Value>, origin: &str) -> Result<Counts, InvalidBinding> {
    const COUNTS: &str = "a list of `{\"name\": …, \"replicas\": …}`";
    let clusters: Option<Vec<NamedCount>> = key(preferences, CLUSTER_COUNTS, COUNTS, origin)?;
    let regions: Option<Vec<NamedCount>> = key(preferences, REGION_COUNTS, COUNTS, origin)?;
    let group: Option<Vec<Named>> = key(preferences, GROUP, "a list of `{\"name\": …}`", origin)?;
    let has_list = preferences.get(LIST).is_some_and(|list| !list.is_null());
    let counting = [
        (CLUSTER_COUNTS, clusters.is_some()),
        (REGION_COUNTS, regions.is_some()),
        (LIST, has_list),
    ];
    let first = counting.into_iter().find_map(|(key, is_given)| is_given.then_some(key));
    // `idcs` gives all its regions one total, which contradicts a count for each cluster or region.
    if let (Some(first), true) = (first, group.is_some()) {
        return Err(InvalidBinding::Conflict {
            origin: origin.to_owned(),
            first: first.to_owned(),
            second: GROUP.to_owned(),
        });
    }
    let is_given = clusters.is_some() || regions.is_some();
    let mut rules = named_counts(clusters, &format!("{origin}.{CLUSTER_COUNTS}"), |name| {
        ClusterAffinity::by_names([name])
    })?;
    rules.extend(named_counts(regions, &format!("{origin}.{REGION_COUNTS}"), |name| {
        in_regions(vec![name])
    })?);
    Ok(Counts {
        implied_by: first.or(group.is_some().then_some(GROUP)),
        rules: is_given.then_some(rules),
        group: group.map(|regions| PreferenceRule {
            list: LIST.to_owned(),
            target: in_regions(regions.into_iter().map(|region| region.name).collect()),
            fields: BTreeMap::new(),
            origin: format!("{origin}.{GROUP}"),
        }),
    })
}

impl Counts {
    /// True if the preferences contain any of these counts.
    pub(super) fn are_given(&self) -> bool {
        self.rules.is_some() || self.group.is_some()
    }

    /// Replaces the rules by one group with the total, if the request is a list of regions or a total alone.
    pub(super) fn make_one_group(
        &self,
        request: &mut StrategyRequest,
        written: &str,
        total: Option<i64>,
        replicas: i64,
    ) {
        let is_list_of_regions = written == REGIONS || request.source == StrategySource::ImpliedByTotal;
        let every_cluster = || PreferenceRule {
            list: LIST.to_owned(),
            // The placement's own affinity already restricts the candidates to the regions.
            target: ClusterAffinity::default(),
            fields: BTreeMap::new(),
            origin: "spec.replicas".to_owned(),
        };
        let group = match &self.group {
            Some(regions) => Some(regions.clone()),
            None if request.rules.is_empty() && (is_list_of_regions || total.is_some()) => Some(every_cluster()),
            None => None,
        };
        if let Some(mut group) = group {
            group.fields.insert(REPLICAS.to_owned(), total.unwrap_or(replicas));
            request.rules = vec![group];
        }
    }
}

/// Warning that a total without `replicaScheduling` implies the strategy.
pub(super) fn implied_by_total() -> Warning {
    Warning::new(
        "`spec.replicas` of a policy without `replicaScheduling` is read as the total of one group of clusters",
    )
    .with_hint(format!(
        "write `replicaScheduling: {{replicaSchedulingType: Divided, replicaDivisionPreference: {STRATEGY}}}`"
    ))
}

/// The clusters of these regions.
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

fn named_counts(
    entries: Option<Vec<NamedCount>>,
    origin: &str,
    target: impl Fn(String) -> ClusterAffinity,
) -> Result<Vec<PreferenceRule>, InvalidBinding> {
    let rules = entries.into_iter().flatten().enumerate().map(|(index, entry)| {
        let origin = format!("{origin}[{index}]");
        if entry.replicas < 0 {
            return Err(InvalidBinding::TooSmall {
                origin,
                field: REPLICAS.to_owned(),
                minimum: 0,
                actual: entry.replicas,
            });
        }
        Ok(PreferenceRule {
            list: LIST.to_owned(),
            target: target(entry.name),
            fields: BTreeMap::from([(REPLICAS.to_owned(), entry.replicas)]),
            origin,
        })
    });
    rules.collect()
}

fn key<T: DeserializeOwned>(
    preferences: &Map<String, Value>,
    key: &str,
    expected: &str,
    origin: &str,
) -> Result<Option<T>, InvalidBinding> {
    let Some(field) = preferences.get(key).filter(|field| !field.is_null()) else {
        return Ok(None);
    };
    let path = format!("{origin}.{key}");
    match field {
        Value::Array(_) => {}
        other => return Err(InvalidBinding::wrong_type(&path, expected, other)),
    }
    read_value(field).map(Some).map_err(|error| InvalidBinding::Malformed {
        origin: path,
        reason: error.to_string(),
    })
}
