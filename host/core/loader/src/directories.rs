//! Directories that are searched for plugin libraries.
//!
//! The search starts in the binary's own directory and continues with `../lib/divvy/plugins` relative to it, the
//! directories in `DIVVY_PLUGIN_PATH` (separated by `:`), and those of the profile. The first directory that holds the
//! file wins.
//!
//! The library of a plugin named `static-weight` is called `libdivvy_plugin_static_weight.so`, as Cargo names the
//! library of the crate `divvy-plugin-static-weight`, or `libstatic_weight.so`, or `static-weight.so`.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use crate::file_names::{file_names, plugin_name};
use crate::loader::PluginFile;
use crate::missing;

/// Environment variable with additional plugin directories.
pub const PATH_VARIABLE: &str = "DIVVY_PLUGIN_PATH";

/// Plugin directories, in search order.
#[derive(Debug, Clone, Default)]
pub struct PluginDirectories {
    directories: Vec<PathBuf>,
    /// Directories of this installation of Divvy, whose libraries are trusted as the program itself is.
    own: Vec<PathBuf>,
    may_change: bool,
}

impl PluginDirectories {
    /// Default directories of this process: the binary's own, `../lib/divvy/plugins`, and those in `DIVVY_PLUGIN_PATH`.
    pub fn from_environment() -> Self {
        let mut directories = Vec::new();
        if let Some(beside) = env::current_exe().ok().as_deref().and_then(Path::parent) {
            directories.push(beside.to_owned());
            if let Some(prefix) = beside.parent() {
                directories.push(prefix.join("lib/divvy/plugins"));
            }
        }
        let own = directories.clone();
        if let Some(path) = env::var_os(PATH_VARIABLE) {
            directories.extend(env::split_paths(&path).filter(|path| !path.as_os_str().is_empty()));
        }
        Self {
            own,
            ..Self::new(directories)
        }
    }

    /// Searches only these directories.
    pub fn new(directories: impl IntoIterator<Item = PathBuf>) -> Self {
        Self {
            directories: directories.into_iter().collect(),
            own: Vec::new(),
            may_change: false,
        }
    }

    /// Opens each library from a private copy, for a process that runs while plugins are replaced: a file that is overwritten must
    /// not change code that is running.
    #[must_use]
    pub fn that_may_change(mut self) -> Self {
        self.may_change = true;
        self
    }

    /// True if libraries may be written to while they are in use.
    pub fn may_change(&self) -> bool {
        self.may_change
    }

    /// Searches `more` after these directories.
    #[must_use]
    pub fn followed_by(mut self, more: impl IntoIterator<Item = PathBuf>) -> Self {
        self.directories.extend(more);
        self
    }

    /// Searches `first` before these directories.
    #[must_use]
    pub fn preceded_by(mut self, first: impl IntoIterator<Item = PathBuf>) -> Self {
        self.directories.splice(..0, first);
        self
    }

    /// True if a file is in a directory of this installation of Divvy: the binary's own, or `../lib/divvy/plugins`. A symbolic link
    /// counts as the file that it leads to, so a link to a file elsewhere is not.
    pub fn holds_as_own(&self, file: &Path) -> bool {
        let Ok(file) = fs::canonicalize(file) else {
            return false;
        };
        let own = self.own.iter().filter_map(|directory| fs::canonicalize(directory).ok());
        file.parent()
            .is_some_and(|parent| own.into_iter().any(|directory| directory == parent))
    }

    /// The directories, in search order.
    pub fn iter(&self) -> impl Iterator<Item = &Path> {
        self.directories.iter().map(PathBuf::as_path)
    }

    /// Remedy for a plugin that is not found, if one is known: the command that builds it, if one of the directories belongs
    /// to the folder of its sources, or the library that holds it under another name.
    pub fn hint_for_missing(&self, name: &str) -> Option<String> {
        let directories: Vec<&Path> = self.iter().collect();
        missing::hint(name, directories)
    }

    /// Finds a plugin's library in the first directory that holds it; `None` if no directory does. A broken link is found if there
    /// is nothing else, so that the error names it.
    pub fn find(&self, name: &str) -> Option<PathBuf> {
        let names = file_names(name);
        let link = || self.named(&names).find(|path| path.is_symlink());
        self.holding(&names).next().or_else(link)
    }

    /// Libraries of a plugin that are not used because [`Self::find`] finds another file first.
    pub fn shadowed(&self, name: &str) -> Vec<PathBuf> {
        let names = file_names(name);
        // A directory may be listed twice, and a file may be a link to another.
        let mut known = BTreeSet::new();
        let mut found: Vec<PathBuf> = self.holding(&names).collect();
        found.retain(|path| known.insert(fs::canonicalize(path).unwrap_or_else(|_| path.clone())));
        found.split_off(found.len().min(1))
    }

    /// The files that [`Self::find`] looks for, in order, whether they exist or not.
    pub fn candidates(&self, name: &str) -> Vec<PathBuf> {
        self.named(&file_names(name)).collect()
    }

    fn holding(&self, names: &[String]) -> impl Iterator<Item = PathBuf> {
        self.named(names).filter(|path| path.is_file())
    }

    fn named(&self, names: &[String]) -> impl Iterator<Item = PathBuf> {
        let directories = self.directories.iter();
        directories.flat_map(move |directory| names.iter().map(move |name| directory.join(name)))
    }

    /// Lists the plugins that [`Self::find`] finds, with their files, by plugin name.
    ///
    /// If several directories hold the same plugin, the first one wins. Directories that cannot be read are skipped.
    pub fn list(&self) -> BTreeMap<String, PathBuf> {
        let mut found = BTreeMap::new();
        for directory in &self.directories {
            let Ok(entries) = fs::read_dir(directory) else {
                continue;
            };
            for path in entries.flatten().map(|entry| entry.path()) {
                if let Some(name) = name_in(&path)
                    && let Entry::Vacant(entry) = found.entry(name)
                {
                    let file = self.find(entry.key()).unwrap_or(path);
                    entry.insert(file);
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

/// Name of the plugin that [`PluginDirectories::find`] would look for in a file of this name. A file with a name of the shorter forms
/// need not be a plugin, so the records in it decide.
fn name_in(path: &Path) -> Option<String> {
    let file_name = path.file_name()?.to_str()?;
    if let Some(name) = plugin_name(file_name) {
        return Some(name);
    }
    if path.extension()? != env::consts::DLL_EXTENSION {
        return None;
    }
    let names = PluginFile::read(path).ok()?.names();
    let is_found = |name: &String| file_names(name).iter().any(|known| known == file_name);
    names.into_iter().find(is_found)
}
