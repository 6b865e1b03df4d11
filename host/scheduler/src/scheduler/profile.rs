//! The constructed plugins of a profile.

use std::collections::BTreeMap;
use std::sync::Arc;

use divvy_framework::abi::module::{need, promise};

use crate::cycle::CycleError;
use divvy_documents::names::nearest_first;

use crate::plan::{Plan, PlanInput, PlanOptions};
use crate::plugin::PluginInstance;
use crate::strategy::{Declarations, InvalidBinding};

/// A profile's plugins, each at its extension point.
#[derive(Debug)]
pub struct Profile {
    parts: ProfileParts,
    /// Names of all plugins in the order filters, scores, select, strategies: what places in explanations refer to.
    names: Vec<String>,
}

/// What a [`Profile`] is made of.
#[derive(Debug)]
pub struct ProfileParts {
    /// The profile's name.
    pub name: String,
    /// Filters in order.
    pub filters: Vec<Arc<PluginInstance>>,
    /// Scores in order, with their weights.
    pub scores: Vec<(Arc<PluginInstance>, i64)>,
    /// The Select plugin.
    pub select: Arc<PluginInstance>,
    /// The plugin of each strategy.
    pub strategies: BTreeMap<String, Arc<PluginInstance>>,
    /// What these plugins declare of their strategies, in the order of the profile.
    pub declarations: Declarations,
    /// The scheduler that it is for.
    pub scheduler_name: String,
    /// How plans are made.
    pub plan_options: PlanOptions,
}

/// A strategy: the plugin that divides for it.
#[derive(Debug, Clone, Copy)]
pub struct Strategy<'a> {
    name: &'a str,
    plugin: &'a PluginInstance,
}

impl Profile {
    /// A profile of these parts.
    pub fn new(parts: ProfileParts) -> Self {
        let names = parts
            .filters
            .iter()
            .chain(parts.scores.iter().map(|(plugin, _)| plugin))
            .chain([&parts.select])
            .chain(parts.strategies.values())
            .map(|plugin| plugin.name().to_owned())
            .collect();
        Self { parts, names }
    }

    /// The profile's name.
    pub fn name(&self) -> &str {
        &self.parts.name
    }

    /// How plans are made for it.
    pub fn plan_options(&self) -> &PlanOptions {
        &self.parts.plan_options
    }

    /// The scheduler that it is for.
    pub fn scheduler_name(&self) -> &str {
        &self.parts.scheduler_name
    }

    /// The profile with this strategy for every binding, whatever the manifests say.
    #[must_use]
    pub fn overriding_strategy(mut self, strategy: Option<String>) -> Self {
        self.parts.plan_options.strategy_override = strategy;
        self
    }

    /// The plan of a binding under this profile.
    ///
    /// # Errors
    ///
    /// An [`InvalidBinding`] if its strategy or preferences cannot be followed.
    pub fn plan(&self, input: &PlanInput<'_>) -> Result<Plan, InvalidBinding> {
        Plan::new(input, &self.parts.declarations, &self.parts.plan_options)
    }

    /// The filters, in order.
    pub fn filters(&self) -> impl Iterator<Item = &PluginInstance> {
        self.parts.filters.iter().map(Arc::as_ref)
    }

    /// The Score plugins with their weights, in order.
    pub fn scores(&self) -> impl Iterator<Item = (&PluginInstance, i64)> {
        self.parts
            .scores
            .iter()
            .map(|(plugin, weight)| (plugin.as_ref(), *weight))
    }

    /// The names of the Score plugins, in order.
    pub fn score_names(&self) -> impl Iterator<Item = &'static str> {
        self.parts.scores.iter().map(|(plugin, _)| plugin.name())
    }

    /// The Select plugin.
    pub fn select(&self) -> &PluginInstance {
        &self.parts.select
    }

    /// The strategies, by name.
    pub fn strategies(&self) -> impl Iterator<Item = Strategy<'_>> {
        self.parts
            .strategies
            .iter()
            .map(|(name, plugin)| Strategy { name, plugin })
    }

    /// The names of the strategies, sorted.
    pub fn strategy_names(&self) -> Vec<String> {
        self.parts.strategies.keys().cloned().collect()
    }

    /// The strategies with the lists that their plugins declare.
    pub fn declarations(&self) -> &Declarations {
        &self.parts.declarations
    }

    /// The strategy of that name.
    ///
    /// # Errors
    ///
    /// [`CycleError::InvalidBinding`] if no plugin of the profile serves it.
    pub fn strategy(&self, name: &str) -> Result<Strategy<'_>, CycleError> {
        match self.parts.strategies.get_key_value(name) {
            Some((name, plugin)) => Ok(Strategy { name, plugin }),
            None => {
                let known = nearest_first(name, &self.strategy_names());
                Err(CycleError::InvalidBinding {
                    message: format!("unknown strategy `{name}`"),
                    hint: Some(format!("known: {}", known.join(", "))),
                })
            }
        }
    }

    /// Whether a plugin asks for the clusters as JSON.
    pub fn needs_raw_clusters(&self) -> bool {
        self.plugins().any(|plugin| plugin.library().needs_raw_clusters())
    }

    /// All plugins, each once, in the order of the cycle.
    pub fn plugins(&self) -> impl Iterator<Item = &PluginInstance> {
        let mut seen = std::collections::BTreeSet::new();
        self.filters()
            .chain(self.scores().map(|(plugin, _)| plugin))
            .chain([self.select()])
            .chain(self.parts.strategies.values().map(Arc::as_ref))
            .filter(move |plugin| seen.insert(plugin.name()))
    }

    /// Names of plugins by the places that the methods below give.
    pub fn plugin_names(&self) -> &[String] {
        &self.names
    }

    /// The place of a filter.
    pub(crate) fn filter_place(&self, number: usize) -> usize {
        number
    }

    /// The place of a Score plugin.
    pub(crate) fn score_place(&self, number: usize) -> usize {
        self.parts.filters.len() + number
    }

    /// The place of the Select plugin.
    pub(crate) fn select_place(&self) -> usize {
        self.parts.filters.len() + self.parts.scores.len()
    }

    /// The place of a strategy's plugin.
    pub(crate) fn strategy_place(&self, name: &str) -> usize {
        let number = self
            .parts
            .strategies
            .keys()
            .position(|known| known == name)
            .unwrap_or(0);
        self.select_place() + 1 + number
    }
}

impl<'a> Strategy<'a> {
    /// Its name.
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// Its plugin.
    pub fn plugin(&self) -> &'a PluginInstance {
        self.plugin
    }

    /// Whether each candidate gets the full count.
    pub fn duplicates(&self) -> bool {
        self.plugin.library().promises(promise::DUPLICATES)
    }

    /// Whether it promises to respect capacity.
    pub fn respects_capacity(&self) -> bool {
        self.plugin.library().promises(promise::RESPECTS_CAPACITY)
    }

    /// Whether spread constraints are left out of account.
    pub fn ignores_spread(&self) -> bool {
        self.plugin.library().needs(need::NO_SPREAD)
    }

    /// Whether it walks tiers of cluster priorities itself.
    pub fn walks_tiers(&self) -> bool {
        self.plugin.library().needs(need::OWN_TIERS)
    }

    /// Whether its rules decide which clusters of a tier take part.
    pub fn rules_decide_tiers(&self) -> bool {
        self.plugin.library().needs(need::RULES_DECIDE_TIERS)
    }

    /// Whether the last tier may be given more than it holds.
    pub fn last_tier_overflows(&self) -> bool {
        self.plugin.library().needs(need::LAST_TIER_OVERFLOWS)
    }
}
