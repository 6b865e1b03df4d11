//! The profile of a command: its source, and its plugins, loaded.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use divvy_loader::{LoadError, PluginDirectories, Replaceable, replaceable_by_others};
use divvy_profile::{ProfileConfiguration, ProfileSource};
use divvy_scheduler::profile::{Profile, RegistryError, registry};
use divvy_spanned::FieldPath;

use crate::errors::{Diagnostic, Failure};

/// Remedy for a file that others can replace.
pub const REPLACEABLE_HINT: &str = "whoever can replace it decides; give it and its folders to root or to the user of this \
                                           process, and take the permission to write from all others";

/// A profile and the file it comes from.
#[derive(Debug, Clone)]
pub struct ChosenProfile {
    /// The file, or the built-in text.
    pub source: ProfileSource,
    /// The profile, with everything it extends filled in.
    pub configuration: ProfileConfiguration,
}

impl ChosenProfile {
    /// Finds, loads and constructs the profile's plugins.
    ///
    /// All problems are returned together, each with its location in the profile.
    pub fn build(&self, directories: &PluginDirectories) -> Result<Profile, Failure> {
        self.warn_of_replaceable(directories);
        self.build_checked(directories)
    }

    /// Like [`Self::build`], but does not look for files that others can replace.
    pub fn build_checked(&self, directories: &PluginDirectories) -> Result<Profile, Failure> {
        self.loaded(self.try_build(directories))
    }

    /// Files of the profile, of its plugins and of its tables that others can replace: who can replace a plugin can decide.
    pub fn replaceable(&self, directories: &PluginDirectories) -> Vec<Replaceable> {
        let profile = self.source.file().map(Path::to_owned);
        let tables = self.configuration.table.values().filter_map(|table| table.file.clone());
        let libraries = registry::library_files(&self.configuration, directories);
        let files: BTreeSet<PathBuf> = profile.into_iter().chain(tables).chain(libraries).collect();
        // One line for each folder: all its files can be replaced.
        let mut known = BTreeSet::new();
        let mut found: Vec<_> = files.iter().filter_map(|file| replaceable_by_others(file)).collect();
        found.retain(|replaceable| known.insert(replaceable.path.clone()));
        found
    }

    fn warn_of_replaceable(&self, directories: &PluginDirectories) {
        for replaceable in self.replaceable(directories) {
            tracing::warn!(hint = REPLACEABLE_HINT, "{replaceable}");
        }
    }

    fn loaded(&self, built: Result<Profile, Vec<RegistryError>>) -> Result<Profile, Failure> {
        let profile = built.map_err(|errors| {
            let diagnostics = errors.iter().map(|error| self.diagnostic(error)).collect();
            Failure::usage_errors(diagnostics)
        })?;
        for plugin in profile.plugins() {
            let library = plugin.library();
            tracing::info!(
                plugin = library.name(),
                version = library.version(),
                path = %library.path().display(),
                isolated = plugin.is_isolated(),
                "plugin loaded"
            );
        }
        for exposure in profile.exposures() {
            tracing::warn!(
                plugins = exposure.plugins.join(", "),
                hint = exposure.hint,
                "{}",
                exposure.message
            );
        }
        for table in profile.tables().map_or(&[][..], |tables| tables.tables()) {
            let source = table.source();
            tracing::info!(
                table = table.name(),
                rows = table.rows(),
                version = source.version,
                file = %source.file.display(),
                "table read"
            );
        }
        Ok(profile)
    }

    /// Like [`Self::build`], but does not read the profile's tables: a recording has the tables of its cases.
    pub fn build_without_tables(&self, directories: &PluginDirectories) -> Result<Profile, Failure> {
        self.warn_of_replaceable(directories);
        let built = registry::build_without_tables(&self.configuration, directories);
        self.loaded(built)
    }

    /// Like [`Self::build`], but returns the errors as they are.
    pub fn try_build(&self, directories: &PluginDirectories) -> Result<Profile, Vec<RegistryError>> {
        registry::build(&self.configuration, directories)
    }

    /// Location of a key of the profile, as `FILE:LINE`.
    pub fn location(&self, key: &str) -> String {
        self.source.location(&self.configuration.name, &FieldPath::dotted(key))
    }

    /// Describes a registry error, starting with its location in the profile.
    pub fn diagnostic(&self, error: &RegistryError) -> Diagnostic {
        let location = match error.key().or_else(|| self.plugin_key(error)) {
            Some(key) => self.source.location(&self.configuration.name, &FieldPath::dotted(&key)),
            None => self.source.name(),
        };
        // A built-in profile cannot be changed.
        let own = match (error, self.source.as_built_in()) {
            (RegistryError::TableNotProvided { .. }, Some(_)) => {
                let name = &self.configuration.name;
                format!(
                    " to a profile of your own, which has `extends = \"{name}\"`, and name its file with `--profile`"
                )
            }
            _ => String::new(),
        };
        let diagnostic = Diagnostic::new(format!("{location}: {error}"));
        Diagnostic {
            hint: error.hint().map(|hint| hint + &own),
            detail: error.detail().map(ToOwned::to_owned),
            ..match error {
                RegistryError::File { error, .. } => diagnostic.with_causes_of(error),
                other => diagnostic.with_causes_of(other),
            }
        }
    }

