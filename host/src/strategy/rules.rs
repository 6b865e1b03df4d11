//! The entries of preference lists, as written, into rules.
//!
//! The oddities of the printed manifests are put right here, entry by entry: an affinity beside an empty
//! `targetCluster` is read as if it stood under it, and never as "all clusters".

use std::collections::BTreeMap;

use serde_json::Value;

use super::error::StrategyError;
use super::request::PreferenceRule;
use crate::api::ClusterPreference;
use crate::manifests::Warning;

/// The field that a list's entries must have, and the least it may be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Required {
    pub(super) field: &'static str,
    pub(super) least: i64,
}

/// Weights: what is below zero counts as nothing, as in Karmada.
pub(super) const WEIGHT: Required = Required {
    field: "weight",
    least: i64::MIN,
};
/// Counts.
pub(super) const REPLICAS: Required = Required {
    field: "replicas",
    least: 0,
};
/// Priorities (`priority-aggregated.md`: minimum 1).
pub(super) const PRIORITY: Required = Required {
    field: "priority",
    least: 1,
};

/// Reads a list. `extends` tells a list whose fields belong in `extendFields`.
pub(super) fn read_rules(
    entries: &[ClusterPreference],
    origin: &str,
    required: Option<Required>,
    extends: bool,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<PreferenceRule>, StrategyError> {
    let rules = entries.iter().enumerate().map(|(index, entry)| {
        let origin = format!("{origin}[{index}]");
        let rule = read_rule(entry, origin, extends, warnings)?;
        check(&rule, required)?;
        Ok(rule)
    });
    rules.collect()
}

/// Reads a list that the plugin of a strategy from outside declares: `targetCluster` and one number an entry.
pub(super) fn declared_rules(entries: &Value, field: &str, origin: &str) -> Result<Vec<PreferenceRule>, StrategyError> {
    let wrong = |origin: String, expected: String, actual: &Value| StrategyError::WrongType {
        origin,
        expected,
        actual: actual.to_string(),
    };
    let Value::Array(entries) = entries else {
        return Err(wrong(origin.to_owned(), "a list".to_owned(), entries));
    };
    let rules = entries.iter().enumerate().map(|(index, entry)| {
        let origin = format!("{origin}[{index}]");
        let Value::Object(keys) = entry else {
            return Err(wrong(origin, "an object".to_owned(), entry));
        };
        if let Some(key) = keys.keys().find(|key| *key != TARGET && *key != field) {
            return Err(StrategyError::UnknownKey {
                origin,
                key: key.clone(),
                field: field.to_owned(),
            });
        }
        let Some(target) = keys.get(TARGET) else {
            return Err(StrategyError::WithoutTarget { origin });
        };
        let target = serde_json::from_value(target.clone())
            .map_err(|_| wrong(format!("{origin}.{TARGET}"), "a cluster affinity".to_owned(), target))?;
        let value = keys.get(field).unwrap_or(&Value::Null);
        let Some(value) = value.as_i64() else {
            return Err(wrong(
                format!("{origin}.{field}"),
                "an integer of 64 bits".to_owned(),
                value,
            ));
        };
        Ok(PreferenceRule {
            target,
            fields: BTreeMap::from([(field.to_owned(), value)]),
            origin,
        })
    });
    rules.collect()
}

/// The key of the clusters that an entry means.
const TARGET: &str = "targetCluster";

fn read_rule(
    entry: &ClusterPreference,
    origin: String,
    extends: bool,
    warnings: &mut Vec<Warning>,
) -> Result<PreferenceRule, StrategyError> {
    let misplaced = entry.misplaced_affinity();
    let target = match &entry.target_cluster {
        target if !misplaced.is_empty() => {
            if target.as_ref().is_some_and(|target| !target.is_empty()) {
                return Err(StrategyError::TwoTargets { origin });
            }
            // The printed form is what a missing indentation leaves, so the hint shows the indentation.
            let clean = serde_json::json!({ "targetCluster": &misplaced });
            let message =
                format!("{origin}: the clusters stand beside an empty `targetCluster`; read as if they stood under it");
            warnings.push(Warning::new(message).with_hint(format!("write `{clean}`")));
            misplaced
        }
        Some(target) => target.clone(),
        None => return Err(StrategyError::WithoutTarget { origin }),
    };

    let mut fields: BTreeMap<String, i64> = entry.extend_fields.clone();
    let direct = [
        ("weight", entry.weight),
        ("replicas", entry.replicas),
        ("priority", entry.priority),
    ];
    for (field, value) in direct {
        let Some(value) = value else { continue };
        if let Some(extended) = fields.insert(field.to_owned(), value)
            && extended != value
        {
            return Err(StrategyError::TwoValues {
                origin,
                field,
                direct: value,
                extended,
            });
        }
    }
    if !extends && let Some((field, value)) = entry.extend_fields.first_key_value() {
        let message =
            format!("{origin}: `extendFields.{field}` belongs to `extendClusterPreferences`; read as `{field}`");
        warnings.push(Warning::new(message).with_hint(format!("write `{field}: {value}`")));
    }
    Ok(PreferenceRule { target, fields, origin })
}

fn check(rule: &PreferenceRule, required: Option<Required>) -> Result<(), StrategyError> {
    let Some(Required { field, least }) = required else {
        return Ok(());
    };
    let origin = rule.origin.clone();
    match rule.fields.get(field) {
        None => Err(StrategyError::WithoutField { origin, field }),
        Some(actual) if *actual < least => Err(StrategyError::TooSmall {
            origin,
            field,
            least,
            actual: *actual,
        }),
        Some(_) => Ok(()),
    }
}
