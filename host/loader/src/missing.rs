//! Reasons why a plugin was not found: its library is not built yet, or has another name.

use std::fs;
use std::path::Path;

use crate::directories::{library_name, plugin_name};
use crate::loader::PluginFile;

/// The manifest of a crate, and that of a plugin in C.
const MANIFESTS: [&str; 2] = ["Cargo.toml", "Makefile"];

/// Remedy for a plugin that is in none of these folders, if one is known.
pub fn hint<'path>(plugin: &str, searched: impl IntoIterator<Item = &'path Path> + Clone) -> Option<String> {
    command(plugin, searched.clone()).or_else(|| misnamed(plugin, searched))
}

/// The command that builds a plugin, for a hint, if one of these folders or files is in the folder of the plugin's sources.
///
/// A manifest counts only if it names the plugin's library or, for a crate, its package, so the command is certain to build it.
pub(crate) fn command<'path>(plugin: &str, searched: impl IntoIterator<Item = &'path Path>) -> Option<String> {
    let library = library_name(plugin);
    let package = format!("\"divvy-plugin-{plugin}\"");
    searched.into_iter().find_map(|path| {
        // A crate has `target/release` or, with a target, `target/TRIPLE/release`; a file is in one of those.
        path.ancestors().take(4).find_map(|folder| {
            let folder = match folder.as_os_str().is_empty() {
                true => Path::new("."),
                false => folder,
            };
            let manifest = MANIFESTS.into_iter().find(|manifest| {
                let text = fs::read_to_string(folder.join(manifest));
                text.is_ok_and(|text| text.contains(&package) || text.contains(&library))
            })?;
            let command = match manifest {
                "Makefile" => "make",
                _ if path.components().any(|part| part.as_os_str() == "debug") => "cargo build",
                _ => "cargo build --release",
            };
            Some(format!(
                "the plugin is not built yet: run `{command}` in `{}`",
                folder.display()
            ))
        })
    })
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

/// Like [`command`], for a missing file with the usual name of a plugin's library.
pub(crate) fn command_for_file(file: &Path) -> Option<String> {
    let plugin = plugin_name(file.file_name()?.to_str()?)?;
    command(&plugin, [file])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sources_that_name_the_plugin_are_built() {
        let root = tempfile::tempdir().expect("a folder can be made");
        let crates = root.path().join("mine");
        let in_c = root.path().join("in-c");
        for folder in [&crates, &in_c] {
            fs::create_dir(folder).expect("a folder can be made");
        }
        fs::write(crates.join("Cargo.toml"), "[package]\nname = \"divvy-plugin-mine\"\n").expect("it can be written");
        fs::write(in_c.join("Makefile"), "LIBRARY = libdivvy_plugin_in_c.so\n").expect("it can be written");
        let at = |plugin, path: &Path| command(plugin, [path]);
        let run = |command: &str, folder: &Path| {
            Some(format!(
                "the plugin is not built yet: run `{command}` in `{}`",
                folder.display()
            ))
        };
        assert_eq!(
            at("mine", &crates.join("target/release")),
            run("cargo build --release", &crates)
        );
        assert_eq!(
            at("mine", &crates.join("target/x86_64-unknown-linux-gnu/release")),
            run("cargo build --release", &crates)
        );
        assert_eq!(at("mine", &crates.join("target/debug")), run("cargo build", &crates));
        assert_eq!(at("in-c", &in_c.join("libdivvy_plugin_in_c.so")), run("make", &in_c));
        assert_eq!(
            command_for_file(&in_c.join("libdivvy_plugin_in_c.so")),
            run("make", &in_c)
        );
        assert_eq!(command_for_file(&in_c.join("in-c.so")), None);
        assert_eq!(at("other", &crates.join("target/release")), None);
        assert_eq!(at("mine", root.path()), None);
    }
}
