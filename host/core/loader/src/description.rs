//! A plugin's description of itself, as data that can cross between processes.

use std::path::Path;

use divvy_framework_abi::PluginText;
use divvy_framework_abi::descriptor::{Descriptor, PointDescriptor, StrategyDescriptor, feature};
use divvy_framework_abi::service::document;
use serde::{Deserialize, Serialize};

use crate::error::LoadError;
use crate::functions::{Functions, read_table};

/// A plugin's description of itself: its descriptor, and the documents that it hands over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LibraryDescription {
    /// The plugin's version.
    pub version: String,
    /// One-sentence description of the plugin.
    pub description: String,
    /// Version of the SDK that the plugin was built with.
    pub sdk_version: String,
    /// Extension points that the plugin serves.
    pub points: Vec<PointDescription>,
    /// Strategies that the plugin serves.
    pub strategies: Vec<StrategyDescription>,
    /// Policy lists that the strategies read, each as JSON.
    pub rule_lists: Vec<String>,
    /// Tables that the plugin reads, each as JSON.
    pub tables: Vec<String>,
    /// JSON Schema of the configuration.
    pub configuration_schema: Option<String>,
    /// JSON Schema of the preferences.
    pub preferences_schema: Option<String>,
}

/// An extension point: the fields of [`PointDescriptor`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PointDescription {
    /// Kind of the calls.
    pub point: u32,
    /// Required features, as bits of [`feature`].
    pub required: u64,
    /// Optional features.
    pub optional: u64,
    /// Columns that a value for a snapshot is made from; 0 if they are not known.
    pub reads: u64,
    /// Parts of a binding that a call acts on; 0 for any.
    pub acts_on: u64,
}

/// A strategy: the fields of [`StrategyDescriptor`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StrategyDescription {
    /// Name of the strategy.
    pub name: String,
    /// Required features, as bits of [`feature`].
    pub required: u64,
    /// Optional features.
    pub optional: u64,
}

impl LibraryDescription {
    /// Reads a descriptor, and asks the plugin for its documents.
    ///
    /// # Errors
    ///
    /// A [`LoadError`] that names the part that cannot be read, or the documents that exceed a limit.
    pub(crate) fn read(
        descriptor: &Descriptor,
        functions: &Functions,
        plugin: &str,
        path: &Path,
    ) -> Result<Self, LoadError> {
        let invalid = |message: &str| LoadError::InvalidDescriptor {
            plugin: plugin.to_owned(),
            path: path.to_owned(),
            message: message.to_owned(),
        };
        let documents = |kind: u32| functions.documents(kind, plugin, path);
        let points = read_table(&descriptor.points).ok_or_else(|| invalid("an extension point cannot be read"))?;
        let strategies = read_table(&descriptor.strategies).ok_or_else(|| invalid("a strategy cannot be read"))?;
        let text = |text: PluginText<'_>| text.read().into_owned();
        let mut described = Self {
            version: text(descriptor.version),
            description: text(descriptor.description),
            sdk_version: text(descriptor.sdk_version),
            points: points.iter().map(PointDescription::new).collect(),
            strategies: strategies.iter().map(StrategyDescription::new).collect(),
            rule_lists: Vec::new(),
            tables: Vec::new(),
            configuration_schema: None,
            preferences_schema: None,
        };
        // A plugin of a later version may have to be called in another way.
        if described.required() & !feature::ALL == 0 {
            described.rule_lists = documents(document::RULE_LISTS)?;
            // A plugin that does not list the need reads no tables, even if it hands some over.
            if described.required() & feature::TABLES != 0 {
                described.tables = documents(document::TABLES)?;
            }
            described.configuration_schema = documents(document::CONFIGURATION_SCHEMA)?.pop();
            described.preferences_schema = documents(document::PREFERENCES_SCHEMA)?.pop();
        }
        Ok(described)
    }

    /// Features that the plugin requires at any extension point or strategy.
    pub(crate) fn required(&self) -> u64 {
        let points = self.points.iter().map(|point| point.required);
        let strategies = self.strategies.iter().map(|strategy| strategy.required);
        points.chain(strategies).fold(0, |all, bits| all | bits)
    }
}

impl PointDescription {
    fn new(descriptor: &PointDescriptor) -> Self {
        Self {
            point: descriptor.point,
            required: descriptor.required,
            optional: descriptor.optional,
            reads: descriptor.reads,
            acts_on: descriptor.acts_on,
        }
    }
}

impl StrategyDescription {
    fn new(descriptor: &StrategyDescriptor) -> Self {
        Self {
            name: descriptor.name.read().into_owned(),
            required: descriptor.required,
            optional: descriptor.optional,
        }
    }
}
