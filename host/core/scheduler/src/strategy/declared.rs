//! Lists that strategies declare, and how the entries of a policy become rules.
//!
//! The same declaration applies to a list wherever a policy can carry it. Mistakes of the printed manifests are
//! corrected entry by entry: an affinity beside an empty `targetCluster` is read as part of it, never as "all
//! clusters".

use std::collections::BTreeMap;

use divvy_karmada::api::{ClusterPreference, PreferenceEntries};
use divvy_loader::{RuleField, RuleList};
use divvy_spanned::{WHOLE_NUMBER, Warning, read_value};
use serde_json::Value;

use super::error::InvalidBinding;
use super::oddities;
use super::request::PreferenceRule;

/// A strategy of a profile, as its plugin declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declaration {
    /// Name of the strategy.
    pub strategy: String,
    /// Name of the plugin that serves it.
    pub plugin: String,
    /// Lists that the strategy reads.
    pub lists: Vec<RuleList>,
    /// True if cluster priorities cannot be combined with the strategy.
    pub refuses_priorities: bool,
    /// True if the strategy promises to respect capacity.
    pub respects_capacity: bool,
}

/// The strategies of a profile, and its other plugins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Declarations {
    /// The strategies, in the profile's order.
    pub strategies: Vec<Declaration>,
    /// Names of the plugins that take part in every decision: those of Filter, Score and Select.
    pub plugins: Vec<String>,
}

impl Declarations {
    /// The declaration of a strategy; `None` if no plugin serves it.
    pub fn get(&self, strategy: &str) -> Option<&Declaration> {
        self.strategies.iter().find(|declared| declared.strategy == strategy)
    }

    /// Lists that a strategy reads; empty if no plugin serves it.
    pub(super) fn lists_of(&self, strategy: &str) -> &[RuleList] {
        self.get(strategy).map_or(&[], |declared| declared.lists.as_slice())
    }

    /// Keys of preferences that hold a list of a strategy.
    pub(crate) fn preference_keys(&self, strategy: &str) -> Vec<String> {
        let mut keys: Vec<String> = self.lists_of(strategy).iter().map(|list| list.name.clone()).collect();
        if strategy == oddities::STRATEGY {
            keys.extend(oddities::KEYS.map(str::to_owned));
        }
        keys
    }

    /// Names of the strategies, in the profile's order.
    pub fn names(&self) -> Vec<String> {
        self.strategies
            .iter()
            .map(|declared| declared.strategy.clone())
            .collect()
    }

    /// Names of all plugins, each once, sorted.
    pub(super) fn plugin_names(&self) -> Vec<String> {
        let strategies = self.strategies.iter().map(|declared| &declared.plugin);
        let names: std::collections::BTreeSet<&String> = self.plugins.iter().chain(strategies).collect();
        names.into_iter().cloned().collect()
    }

    /// Each declared list once, with the first strategy that reads it.
    pub(super) fn lists(&self) -> impl Iterator<Item = (&Declaration, &RuleList)> {
        let all = self
            .strategies
            .iter()
            .flat_map(|declared| declared.lists.iter().map(move |list| (declared, list)));
        let mut seen = std::collections::BTreeSet::new();
        all.filter(move |(_, list)| seen.insert(list.name.as_str()))
    }
}

/// Location of a list, which determines the keys that its entries can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListLocation {
    /// In `divvy.io/preferences`, which no API server checks, so undeclared keys are rejected here.
    Annotation,
    /// Under `replicaScheduling`, where an API server drops unknown keys.
    Field,
    /// In `extendClusterPreferences`, whose fields belong in `extendFields`.
    Extension,
}

