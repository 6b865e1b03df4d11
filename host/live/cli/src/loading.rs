//! The profile of a running scheduler: loaded at the start, and again when one of its files changes.

use std::sync::Arc;

use divvy_command::chosen_profile::{ChosenProfile, REPLACEABLE_HINT};
use divvy_command::errors::{Diagnostic, Failure};
use divvy_command::setup::ProfileArguments;
use divvy_controller::engine::ActiveProfile;
use divvy_controller::reload::{FileVersions, ProfileLoader};
use divvy_loader::PluginDirectories;
use divvy_scheduler::profile::registry;

/// Loads the profile that the arguments name, at the start and when its files change.
pub(super) struct Loader {
    pub(super) arguments: ProfileArguments,
    pub(super) scheduler_name: Option<String>,
    pub(super) allow_replaceable_files: bool,
}

impl Loader {
    /// Loads the profile. Each file's version is noted before the file is read.
    pub(super) fn profile(&self, files: &mut FileVersions) -> Result<ActiveProfile, Failure> {
        self.arguments.files().into_iter().for_each(|file| files.note(file));
        let directories = self.arguments.directories()?.that_may_change();
        let mut chosen = self.arguments.read()?;
        if let Some(name) = &self.scheduler_name {
            chosen.configuration.scheduler_name = Some(name.clone());
        }
        let tables = chosen.configuration.table.values();
        let tables = tables.filter_map(|table| table.file.clone());
        let libraries = registry::library_files(&chosen.configuration, &directories);
        tables.chain(libraries).for_each(|file| files.note(file));
        let profile = Arc::new(if self.allow_replaceable_files {
            chosen.build(&directories)?
        } else {
            refuse_replaceable(&chosen, &directories)?;
            chosen.build_checked(&directories)?
        });
        ActiveProfile::new(profile, &chosen.configuration).map_err(|error| {
            Failure::internal(Diagnostic::new("the profile has no hash").with_cause(error.to_string()))
        })
    }
}

/// Refuses files that others can replace, before any library is opened.
fn refuse_replaceable(chosen: &ChosenProfile, directories: &PluginDirectories) -> Result<(), Failure> {
    let found = chosen
        .replaceable(directories)
        .into_iter()
        .map(|replaceable| Diagnostic {
            hint: Some(format!("{REPLACEABLE_HINT}; or pass `--allow-replaceable-files`")),
            ..Diagnostic::new(replaceable.to_string())
        });
    let found: Vec<Diagnostic> = found.collect();
    match found.is_empty() {
        true => Ok(()),
        false => Err(Failure::usage_errors(found)),
    }
}

impl ProfileLoader for Loader {
    fn load(&self, files: &mut FileVersions) -> Result<ActiveProfile, String> {
        self.profile(files).map_err(|failure| failure.text())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Arguments {
        #[command(flatten)]
        profile: ProfileArguments,
    }

    /// The loader of `divvy run` with these arguments.
    fn loader_of<A: Into<std::ffi::OsString> + Clone>(arguments: impl IntoIterator<Item = A>) -> Loader {
        Loader {
            arguments: Arguments::parse_from(arguments).profile,
            scheduler_name: None,
            allow_replaceable_files: false,
        }
    }

    /// A table that was refused is read again when it changes.
    #[test]
    fn the_files_of_a_profile_include_its_tables_even_if_it_cannot_be_loaded() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let profile = path("profile.toml");
        let text = "[[profile]]\nname = 'p'\nselect = 'none'\nassign = []\n[profile.table.carbon]\nfile = 'carbon.csv'\n\
                    columns = { intensity = 'integer' }\n";
        std::fs::write(&profile, text).unwrap();
        std::fs::write(path("carbon.csv"), "region,intensity\neu,lots\n").unwrap();
        let loader = loader_of(["divvy", "--profile", &profile.display().to_string()]);
        let mut files = FileVersions::default();
        let problems = loader.load(&mut files).err().unwrap_or_default();
        let expected = "carbon.csv:2: row `eu`, column `intensity`: expected integer, got `lots`";
        assert!(problems.contains(expected), "{problems}");
        let files: Vec<&Path> = files.files().collect();
        assert!(files.contains(&path("carbon.csv").as_path()), "{files:?}");
        assert!(files.contains(&profile.as_path()), "{files:?}");
    }

    /// A plugin that was missing is searched for again when a file appears in one of its locations.
    #[test]
    fn the_files_of_a_profile_include_those_of_missing_plugins() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let text = "[[profile]]\nname = 'p'\nfilters = ['spare-room', 'given']\nselect = ['none']\nassign = []\n\
                    [profile.plugin.given]\npath = 'given.so'\n";
        std::fs::write(path("profile.toml"), text).unwrap();
        let arguments = [
            "divvy".to_owned(),
            format!("--profile={}", path("profile.toml").display()),
            format!("--plugin-directory={}", folder.path().display()),
        ];
        let loader = loader_of(arguments);
        let mut files = FileVersions::default();
        assert!(loader.load(&mut files).is_err());
        let files: Vec<&Path> = files.files().collect();
        for name in ["given.so", "libdivvy_plugin_spare_room.so", "spare-room.so"] {
            assert!(files.contains(&path(name).as_path()), "{name}: {files:?}");
        }
        // If a directory does not exist, the directory itself is watched.
        let loader = loader_of(["divvy", "--plugin-directory=/does/not/exist"]);
        let mut files = FileVersions::default();
        assert!(loader.load(&mut files).is_err());
        assert_eq!(files.files().collect::<Vec<_>>(), [Path::new("/does/not/exist")]);
    }
}
