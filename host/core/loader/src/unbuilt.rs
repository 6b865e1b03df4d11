//! The command that builds a plugin whose sources are there, but not its library.

use std::fs;
use std::path::Path;

use crate::file_names::{library_name, plugin_name};

/// The manifest of a crate, and that of a plugin in C.
const MANIFESTS: [&str; 2] = ["Cargo.toml", "Makefile"];

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
        let in_zig = crates.join("in-zig");
        for folder in [&crates, &in_c, &in_zig] {
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
        // What builds another language is not known, and a crate above it is not what builds it.
        fs::write(in_zig.join("build.zig"), ".name = \"divvy_plugin_in_zig\"").expect("it can be written");
        let built_by_zig = in_zig.join("zig-out/lib/libdivvy_plugin_in_zig.so");
        assert_eq!(command_for_file(&built_by_zig), None);
        assert_eq!(at("in-zig", &built_by_zig), None);
        assert_eq!(at("other", &crates.join("target/release")), None);
        assert_eq!(at("mine", root.path()), None);
    }
}
