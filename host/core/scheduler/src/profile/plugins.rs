//! The constructed plugins of a profile.

use std::collections::BTreeMap;
use std::sync::Arc;

use divvy_framework_abi::descriptor::feature;
use divvy_framework_abi::sized::kind;
use divvy_profile::table::{TableSource, TableVersions};
use divvy_spanned::names::nearest_first;

use super::cost::Pricing;
use super::options::PlanOptions;
use super::provided::ProvidedTables;
use super::strategy::{Strategy, StrategyPlugin, UnknownStrategy};
use super::tables::{TableUses, UnusableTables};
use super::unlisted::UnlistedPlugins;
use crate::placements::Enforced;
use crate::plugin::{CallObserver, PluginInstance};
use crate::strategy::{Declarations, InvalidBinding};

/// A profile's plugins, each at its extension point.
#[derive(Debug, Clone)]
pub struct Profile {
    parts: ProfileParts,
    enforces_spread: bool,
    /// True if every filter, score and selector promises that it judges each cluster alone.
    judges_each_alone: bool,
    /// Parts of a binding that each filter acts on, as bits of
    /// [`binding_part`](divvy_framework_abi::descriptor::binding_part); 0 for any.
    filters_act_on: Vec<u64>,
    /// Parts of a binding that each score acts on.
    scores_act_on: Vec<u64>,
    /// Names of all plugins in the order filters, scores, Select, strategies, pace. Explanations refer to plugins by index in
    /// this list.
    names: Vec<String>,
    /// Inputs that a plugin needs, as bits of [`feature`].
    needs: u64,
    /// Tables of the profile that plugins read.
    table_uses: TableUses,
    /// The tables; `None` if no plugin reads any, or if they are not known.
    tables: Option<Arc<ProvidedTables>>,
    /// Prices for reports.
    pricing: Option<Arc<Pricing>>,
}

/// Parts of a [`Profile`].
#[derive(Debug, Clone)]
pub struct ProfileParts {
    /// The profile's name.
    pub name: String,
    /// Filters in order.
    pub filters: Vec<Arc<PluginInstance>>,
    /// Scores in order, with their weights.
    pub scores: Vec<(Arc<PluginInstance>, i64)>,
    /// Select plugins in order, at least one.
    pub select: Vec<Arc<PluginInstance>>,
    /// Plugin that says the steps of moves; `None` if moves are not made in steps.
    pub pace: Option<Arc<PluginInstance>>,
    /// Plugin that serves each strategy.
    pub strategies: BTreeMap<String, StrategyPlugin>,
    /// Declarations of the strategies, in the order of the profile's plugins.
    pub declarations: Declarations,
    /// Plugins that are installed but not listed.
    pub unlisted: UnlistedPlugins,
    /// Scheduler name that bindings and policies use for this profile.
    pub scheduler_name: String,
    /// Options for making plans.
    pub plan_options: PlanOptions,
}

/// Inputs that only plugins with the need see. Tables are added once it is known that they are read.
const INPUTS: u64 = feature::RAW_CLUSTERS | feature::METADATA | feature::TIME | feature::PLACEMENTS;

impl Profile {
    /// Assembles a profile from its parts.
    pub fn new(parts: ProfileParts) -> Self {
        let mut profile = Self {
            enforces_spread: parts.select.iter().any(|plugin| plugin.enforces_spread()),
            judges_each_alone: false,
            filters_act_on: acts_on(parts.filters.iter(), kind::FILTER),
            scores_act_on: acts_on(parts.scores.iter().map(|(plugin, _)| plugin), kind::SCORE),
            parts,
            names: Vec::new(),
            needs: 0,
            table_uses: TableUses::default(),
            tables: None,
            pricing: None,
        };
        profile.names = profile.all_plugins().map(|plugin| plugin.name().to_owned()).collect();
        profile.judges_each_alone = profile.filters().all(|filter| filter.judges_each_alone(kind::FILTER))
            && profile.scores().all(|(score, _)| score.judges_each_alone(kind::SCORE))
            && profile
                .selectors()
                .all(|selector| selector.judges_each_alone(kind::SELECT));
        profile.needs = INPUTS & profile.all_plugins().fold(0, |all, plugin| all | plugin.features());
        let enforced: Vec<Enforced> = profile.filters().map(PluginInstance::enforced_affinity).collect();
        profile.parts.plan_options.enforced_affinity = Enforced {
            affinity: enforced.iter().any(|enforced| enforced.affinity),
            anti_affinity: enforced.iter().any(|enforced| enforced.anti_affinity),
        };
        profile.parts.plan_options.metadata = profile.needs_metadata();
        profile
    }

    /// The profile's name.
    pub fn name(&self) -> &str {
        &self.parts.name
    }

    /// Options for making plans under this profile.
    pub fn plan_options(&self) -> &PlanOptions {
        &self.parts.plan_options
    }

