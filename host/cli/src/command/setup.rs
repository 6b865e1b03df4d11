//! First step of most commands: reads the requested profile and loads its plugins.

use std::path::{Path, PathBuf};

use clap::Args;
use divvy_documents::FieldPath;
use divvy_loader::{LoadError, PluginDirectories};
use divvy_profile::{BUILT_IN, BuiltIn, PluginTable, ProfileConfiguration, ProfileSource};
use divvy_scheduler::profile::{Profile, RegistryError, registry};

use super::additional::{is_file, with_plugins};
use crate::report::errors::{Diagnostic, Failure};

/// Arguments that select the profile and the folders of its plugins.
#[derive(Debug, Clone, Args)]
pub(super) struct ProfileArguments {
    /// Profile: a file, `FILE#NAME` for one of several in a file, or a built-in one (see `divvy profile list`)
    #[arg(long, value_name = "PROFILE")]
    profile: Option<String>,
    /// Folder with plugins, searched before all others; may be repeated
    #[arg(long = "plugin-directory", value_name = "DIRECTORY")]
    plugin_directories: Vec<PathBuf>,
    /// Also use this plugin: its name, or the file of its library; may be repeated
    ///
    /// A plugin that the profile already uses is loaded from the file instead. Any other plugin is appended to the list of each
    /// extension point that it serves: scores get the weight 1, and a selector is placed before the one that enforces spread
    /// constraints. The plugin serves all of its strategies, even those that another plugin served before.
    #[arg(long = "plugin", value_name = "NAME|FILE")]
    plugins: Vec<String>,
}

/// A profile and the file it comes from.
#[derive(Debug, Clone)]
pub(super) struct ChosenProfile {
    /// The file, or the built-in text.
    pub(super) source: ProfileSource,
    /// The profile, with everything it extends filled in.
    pub(super) configuration: ProfileConfiguration,
}

impl ProfileArguments {
    /// True if a profile was requested.
    pub(super) fn is_given(&self) -> bool {
        self.profile.is_some()
    }

    /// Reads the requested profile, or the built-in one if none was requested. A file that cannot be read or is
    /// invalid, and a name that is not in it, are errors with exit code 2.
    pub(super) fn read(&self) -> Result<ChosenProfile, Failure> {
        let (source, name) = self.source()?;
        let configuration = source.profile(name.as_deref())?;
        tracing::info!(profile = configuration.name, file = source.name(), "profile read");
        self.with_plugins(ChosenProfile { source, configuration })
    }

    /// The profile with the plugins that the arguments add to it.
    pub(super) fn with_plugins(&self, chosen: ChosenProfile) -> Result<ChosenProfile, Failure> {
        match self.plugins.as_slice() {
            [] => Ok(chosen),
            plugins => with_plugins(chosen, plugins, &self.directories()?),
        }
    }

    /// The plugins that the arguments add to the profile, as they are written.
    pub(super) fn plugins(&self) -> &[String] {
        &self.plugins
    }

    /// The arguments without additional plugins.
    pub(super) fn without_plugins(&self) -> Self {
        Self {
            plugins: Vec::new(),
            ..self.clone()
        }
    }

