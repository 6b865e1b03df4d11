//! Reasons why a plugin was not found: its library is not built yet, or has another name.

use std::fs;
use std::path::Path;

use crate::file_names::library_name;
use crate::loader::PluginFile;
use crate::unbuilt;

/// Remedy for a plugin that is in none of these folders, if one is known.
pub fn hint<'path>(plugin: &str, searched: impl IntoIterator<Item = &'path Path> + Clone) -> Option<String> {
    unbuilt::command(plugin, searched.clone()).or_else(|| misnamed(plugin, searched))
}

/// The library that holds a plugin under a name by which it is not found, as a hint.
fn misnamed<'path>(plugin: &str, searched: impl IntoIterator<Item = &'path Path>) -> Option<String> {
    let holds = |path: &Path| {
        let is_library = path
            .extension()
            .is_some_and(|extension| extension == std::env::consts::DLL_EXTENSION);
        is_library && PluginFile::read(path).is_ok_and(|file| file.names().iter().any(|name| name == plugin))
    };
    let folders = searched.into_iter().filter_map(|folder| fs::read_dir(folder).ok());
    let mut files = folders.flatten().flatten().map(|entry| entry.path());
    let found = files.find(|path| holds(path))?;
    Some(format!(
        "`{}` holds it: rename the file to `{}`, or write its `path` in `[profile.plugin.{plugin}]`",
        found.display(),
        library_name(plugin)
    ))
}
