//! Constructs plugins from a profile's configuration.
//!
//! Each plugin is found, opened and constructed once. All errors are reported together, so that an operator does not
//! have to fix a profile one message at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use divvy_framework_abi::descriptor::feature;
use divvy_framework_abi::sized::kind;
use divvy_loader::{PluginDirectories, PluginLibrary};
use divvy_profile::table::LoadedTable;
use divvy_profile::{AffinityGroups, OnError, ProfileConfiguration};

use super::cost::Pricing;
use super::error::RegistryError;
use super::libraries::Libraries;
use super::options::PlanOptions;
use super::plugins::{Profile, ProfileParts};
use super::strategy::StrategyPlugin;
use super::table_rows::refused_rows;
use super::tables::{self, TableUses};
use super::unlisted::UnlistedPlugins;
use crate::placements::Enforced;
use crate::plugin::PluginInstance;
use crate::strategy::{Declaration, Declarations};

/// Opens libraries and constructs plugins, each once.
struct Registry<'a> {
    configuration: &'a ProfileConfiguration,
    libraries: Libraries<'a>,
    /// Plugins by the name that the profile uses; `None` for one that failed, so that it is reported only once.
    plugins: BTreeMap<String, Option<Arc<PluginInstance>>>,
    errors: Vec<RegistryError>,
}

/// Constructs the plugins of a profile, and reads its tables.
///
/// # Errors
///
/// All errors, in the order of the profile. The profile cannot be used if there is at least one.
pub fn build(
    configuration: &ProfileConfiguration,
    directories: &PluginDirectories,
) -> Result<Profile, Vec<RegistryError>> {
    build_from(configuration, directories, true)
}

/// As [`build`], without reading the tables: [`Profile::with_tables`] provides recorded ones. Until then, decisions in which
/// a plugin reads a table fail.
///
/// # Errors
///
/// As [`build`], except for those of the tables' files.
pub fn build_without_tables(
    configuration: &ProfileConfiguration,
    directories: &PluginDirectories,
) -> Result<Profile, Vec<RegistryError>> {
    build_from(configuration, directories, false)
}

/// The files in which [`build`] looks for the plugins of a profile, up to the first that exists for each. Those that do not exist
/// are included: the profile may be usable once they do.
pub fn library_files(configuration: &ProfileConfiguration, directories: &PluginDirectories) -> Vec<PathBuf> {
    let libraries = Libraries::new(configuration, directories);
    let names: BTreeSet<&str> = configuration.plugin_names().collect();
    let mut files = Vec::new();
    for name in names {
        match libraries.locate(name).filter(|located| located.is_given) {
            Some(located) => files.push(located.path),
            None => {
                for file in libraries.directories().candidates(name) {
                    let is_found = file.is_file();
                    files.push(file);
                    if is_found {
                        break;
                    }
                }
            }
        }
    }
    files
}

