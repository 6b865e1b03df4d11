//! A strategy that fills the roomiest cluster first. The README describes it; `rule.rs` is where it decides.
#![forbid(unsafe_code)]

mod rule;

use divvy_framework::prelude::*;

/// The plugin. Its fields are its settings: `[profile.plugin.plugin-name.configuration]`.
#[derive(Configuration)]
struct PluginName {
    /// Replicas to keep free on every cluster.
    #[serde(default)]
    keep_free: u32,
}

impl Plugin for PluginName {
    const NAME: &'static str = "plugin-name";
    const DESCRIPTION: &'static str = "fills the roomiest cluster first, then the next";
}

impl ConfiguredPlugin for PluginName {
    type Configuration = Self;

    fn new(settings: Self) -> Result<Self, Box<dyn std::error::Error>> {
        Ok(settings)
    }
}

impl AssignPlugin for PluginName {
    const STRATEGIES: &'static [&'static str] = &["PluginName"];
    const PROMISES: Promises = Promises::NONE
        .respects_capacity()
        .order_independent()
        .inert();

    fn assign(
        &self,
        context: &AssignContext<'_, Self>,
        result: &mut AssignResult<'_>,
    ) -> Result<(), Failure> {
        let room = rule::room(context.capacity().iter(), self.keep_free);
        let shares = rule::divide(context.replicas(), &room, context.ties())
            .map_err(|fits| Failure::too_small(context.replicas(), fits))?;
        for ((candidate, room), replicas) in context.candidates().zip(room).zip(shares) {
            result.set(candidate, replicas);
            context.explain(candidate, || format!("room for {room}"));
        }
        Ok(())
    }
}

divvy_framework::export_plugin!(PluginName: Assign);

#[cfg(test)]
mod tests;
