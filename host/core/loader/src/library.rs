//! A plugin of an opened library, with its metadata.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use divvy_framework_abi::AbiVersion;
use divvy_framework_abi::descriptor::{Descriptor, feature};
use divvy_framework_abi::section::PluginRecord;
use divvy_framework_abi::sized::kind;

use crate::description::{LibraryDescription, PointDescription};
use crate::error::LoadError;
use crate::features::{self, known_parts};
use crate::functions::Functions;
use crate::lists::RuleList;
use crate::tables::DeclaredTable;

/// A plugin of a library that was checked and opened, with its metadata.
#[derive(Clone)]
pub struct PluginLibrary {
    name: &'static str,
    description: Arc<LibraryDescription>,
    strategies: Vec<&'static str>,
    rule_lists: Vec<RuleList>,
    tables: Vec<DeclaredTable>,
    functions: Option<Functions>,
    path: PathBuf,
    checksum: String,
    abi_version: AbiVersion,
    certified: bool,
}

impl std::fmt::Debug for PluginLibrary {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("PluginLibrary")
            .field("name", &self.name())
            .field("version", &self.version())
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

/// A name of a plugin or a strategy that lives as long as the process. There are few, and reloading a profile adds none.
fn lasting(text: &str) -> &'static str {
    static KNOWN: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = known.get(text) {
        return known;
    }
    let lasting: &'static str = text.to_owned().leak();
    known.insert(lasting);
    lasting
}

impl PluginLibrary {
    /// Reads the descriptor of a plugin of an opened library.
    pub(crate) fn new(
        record: &PluginRecord,
        descriptor: &Descriptor,
        path: PathBuf,
        checksum: String,
    ) -> Result<Self, LoadError> {
        let functions = Functions::read(descriptor).ok_or_else(|| LoadError::InvalidDescriptor {
            plugin: record.name(),
            path: path.clone(),
            message: "it lacks a function".to_owned(),
        })?;
        let description = LibraryDescription::read(descriptor, &functions, &record.name(), &path)?;
        Self::described(record, description, Some(functions), path, checksum)
    }

    /// A plugin with this description, all of which is checked.
    pub(crate) fn described(
        record: &PluginRecord,
        description: LibraryDescription,
        functions: Option<Functions>,
        path: PathBuf,
        checksum: String,
    ) -> Result<Self, LoadError> {
        let plugin = record.name();
        let required = description.required();
        let unknown = required & !feature::ALL;
        if unknown != 0 {
            return Err(LoadError::UnknownFeatures {
                plugin,
                path,
                bits: unknown,
            });
        }
        // Lists are parsed once, so that an invalid one is an error of the plugin rather than of each binding.
        let lists = description.rule_lists.iter();
        let rule_lists: Result<Vec<RuleList>, _> = lists.map(|text| serde_json::from_str(text)).collect();
        let rule_lists = rule_lists.map_err(|error| LoadError::InvalidRuleList {
            plugin: plugin.clone(),
            path: path.clone(),
            message: error.to_string(),
        })?;
        let mut tables: Vec<DeclaredTable> = Vec::new();
        if required & feature::TABLES != 0 {
            let invalid = |message: String| LoadError::InvalidTable {
                plugin: plugin.clone(),
                path: path.clone(),
                message,
            };
            for text in &description.tables {
                tables.push(serde_json::from_str(text).map_err(|error| invalid(error.to_string()))?);
            }
            if tables.iter().all(|table| table.columns.is_empty()) {
                return Err(invalid("it names no column".to_owned()));
            }
        }
        let strategies = description.strategies.iter();
        Ok(Self {
            name: lasting(&plugin),
            strategies: strategies.map(|strategy| lasting(&strategy.name)).collect(),
            description: Arc::new(description),
            rule_lists,
            tables,
            functions,
            path,
            checksum,
            abi_version: record.abi_version(),
            certified: record.is_certified(),
        })
    }

    /// The plugin's description of itself, for another process.
    pub fn describe(&self) -> LibraryDescription {
        LibraryDescription::clone(&self.description)
    }

    /// The plugin's name.
    #[inline]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The functions of the plugin; `None` if its library is open in another process only. Callers must keep the contract of the
    /// ABI.
    pub fn functions(&self) -> Option<Functions> {
        self.functions
    }

    /// The plugin's version.
    pub fn version(&self) -> &str {
        &self.description.version
    }

    /// One-sentence description of the plugin.
    pub fn description(&self) -> &str {
        &self.description.description
    }

