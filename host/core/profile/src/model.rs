//! The content of a profile.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use divvy_karmada::workloads::{ResourceInterpreter, WorkloadKind};

use crate::cost::CostConfiguration;
use crate::deadline::Deadline;
use crate::error::ProfileError;
use crate::jointly::JointlyConfiguration;
use crate::moves::MovesConfiguration;
use crate::selectors;
use crate::table::configuration::TableConfiguration;

/// Maximum weight of a Score plugin. With scores up to 100, totals stay far within 64 bits for any number of plugins.
const MAXIMUM_WEIGHT: i64 = 1_000_000;

/// A profile file.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct ProfileFile {
    #[serde(default)]
    pub(super) profile: Vec<ProfileConfiguration>,
}

/// One profile, as written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ProfileConfiguration {
    /// Name of the profile.
    #[serde(deserialize_with = "name")]
    pub name: String,
    /// Profile that this one extends. Keys that are not set here are taken from there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extends: Option<String>,
    /// Scheduler name that bindings and policies use for this profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler_name: Option<String>,
    /// Seed that breaks ties, together with the binding's UID.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Plugin folders, searched after the default ones: the binary's own, `../lib/divvy/plugins` and those in
    /// `DIVVY_PLUGIN_PATH`. Relative paths are resolved against the profile file's folder. Those of the extended profile are
    /// appended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plugin_directories: Vec<PathBuf>,
    /// Filter plugins, in order. A cluster has to pass all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filters: Option<Vec<String>>,
    /// Score plugins with their weights, in order. A name alone has weight 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<schema::Score>>"))]
    pub scores: Option<Vec<ScoreEntry>>,
    /// Select plugins, in order: one name, or a list. Each narrows down what the one before left.
    #[serde(
        default,
        deserialize_with = "selectors::read",
        serialize_with = "selectors::write",
        skip_serializing_if = "Option::is_none"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Option<schema::Names>"))]
    pub select: Option<Vec<String>>,
    /// Assign plugins. Each serves the strategies that it declares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assign: Option<Vec<String>>,
    /// Meaning of a placement's affinity groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub affinity_groups: Option<AffinityGroups>,
    /// True if bindings with several components and a spread constraint of exactly one cluster are estimated as
    /// complete sets: Karmada's feature gate `MultiplePodTemplatesScheduling`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multiple_pod_templates: Option<bool>,
    /// Treatment of the previous result of a binding that no cluster fits, in `divvy run`. Without this, `keep` if `[profile.moves]` names
    /// a pace, so that replicas stay until others are ready, and `clear` otherwise. A profile that names a pace does not take this from one
    /// that names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when_no_cluster_fits: Option<WhenNoClusterFits>,
    /// Treatment of capacity that results have taken and clusters do not report yet, in `divvy run`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub while_capacity_is_unreported: Option<WhileCapacityIsUnreported>,
    /// Treatment of a satisfied binding if labels or taints of a cluster change, in `divvy run`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when_clusters_change: Option<WhenClustersChange>,
    /// Plugin that serves a strategy, by the name of the strategy; only for strategies that several Assign plugins serve.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub strategies: BTreeMap<String, String>,
    /// Settings of individual plugins, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub plugin: BTreeMap<String, PluginTable>,
    /// Tables that plugins read, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub table: BTreeMap<String, TableConfiguration>,
    /// Costs in reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<CostConfiguration>,
    /// Moves in steps, in `divvy run`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moves: Option<MovesConfiguration>,
    /// Many bindings at once decided as one plan, in `divvy run`. Off if absent; needs `while-capacity-is-unreported = "hold"`, the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jointly: Option<JointlyConfiguration>,
    /// Rules for reading the replicas and requests of a workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_interpreter: Option<ResourceInterpreter>,
    /// Additional kinds of resources that have replicas. Those of the extended profile are appended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workload: Vec<WorkloadKind>,
}

/// A Score plugin and its weight. The name of the plugin alone means weight 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ScoreEntry {
    /// Name of the plugin.
    pub plugin: String,
    /// Factor for its scores, from 0 to 1,000,000.
    pub weight: i64,
}

impl<'de> Deserialize<'de> for ScoreEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Table {
            plugin: String,
            #[serde(default = "one", deserialize_with = "weight")]
            weight: i64,
        }

        struct NameOrTable;

        impl<'de> Visitor<'de> for NameOrTable {
            type Value = ScoreEntry;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("the name of a plugin, or a table with `plugin` and `weight`")
            }

            fn visit_str<E>(self, name: &str) -> Result<ScoreEntry, E> {
                Ok(ScoreEntry {
                    plugin: name.to_owned(),
                    weight: one(),
                })
            }

            fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<ScoreEntry, A::Error> {
                let Table { plugin, weight } = Table::deserialize(MapAccessDeserializer::new(table))?;
                Ok(ScoreEntry { plugin, weight })
            }
        }

        deserializer.deserialize_any(NameOrTable)
    }
}

