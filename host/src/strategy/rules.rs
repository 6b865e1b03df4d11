//! The entries of preference lists, as written, into rules.
//!
//! The oddities of the printed manifests are put right here, entry by entry: an affinity beside an empty
//! `targetCluster` is read as if it stood under it, and never as "all clusters".

use std::collections::BTreeMap;

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
