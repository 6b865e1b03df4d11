//! Names of a plugin's library, and the plugin that a name stands for.

use std::env;

/// The file name that Cargo gives to the library of a plugin's crate.
pub(crate) fn library_name(plugin: &str) -> String {
    let (prefix, extension) = (env::consts::DLL_PREFIX, env::consts::DLL_EXTENSION);
    format!("{prefix}divvy_plugin_{}.{extension}", plugin.replace('-', "_"))
}

/// The file names under which a plugin may be found.
pub(crate) fn file_names(plugin: &str) -> [String; 3] {
    let underscored = plugin.replace('-', "_");
    let extension = env::consts::DLL_EXTENSION;
    let prefix = env::consts::DLL_PREFIX;
    [
        library_name(plugin),
        format!("{prefix}{underscored}.{extension}"),
        format!("{plugin}.{extension}"),
    ]
}

/// Name of the plugin in a file with a name of the first form.
pub(crate) fn plugin_name(file_name: &str) -> Option<String> {
    let stem = file_name
        .strip_prefix(env::consts::DLL_PREFIX)?
        .strip_prefix("divvy_plugin_")?
        .strip_suffix(env::consts::DLL_EXTENSION)?
        .strip_suffix('.')?;
    Some(stem.replace('_', "-"))
}
