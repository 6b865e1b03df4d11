//! Random preferences of a policy, from what a plugin declares: its lists and the schema of its other keys.

use divvy_framework_arithmetic::random::Generator;
use divvy_loader::RuleList;
use divvy_scheduler::plugin::PluginInstance;
use divvy_scheduler::strategy::PLUGIN_PREFERENCES_PREFIX;
use serde_json::{Map, Value, json};

use crate::chance::{one_in, pick};
use crate::schema;
use crate::subject::Subject;

/// A list that a strategy reads: its key, and its fields with their minimums.
pub(crate) type List = RuleList;

/// The lists of a declaration.
pub(crate) fn lists(declared: &[RuleList]) -> Vec<List> {
    declared.to_vec()
}

/// The schema of the preferences that a plugin reads.
pub(crate) fn schema(plugin: &PluginInstance) -> Value {
    serde_json::from_str(&plugin.library().preferences_schema()).unwrap_or(Value::Null)
}

/// A strategy to request.
#[derive(Debug, Clone)]
pub(crate) struct AskedStrategy {
    pub(crate) name: String,
    pub(crate) lists: Vec<List>,
    /// Schema of the remaining keys.
    pub(crate) schema: Value,
    /// A list that gives clusters priorities beside it; `None` if it allows none.
    pub(crate) priorities: Option<List>,
}

/// Preferences for a plugin that serves no strategy.
#[derive(Debug, Clone)]
pub(crate) struct Own {
    pub(crate) annotation: String,
    schema: Value,
}

impl Own {
    /// The preferences of a plugin; `None` if it reads none.
    pub(crate) fn of(subject: &Subject) -> Option<Self> {
        let schema = subject.with_instance(schema)?;
        schema::has_keys(&schema).then(|| Self {
            annotation: format!("{PLUGIN_PREFERENCES_PREFIX}{}", subject.plugin()),
            schema,
        })
    }

    /// Random preferences.
    pub(crate) fn instance(&self, random: &mut Generator, names: &[String]) -> Value {
        schema::instance(random, &self.schema, names)
    }
}

/// Random preferences for a strategy; `None` for half of the cases.
pub(crate) fn for_strategy(
    random: &mut Generator,
    strategy: &AskedStrategy,
    names: &[String],
    replicas: i64,
) -> Option<Value> {
    if one_in(random, 2) {
        return None;
    }
    let mut preferences = match schema::has_keys(&strategy.schema) {
        true => schema::instance(random, &strategy.schema, names),
        false => json!({}),
    };
    if !preferences.is_object() {
        preferences = json!({});
    }
    let lists: Vec<&List> = strategy.lists.iter().collect();
    if let Some(list) = pick(random, &lists) {
        preferences[list.name.as_str()] = entries(random, list, names, replicas);
    }
    if let Some(list) = &strategy.priorities
        && one_in(random, 6)
    {
        preferences["clusterPriority"] = json!({ list.name.as_str(): priorities(random, list, names) });
    }
    let is_empty = preferences.as_object().is_none_or(Map::is_empty);
    (!is_empty).then_some(preferences)
}

/// Entries that give some clusters one of three priorities.
fn priorities(random: &mut Generator, list: &List, names: &[String]) -> Value {
    let mut entries = Vec::new();
    for name in names {
        if !one_in(random, 3) {
            let values = list.fields.iter().take(1);
            let values = values.map(|field| (field.name.as_str(), 1 + random.below(3) as i64));
            entries.push(entry(name, &values.collect::<Vec<_>>()));
        }
    }
    entries.into()
}

/// Entries of a list: small numbers, numbers that add up to the replicas, or very large ones.
fn entries(random: &mut Generator, list: &List, names: &[String], replicas: i64) -> Value {
    let kind = random.below(5);
    let mut left = replicas;
    let mut entries = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let is_last = index + 1 == names.len();
        let mut values = Vec::new();
        for field in &list.fields {
            let minimum = field.minimum.unwrap_or(0);
            if !field.required && one_in(random, 4) {
                continue;
            }
            let value = match kind {
                0 | 1 => {
                    let part = if is_last { left } else { left / 3 };
                    left -= part;
                    part
                }
                2 => i64::MAX - random.below(3) as i64,
                _ => minimum.saturating_add(random.below(5) as i64),
            };
            values.push((field.name.as_str(), value.max(minimum)));
        }
        if kind != 4 || !one_in(random, 3) {
            entries.push(entry(name, &values));
        }
    }
    entries.into()
}

fn entry(cluster: &str, values: &[(&str, i64)]) -> Value {
    let mut entry = json!({ "targetCluster": { "clusterNames": [cluster] } });
    for (field, value) in values {
        entry[*field] = (*value).into();
    }
    entry
}
