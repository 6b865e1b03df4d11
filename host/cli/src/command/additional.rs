//! `--plugin`: a profile with other or additional plugins, for one run.

use std::path::{Path, PathBuf};

use divvy_scheduler::plugin::PluginDirectories;
use divvy_scheduler::profile::{PluginTable, ScoreEntry};

use super::plugin::{diagnostic, not_found, open};
use super::setup::ChosenProfile;
use crate::report::errors::Failure;

/// The profile with these plugins, each a library's file or the name of a plugin that the directories hold.
///
/// A plugin that the profile uses already is taken from the given file. Any other is added at every extension point that it
/// serves: after the other filters, with weight 1 after the other scores, instead of the profile's Select plugin, and for its
/// strategies instead of the plugins that served them. A plugin that is not found or cannot be loaded is an error with exit
/// code 2.
pub(super) fn with_plugins(
    chosen: &ChosenProfile,
    plugins: &[String],
    directories: &PluginDirectories,
) -> Result<ChosenProfile, Failure> {
    let source = chosen.source.clone();
    let mut configuration = chosen.configuration.clone();
    let of_profile = configuration.plugin_directories.iter().cloned();
    let directories = directories.clone().followed_by(of_profile);
    for argument in plugins {
        let is_file = argument.contains('/') || Path::new(argument).is_file();
        let path = match is_file {
            true => PathBuf::from(argument),
            false => directories
                .find(argument)
                .ok_or_else(|| not_found(argument, &directories))?,
        };
        let library = open(&path, &configuration, None).map_err(|error| Failure::usage(diagnostic(&error)))?;
        let name = library.name().to_owned();
        if is_file {
            let table = configuration.plugin.entry(name.clone()).or_default();
            *table = PluginTable {
                path: Some(path),
                // The checksum in the profile is that of the file it replaces.
                sha256: None,
                ..table.clone()
            };
        }
        for point in library.extension_points() {
            let add = |list: &mut Option<Vec<String>>| {
                let list = list.get_or_insert_default();
                if !list.contains(&name) {
                    list.push(name.clone());
                }
            };
            match point {
                "Filter" => add(&mut configuration.filters),
                "Score" => {
                    let scores = configuration.scores.get_or_insert_default();
                    if !scores.iter().any(|entry| entry.plugin == name) {
                        let plugin = name.clone();
                        scores.push(ScoreEntry { plugin, weight: 1 });
                    }
                }
                "Select" => configuration.select = Some(vec![name.clone()]),
                _ => {
                    add(&mut configuration.assign);
                    for strategy in library.strategies() {
                        configuration.strategies.insert(strategy.to_owned(), name.clone());
                    }
                }
            }
        }
    }
    Ok(ChosenProfile { source, configuration })
}
