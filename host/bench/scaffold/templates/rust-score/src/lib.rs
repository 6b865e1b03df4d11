//! A score that prefers clusters with a label. The README describes it; `rule.rs` is where it decides.
#![forbid(unsafe_code)]

mod rule;

use divvy_framework::prelude::*;

/// The plugin. Its fields are its settings: `[profile.plugin.plugin-name.configuration]`.
#[derive(Configuration)]
struct PluginName {
    /// Key of the label to compare.
    label: String,
    /// The best value of the label.
    best: String,
}

impl Plugin for PluginName {
    const NAME: &'static str = "plugin-name";
    const DESCRIPTION: &'static str = "prefers clusters whose label has the best value";
}

impl ConfiguredPlugin for PluginName {
    type Configuration = Self;

    fn new(settings: Self) -> Result<Self, Box<dyn std::error::Error>> {
        Ok(settings)
    }
}

// A rule that needs more than one cluster and the binding implements `ScorePlugin` instead.
impl ClusterScore for PluginName {
    fn score_of(&self, cluster: &Cluster<'_>, _: &Binding<'_>) -> i64 {
        rule::score(cluster.label(&self.label), &self.best)
    }
}

divvy_framework::export_plugin!(PluginName: Score);

#[cfg(test)]
mod tests;
