//! Plugins that are installed but not listed by the profile, for messages about strategies that no plugin of it serves.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use divvy_loader::{PluginDirectories, PluginLibrary};

/// The plugins in a profile's directories that its `assign` does not list.
#[derive(Debug, Clone, Default)]
pub struct UnlistedPlugins {
    directories: PluginDirectories,
    listed: BTreeSet<String>,
    /// Plugin of each strategy. Found on first use, since every library has to be opened for it.
    strategies: OnceLock<BTreeMap<String, String>>,
}

impl UnlistedPlugins {
    /// The plugins in these directories but for those that are `listed`.
    pub fn new(directories: PluginDirectories, listed: impl IntoIterator<Item = String>) -> Self {
        Self {
            directories,
            listed: listed.into_iter().collect(),
            strategies: OnceLock::new(),
        }
    }

    /// The line of a profile that lists a plugin for the strategy; `None` if none is installed.
    pub fn line_for(&self, strategy: &str) -> Option<String> {
        let plugin = self.strategies.get_or_init(|| self.find()).get(strategy)?;
        Some(format!("assign = [\"...\", \"{plugin}\"]"))
    }

    /// Libraries that cannot be loaded are left out.
    fn find(&self) -> BTreeMap<String, String> {
        let installed = self.directories.list().into_iter();
        let unlisted = installed.filter(|(plugin, _)| !self.listed.contains(plugin));
        let libraries = unlisted.filter_map(|(plugin, path)| Some((plugin, PluginLibrary::load(&path, None).ok()?)));
        libraries
            .flat_map(|(plugin, library)| {
                let strategies = library.strategies().into_iter().map(str::to_owned);
                strategies
                    .map(|strategy| (strategy, plugin.clone()))
                    .collect::<Vec<_>>()
            })
            .collect()
    }
}
