//! The lists that strategies declare, and the entries of a policy that become rules by them.
//!
//! The same declaration reads a list wherever a policy can carry it. The mistakes of the printed manifests are put right
//! entry by entry: an affinity beside an empty `targetCluster` is read as if it were under it, never as "all clusters".

use std::collections::BTreeMap;

use divvy_documents::read_value;
use serde::Deserialize;
use serde_json::Value;

use super::error::InvalidBinding;
use super::request::PreferenceRule;
use divvy_documents::Warning;
use divvy_karmada::api::{ClusterPreference, PreferenceEntries};

/// A list that a strategy reads, as its plugin declares it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct RuleList {
    /// The key of the list.
    pub name: String,
    /// The numbers that an entry can have beside `targetCluster`.
    pub fields: Vec<RuleField>,
    /// True if the list gives clusters priorities, by its first field.
    #[serde(default)]
    pub priorities: bool,
}

/// A number of an entry.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct RuleField {
    /// Its key.
    pub name: String,
    /// The least value that it can have; any if absent.
    #[serde(default)]
    pub minimum: Option<i64>,
    /// True if every entry must have it.
    #[serde(default)]
    pub required: bool,
}

/// A strategy of a profile, as its plugin declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declaration {
    /// The strategy's name.
    pub strategy: String,
    /// The lists that it reads.
    pub lists: Vec<RuleList>,
    /// True if cluster priorities cannot be combined with it.
    pub refuses_priorities: bool,
}

/// The strategies of a profile, in its order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Declarations(pub Vec<Declaration>);

impl Declarations {
    /// The strategy of that name.
    pub fn get(&self, strategy: &str) -> Option<&Declaration> {
        self.0.iter().find(|declared| declared.strategy == strategy)
    }

    /// The names of the strategies, in the profile's order.
    pub fn names(&self) -> Vec<String> {
        self.0.iter().map(|declared| declared.strategy.clone()).collect()
    }

    /// Each declared list once, with the first strategy that reads it.
    pub(super) fn lists(&self) -> impl Iterator<Item = (&Declaration, &RuleList)> {
        let all = self
            .0
            .iter()
            .flat_map(|declared| declared.lists.iter().map(move |list| (declared, list)));
        let mut seen = std::collections::BTreeSet::new();
        all.filter(move |(_, list)| seen.insert(list.name.as_str()))
    }
}

/// Where a list is carried, which decides what its entries can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Road {
    /// In `divvy.io/preferences`, which has no schema elsewhere: keys that are not declared are refused.
    Annotation,
    /// Under `replicaScheduling`, where an API server drops what it does not know.
    Field,
    /// In `extendClusterPreferences`, whose fields belong in `extendFields`.
    Extension,
}

/// Reads the entries of a list. Without a declaration any numbers will do.
pub(super) fn read_entries(
    entries: PreferenceEntries<'_>,
    list: Option<&RuleList>,
    origin: &str,
    road: Road,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<PreferenceRule>, InvalidBinding> {
    match entries {
        PreferenceEntries::Typed(entries) => (0..)
            .zip(entries)
            .map(|(index, entry)| read_entry(entry, list, format!("{origin}[{index}]"), road, warnings))
            .collect(),
        PreferenceEntries::Written(entries) => (0..)
            .zip(entries)
            .map(|(index, entry): (usize, _)| {
                let origin = format!("{origin}[{index}]");
                let entry = typed(entry, &origin)?;
                read_entry(&entry, list, origin, road, warnings)
            })
            .collect(),
    }
}

/// Reads a list that is written as JSON.
pub(super) fn read_list(
    value: &Value,
    list: &RuleList,
    origin: &str,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<PreferenceRule>, InvalidBinding> {
    let Value::Array(entries) = value else {
        return Err(InvalidBinding::wrong_type(
            origin,
            "a list of objects with `targetCluster`",
            value,
        ));
    };
    read_entries(
        PreferenceEntries::Written(entries),
        Some(list),
        origin,
        Road::Annotation,
        warnings,
    )
}

/// An entry as the type that reads all of them.
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
    road: Road,
    warnings: &mut Vec<Warning>,
) -> Result<PreferenceRule, InvalidBinding> {
    let target = match &entry.target_cluster {
        target if !entry.misplaced.is_empty() => {
            if target.as_ref().is_some_and(|target| !target.is_empty()) {
                return Err(InvalidBinding::TwoTargets { origin });
            }
            // The printed form is what a missing indentation leaves, so the hint shows the indentation.
            let clean = serde_json::json!({ "targetCluster": &entry.misplaced });
            let message =
                format!("{origin}: the clusters stand beside an empty `targetCluster`; read as if they stood under it");
            warnings.push(Warning::new(message).with_hint(format!("write `{clean}`")));
            entry.misplaced.clone()
        }
        Some(target) => target.clone(),
        None => return Err(InvalidBinding::WithoutTarget { origin }),
    };
    let declared = list.map_or(&[][..], |list| list.fields.as_slice());
    let mut fields: BTreeMap<String, i64> = entry.extend_fields.clone();
    for (field, value) in &entry.fields {
        let is_declared = declared.iter().any(|known| known.name == *field);
        if !is_declared && road == Road::Annotation {
            return Err(InvalidBinding::UnknownKey {
                origin,
                key: field.clone(),
                fields: declared.iter().map(|field| field.name.clone()).collect(),
            });
        }
        let direct = match value.as_i64() {
            Some(direct) => direct,
            // An API server would have dropped it.
            None if !is_declared => continue,
            None => {
                let place = format!("{origin}.{field}");
                return Err(InvalidBinding::wrong_type(&place, "an integer of 64 bits", value));
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
    if road != Road::Extension
        && let Some((field, value)) = entry.extend_fields.first_key_value()
    {
        let message =
            format!("{origin}: `extendFields.{field}` belongs to `extendClusterPreferences`; read as `{field}`");
        warnings.push(Warning::new(message).with_hint(format!("write `{field}: {value}`")));
    }
    check_fields(declared, &fields, &origin)?;
    Ok(PreferenceRule { target, fields, origin })
}

/// Checks that every required field is there and no field is below its minimum.
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
