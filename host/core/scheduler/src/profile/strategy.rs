//! A strategy of a profile, and the plugin that serves it.

use std::sync::Arc;

use divvy_framework_abi::descriptor::feature;
use thiserror::Error;

use crate::plugin::PluginInstance;

/// The plugin that serves a strategy, with the features of that strategy: they are looked up once, not in each cycle.
#[derive(Debug, Clone)]
pub struct StrategyPlugin {
    plugin: Arc<PluginInstance>,
    features: u64,
}

impl StrategyPlugin {
    /// The plugin as the server of the strategy with this name.
    pub fn new(strategy: &str, plugin: Arc<PluginInstance>) -> Self {
        Self {
            features: plugin.library().features_of(strategy) | plugin.instance_features(),
            plugin,
        }
    }

    /// The plugin.
    pub fn plugin(&self) -> &Arc<PluginInstance> {
        &self.plugin
    }
}

/// A strategy and the plugin that serves it.
#[derive(Debug, Clone, Copy)]
pub struct Strategy<'a> {
    name: &'a str,
    served: &'a StrategyPlugin,
}

/// No plugin of the profile serves a strategy.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("unknown strategy `{name}`")]
pub struct UnknownStrategy {
    /// Name of the strategy.
    pub name: String,
    /// The known names, the nearest first.
    pub known: Vec<String>,
}

impl<'a> Strategy<'a> {
    /// A strategy under its name in the profile.
    pub(super) fn new(name: &'a str, served: &'a StrategyPlugin) -> Self {
        Self { name, served }
    }

    /// Name of the strategy.
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// Plugin that serves the strategy.
    pub fn plugin(&self) -> &'a PluginInstance {
        &self.served.plugin
    }

    fn has(&self, feature: u64) -> bool {
        self.served.features & feature != 0
    }

    /// True if each candidate gets the full count of replicas.
    pub fn duplicates(&self) -> bool {
        self.has(feature::DUPLICATES)
    }

    /// True if the plugin promises that no candidate's result depends on the others.
    pub(crate) fn judges_each_alone(&self) -> bool {
        self.has(feature::EACH_ALONE)
    }

    /// True if the plugin promises to respect capacity.
    pub fn respects_capacity(&self) -> bool {
        self.has(feature::RESPECTS_CAPACITY)
    }

    /// True if Select ignores spread constraints.
    pub fn ignores_spread(&self) -> bool {
        self.has(feature::NO_SPREAD)
    }

    /// True if the plugin handles tiers of cluster priorities itself.
    pub fn walks_tiers(&self) -> bool {
        self.has(feature::OWN_TIERS)
    }

    /// True if the strategy's rules decide which clusters of a tier take part.
    pub fn rules_decide_tiers(&self) -> bool {
        self.has(feature::RULES_DECIDE_TIERS)
    }

    /// True if the last tier may get more replicas than it has room for.
    pub fn last_tier_overflows(&self) -> bool {
        self.has(feature::LAST_TIER_OVERFLOWS)
    }
}