/// True if moves are made in steps.
fn has_pace(moves: &Option<MovesConfiguration>) -> bool {
    moves.as_ref().is_some_and(|moves| moves.pace.is_some())
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

/// Forms that the types above do not show: the shorthand for a list or a table.
#[cfg(feature = "schema")]
mod schema {
    /// The name of a plugin, or a list of names.
    #[derive(schemars::JsonSchema)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "only its schema is used")]
    pub(super) enum Names {
        /// The name of a plugin.
        One(String),
        /// Names of plugins.
        Several(Vec<String>),
    }

    /// The name of a plugin, which then has weight 1, or a table.
    #[derive(schemars::JsonSchema)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "only its schema is used")]
    pub(super) enum Score {
        /// The name of a plugin.
        Name(String),
        /// A plugin and its weight.
        Table {
            /// Name of the plugin.
            plugin: String,
            /// Factor for its scores, from 0 to 1,000,000; 1 if absent.
            weight: Option<i64>,
        },
    }
}

/// The JSON Schema of a profile file.
#[cfg(feature = "schema")]
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(ProfileFile).into()
}

/// Settings of one plugin.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PluginTable {
    /// Path of its library; if absent, the plugin directories are searched. A relative path is resolved against the
    /// profile file's folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// SHA-256 checksum of its library, in hexadecimal. A library with another checksum is not loaded.
    #[serde(default, deserialize_with = "checksum", skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// True if the library may be loaded although it carries no certificate, for example because it is not written in Rust.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_uncertified: bool,
    /// Process in which the plugin runs. If absent, `none` for a plugin that a built-in profile lists and whose library is beside
    /// `divvy` or in `../lib/divvy/plugins`, and `process` for all others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isolation: Option<Isolation>,
    /// What happens to a binding if a call of the plugin fails, for filters and scores that do not enforce spread constraints or
    /// affinity. `fail` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_error: Option<OnError>,
    /// Name of a worker that the plugin shares with the isolated plugins that name the same one. These can harm each other. If absent,
    /// each library has a worker of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// Time that a call of an isolated plugin may take, such as `"500ms"` or `"2s"`, from 1 ms to 1 h. 1 s in `divvy run` and 10 s
    /// elsewhere if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Deadline>,
    /// Files and folders that an isolated plugin may read, besides its own library and those of the system. A relative path is
    /// resolved against the profile file's folder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<PathBuf>,
    /// Names of tables in the profile, by the names under which the plugin reads them; only for those that differ.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tables: BTreeMap<String, String>,
    /// Configuration that the plugin is constructed from.
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    pub configuration: serde_json::Map<String, serde_json::Value>,
}

/// Process in which a plugin runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// A process of its own, which can read the plugin's library and those of the system, but no other file, and has no network. A
    /// crash or an endless loop costs only the decision that it was called for.
    Process,
    /// The scheduler's process, with all of its rights.
    None,
}

/// What happens to a binding if a call of a plugin fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum OnError {
    /// It is not decided, keeps its result, and is tried again.
    Fail,
    /// It is decided without the plugin, with a warning, and again once the plugin answers.
    Skip,
}

/// Meaning of a placement's affinity groups.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum AffinityGroups {
    /// Tried one after another until one fits, as in Karmada.
    #[default]
    Fallback,
    /// All used at once, as tiers in the order of the groups.
    Tiers,
}

/// Treatment of the previous result of a binding that no cluster fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum WhenNoClusterFits {
    /// It is removed, if no affinity group has a cluster that fits.
    Clear,
    /// It is removed if the first affinity group that was tried has no cluster that fits, as in Karmada, even if others have one.
    ClearByFirstGroup,
    /// It stays.
    Keep,
}

/// Treatment of capacity that results have taken and clusters do not report yet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum WhileCapacityIsUnreported {
    /// It is not available to other results until the cluster reports it.
    #[default]
    Hold,
    /// It is available, as in Karmada: results that follow one another closely can overcommit a cluster.
    Ignore,
}

/// Treatment of a satisfied binding if labels or taints of a cluster change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum WhenClustersChange {
    /// Its replicas stay where they are, as in Karmada.
    #[default]
    Stay,
    /// It is scheduled again, so its replicas may move.
    Reschedule,
}

impl ProfileConfiguration {
    /// Resolves relative paths against `folder`.
    pub(super) fn resolve_paths(&mut self, folder: &Path) {
        for path in self.paths_mut() {
            *path = folder.join(&*path);
        }
    }