    /// Scheduler name that bindings and policies use for this profile.
    pub fn scheduler_name(&self) -> &str {
        &self.parts.scheduler_name
    }

    /// Uses this strategy for every binding, regardless of the manifests. `None` removes the override.
    #[must_use]
    pub fn overriding_strategy(mut self, strategy: Option<String>) -> Self {
        self.parts.plan_options.strategy_override = strategy;
        self
    }

    /// Hint for an invalid binding that a change of the profile would fix: listing the strategy of an installed plugin.
    pub fn hint_at(&self, error: &InvalidBinding) -> Option<String> {
        let InvalidBinding::UnknownStrategy { strategy, .. } = error.cause() else {
            return None;
        };
        let line = self.parts.unlisted.line_for(strategy)?;
        Some(format!(
            "an installed plugin serves it: add it to the profile by `{line}`"
        ))
    }

    /// The filters, in order.
    pub fn filters(&self) -> impl Iterator<Item = &PluginInstance> {
        self.parts.filters.iter().map(Arc::as_ref)
    }

    /// The Score plugins with their weights, in order.
    pub fn scores(&self) -> impl Iterator<Item = (&PluginInstance, i64)> {
        let scores = self.parts.scores.iter();
        scores.map(|(plugin, weight)| (plugin.as_ref(), *weight))
    }

    /// The filters, each with the parts of a binding that it acts on; 0 for any.
    pub(crate) fn filter_calls(&self) -> impl Iterator<Item = (&PluginInstance, u64)> {
        self.filters().zip(self.filters_act_on.iter().copied())
    }

    /// The Score plugins with their weights, each with the parts of a binding that it acts on; 0 for any.
    pub(crate) fn score_calls(&self) -> impl Iterator<Item = (&PluginInstance, i64, u64)> {
        let calls = self.scores().zip(&self.scores_act_on);
        calls.map(|((plugin, weight), &acts_on)| (plugin, weight, acts_on))
    }

    /// This profile, in which a plugin filters and scores for every binding, whatever parts of a binding it declares to act on:
    /// for comparing its answers with what it declares.
    #[must_use]
    pub fn distrusting_parts_of(mut self, plugin: &str) -> Self {
        let plugins = self.parts.filters.iter().zip(&mut self.filters_act_on);
        let scores = self.parts.scores.iter().map(|(plugin, _)| plugin);
        let plugins = plugins.chain(scores.zip(&mut self.scores_act_on));
        for (_, acts_on) in plugins.filter(|(known, _)| known.name() == plugin) {
            *acts_on = 0;
        }
        self
    }