    /// Version of the SDK that the plugin was built with; empty without an SDK.
    pub fn sdk_version(&self) -> &str {
        &self.description.sdk_version
    }

    /// ABI version that the plugin was built with.
    pub fn abi_version(&self) -> AbiVersion {
        self.abi_version
    }

    /// True if the library carries a certificate, which was checked.
    #[inline]
    pub fn is_certified(&self) -> bool {
        self.certified
    }

    /// Absolute path of the library.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// SHA-256 checksum of the library, in hexadecimal.
    pub fn checksum(&self) -> &str {
        &self.checksum
    }

    /// The first descriptor of a kind of calls, given as a value of [`kind`].
    #[inline]
    fn point(&self, point: u32) -> Option<&PointDescription> {
        self.description.points.iter().find(|known| known.point == point)
    }

    /// True if the plugin answers a kind of calls, given as a value of [`kind`].
    #[inline]
    pub fn serves(&self, point: u32) -> bool {
        self.point(point).is_some()
    }

    /// True if the plugin lists a feature at a point: a value of [`kind`], and a bit of [`feature`].
    #[inline]
    pub fn has_at(&self, point: u32, feature: u64) -> bool {
        let mut points = self.description.points.iter().filter(|known| known.point == point);
        points.any(|point| (point.required | point.optional) & feature != 0)
    }

    /// Parts of a binding that the plugin's calls of a kind act on, as bits of [`binding_part`](divvy_framework_abi::descriptor::binding_part); 0 if the plugin is called for
    /// every binding.
    pub fn acts_on(&self, point: u32) -> u64 {
        self.point(point).map_or(0, |point| known_parts(point.acts_on))
    }

    /// Columns of clusters that the plugin's value for a snapshot is made from, as bits of
    /// [`group`](divvy_framework_abi::arena::group); all bits if it does not say so.
    #[inline]
    pub fn value_reads(&self) -> u64 {
        self.point(kind::SNAPSHOT_VALUE)
            .map(|point| point.reads)
            .filter(|&reads| reads != 0)
            .unwrap_or(u64::MAX)
    }

    /// True if the plugin promises that its selection satisfies the spread constraints.
    pub fn enforces_spread(&self) -> bool {
        self.has_at(kind::SELECT, feature::ENFORCES_SPREAD)
    }

    /// Names of the extension points that the plugin serves, in the order of the cycle.
    pub fn extension_points(&self) -> Vec<&'static str> {
        features::extension_points(|point| self.serves(point))
    }

    /// Names of the strategies that the plugin serves.
    pub fn strategies(&self) -> Vec<&'static str> {
        self.strategies.clone()
    }

    /// Features of a strategy, as bits of [`feature`]; 0 if the plugin does not serve it.
    pub fn features_of(&self, strategy: &str) -> u64 {
        let found = self.description.strategies.iter().find(|known| known.name == strategy);
        found.map_or(0, |strategy| strategy.required | strategy.optional)
    }

    /// Features that the plugin lists at any of its extension points or strategies, as bits of [`feature`].
    pub fn features(&self) -> u64 {
        let points = self
            .description
            .points
            .iter()
            .map(|point| point.required | point.optional);
        let strategies = self
            .description
            .strategies
            .iter()
            .map(|strategy| strategy.required | strategy.optional);
        points.chain(strategies).fold(0, |all, bits| all | bits)
    }

    /// The plugin's promises, in words.
    pub fn promise_names(&self) -> Vec<&'static str> {
        features::promises(self.features())
    }

    /// Inputs that the plugin declares to need and therefore sees, in words. A configuration can add to them.
    pub fn input_names(&self) -> Vec<&'static str> {
        features::inputs(self.features())
    }

    /// Policy lists that the plugin's strategies read.
    pub fn rule_lists(&self) -> &[RuleList] {
        &self.rule_lists
    }

    /// Tables that the plugin reads.
    #[inline]
    pub fn tables(&self) -> &[DeclaredTable] {
        &self.tables
    }

    /// JSON Schema of the plugin's configuration; `true`, which accepts everything, if the plugin has none.
    pub fn configuration_schema(&self) -> String {
        schema(self.description.configuration_schema.as_deref())
    }

    /// JSON Schema of the preferences that the plugin reads; `true`, which accepts everything, if the plugin has none.
    pub fn preferences_schema(&self) -> String {
        schema(self.description.preferences_schema.as_deref())
    }
}

fn schema(text: Option<&str>) -> String {
    text.unwrap_or("true").to_owned()
}