/// Reads the entries of a list. Without a declaration, any numeric field is accepted.
pub(super) fn read_entries(
    entries: PreferenceEntries<'_>,
    list: Option<&RuleList>,
    origin: &str,
    location: ListLocation,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<PreferenceRule>, InvalidBinding> {
    match entries {
        PreferenceEntries::Typed(entries) => (0..)
            .zip(entries)
            .map(|(index, entry)| read_entry(entry, list, format!("{origin}[{index}]"), location, warnings))
            .collect(),
        PreferenceEntries::Written(entries) => (0..)
            .zip(entries)
            .map(|(index, entry): (usize, _)| {
                let origin = format!("{origin}[{index}]");
                let entry = typed(entry, &origin)?;
                read_entry(&entry, list, origin, location, warnings)
            })
            .collect(),
    }
}

/// Reads a list that is given as JSON.
pub(super) fn read_list(
    value: &Value,
    list: &RuleList,
    origin: &str,
    location: ListLocation,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<PreferenceRule>, InvalidBinding> {
    let Value::Array(entries) = value else {
        let expected = "a list of objects with `targetCluster`";
        return Err(InvalidBinding::wrong_type(origin, expected, value));
    };
    read_entries(
        PreferenceEntries::Written(entries),
        Some(list),
        origin,
        location,
        warnings,
    )
}

/// Decodes an entry of any list.
fn typed(entry: &Value, origin: &str) -> Result<ClusterPreference, InvalidBinding> {
    read_value(entry).map_err(|error| InvalidBinding::Malformed {
        origin: origin.to_owned(),
        reason: error.to_string(),
    })
}

fn read_entry(
    entry: &ClusterPreference,
    list: Option<&RuleList>,
    origin: String,
    location: ListLocation,
    warnings: &mut Vec<Warning>,
) -> Result<PreferenceRule, InvalidBinding> {
    let target = match &entry.target_cluster {
        target if !entry.misplaced.is_empty() => {
            if target.as_ref().is_some_and(|target| !target.is_empty()) {
                return Err(InvalidBinding::TwoTargets { origin });
            }
            // The printed form results from missing indentation, so the hint shows the nested form.
            let clean = serde_json::json!({ "targetCluster": &entry.misplaced });
            let message =
                format!("{origin}: the clusters are beside an empty `targetCluster`; treating them as part of it");
            warnings.push(Warning::new(message).with_hint(format!("write `{clean}`")));
            entry.misplaced.clone()
        }
        Some(target) => target.clone(),
        None => return Err(InvalidBinding::WithoutTarget { origin }),
    };
    let declared = list.map_or(&[][..], |list| list.fields.as_slice());
    // Both forms of a field are collected, so that contradicting values are noticed.
    let mut fields: BTreeMap<String, i64> = entry.extend_fields.clone();
    for (field, value) in &entry.fields {
        let is_declared = declared.iter().any(|known| known.name == *field);
        if !is_declared && location == ListLocation::Annotation {
            return Err(InvalidBinding::UnknownKey {
                origin,
                key: field.clone(),
                fields: declared.iter().map(|field| field.name.clone()).collect(),
            });
        }
        let direct = match value.as_i64() {
            Some(direct) => direct,
            // An API server would have dropped this key.
            None if !is_declared => continue,
            None => {
                let path = format!("{origin}.{field}");
                return Err(InvalidBinding::wrong_type(&path, WHOLE_NUMBER, value));
            }
        };
        if let Some(extended) = fields.insert(field.clone(), direct)
            && extended != direct
        {
            return Err(InvalidBinding::TwoValues {
                origin,
                field: field.clone(),
                direct,
                extended,
            });
        }
    }
    // The proposals also print `extendFields` where it does not belong. It is read, with a warning.
    if location != ListLocation::Extension
        && let Some((field, value)) = entry.extend_fields.first_key_value()
    {
        let message =
            format!("{origin}: `extendFields.{field}` belongs to `extendClusterPreferences`; read as `{field}`");
        warnings.push(Warning::new(message).with_hint(format!("write `{field}: {value}`")));
    }
    check_fields(declared, &fields, &origin)?;
    Ok(PreferenceRule {
        list: list.map(|list| list.name.clone()).unwrap_or_default(),
        target,
        fields,
        origin,
    })
}

/// Checks that every required field is present and that no field is below its minimum.
pub(super) fn check_fields(
    declared: &[RuleField],
    fields: &BTreeMap<String, i64>,
    origin: &str,
) -> Result<(), InvalidBinding> {
    for RuleField {
        name,
        minimum,
        required,
    } in declared
    {
        let origin = || origin.to_owned();
        match (fields.get(name), minimum) {
            (None, _) if *required => {
                return Err(InvalidBinding::WithoutField {
                    origin: origin(),
                    field: name.clone(),
                });
            }
            (Some(actual), Some(minimum)) if actual < minimum => {
                return Err(InvalidBinding::TooSmall {
                    origin: origin(),
                    field: name.clone(),
                    minimum: *minimum,
                    actual: *actual,
                });
            }
            _ => {}
        }
    }
    Ok(())
}
