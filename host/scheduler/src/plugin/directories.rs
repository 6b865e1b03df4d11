//! Where a plugin's library is looked for.
//!
//! In this order: beside the binary, `../lib/divvy/plugins` from there, the directories of `DIVVY_PLUGIN_PATH`
//! (separated by `:`), then those of the profile. The first directory that holds the file wins. A plugin named
//! `static-weight` is the file `libdivvy_plugin_static_weight.so`, as Cargo names the library of the crate
//! `divvy-plugin-static-weight`, or `libstatic_weight.so`, or `static-weight.so`.

use std::collections::BTreeMap;
use std::env;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// The environment variable with further plugin directories.
pub const PATH_VARIABLE: &str = "DIVVY_PLUGIN_PATH";

/// Directories in the order in which they are searched.
#[derive(Debug, Clone, Default)]
pub struct PluginDirectories {
    directories: Vec<PathBuf>,
}

impl PluginDirectories {
    /// Those of this process: beside the binary, `../lib/divvy/plugins`, `DIVVY_PLUGIN_PATH`.
    pub fn of_process() -> Self {
        let mut directories = Vec::new();
        if let Some(beside) = env::current_exe().ok().as_deref().and_then(Path::parent) {
            directories.push(beside.to_owned());
            if let Some(prefix) = beside.parent() {
                directories.push(prefix.join("lib/divvy/plugins"));
            }
        }
        if let Some(path) = env::var_os(PATH_VARIABLE) {
            directories.extend(env::split_paths(&path).filter(|path| !path.as_os_str().is_empty()));
        }
        Self { directories }
    }

    /// Exactly these.
    pub fn new(directories: impl IntoIterator<Item = PathBuf>) -> Self {
        Self {
            directories: directories.into_iter().collect(),
        }
    }

    /// These, and then `more`.
    #[must_use]
    pub fn followed_by(mut self, more: impl IntoIterator<Item = PathBuf>) -> Self {
        self.directories.extend(more);
        self
    }

    /// The directories, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Path> {
        self.directories.iter().map(PathBuf::as_path)
    }

    /// The library of the plugin of that name, in the first directory that holds it.
    pub fn find(&self, name: &str) -> Option<PathBuf> {
        let names = file_names(name);
        self.directories
            .iter()
            .flat_map(|directory| names.iter().map(move |name| directory.join(name)))
            .find(|path| path.is_file())
    }

    /// Every file that is named as a plugin's library, by the plugin name that the file name stands for; where several
    /// directories hold one, the first counts.
    pub fn list(&self) -> BTreeMap<String, PathBuf> {
        let mut found = BTreeMap::new();
        for directory in &self.directories {
            let Ok(entries) = fs::read_dir(directory) else {
                continue;
            };
            for entry in entries.flatten() {
                let file_name = entry.file_name();
                if let Some(name) = file_name.to_str().and_then(plugin_name) {
                    found.entry(name).or_insert_with(|| entry.path());
                }
            }
        }
        found
    }
}

/// Every directory, quoted.
impl fmt::Display for PluginDirectories {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted: Vec<String> = self.iter().map(|path| format!("`{}`", path.display())).collect();
        formatter.write_str(&quoted.join(", "))
    }
}

/// The file names under which a plugin may be found.
fn file_names(plugin: &str) -> [String; 3] {
    let underscored = plugin.replace('-', "_");
    let extension = env::consts::DLL_EXTENSION;
    let prefix = env::consts::DLL_PREFIX;
    [
        format!("{prefix}divvy_plugin_{underscored}.{extension}"),
        format!("{prefix}{underscored}.{extension}"),
        format!("{plugin}.{extension}"),
    ]
}

/// The plugin that a file name of the first form stands for.
fn plugin_name(file_name: &str) -> Option<String> {
    let stem = file_name
        .strip_prefix(env::consts::DLL_PREFIX)?
        .strip_prefix("divvy_plugin_")?
        .strip_suffix(env::consts::DLL_EXTENSION)?
        .strip_suffix('.')?;
    Some(stem.replace('_', "-"))
}
