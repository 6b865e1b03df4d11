//! A filter that keeps the clusters of one region. The README describes it; `rule.rs` is where it decides.
#![forbid(unsafe_code)]

mod rule;

use divvy_framework::prelude::*;

/// The plugin. Its fields are its settings: `[profile.plugin.plugin-name.configuration]`.
#[derive(Configuration)]
struct PluginName {
    /// The region to stay in.
    region: String,
}

impl Plugin for PluginName {
    const NAME: &'static str = "plugin-name";
    const DESCRIPTION: &'static str = "rejects clusters outside one region";
}

impl ConfiguredPlugin for PluginName {
    type Configuration = Self;

    fn new(settings: Self) -> Result<Self, Box<dyn std::error::Error>> {
        // An error rejects the profile: the plugin is not loaded.
        rule::check(&settings.region)?;
        Ok(settings)
    }
}

// A rule that needs more than one cluster and the binding implements `FilterPlugin` instead.
impl ClusterFilter for PluginName {
    fn fits(&self, cluster: &Cluster<'_>, _: &Binding<'_>) -> bool {
        rule::keeps(cluster.region(), &self.region)
    }

    fn reason(&self, _: &Cluster<'_>, _: &Binding<'_>) -> String {
        rule::REASON.to_owned()
    }
}

divvy_framework::export_plugin!(PluginName: Filter);

#[cfg(test)]
mod tests;
