//! A selector that keeps the best clusters, up to a number. The README describes it; `rule.rs` is where it decides.
#![forbid(unsafe_code)]

mod rule;

use divvy_framework::prelude::*;

/// The plugin. Its fields are its settings: `[profile.plugin.plugin-name.configuration]`.
#[derive(Configuration)]
struct PluginName {
    /// Most clusters that a binding may have.
    clusters: u32,
}

impl Plugin for PluginName {
    const NAME: &'static str = "plugin-name";
    const DESCRIPTION: &'static str = "keeps the clusters with the best scores, up to a number";
}

impl ConfiguredPlugin for PluginName {
    type Configuration = Self;

    fn new(settings: Self) -> Result<Self, Box<dyn std::error::Error>> {
        // An error rejects the profile: the plugin is not loaded.
        rule::check(settings.clusters)?;
        Ok(settings)
    }
}

impl SelectPlugin for PluginName {
    fn select(
        &self,
        context: &SelectContext<'_, Self>,
        result: &mut SelectResult<'_>,
    ) -> Result<(), Failure> {
        let mut offers: Vec<_> = context.candidates().collect();
        let (scores, room) = (context.scores(), context.capacity());
        rule::best(&mut offers, self.clusters, |&cluster| {
            (scores[cluster], room[cluster], context.tie_key(cluster))
        });
        for cluster in offers {
            result.choose(cluster);
        }
        for cluster in result.left_out() {
            context.explain(cluster, || rule::REASON.to_owned());
        }
        Ok(())
    }
}

divvy_framework::export_plugin!(PluginName: Select);

#[cfg(test)]
mod tests;
