//! A plugin's description of itself, as data that can cross between processes.

use std::path::Path;

use divvy_framework_abi::PluginText;
use divvy_framework_abi::descriptor::{Descriptor, PointDescriptor, StrategyDescriptor, feature};
use divvy_framework_abi::service::document;
use serde::{Deserialize, Serialize};

use crate::error::LoadError;
use crate::functions::{Documents, Functions, read_table};
use crate::shown::one_line;

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
        let text = |text: PluginText<'_>| one_line(&text.read()).into_owned();
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

    /// Checks a description that a worker gave: that it states what the library's file states, which counts, and that its documents are
    /// within the limits.
    ///
    /// # Errors
    ///
    /// A [`LoadError`] that names the first part that differs, or the limit that is exceeded.
    pub(crate) fn check(&self, stated: &Self, plugin: &str, path: &Path) -> Result<(), LoadError> {
        let parts = [
            ("version", self.version == stated.version),
            ("description", self.description == stated.description),
            ("version of its SDK", self.sdk_version == stated.sdk_version),
            ("list of extension points", self.points == stated.points),
            ("list of strategies", self.strategies == stated.strategies),
        ];
        if let Some((part, _)) = parts.into_iter().find(|(_, is_same)| !is_same) {
            return Err(LoadError::InvalidDescriptor {
                plugin: plugin.to_owned(),
                path: path.to_owned(),
                message: format!("once it is open, its {part} is not that of its file"),
            });
        }
        for (document, texts) in [
            (document::RULE_LISTS, self.rule_lists.as_slice()),
            (document::TABLES, self.tables.as_slice()),
            (document::CONFIGURATION_SCHEMA, self.configuration_schema.as_slice()),
            (document::PREFERENCES_SCHEMA, self.preferences_schema.as_slice()),
        ] {
            let mut taken = Documents::default();
            texts.iter().for_each(|text| taken.take(PluginText::new(text)));
            taken.within_limits(document, plugin, path)?;
        }
        Ok(())
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
            name: one_line(&descriptor.name.read()).into_owned(),
            required: descriptor.required,
            optional: descriptor.optional,
        }
    }
}

#[cfg(test)]
mod tests {
    use divvy_framework_abi::service::limit;

    use super::*;

    fn description() -> LibraryDescription {
        LibraryDescription {
            version: "1.0.0".to_owned(),
            description: "filters".to_owned(),
            sdk_version: String::new(),
            points: vec![PointDescription {
                point: 1,
                required: 0,
                optional: 0,
                reads: 0,
                acts_on: 0,
            }],
            strategies: Vec::new(),
            rule_lists: Vec::new(),
            tables: Vec::new(),
            configuration_schema: Some("{}".to_owned()),
            preferences_schema: None,
        }
    }

    fn refusal(change: impl FnOnce(&mut LibraryDescription)) -> Option<String> {
        let mut given = description();
        change(&mut given);
        let checked = given.check(&description(), "own", Path::new("/own.so"));
        checked.err().map(|error| error.to_string())
    }

    #[test]
    fn a_worker_cannot_describe_a_plugin_otherwise_than_its_file() {
        assert_eq!(refusal(|_| {}), None);
        let of = |change: fn(&mut LibraryDescription)| refusal(change).unwrap_or_default();
        for (said, part) in [
            (of(|given| given.version = "1.0.0\n".to_owned()), "version"),
            (of(|given| given.description.push('s')), "description"),
            (of(|given| given.sdk_version = "9".to_owned()), "version of its SDK"),
            (of(|given| given.points[0].point = 4), "list of extension points"),
            (
                of(|given| given.points[0].optional = u64::MAX),
                "list of extension points",
            ),
            (of(|given| given.points.clear()), "list of extension points"),
            (
                of(|given| {
                    given.strategies.push(StrategyDescription {
                        name: "Another".to_owned(),
                        required: 0,
                        optional: 0,
                    });
                }),
                "list of strategies",
            ),
        ] {
            assert!(
                said.contains(&format!("its {part} is not that of its file")),
                "{part}: {said}"
            );
        }
    }

    #[test]
    fn documents_of_a_worker_have_the_limits_of_a_plugin() {
        let long = "x".repeat(limit::DOCUMENT_BYTES as usize + 1);
        assert!(refusal(|given| given.configuration_schema = Some(long.clone())).is_some());
        assert!(refusal(|given| given.tables.push(long.clone())).is_some());
        let many = vec![String::new(); limit::DOCUMENTS as usize + 1];
        assert!(refusal(|given| given.rule_lists = many).is_some());
        let most = "x".repeat(limit::DOCUMENT_BYTES as usize);
        assert!(refusal(|given| given.tables = vec![most; 17]).is_some());
    }
}