fn build_from(
    configuration: &ProfileConfiguration,
    directories: &PluginDirectories,
    reads_tables: bool,
) -> Result<Profile, Vec<RegistryError>> {
    let mut registry = Registry {
        configuration,
        libraries: Libraries::new(configuration, directories),
        plugins: BTreeMap::new(),
        errors: Vec::new(),
    };
    // Errors are collected in `registry`, so every step runs even if an earlier one failed.
    let filters = registry.all(configuration.filters.as_deref().unwrap_or(&[]), "filters", "Filter");
    let scores = registry.scores();
    let select = registry.select();
    let assign = registry.required(configuration.assign.as_deref(), "assign");
    let assign = registry.all(&assign, "assign", "Assign");
    let strategies = registry.strategies(&assign);
    let pace = registry.pace();
    registry.report_unused();
    let always = filters
        .iter()
        .chain(scores.iter().map(|(plugin, _)| plugin))
        .chain(&select);
    let declarations = Declarations {
        strategies: declarations(&assign, &strategies),
        plugins: always.map(|plugin| plugin.name().to_owned()).collect(),
    };
    let instances: Vec<Arc<PluginInstance>> = registry.plugins.values().flatten().cloned().collect();
    let uses = TableUses::new(instances.iter().map(Arc::as_ref), configuration, &mut registry.errors);
    let tables = if reads_tables { registry.tables() } else { Vec::new() };
    let loaded = reads_tables.then_some(&tables[..]);
    let pricing = Pricing::new(configuration, loaded, &mut registry.errors);
    let tables = (reads_tables && !uses.is_empty()).then(|| uses.provide(tables));
    // A table that is incomplete would be refused for what it lacks.
    if let (Some(tables), true) = (&tables, registry.errors.is_empty()) {
        registry.errors.extend(refused_rows(&instances, &uses, tables));
    }
    registry.join_missing();
    match registry.errors.is_empty() {
        true => Ok(Profile::new(ProfileParts {
            name: configuration.name.clone(),
            filters,
            scores,
            select,
            pace,
            declarations,
            strategies,
            unlisted: UnlistedPlugins::new(
                registry.libraries.directories().clone(),
                assign.iter().map(|plugin| plugin.name().to_owned()),
            ),
            scheduler_name: match configuration.scheduler_name.as_deref() {
                None | Some("") => DEFAULT_SCHEDULER.to_owned(),
                Some(name) => name.to_owned(),
            },
            plan_options: PlanOptions {
                seed: configuration.seed.unwrap_or(0),
                component_sets: configuration.multiple_pod_templates.unwrap_or(false),
                affinity_groups_as_tiers: configuration.affinity_groups == Some(AffinityGroups::Tiers),
                strategy_override: None,
                // Set by the profile, which knows its plugins' needs and promises.
                metadata: false,
                enforced_affinity: Enforced::default(),
            },
        })
        .reading(uses, tables)
        .priced(pricing)),
        false => Err(registry.errors),
    }
}

/// Name of Karmada's own scheduler, and the default for policies that name none.
const DEFAULT_SCHEDULER: &str = "default-scheduler";

/// Declarations of the strategies in the order of the profile's plugins, each from the plugin that serves the strategy.
fn declarations(assign: &[Arc<PluginInstance>], strategies: &BTreeMap<String, StrategyPlugin>) -> Vec<Declaration> {
    let served = assign.iter().flat_map(|plugin| {
        let library = plugin.library();
        let own = library.strategies().into_iter();
        let own = own.filter(|name| {
            strategies
                .get(*name)
                .is_some_and(|server| Arc::ptr_eq(server.plugin(), plugin))
        });
        own.map(|name| Declaration {
            strategy: name.to_owned(),
            plugin: plugin.name().to_owned(),
            lists: library.rule_lists().to_vec(),
            refuses_priorities: library.features_of(name) & (feature::NO_PRIORITIES | feature::DUPLICATES) != 0,
            respects_capacity: library.features_of(name) & feature::RESPECTS_CAPACITY != 0,
        })
    });
    served.collect()
}

/// Why a plugin cannot be left out if it fails; `None` if it can.
fn irreplaceable(plugin: &PluginInstance) -> Option<&'static str> {
    let enforced = plugin.enforced_affinity();
    if plugin.enforces_spread() {
        Some("it enforces spread constraints")
    } else if enforced.affinity || enforced.anti_affinity {
        Some("it enforces workload affinity")
    } else {
        None
    }
}

/// The columns of a table that plugins read, as a profile declares them, and which it lacks: one error names them all, in place of one
/// error for each.
fn columns_that_are_missing(of: &str, errors: &mut Vec<RegistryError>) -> Vec<String> {
    let mut columns = BTreeSet::new();
    errors.retain(|error| match error {
        RegistryError::TableColumnNotProvided {
            table,
            column,
            column_type,
            ..
        } if table == of => {
            columns.insert(tables::line(column, *column_type));
            false
        }
        _ => true,
    });
    columns.into_iter().collect()
}