    /// Key at fault, for errors that know only the plugin or its file. Without it, the location is the file alone.
    fn plugin_key(&self, error: &RegistryError) -> Option<String> {
        let configuration = &self.configuration;
        // A wrong checksum or path is written in the plugin's own table: point there.
        let plugin = match error {
            RegistryError::File { plugin, error } => {
                let table = configuration.plugin.get(&**plugin);
                let is_checksum = matches!(error, LoadError::ChecksumMismatch { .. });
                match table {
                    Some(_) if is_checksum => return Some(format!("plugin.{plugin}.sha256")),
                    Some(table) if table.path.is_some() => return Some(format!("plugin.{plugin}.path")),
                    _ => &**plugin,
                }
            }
            RegistryError::Load(error) => error.plugin()?,
            RegistryError::Isolation { plugin, .. } => {
                let table = configuration.plugin.get(plugin);
                match table.is_some_and(|table| table.path.is_some()) {
                    true => return Some(format!("plugin.{plugin}.path")),
                    false => plugin.as_str(),
                }
            }
            RegistryError::NotFound { plugin, .. }
            | RegistryError::WrongExtensionPoint { plugin, .. }
            | RegistryError::TableNotProvided { plugin, .. }
            | RegistryError::DuplicateName { plugin, .. } => plugin.as_str(),
            RegistryError::TwoForStrategy { second, .. } => second.as_str(),
            _ => return None,
        };
        // Any other error is about the plugin's use: point to the first key that names it.
        let index_in = |list: &Option<Vec<String>>| list.iter().flatten().position(|name| name == plugin);
        if let Some(index) = index_in(&configuration.filters) {
            return Some(format!("filters[{index}]"));
        }
        let mut scores = configuration.scores.iter().flatten();
        if let Some(index) = scores.position(|entry| entry.plugin == plugin) {
            return Some(format!("scores[{index}].plugin"));
        }
        if let Some(index) = index_in(&configuration.select) {
            return Some(format!("select[{index}]"));
        }
        if let Some(index) = index_in(&configuration.assign) {
            return Some(format!("assign[{index}]"));
        }
        let pace = configuration.moves.as_ref().and_then(|moves| moves.pace.as_deref());
        (pace == Some(plugin)).then(|| "moves.pace".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn chosen() -> ChosenProfile {
        let text = "[[profile]]\nname = 'test'\nfilters = ['one', 'two']\nassign = ['three']\n\
                    [profile.plugin.two]\npath = '/plugins/two.so'\n";
        let source = ProfileSource::parse("profile.toml".into(), text);
        let configuration = source.profile(None).unwrap_or_else(|error| panic!("{error}"));
        ChosenProfile { source, configuration }
    }

    /// Every error of a library points to a line of the profile: that of its path, or else that of its use.
    #[test]
    fn errors_of_libraries_point_to_a_key_of_the_profile() {
        let path = || PathBuf::from("/plugins/two.so");
        let message = || "broken".to_owned();
        let plugin = || "two".to_owned();
        let version = divvy_framework_abi::ABI_VERSION;
        let of_file = [
            LoadError::FileMissing { path: path() },
            LoadError::FileUnreadable {
                path: path(),
                source: std::io::Error::other("broken"),
            },
            LoadError::NotALibrary {
                path: path(),
                actual: message(),
            },
            LoadError::WrongArchitecture {
                path: path(),
                expected: "x86_64",
                actual: "aarch64",
            },
            LoadError::NoModule {
                path: path(),
                missing: message(),
            },
            LoadError::BuiltBeforeFirstVersion { path: path() },
            LoadError::SeveralPlugins {
                path: path(),
                names: Vec::new(),
            },
            LoadError::OpenFailed {
                path: path(),
                message: message(),
            },
        ];
        let of_plugin = [
            LoadError::NeedsNewerHost {
                plugin: plugin(),
                path: path(),
                needed: version,
                actual: version,
            },
            LoadError::UnknownFeatures {
                plugin: plugin(),
                path: path(),
                bits: 1,
            },
            LoadError::InvalidDescriptor {
                plugin: plugin(),
                path: path(),
                message: message(),
            },
            LoadError::InvalidRuleList {
                plugin: plugin(),
                path: path(),
                message: message(),
            },
            LoadError::InvalidTable {
                plugin: plugin(),
                path: path(),
                message: message(),
            },
            LoadError::Uncertified {
                plugin: plugin(),
                path: path(),
                language: String::new(),
            },
            LoadError::CertificateUnreadable {
                plugin: plugin(),
                path: path(),
                message: message(),
            },
            LoadError::ConstructorError {
                plugin: plugin(),
                message: message(),
            },
        ];
        let chosen = chosen();
        for error in of_file {
            let error = RegistryError::File {
                plugin: plugin().into(),
                error,
            };
            assert_eq!(chosen.plugin_key(&error).as_deref(), Some("plugin.two.path"), "{error}");
        }
        for error in of_plugin {
            let error = RegistryError::Load(error);
            assert_eq!(chosen.plugin_key(&error).as_deref(), Some("filters[1]"), "{error}");
        }
    }

    /// The plugins of one library have one path, and a library that is missing is missing for each.
    #[test]
    fn an_error_of_a_file_points_to_its_own_plugin() {
        let text = "[[profile]]\nname = 'test'\nextends = 'default'\nfilters = ['...', 'one', 'two']\n\
                    [profile.plugin.one]\npath = '/plugins/both.so'\n[profile.plugin.two]\npath = '/plugins/both.so'\n";
        let source = ProfileSource::parse("profile.toml".into(), text);
        let configuration = source.profile(None).unwrap_or_else(|error| panic!("{error}"));
        let chosen = ChosenProfile { source, configuration };
        let lines = ["one", "two"].map(|plugin| {
            let error = RegistryError::File {
                plugin: plugin.into(),
                error: LoadError::FileMissing {
                    path: "/plugins/both.so".into(),
                },
            };
            chosen.diagnostic(&error).message
        });
        let missing = "plugin file `/plugins/both.so` does not exist";
        assert_eq!(lines, [6, 8].map(|line| format!("profile.toml:{line}: {missing}")));
    }
}
