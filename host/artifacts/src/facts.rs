//! The configuration of an artifact: what `divvy plugin inspect` finds in its library, for registries to show.
//!
//! It is never used instead of the library: `pull` reads the library again and refuses an artifact whose configuration says otherwise.

use divvy_loader::artifact::Platform;
use divvy_loader::features;
use divvy_loader::inspection::{DescribedPlugin, InspectedRecord, Inspection};
use serde::{Deserialize, Serialize};

use crate::error::ArtifactsError;

/// Facts about a library.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LibraryFacts {
    /// Architecture, by Go's name. Registries show it.
    pub architecture: String,
    /// Operating system. Registries show it.
    pub os: String,
    /// Target that the library was built for, such as `x86_64-linux-gnu`.
    pub target: String,
    /// Oldest glibc with which it loads, if it needs one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oldest_glibc: Option<String>,
    /// Its plugins, sorted by name.
    pub plugins: Vec<PluginFacts>,
}

/// Facts about a plugin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PluginFacts {
    /// Name by which profiles name it.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What it does, in a sentence.
    pub description: String,
    /// Programming language, if it is known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub language: String,
    /// ABI version that it was built with.
    pub abi_version: String,
    /// Oldest ABI version of a host that it works with.
    pub oldest_abi_version: String,
    /// True if it carries a certificate of its types.
    pub certified: bool,
    /// Extension points that it serves.
    pub extension_points: Vec<String>,
    /// Strategies that it serves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub strategies: Vec<String>,
}

impl LibraryFacts {
    /// The facts of a library.
    ///
    /// # Errors
    ///
    /// [`ArtifactsError::NoPlugin`] if it has no plugin, or if its descriptors cannot be read.
    pub fn of(inspection: &Inspection) -> Result<Self, ArtifactsError> {
        let none = |reason: String| ArtifactsError::NoPlugin {
            path: inspection.path.clone(),
            reason,
        };
        let described = inspection.plugins.as_ref().map_err(|error| none(error.to_string()))?;
        if inspection.records.is_empty() {
            return Err(none("it has no record in a section `.divvy.plugin`".to_owned()));
        }
        let facts = |record: &InspectedRecord| {
            let plugin = described.iter().find(|plugin| plugin.name == record.name);
            let plugin = plugin.ok_or_else(|| none(format!("it does not export `{}`", record.name)))?;
            Ok(PluginFacts::of(record, plugin))
        };
        let mut plugins = inspection
            .records
            .iter()
            .map(facts)
            .collect::<Result<Vec<_>, ArtifactsError>>()?;
        plugins.sort_by(|one, other| (&one.name, &one.abi_version).cmp(&(&other.name, &other.abi_version)));
        let architecture = inspection.target.split('-').next().unwrap_or_default();
        let platform = Platform::linux(architecture);
        Ok(Self {
            architecture: platform.architecture,
            os: platform.os,
            target: inspection.target.clone(),
            oldest_glibc: inspection.oldest_glibc.map(|version| version.to_string()),
            plugins,
        })
    }

    /// The platform of the library.
    pub fn platform(&self) -> Platform {
        Platform {
            architecture: self.architecture.clone(),
            os: self.os.clone(),
        }
    }

    /// Names and versions of the plugins: `surge 1.2.0, swap 1.0.0`.
    pub fn names(&self) -> String {
        let names = self
            .plugins
            .iter()
            .map(|plugin| format!("{} {}", plugin.name, plugin.version));
        names.collect::<Vec<_>>().join(", ")
    }

    /// Compares what a configuration says, `self`, with the facts of the library. Descriptions, extension points and strategies are
    /// not compared: another version of Divvy may word them differently.
    ///
    /// # Errors
    ///
    /// [`ArtifactsError::WrongFacts`] with the first field that differs.
    pub fn check(&self, reference: &str, actual: &Self) -> Result<(), ArtifactsError> {
        type Field = (&'static str, fn(&LibraryFacts) -> String);
        let fields: [Field; 4] = [
            ("architecture", |facts| facts.platform().to_string()),
            ("target", |facts| facts.target.clone()),
            ("oldestGlibc", |facts| {
                facts.oldest_glibc.clone().unwrap_or_else(|| "none".to_owned())
            }),
            ("plugins", |facts| {
                let plugins = facts.plugins.iter();
                let plugins = plugins.map(|plugin| {
                    let PluginFacts {
                        name,
                        version,
                        language,
                        abi_version,
                        oldest_abi_version,
                        certified,
                        ..
                    } = plugin;
                    let certified = if *certified { "certified" } else { "not certified" };
                    format!("{name} {version} ({language}, ABI {abi_version}, from {oldest_abi_version}, {certified})")
                });
                plugins.collect::<Vec<_>>().join(", ")
            }),
        ];
        let differing = fields.into_iter().find(|(_, value)| value(self) != value(actual));
        match differing {
            None => Ok(()),
            Some((field, value)) => Err(ArtifactsError::WrongFacts {
                reference: reference.to_owned(),
                field,
                said: value(self),
                actual: value(actual),
            }),
        }
    }
}

impl PluginFacts {
    fn of(record: &InspectedRecord, plugin: &DescribedPlugin) -> Self {
        let points = features::extension_points(|point| plugin.serves(point)).into_iter();
        Self {
            name: record.name.clone(),
            version: record.version.clone(),
            description: plugin.description.clone(),
            language: record.language.clone(),
            abi_version: record.abi_version.to_string(),
            oldest_abi_version: format!("{}.{}", record.abi_version.major, record.least_minor),
            certified: record.is_certified,
            extension_points: points.map(str::to_owned).collect(),
            strategies: plugin.strategies.iter().map(|strategy| strategy.name.clone()).collect(),
        }
    }
}
