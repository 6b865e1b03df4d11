//! Libraries of plugins: opening them for a command, and errors about missing ones.

use std::path::Path;

use divvy_loader::inspection::DescribedPlugin;
use divvy_loader::{LoadError, LoadOptions, PluginDirectories, PluginFile};
use divvy_profile::ProfileConfiguration;

use crate::errors::{Diagnostic, Failure};

/// Reads what a plugin in a file says about itself, without opening the file. A library without a certificate is refused unless the
/// profile allows it for a plugin in it.
pub fn described(
    path: &Path,
    profile: &ProfileConfiguration,
    name: Option<&str>,
) -> Result<DescribedPlugin, LoadError> {
    let file = PluginFile::read(path)?;
    let names = file.names();
    let mut tables = names.iter().filter_map(|name| profile.plugin.get(name));
    let allow_uncertified = tables.any(|table| table.allow_uncertified);
    file.describe(LoadOptions {
        name,
        allow_uncertified,
        ..LoadOptions::default()
    })
}

/// Names of the plugins in a profile, in the order of the cycle.
pub fn plugin_names(profile: &ProfileConfiguration) -> Vec<String> {
    profile.plugin_names().map(str::to_owned).collect()
}

/// The failure of a plugin that no folder has, with the nearest name.
pub fn not_found(name: &str, directories: &PluginDirectories) -> Failure {
    let present = directories.list();
    let diagnostic = Diagnostic::new(format!("plugin `{name}` not found; looked in {directories}"));
    let nearest = divvy_spanned::names::nearest(name, present.keys().map(String::as_str));
    Failure::usage(match (directories.hint_for_missing(name), nearest) {
        (Some(hint), _) => diagnostic.with_hint(hint),
        (None, Some(nearest)) => diagnostic.with_hint(format!("did you mean `{nearest}`?")),
        (None, None) => diagnostic.with_hint("`divvy plugin list` shows those that are found"),
    })
}

/// Describes an error of loading.
pub fn diagnostic(error: &LoadError) -> Diagnostic {
    Diagnostic {
        hint: error.hint(),
        detail: error.detail().map(ToOwned::to_owned),
        ..Diagnostic::new(error.to_string()).with_causes_of(error)
    }
}
