//! A pace that moves a few replicas per step. The README describes it; `rule.rs` is where it decides.
#![forbid(unsafe_code)]

mod rule;

use divvy_framework::prelude::*;

/// The plugin. Its fields are its settings: `[profile.plugin.plugin-name.configuration]`.
#[derive(Configuration)]
struct PluginName {
    /// Most replicas that a step adds.
    replicas: u32,
}

impl Plugin for PluginName {
    const NAME: &'static str = "plugin-name";
    const DESCRIPTION: &'static str = "moves a few replicas per step, the new ones first";
}

impl ConfiguredPlugin for PluginName {
    type Configuration = Self;

    fn new(settings: Self) -> Result<Self, Box<dyn std::error::Error>> {
        // An error rejects the profile: the plugin is not loaded.
        rule::check(settings.replicas)?;
        Ok(settings)
    }
}

impl PacePlugin for PluginName {
    fn pace(&self, context: &PaceContext<'_>, result: &mut PaceResult<'_>) -> Result<(), Failure> {
        let careful = rule::slowed(context.situation(), self.replicas);
        result.largest_step(&careful, context.ties());
        Ok(())
    }
}

divvy_framework::export_plugin!(PluginName: Pace);

#[cfg(test)]
mod tests;