    /// The files that the arguments name: that of the profile, unless it is built in, those of plugins, and folders that do not
    /// exist.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let profile = self.profile.as_deref().and_then(|argument| {
            if Path::new(argument).is_file() {
                return Some(argument.into());
            }
            let (file, _) = argument.rsplit_once('#')?;
            Some(file.into())
        });
        let plugins = self.plugins.iter().filter(|plugin| is_file(plugin)).map(PathBuf::from);
        let missing = self
            .plugin_directories
            .iter()
            .filter(|folder| !folder.is_dir())
            .cloned();
        profile.into_iter().chain(plugins).chain(missing).collect()
    }

    /// Reads every requested profile: all profiles of the file unless one is named. With a problem in the file, what can be
    /// read of them, so that their other problems can be found as well. Fails like [`Self::read`].
    pub(super) fn read_all(&self) -> Result<(Vec<ChosenProfile>, Option<Failure>), Failure> {
        let (source, name) = self.source()?;
        let (mut profiles, error) = source.readable_profiles();
        if let Some(name) = &name {
            match &error {
                None => profiles = vec![source.profile(Some(name))?],
                Some(_) => profiles.retain(|profile| profile.name == *name),
            }
        }
        let chosen = profiles.into_iter().map(|configuration| {
            let source = source.clone();
            self.with_plugins(ChosenProfile { source, configuration })
        });
        Ok((chosen.collect::<Result<_, _>>()?, error.map(Failure::from)))
    }

    /// These folders with another profile.
    pub(super) fn with_profile(&self, profile: &str) -> Self {
        Self {
            profile: Some(profile.to_owned()),
            ..self.clone()
        }
    }

    /// Splits the argument into the file and the name after `#`. An existing file takes precedence over a name, so that
    /// a profile file may be called `karmada`.
    fn source(&self) -> Result<(ProfileSource, Option<String>), Failure> {
        let Some(argument) = self.profile.as_deref() else {
            return Ok((ProfileSource::built_in(), None));
        };
        if Path::new(argument).is_file() {
            return Ok((ProfileSource::read(Path::new(argument))?, None));
        }
        if let Some(built_in) = BuiltIn::named(argument) {
            return Ok((ProfileSource::of_built_in(built_in), None));
        }
        let (file, name) = match argument.rsplit_once('#') {
            Some((file, name)) => (file, Some(name.to_owned())),
            None => (argument, None),
        };
        let source = ProfileSource::read(Path::new(file)).map_err(|error| {
            let built_in: Vec<String> = BUILT_IN.iter().map(|built_in| format!("`{}`", built_in.name)).collect();
            let hint = format!(
                "`--profile` takes a file, `FILE#NAME`, or a built-in profile: {}",
                built_in.join(", ")
            );
            let diagnostic = Diagnostic::new(error.to_string()).with_hint(hint);
            Failure::usage(diagnostic.with_causes_of(&error))
        })?;
        Ok((source, name))
    }

    /// The arguments again, for a child process.
    pub(super) fn repeated(&self) -> Vec<String> {
        let profile = self.profile.iter().map(|profile| format!("--profile={profile}"));
        let directories = self.plugin_directories.iter();
        let directories = directories.map(|directory| format!("--plugin-directory={}", directory.display()));
        let plugins = self.plugins.iter().map(|plugin| format!("--plugin={plugin}"));
        profile.chain(directories).chain(plugins).collect()
    }

    /// The folders of the command line.
    pub(super) fn given_directories(&self) -> &[PathBuf] {
        &self.plugin_directories
    }

    /// Folders to search for plugins, those of the command line first. A folder of the command line that does not exist
    /// is an error with exit code 2.
    pub(super) fn directories(&self) -> Result<PluginDirectories, Failure> {
        if let Some(missing) = self.plugin_directories.iter().find(|directory| !directory.is_dir()) {
            let message = format!("plugin directory `{}` is not a folder", missing.display());
            return Err(Failure::usage(Diagnostic::new(message)));
        }
        let usual = PluginDirectories::of_process();
        let given = PluginDirectories::new(self.plugin_directories.iter().cloned());
        Ok(given.followed_by(usual.iter().map(Path::to_owned)))
    }
}

impl ChosenProfile {
    /// Finds, loads and constructs the profile's plugins.
    ///
    /// All problems are returned together, each with its location in the profile.
    pub(super) fn build(&self, directories: &PluginDirectories) -> Result<Profile, Failure> {
        self.loaded(self.try_build(directories))
    }

