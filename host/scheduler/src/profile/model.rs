//! The content of a profile.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer, Serialize};

use divvy_karmada::workloads::WorkloadKind;

/// The largest weight of a Score plugin: with scores up to 100 and any number of plugins, totals stay far inside 64 bits.
const MAXIMUM_WEIGHT: i64 = 1_000_000;

/// A profile file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProfileFile {
    #[serde(default)]
    pub(super) profile: Vec<ProfileConfiguration>,
}

/// One profile, as it is written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ProfileConfiguration {
    /// Its name.
    #[serde(deserialize_with = "name")]
    pub name: String,
    /// The profile that it is based on: what it does not say itself is taken from there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extends: Option<String>,
    /// The scheduler name that bindings and policies use for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler_name: Option<String>,
    /// The seed from which, with the binding's UID, ties are drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Folders with plugins, searched after the usual ones. Relative ones start at the profile file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plugin_directories: Vec<PathBuf>,
    /// Filter plugins, in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filters: Option<Vec<String>>,
    /// Score plugins with their weights, in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scores: Option<Vec<ScoreEntry>>,
    /// The Select plugin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub select: Option<String>,
    /// Assign plugins. Each serves the strategies that its metadata names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assign: Option<Vec<String>>,
    /// Meaning of a placement's affinity groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub affinity_groups: Option<AffinityGroups>,
    /// True if bindings of several components that ask for exactly one cluster are estimated as whole sets: Karmada's
    /// feature gate `MultiplePodTemplatesScheduling`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multiple_pod_templates: Option<bool>,
    /// Strategy to plugin, where several Assign plugins serve one strategy.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub strategies: BTreeMap<String, String>,
    /// Settings of single plugins, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub plugin: BTreeMap<String, PluginTable>,
    /// Further kinds that have replicas.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workload: Vec<WorkloadKind>,
}

/// A Score plugin and its weight.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ScoreEntry {
    /// The plugin.
    pub plugin: String,
    /// By what its scores are multiplied, 0 to 1,000,000.
    #[serde(default = "one", deserialize_with = "weight")]
    pub weight: i64,
}

fn one() -> i64 {
    1
}

fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let name = String::deserialize(deserializer)?;
    if name.is_empty() {
        return Err(D::Error::custom("a profile needs a name"));
    }
    Ok(name)
}

fn weight<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let weight = i64::deserialize(deserializer)?;
    if !(0..=MAXIMUM_WEIGHT).contains(&weight) {
        let expected = format!("a weight from 0 to {MAXIMUM_WEIGHT}");
        return Err(D::Error::invalid_value(Unexpected::Signed(weight), &expected.as_str()));
    }
    Ok(weight)
}

fn checksum<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let checksum = String::deserialize(deserializer)?;
    if checksum.len() != 64 || !checksum.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(D::Error::invalid_value(
            Unexpected::Str(&checksum),
            &"64 hexadecimal digits",
        ));
    }
    Ok(Some(checksum))
}

/// Settings of one plugin.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PluginTable {
    /// Its library, if it is not to be looked for. A relative path starts at the profile file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// The SHA-256 checksum, in hexadecimal, that its library must have.
    #[serde(default, deserialize_with = "checksum", skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Its configuration.
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    pub configuration: serde_json::Map<String, serde_json::Value>,
}

/// Meaning of a placement's affinity groups.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AffinityGroups {
    /// One after the other, until one fits: Karmada's meaning.
    #[default]
    Fallback,
    /// All at once, as tiers: group i before group i + 1.
    Tiers,
}

impl ProfileConfiguration {
    /// Makes relative paths start at a folder.
    pub(super) fn resolve_paths(&mut self, folder: &Path) {
        for directory in &mut self.plugin_directories {
            *directory = folder.join(&*directory);
        }
        for table in self.plugin.values_mut() {
            if let Some(path) = &mut table.path {
                *path = folder.join(&*path);
            }
        }
    }

    /// This profile, with what it does not say taken from `base`. Tables are joined key by key, lists replaced.
    pub(super) fn over(self, base: Self) -> Self {
        let mut plugin = base.plugin;
        for (name, table) in self.plugin {
            let known = plugin.entry(name).or_default();
            known.path = table.path.or(known.path.take());
            known.sha256 = table.sha256.or(known.sha256.take());
            known.configuration.extend(table.configuration);
        }
        let mut strategies = base.strategies;
        strategies.extend(self.strategies);
        let mut plugin_directories = self.plugin_directories;
        plugin_directories.extend(base.plugin_directories);
        let mut workload = self.workload;
        workload.extend(base.workload);
        Self {
            name: self.name,
            extends: None,
            scheduler_name: self.scheduler_name.or(base.scheduler_name),
            seed: self.seed.or(base.seed),
            plugin_directories,
            filters: self.filters.or(base.filters),
            scores: self.scores.or(base.scores),
            select: self.select.or(base.select),
            assign: self.assign.or(base.assign),
            affinity_groups: self.affinity_groups.or(base.affinity_groups),
            multiple_pod_templates: self.multiple_pod_templates.or(base.multiple_pod_templates),
            strategies,
            plugin,
            workload,
        }
    }

    /// The configuration of a plugin: empty if the profile says nothing of it.
    pub fn configuration_of(&self, plugin: &str) -> serde_json::Value {
        let table = self.plugin.get(plugin);
        serde_json::Value::Object(table.map(|table| table.configuration.clone()).unwrap_or_default())
    }

    /// The profile as TOML, with one `[[profile]]` table.
    pub fn to_toml(&self) -> String {
        #[derive(Serialize)]
        struct File<'a> {
            profile: [&'a ProfileConfiguration; 1],
        }
        toml::to_string_pretty(&File { profile: [self] }).unwrap_or_default()
    }
}
