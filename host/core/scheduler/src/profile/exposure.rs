//! Protection from plugins that this system lacks.
//!
//! Nothing here prevents a plugin from being used: without what isolation takes, a worker is refused when it is started.

use std::collections::BTreeMap;

use divvy_isolation::MissingFacility;

use super::plugins::Profile;

/// Something that protects from plugins and that this system lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exposure {
    /// What is missing, and what a plugin can do without it.
    pub message: String,
    /// How to get it, if that is known.
    pub hint: Option<String>,
    /// Names of the plugins that could do it, sorted.
    pub plugins: Vec<&'static str>,
}

impl Profile {
    /// Protection from this profile's plugins that this system lacks, sorted by message: facilities that confine workers, and memory that
    /// plugins in this process cannot write to.
    pub fn exposures(&self) -> Vec<Exposure> {
        let mut found: BTreeMap<MissingFacility, Vec<&'static str>> = BTreeMap::new();
        let unprotected = divvy_framework_memory::protection().err();
        for plugin in self.plugins() {
            let in_process = unprotected.as_ref().filter(|_| !plugin.is_isolated());
            let in_process = in_process.map(|unprotected| MissingFacility {
                message: format!(
                    "plugins in this process can overwrite the inputs of their calls: {}",
                    unprotected.reason
                ),
                hint: None,
            });
            for missing in plugin.missing_facilities().into_iter().chain(in_process) {
                found.entry(missing).or_default().push(plugin.name());
            }
        }
        let exposures = found.into_iter().map(|(missing, mut plugins)| {
            plugins.sort_unstable();
            Exposure {
                message: missing.message,
                hint: missing.hint,
                plugins,
            }
        });
        exposures.collect()
    }
}