    fn loaded(&self, built: Result<Profile, Vec<RegistryError>>) -> Result<Profile, Failure> {
        let profile = built.map_err(|errors| {
            let diagnostics = errors.iter().map(|error| self.diagnostic(error)).collect();
            Failure::of_all(diagnostics)
        })?;
        for plugin in profile.plugins() {
            let library = plugin.library();
            tracing::info!(
                plugin = library.name(),
                version = library.version(),
                path = %library.path().display(),
                "plugin loaded"
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

    /// As [`Self::build`], without reading the profile's tables: a recording has those that its cases were decided with.
    pub(super) fn build_without_tables(&self, directories: &PluginDirectories) -> Result<Profile, Failure> {
        let built = registry::build_without_tables(&self.configuration, directories);
        self.loaded(built)
    }

    /// As [`Self::build`], with the errors as they are.
    pub(super) fn try_build(&self, directories: &PluginDirectories) -> Result<Profile, Vec<RegistryError>> {
        registry::build(&self.configuration, directories)
    }

    /// Location of a key of the profile, as `FILE:LINE`.
    pub(super) fn place(&self, key: &str) -> String {
        self.source.place(&self.configuration.name, &FieldPath::dotted(key))
    }

    /// Describes a registry error, starting with its location in the profile.
    pub(super) fn diagnostic(&self, error: &RegistryError) -> Diagnostic {
        let location = match error.key().or_else(|| self.plugin_key(error)) {
            Some(key) => self.source.place(&self.configuration.name, &FieldPath::dotted(&key)),
            None => self.source.name(),
        };
        Diagnostic {
            hint: error.hint(),
            detail: error.detail().map(ToOwned::to_owned),
            ..Diagnostic::new(format!("{location}: {error}")).with_causes_of(error)
        }
    }

    /// Key at fault, for errors that know only the plugin or its file. Without it, the location is the file alone.
    fn plugin_key(&self, error: &RegistryError) -> Option<String> {
        let configuration = &self.configuration;
        // A wrong checksum or path is written in the plugin's own table: point there.
        let plugin = match error {
            RegistryError::Load(LoadError::ChecksumMismatch { expected, .. }) => {
                let names_it = |table: &PluginTable| table.sha256.as_ref() == Some(expected);
                let (plugin, _) = configuration.plugin.iter().find(|(_, table)| names_it(table))?;
                return Some(format!("plugin.{plugin}.sha256"));
            }
            RegistryError::Load(error) => match error.plugin() {
                Some(plugin) => plugin,
                None => {
                    let path = error.path()?;
                    let names_it =
                        |table: &PluginTable| table.path.as_deref().is_some_and(|given| path.ends_with(given));
                    let (plugin, _) = configuration.plugin.iter().find(|(_, table)| names_it(table))?;
                    return Some(format!("plugin.{plugin}.path"));
                }
            },
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
        index_in(&configuration.assign).map(|index| format!("assign[{index}]"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen() -> ChosenProfile {
        let text = "[[profile]]\nname = 'test'\nfilters = ['one', 'two']\nassign = ['three']\n\
                    [profile.plugin.two]\npath = '/plugins/two.so'\n";
        let source = ProfileSource::parse("profile.toml".into(), text);
        let configuration = source.profile(None).unwrap_or_else(|error| panic!("{error}"));
        ChosenProfile { source, configuration }
    }

    /// Every error of a library points to a line of the profile: where its path is written, or else where it is used.
    #[test]
    fn errors_of_libraries_point_to_a_key_of_the_profile() {
        let path = || PathBuf::from("/plugins/two.so");
        let message = || "broken".to_owned();
        let plugin = || "two".to_owned();
        let version = divvy_framework::abi::ABI_VERSION;
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
        for (errors, key) in [
            (Vec::from(of_file), "plugin.two.path"),
            (of_plugin.into(), "filters[1]"),
        ] {
            for error in errors {
                let error = RegistryError::Load(error);
                assert_eq!(chosen.plugin_key(&error).as_deref(), Some(key), "{error}");
            }
        }
    }
}