impl Registry<'_> {
    fn required<T: Clone>(&mut self, value: Option<&[T]>, key: &'static str) -> Vec<T> {
        if value.is_none() {
            self.errors.push(RegistryError::Missing {
                profile: self.configuration.name.clone(),
                key,
            });
        }
        value.unwrap_or(&[]).to_vec()
    }

    fn all(&mut self, names: &[String], list: &'static str, point: &'static str) -> Vec<Arc<PluginInstance>> {
        let mut found = Vec::new();
        for (index, name) in names.iter().enumerate() {
            if !self.is_second(list, names.iter(), index) {
                found.extend(self.plugin(name, point));
            }
        }
        found
    }

    /// True if a list names the plugin at this index before, which is reported.
    fn is_second<'n>(
        &mut self,
        list: &'static str,
        mut names: impl Iterator<Item = &'n String> + Clone,
        index: usize,
    ) -> bool {
        let name = names.clone().nth(index);
        let is_second = names
            .position(|known| Some(known) == name)
            .is_some_and(|first| first < index);
        if let (true, Some(name)) = (is_second, name) {
            let plugin = name.clone();
            self.errors.push(RegistryError::ListedTwice { list, plugin, index });
        }
        is_second
    }

    /// If no directory holds any plugin, that is one problem and not one per plugin.
    fn join_missing(&mut self) {
        let is_missing = |error: &RegistryError| matches!(error, RegistryError::NotFound { .. });
        let missing = self.errors.iter().filter(|error| is_missing(error)).count();
        if missing < 2 || !self.libraries.directories().list().is_empty() {
            return;
        }
        self.errors.retain(|error| !is_missing(error));
        let searched = self.libraries.directories().iter().map(ToOwned::to_owned).collect();
        self.errors.insert(0, RegistryError::NothingFound { searched });
    }

    fn scores(&mut self) -> Vec<(Arc<PluginInstance>, i64)> {
        let entries = self.configuration.scores.clone().unwrap_or_default();
        let names = entries.iter().map(|entry| &entry.plugin);
        let mut found = Vec::new();
        for (index, entry) in entries.iter().enumerate() {
            if !self.is_second("scores", names.clone(), index) {
                found.extend(self.plugin(&entry.plugin, "Score").map(|plugin| (plugin, entry.weight)));
            }
        }
        found
    }

    /// The selectors. An empty list counts as a missing one.
    fn select(&mut self) -> Vec<Arc<PluginInstance>> {
        let names = self.configuration.select.as_deref().filter(|names| !names.is_empty());
        let names = self.required(names, "select");
        let mut selectors: Vec<Arc<PluginInstance>> = Vec::new();
        for (index, name) in names.iter().enumerate() {
            if self.is_second("select", names.iter(), index) {
                continue;
            }
            let Some(selector) = self.plugin(name, "Select") else {
                continue;
            };
            if let Some(enforcing) = selectors.iter().find(|known| known.enforces_spread()) {
                self.errors.push(RegistryError::AfterSpread {
                    enforcing: enforcing.name().to_owned(),
                    follower: selector.name().to_owned(),
                    index,
                });
            }
            selectors.push(selector);
        }
        selectors
    }

    /// The pace, which a profile with a table for moves must name.
    fn pace(&mut self) -> Option<Arc<PluginInstance>> {
        let moves = self.configuration.moves.as_ref()?;
        if let Some(key) = moves.obstacle() {
            self.errors.push(RegistryError::NothingMoves { key });
        }
        let name = self.required(moves.pace.as_ref().map(std::slice::from_ref), "moves.pace");
        self.plugin(name.first()?, "Pace")
    }

    /// Returns a plugin that serves `point`, and constructs it on first use. Records an error and returns `None` if
    /// that fails.
    fn plugin(&mut self, name: &str, point: &'static str) -> Option<Arc<PluginInstance>> {
        if !self.plugins.contains_key(name) {
            let made = self.make(name);
            let made = made.map_err(|error| self.errors.push(error.of(name))).ok();
            self.plugins.insert(name.to_owned(), made);
        }
        let plugin = self.plugins.get(name)?.clone()?;
        let bit = match point {
            "Filter" => kind::FILTER,
            "Score" => kind::SCORE,
            "Select" => kind::SELECT,
            "Pace" => kind::PACE,
            _ => kind::ASSIGN,
        };
        if plugin.skips_failures() && !matches!(point, "Filter" | "Score") {
            self.errors.push(RegistryError::NotSkippable {
                plugin: name.to_owned(),
                reason: "the profile uses it for more than filters and scores",
            });
        }
        if plugin.library().serves(bit) {
            return Some(plugin);
        }
        self.errors.push(RegistryError::WrongExtensionPoint {
            plugin: name.to_owned(),
            point,
            serves: plugin.library().extension_points(),
        });
        None
    }

    fn make(&mut self, name: &str) -> Result<Arc<PluginInstance>, RegistryError> {
        let located = self
            .libraries
            .locate(name)
            .ok_or_else(|| self.libraries.not_found(name))?;
        let open = self.libraries.open(name, &located)?;
        self.check_twin(open.library())?;
        let plugin = open.construct(&self.configuration.configuration_of(name))?;
        let table = self.configuration.plugin.get(name);
        let plugin = plugin.with_on_error(table.and_then(|table| table.on_error).unwrap_or(OnError::Fail));
        if plugin.skips_failures()
            && let Some(promise) = irreplaceable(&plugin)
        {
            return Err(RegistryError::NotSkippable {
                plugin: plugin.name().to_owned(),
                reason: promise,
            });
        }
        Ok(Arc::new(plugin))
    }

    /// A plugin that is named both by name and by path would be constructed twice.
    fn check_twin(&self, library: &PluginLibrary) -> Result<(), RegistryError> {
        let mut known = self.plugins.values().flatten();
        match known.find(|known| known.name() == library.name()) {
            Some(twin) => Err(RegistryError::DuplicateName {
                plugin: library.name().to_owned(),
                first: twin.library().path().to_owned(),
                second: library.path().to_owned(),
            }),
            None => Ok(()),
        }
    }

    /// Maps each strategy to its plugin: the one that the profile's `strategies` names, or else the only one that
    /// serves it.
    fn strategies(&mut self, assign: &[Arc<PluginInstance>]) -> BTreeMap<String, StrategyPlugin> {
        let mut strategies: BTreeMap<String, StrategyPlugin> = BTreeMap::new();
        for (strategy, name) in &self.configuration.strategies {
            let plugin = assign.iter().find(|plugin| plugin.name() == name);
            let serves = plugin.map(|plugin| plugin.library().strategies());
            match plugin {
                Some(plugin) if plugin.library().strategies().contains(&strategy.as_str()) => {
                    strategies.insert(strategy.clone(), StrategyPlugin::new(strategy, Arc::clone(plugin)));
                }
                _ => self.errors.push(RegistryError::NotAStrategyOf {
                    strategy: strategy.clone(),
                    plugin: name.clone(),
                    serves,
                }),
            }
        }
        for plugin in assign {
            for strategy in plugin.library().strategies() {
                if self.configuration.strategies.contains_key(strategy) {
                    continue;
                }
                match strategies.get(strategy) {
                    Some(first) => self.errors.push(RegistryError::TwoForStrategy {
                        strategy: strategy.to_owned(),
                        first: first.plugin().name().to_owned(),
                        second: plugin.name().to_owned(),
                    }),
                    None => {
                        let served = StrategyPlugin::new(strategy, Arc::clone(plugin));
                        strategies.insert(strategy.to_owned(), served);
                    }
                }
            }
        }
        strategies
    }

    /// The tables of the profile. A broken one is an error even if no plugin reads it.
    fn tables(&mut self) -> Vec<LoadedTable> {
        let mut loaded = Vec::new();
        for (name, configuration) in &self.configuration.table {
            let incomplete = |key, columns| RegistryError::TableIncomplete {
                table: name.clone(),
                key,
                columns,
            };
            let Some(file) = &configuration.file else {
                self.errors.push(incomplete("file", Vec::new()));
                continue;
            };
            if configuration.columns.is_empty() {
                let columns = columns_that_are_missing(name, &mut self.errors);
                self.errors.push(incomplete("columns", columns));
                continue;
            }
            match LoadedTable::read(name, file, configuration) {
                Ok(table) => loaded.push(table),
                Err(errors) => self.errors.extend(errors.into_iter().map(|error| RegistryError::Table {
                    table: name.clone(),
                    error: Box::new(error),
                })),
            }
        }
        loaded
    }

    fn report_unused(&mut self) {
        for name in self.configuration.plugin.keys() {
            if !self.plugins.contains_key(name) {
                self.errors.push(RegistryError::Unused {
                    profile: self.configuration.name.clone(),
                    plugin: name.clone(),
                });
            }
        }
    }
}
