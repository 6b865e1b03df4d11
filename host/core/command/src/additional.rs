//! `--plugin`: a profile with other or additional plugins, for one run.

use std::path::{Path, PathBuf};

use divvy_loader::inspection::DescribedPlugin;
use divvy_loader::{LoadOptions, PluginDirectories, PluginFile};
use divvy_profile::{PluginTable, ProfileConfiguration, ScoreEntry};
use divvy_scheduler::profile::libraries::Libraries;

use crate::chosen_profile::ChosenProfile;
use crate::errors::Failure;
use crate::libraries::{described, diagnostic, not_found};

/// True if an argument is the path of a library rather than the name of a plugin.
pub fn is_file(argument: &str) -> bool {
    argument.contains('/') || Path::new(argument).is_file()
}

/// The profile with these plugins, each a library's file or the name of a plugin that the directories hold.
///
/// A plugin that the profile already uses keeps its position in the lists, but is loaded from the given file. Any other
/// plugin is appended to the list of every extension point that it serves: to the scores with weight 1, to the selectors
/// before the one that enforces spread constraints, and to `assign`, where it serves all of its strategies. If a file has
/// several plugins, those that the profile uses are taken. With `allow_uncertified`, the files may lack a certificate. A plugin that is
/// not found or cannot be loaded is an error with exit code 2.
pub fn with_plugins(
    chosen: ChosenProfile,
    plugins: &[String],
    directories: &PluginDirectories,
    allow_uncertified: bool,
) -> Result<ChosenProfile, Failure> {
    let ChosenProfile {
        source,
        mut configuration,
    } = chosen;
    let directories = searched(&configuration, directories);
    for argument in plugins {
        let is_file = is_file(argument);
        let path = match is_file {
            true => PathBuf::from(argument),
            false => directories
                .find(argument)
                .ok_or_else(|| not_found(argument, &directories))?,
        };
        let used: Vec<String> = configuration.plugin_names().map(str::to_owned).collect();
        for name in chosen_in(&path, &used)? {
            let file = File {
                path: &path,
                is_given: is_file,
                allow_uncertified: is_file && allow_uncertified,
            };
            take(&file, name.as_deref(), &mut configuration, &directories)?;
        }
    }
    Ok(ChosenProfile { source, configuration })
}

/// These directories, and then those of the profile.
fn searched(configuration: &ProfileConfiguration, directories: &PluginDirectories) -> PluginDirectories {
    let of_profile = configuration.plugin_directories.iter().cloned();
    directories.clone().followed_by(of_profile)
}

/// As [`with_plugins`], for one plugin of a library's file, whether the profile uses another one of the file or not.
pub fn with_plugin_of(
    chosen: ChosenProfile,
    path: &Path,
    name: &str,
    directories: &PluginDirectories,
    allow_uncertified: bool,
) -> Result<ChosenProfile, Failure> {
    let ChosenProfile {
        source,
        mut configuration,
    } = chosen;
    let directories = searched(&configuration, directories);
    let file = File {
        path,
        is_given: true,
        allow_uncertified,
    };
    take(&file, Some(name), &mut configuration, &directories)?;
    Ok(ChosenProfile { source, configuration })
}

/// A library's file from which a plugin is taken.
struct File<'a> {
    path: &'a Path,
    /// True if the command line names the file, and not only the plugin.
    is_given: bool,
    /// True if it may lack a certificate.
    allow_uncertified: bool,
}

/// Has the profile use a plugin of a file: the one with this name, or the only one.
fn take(
    file: &File<'_>,
    name: Option<&str>,
    configuration: &mut ProfileConfiguration,
    directories: &PluginDirectories,
) -> Result<(), Failure> {
    let is_used: Vec<String> = configuration.plugin_names().map(str::to_owned).collect();
    if file.allow_uncertified {
        for name in name.map_or_else(|| names_in(file.path), |name| Ok(vec![name.to_owned()]))? {
            configuration.plugin.entry(name).or_default().allow_uncertified = true;
        }
    }
    let plugin = described(file.path, configuration, name);
    let plugin = plugin.map_err(|error| Failure::usage(diagnostic(&error)))?;
    if file.is_given {
        let table = configuration.plugin.entry(plugin.name.clone()).or_default();
        *table = PluginTable {
            path: Some(file.path.to_owned()),
            // The checksum in the profile is that of the replaced file.
            sha256: None,
            ..table.clone()
        };
    }
    if !is_used.contains(&plugin.name) {
        add(&plugin, configuration, directories);
    }
    Ok(())
}

/// The plugins of a file to use: those that the profile uses if there are several; `None` for the only one.
fn chosen_in(path: &Path, used: &[String]) -> Result<Vec<Option<String>>, Failure> {
    let names = names_in(path)?;
    let chosen: Vec<Option<String>> = names
        .iter()
        .filter(|name| used.contains(name))
        .cloned()
        .map(Some)
        .collect();
    // Several unused plugins are ambiguous: opening the file fails with their names.
    match names.len() < 2 || chosen.is_empty() {
        true => Ok(vec![None]),
        false => Ok(chosen),
    }
}

fn names_in(path: &Path) -> Result<Vec<String>, Failure> {
    let file = PluginFile::read(path).map_err(|error| Failure::usage(diagnostic(&error)))?;
    Ok(file.names())
}

/// Adds a plugin to the list of every extension point that it serves.
fn add(plugin: &DescribedPlugin, configuration: &mut ProfileConfiguration, directories: &PluginDirectories) {
    let name = plugin.name.clone();
    for point in plugin.extension_points() {
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
            "Select" => {
                let libraries = Libraries::new(configuration, directories);
                let path = |selector: &str| Some(libraries.locate(selector)?.path);
                let select = configuration.select.clone().unwrap_or_default();
                configuration.select = Some(with_selector(select, plugin, path));
            }
            "Pace" => configuration.moves.get_or_insert_default().pace = Some(name.clone()),
            _ => {
                add(&mut configuration.assign);
                for strategy in &plugin.strategies {
                    configuration.strategies.insert(strategy.name.clone(), name.clone());
                }
            }
        }
    }
}

/// The selectors with one more. At most one selector may enforce spread constraints, and it must be the last: a new one
/// that does replaces it, and any other is inserted before it. `path` finds the library of a selector.
fn with_selector(
    mut select: Vec<String>,
    added: &DescribedPlugin,
    path: impl Fn(&str) -> Option<PathBuf>,
) -> Vec<String> {
    let name = added.name.as_str();
    if select.iter().any(|known| known == name) {
        return select;
    }
    let enforces = |known: &String| {
        let file = path(known).map(|path| PluginFile::read(&path));
        // A plugin that cannot be loaded is an error of the profile, which is reported when the profile is built.
        let described = file.map(|file| file.and_then(|file| file.describe(LoadOptions::default())));
        described.is_some_and(|described| described.is_ok_and(|described| described.enforces_spread()))
    };
    match select.iter().position(enforces) {
        None => select.push(name.to_owned()),
        Some(enforcing) if added.enforces_spread() => name.clone_into(&mut select[enforcing]),
        Some(enforcing) => select.insert(enforcing, name.to_owned()),
    }
    select
}
