//! Plugins that are installed but not listed by the profile, for messages about strategies that no plugin of it serves.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use divvy_loader::{LoadOptions, PluginDirectories, PluginFile};

/// The plugins in a profile's directories that its `assign` does not list.
#[derive(Debug, Clone, Default)]
pub struct UnlistedPlugins {
    directories: PluginDirectories,
    listed: BTreeSet<String>,
    /// Plugin of each strategy. Found on first use, since every library's file is read for it.
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

    /// Libraries that would not be loaded are left out. None is opened.
    fn find(&self) -> BTreeMap<String, String> {
        let installed = self.directories.list().into_iter();
        let unlisted = installed.filter(|(plugin, _)| !self.listed.contains(plugin));
        let described = unlisted.filter_map(|(plugin, path)| {
            let described = PluginFile::read(&path).and_then(|file| file.describe(LoadOptions::default()));
            Some((plugin, described.ok()?))
        });
        described
            .flat_map(|(plugin, described)| {
                let strategies = described.strategies.into_iter();
                strategies
                    .map(|strategy| (strategy.name, plugin.clone()))
                    .collect::<Vec<_>>()
            })
            .collect()
    }
}