    /// This profile with absolute paths, which lead to the same files from any folder. Relative paths count from the current
    /// folder.
    #[must_use]
    pub fn with_absolute_paths(&self) -> Self {
        let mut profile = self.clone();
        for path in profile.paths_mut() {
            // A path that cannot be made absolute is kept, and its error is reported where it is used.
            if let Ok(absolute) = std::path::absolute(&*path) {
                *path = absolute;
            }
        }
        profile
    }

    fn paths_mut(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        let files = self.plugin.values_mut();
        let files = files.flat_map(|table| table.path.iter_mut().chain(&mut table.read));
        let tables = self.table.values_mut().filter_map(|table| table.file.as_mut());
        self.plugin_directories.iter_mut().chain(files).chain(tables)
    }

    /// This profile, with missing keys taken from `base`. Tables are merged key by key. Plugin directories and workloads of `base`
    /// are appended to those of this profile. [`super::lists`] merges the lists of plugins.
    pub(super) fn over(self, base: Self) -> Self {
        let mut plugin = base.plugin;
        for (name, table) in self.plugin {
            let known = plugin.entry(name).or_default();
            known.path = table.path.or(known.path.take());
            known.sha256 = table.sha256.or(known.sha256.take());
            known.allow_uncertified |= table.allow_uncertified;
            known.isolation = table.isolation.or(known.isolation);
            known.on_error = table.on_error.or(known.on_error);
            known.worker = table.worker.or(known.worker.take());
            known.deadline = table.deadline.or(known.deadline);
            known.read.extend(table.read);
            known.tables.extend(table.tables);
            known.configuration.extend(table.configuration);
        }
        let mut tables = base.table;
        for (name, table) in self.table {
            let known = tables.entry(name).or_default();
            *known = table.over(std::mem::take(known));
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
            filters: self.filters,
            scores: self.scores,
            select: self.select,
            assign: self.assign,
            affinity_groups: self.affinity_groups.or(base.affinity_groups),
            multiple_pod_templates: self.multiple_pod_templates.or(base.multiple_pod_templates),
            when_no_cluster_fits: self.when_no_cluster_fits.or_else(|| {
                base.when_no_cluster_fits
                    .filter(|_| has_pace(&base.moves) || !has_pace(&self.moves))
            }),
            while_capacity_is_unreported: self.while_capacity_is_unreported.or(base.while_capacity_is_unreported),
            when_clusters_change: self.when_clusters_change.or(base.when_clusters_change),
            strategies,
            plugin,
            table: tables,
            cost: match (self.cost, base.cost) {
                (Some(cost), Some(base)) => Some(cost.over(base)),
                (cost, base) => cost.or(base),
            },
            moves: match (self.moves, base.moves) {
                (Some(moves), Some(base)) => Some(moves.over(base)),
                (moves, base) => moves.or(base),
            },
            jointly: match (self.jointly, base.jointly) {
                (Some(jointly), Some(base)) => Some(jointly.over(base)),
                (jointly, base) => jointly.or(base),
            },
            resource_interpreter: self.resource_interpreter.or(base.resource_interpreter),
            workload,
        }
    }

    /// Names of the profile's plugins in the order of the cycle. A plugin of several lists occurs in each.
    pub fn plugin_names(&self) -> impl Iterator<Item = &str> {
        let filters = self.filters.iter().flatten();
        let scores = self.scores.iter().flatten().map(|entry| &entry.plugin);
        let others = self.select.iter().flatten().chain(self.assign.iter().flatten());
        let pace = self.moves.iter().filter_map(|moves| moves.pace.as_ref());
        filters.chain(scores).chain(others).chain(pace).map(String::as_str)
    }

    /// Treatment of the previous result of a binding that no cluster fits. With a pace, results only change in steps, and without a cluster
    /// to go to there is no next one.
    pub fn clearing(&self) -> WhenNoClusterFits {
        self.when_no_cluster_fits.unwrap_or(match has_pace(&self.moves) {
            true => WhenNoClusterFits::Keep,
            false => WhenNoClusterFits::Clear,
        })
    }

    /// Configuration of a plugin; an empty object if the profile has none.
    pub fn configuration_of(&self, plugin: &str) -> serde_json::Value {
        let table = self.plugin.get(plugin);
        serde_json::Value::Object(table.map(|table| table.configuration.clone()).unwrap_or_default())
    }

    /// The profile as TOML, with one `[[profile]]` table.
    ///
    /// # Errors
    ///
    /// [`ProfileError::Unwritable`] if a configuration has a value that TOML lacks, such as `null`.
    pub fn to_toml(&self) -> Result<String, ProfileError> {
        #[derive(Serialize)]
        struct File<'a> {
            profile: [&'a ProfileConfiguration; 1],
        }
        toml::to_string_pretty(&File { profile: [self] }).map_err(|source| ProfileError::Unwritable {
            name: self.name.clone(),
            source,
        })
    }
}
