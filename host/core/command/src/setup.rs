//! First step of most commands: reads the requested profile.

use std::path::{Path, PathBuf};

use clap::Args;
use divvy_loader::PluginDirectories;
use divvy_profile::{BUILT_IN, BuiltIn, ProfileSource};

use crate::additional::{is_file, with_plugins};
use crate::chosen_profile::ChosenProfile;
use crate::errors::{Diagnostic, Failure};

/// Arguments that select the profile and the folders of its plugins.
#[derive(Debug, Clone, Args)]
pub struct ProfileArguments {
    /// Profile: a file, `FILE#NAME` for one of several in a file, or a built-in one (see `divvy profile list`)
    #[arg(long, value_name = "PROFILE")]
    profile: Option<String>,
    /// Folder with plugins, searched before all others; may be repeated
    #[arg(long = "plugin-directory", value_name = "FOLDER")]
    plugin_directories: Vec<PathBuf>,
    /// Also use this plugin: its name, or the file of its library; may be repeated
    ///
    /// A plugin that the profile already uses is loaded from the file instead. Any other plugin is appended to the list of each
    /// extension point that it serves: scores get the weight 1, and a selector is placed before the one that enforces spread
    /// constraints. The plugin serves all of its strategies, even those that another plugin served before.
    #[arg(long = "plugin", value_name = "NAME|FILE")]
    plugins: Vec<String>,
    /// Also load the file of a plugin that is named here if it carries no certificate, such as a build without the feature
    /// `certificate`
    #[arg(long)]
    allow_uncertified: bool,
}

impl ProfileArguments {
    /// True if a profile was requested.
    pub fn is_given(&self) -> bool {
        self.profile.is_some()
    }

    /// Reads the requested profile, or the built-in one if none was requested. A file that cannot be read or is
    /// invalid, and a name that is not in it, are errors with exit code 2.
    pub fn read(&self) -> Result<ChosenProfile, Failure> {
        let (source, name) = self.source()?;
        let configuration = source.profile(name.as_deref())?;
        tracing::info!(profile = configuration.name, file = source.name(), "profile read");
        self.with_plugins(ChosenProfile { source, configuration })
    }

    /// The profile with the plugins that the arguments add to it.
    pub fn with_plugins(&self, chosen: ChosenProfile) -> Result<ChosenProfile, Failure> {
        match self.plugins.as_slice() {
            [] => Ok(chosen),
            plugins => with_plugins(chosen, plugins, &self.directories()?, self.allow_uncertified),
        }
    }

    /// True if the files of plugins that are named on the command line may lack a certificate.
    pub fn allows_uncertified(&self) -> bool {
        self.allow_uncertified
    }

    /// The plugins that the arguments add to the profile, as written.
    pub fn plugins(&self) -> &[String] {
        &self.plugins
    }

    /// The arguments without additional plugins.
    pub fn without_plugins(&self) -> Self {
        Self {
            plugins: Vec::new(),
            ..self.clone()
        }
    }

    /// The files that the arguments name: that of the profile, unless it is built in, those of plugins, and folders that do not
    /// exist.
    pub fn files(&self) -> Vec<PathBuf> {
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

    /// Reads every requested profile: all profiles of the file unless one is named. If the file has a problem, returns those
    /// that can be read, so that their other problems are found as well. Fails like [`Self::read`].
    pub fn read_all(&self) -> Result<(Vec<ChosenProfile>, Option<Failure>), Failure> {
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
    pub fn with_profile(&self, profile: &str) -> Self {
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
            return Ok((ProfileSource::from_built_in(built_in), None));
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
    pub fn repeated(&self) -> Vec<String> {
        let profile = self.profile.iter().map(|profile| format!("--profile={profile}"));
        let directories = self.plugin_directories.iter();
        let directories = directories.map(|directory| format!("--plugin-directory={}", directory.display()));
        let plugins = self.plugins.iter().map(|plugin| format!("--plugin={plugin}"));
        let certificate = self.allow_uncertified.then(|| "--allow-uncertified".to_owned());
        profile.chain(directories).chain(plugins).chain(certificate).collect()
    }

    /// The folders of the command line.
    pub fn given_directories(&self) -> &[PathBuf] {
        &self.plugin_directories
    }

    /// Folders to search for plugins, those of the command line first. A folder of the command line that does not exist
    /// is an error with exit code 2.
    pub fn directories(&self) -> Result<PluginDirectories, Failure> {
        if let Some(missing) = self.plugin_directories.iter().find(|directory| !directory.is_dir()) {
            let message = format!("plugin directory `{}` is not a folder", missing.display());
            return Err(Failure::usage(Diagnostic::new(message)));
        }
        Ok(PluginDirectories::from_environment().preceded_by(self.plugin_directories.iter().cloned()))
    }
}