    /// The names of the Score plugins, in order.
    pub fn score_names(&self) -> impl Iterator<Item = &'static str> {
        self.parts.scores.iter().map(|(plugin, _)| plugin.name())
    }

    /// The Select plugins, in order.
    pub fn selectors(&self) -> impl Iterator<Item = &PluginInstance> {
        self.parts.select.iter().map(Arc::as_ref)
    }

    /// The plugin that says the steps of moves; `None` if moves are not made in steps.
    pub fn pace(&self) -> Option<&PluginInstance> {
        self.parts.pace.as_deref()
    }

    /// True if a selector promises to enforce spread constraints.
    pub fn enforces_spread(&self) -> bool {
        self.enforces_spread
    }

    /// True if every filter, score and selector promises that it judges each cluster alone.
    pub(crate) fn judges_each_alone(&self) -> bool {
        self.judges_each_alone
    }

    /// The strategies, by name.
    pub fn strategies(&self) -> impl Iterator<Item = Strategy<'_>> {
        let strategies = self.parts.strategies.iter();
        strategies.map(|(name, served)| Strategy::new(name, served))
    }

    /// The names of the strategies, sorted.
    pub fn strategy_names(&self) -> Vec<String> {
        self.parts.strategies.keys().cloned().collect()
    }

    /// The strategies with the lists that their plugins declare.
    pub fn declarations(&self) -> &Declarations {
        &self.parts.declarations
    }

    /// The strategy with this name.
    ///
    /// # Errors
    ///
    /// An [`UnknownStrategy`] if no plugin of the profile serves it.
    pub fn strategy(&self, name: &str) -> Result<Strategy<'_>, UnknownStrategy> {
        // There are few, and unequal lengths tell most names apart: a search by order compares more text, in every cycle.
        match self.parts.strategies.iter().find(|(known, _)| known.as_str() == name) {
            Some((name, served)) => Ok(Strategy::new(name, served)),
            None => Err(UnknownStrategy {
                name: name.to_owned(),
                known: nearest_first(name, &self.strategy_names()),
            }),
        }
    }

    /// Lets `observer` watch every call of every plugin.
    pub fn observe(&self, observer: &Arc<dyn CallObserver>) {
        for plugin in self.plugins() {
            plugin.observe(Arc::clone(observer));
        }
    }

    /// True if a plugin needs the raw JSON of clusters.
    pub fn needs_raw_clusters(&self) -> bool {
        self.needs & feature::RAW_CLUSTERS != 0
    }

    /// True if a plugin needs the binding's priority, or the metadata of its policy and its workload.
    pub fn needs_metadata(&self) -> bool {
        self.needs & feature::METADATA != 0
    }

    /// True if a plugin needs the time of a decision.
    pub fn needs_time(&self) -> bool {
        self.needs & feature::TIME != 0
    }

    /// Inputs that a plugin needs, as bits of [`feature`].
    pub(crate) fn needs(&self) -> u64 {
        self.needs
    }

    /// This profile, whose plugins read these tables.
    pub(super) fn reading(mut self, uses: TableUses, tables: Option<ProvidedTables>) -> Self {
        self.needs = match uses.is_empty() {
            true => self.needs & !feature::TABLES,
            false => self.needs | feature::TABLES,
        };
        self.table_uses = uses;
        self.tables = tables.map(Arc::new);
        self
    }

    /// This profile, with prices for reports.
    pub(super) fn priced(mut self, pricing: Option<Pricing>) -> Self {
        self.pricing = pricing.map(Arc::new);
        self
    }

    /// Prices with which reports count costs; `None` if the profile has none, or was built without its tables.
    pub fn pricing(&self) -> Option<&Arc<Pricing>> {
        self.pricing.as_ref()
    }

    /// The tables that plugins read; `None` if they read none, or if the profile was built without its tables.
    pub fn tables(&self) -> Option<&ProvidedTables> {
        self.tables.as_deref()
    }

    /// The tables, to keep with a decision.
    pub(crate) fn shared_tables(&self) -> Option<Arc<ProvidedTables>> {
        self.tables.clone()
    }

    /// True if a plugin reads a table.
    pub fn needs_tables(&self) -> bool {
        self.needs & feature::TABLES != 0
    }

    /// The same plugins with these versions of their tables, from among `sources` by their version.
    ///
    /// # Errors
    ///
    /// An [`UnusableTables`] if a version of a table that a plugin reads is missing, or is not what the profile declares.
    pub fn with_tables(
        &self,
        versions: &TableVersions,
        sources: &BTreeMap<String, TableSource>,
    ) -> Result<Self, UnusableTables> {
        let mut profile = self.clone();
        if self.needs_tables() {
            let tables = self.table_uses.provide_versions(versions, sources)?;
            profile.tables = Some(Arc::new(tables));
        }
        Ok(profile)
    }

    /// True if a plugin needs the placements of other bindings.
    pub fn needs_placements(&self) -> bool {
        self.needs & feature::PLACEMENTS != 0
    }

    /// Workload affinity that the filters promise to enforce.
    pub fn enforced_affinity(&self) -> Enforced {
        self.parts.plan_options.enforced_affinity
    }

    /// All plugins, each once, in the order of the cycle.
    pub fn plugins(&self) -> impl Iterator<Item = &PluginInstance> {
        let mut seen = std::collections::BTreeSet::new();
        self.all_plugins().filter(move |plugin| seen.insert(plugin.name()))
    }

    /// All plugins in the order of the cycle, once per use.
    fn all_plugins(&self) -> impl Iterator<Item = &PluginInstance> {
        let strategies = self.parts.strategies.values().map(|served| served.plugin().as_ref());
        let scores = self.scores().map(|(plugin, _)| plugin);
        let others = strategies.chain(self.pace());
        self.filters().chain(scores).chain(self.selectors()).chain(others)
    }

    /// Names of all plugins, in the order filters, scores, Select, strategies, pace.
    pub fn plugin_names(&self) -> &[String] {
        &self.names
    }

    /// Index of a filter in [`Self::plugin_names`].
    pub(crate) fn filter_index(&self, number: usize) -> usize {
        number
    }

    /// Index of a Score plugin in [`Self::plugin_names`].
    pub(crate) fn score_index(&self, number: usize) -> usize {
        self.parts.filters.len() + number
    }

    /// Index of a Select plugin in [`Self::plugin_names`].
    pub(crate) fn select_index(&self, number: usize) -> usize {
        self.parts.filters.len() + self.parts.scores.len() + number
    }

    /// Index of a strategy's plugin in [`Self::plugin_names`].
    pub(crate) fn strategy_index(&self, name: &str) -> usize {
        let number = self.parts.strategies.keys().position(|known| known == name);
        self.select_index(self.parts.select.len()) + number.unwrap_or(0)
    }
}

/// Parts of a binding that the calls of a kind act on, per plugin.
fn acts_on<'a>(plugins: impl Iterator<Item = &'a Arc<PluginInstance>>, point: u32) -> Vec<u64> {
    plugins.map(|plugin| plugin.library().acts_on(point)).collect()
}
