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

impl FilterPlugin for PluginName {
    fn filter(
        &self,
        context: &FilterContext<'_, Self>,
        result: &mut FilterResult<'_>,
    ) -> Result<(), Failure> {
        // Equal texts of a snapshot are equal numbers, so the loop compares no text.
        let region = context.clusters().symbol(&self.region);
        let regions = context.clusters().regions();
        result.retain(
            |row| rule::keeps(regions[row], region),
            |_| rule::REASON.to_owned(),
        );
        Ok(())
    }
}

divvy_framework::export_plugin!(PluginName: Filter);

#[cfg(test)]
mod tests;
