//! The plugin under test, in a profile.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use divvy_framework_abi::descriptor::feature;
use divvy_framework_abi::sized::kind;
use divvy_karmada::workloads::WorkloadKinds;
use divvy_loader::{PluginDirectories, PluginLibrary};
use divvy_profile::{Isolation, ProfileConfiguration, ProfileError};
use divvy_scheduler::cycle::CycleError;
use divvy_scheduler::decision::{Decision, Outcome, Scheduler};
use divvy_scheduler::plan::Plan;
use divvy_scheduler::plugin::{Call, CallError, CallObserver, PluginInstance};
use divvy_scheduler::profile::{Profile, RegistryError, Strategy, registry};
use serde::{Deserialize, Serialize};

use crate::case::{self, Case, Situation};
use crate::moves;

/// The plugin under test, in a profile whose other plugins take part in every cycle.
#[derive(Debug)]
pub struct Subject {
    configuration: ProfileConfiguration,
    directories: PluginDirectories,
    plugin: String,
    /// Files and folders that the plugin may read.
    granted: Vec<PathBuf>,
    kinds: WorkloadKinds,
    profile: Mutex<Arc<Profile>>,
    twin: OnceLock<Result<Arc<Profile>, String>>,
    answers: Arc<Answers>,
}

/// Counts the calls that the plugin under test has answered without an error.
#[derive(Debug)]
struct Answers {
    plugin: String,
    count: AtomicU64,
}

impl CallObserver for Answers {
    fn begins(&self, _plugin: &'static str, _call: Call) {}

    fn ends(&self, plugin: &'static str, _call: Call, error: Option<&CallError>) {
        if plugin == self.plugin && error.is_none() {
            self.count.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Evidence of a case about a contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shown {
    /// Nothing: no decision depended on the plugin under test.
    Nothing,
    /// The plugin took part in a decision that gave clusters to the binding, by this strategy.
    Decision(String),
}

/// The plugin under test, as its library describes it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Loaded {
    /// Name of the plugin.
    pub name: String,
    /// Its version.
    pub version: String,
    /// SHA-256 checksum of the file, in hexadecimal.
    pub sha256: String,
    /// Name of the profile.
    pub profile: String,
    /// The profile as TOML, with the plugin's file.
    pub toml: String,
    /// Names of the checks that apply.
    pub checks: Vec<String>,
}

impl Subject {
    /// Loads the plugins of a profile, of which `plugin` is the one under test.
    ///
    /// All run in this process, whatever the profile or the file says, because the checks look at what a plugin does to its process; and
    /// an error of any of them is the binding's, so that `on-error = "skip"` hides none. What `read` of the profile grants to an isolated
    /// plugin, the plugin under test may read here, too.
    ///
    /// # Errors
    ///
    /// The errors of the profile's plugins.
    pub fn new(
        mut configuration: ProfileConfiguration,
        directories: PluginDirectories,
        plugin: &str,
    ) -> Result<Self, Vec<RegistryError>> {
        let own = configuration.plugin.get(plugin);
        let granted = own.map(|table| table.read.clone()).unwrap_or_default();
        let names: Vec<String> = configuration.plugin_names().map(str::to_owned).collect();
        for name in names {
            let table = configuration.plugin.entry(name).or_default();
            table.isolation = Some(Isolation::None);
            (table.deadline, table.worker, table.on_error) = (None, None, None);
            table.read.clear();
        }
        let profile = registry::build(&configuration, &directories)?;
        let answers = Arc::new(Answers {
            plugin: plugin.to_owned(),
            count: AtomicU64::new(0),
        });
        observe(&profile, &answers);
        let interpreter = configuration.resource_interpreter.unwrap_or_default();
        Ok(Self {
            answers,
            granted,
            kinds: WorkloadKinds::new(interpreter, &configuration.workload),
            configuration,
            directories,
            plugin: plugin.to_owned(),
            profile: Mutex::new(Arc::new(profile)),
            twin: OnceLock::new(),
        })
    }

    /// Files and folders that the plugin may read.
    pub(crate) fn granted(&self) -> &[PathBuf] {
        &self.granted
    }

    /// Name of the plugin under test.
    pub fn plugin(&self) -> &str {
        &self.plugin
    }

    /// The profile.
    pub fn configuration(&self) -> &ProfileConfiguration {
        &self.configuration
    }

    /// Cases that the user provides: one per binding in these manifests.
    ///
    /// # Errors
    ///
    /// The first problem of a manifest.
    pub fn cases_from_manifests(&self, name: &str, text: &str, time: i64) -> Result<Vec<Case>, String> {
        case::cases_from_manifests(name, text, &self.kinds, time)
    }

    /// Reads a case as `divvy schedule` would read its manifests.
    ///
    /// # Errors
    ///
    /// The first problem of a manifest, or a message if the binding is missing.
    pub(crate) fn read(&self, case: &Case) -> Result<Situation, String> {
        case.read(&self.kinds, &self.profile())
    }

    /// At most `count` usual cases with their situations: those with few enough clusters, from the end, because the cases at the beginning are
    /// edges. Cases that cannot be read are left out.
    pub(crate) fn usual<'a>(&self, cases: &'a [Case], clusters: usize, count: usize) -> Vec<(&'a Case, Situation)> {
        let small = cases.iter().rev().filter(|case| case.clusters.len() <= clusters);
        small
            .filter_map(|case| Some((case, self.read(case).ok()?)))
            .take(count)
            .collect()
    }

    /// The plan of the binding of a situation; `None` if the binding is invalid or is not scheduled at all.
    pub(crate) fn plan(&self, situation: &Situation) -> Option<Plan> {
        if situation.binding.skip_reason().is_some() {
            return None;
        }
        let plan = self.scheduler().plan(&situation.binding);
        plan.as_ref().as_ref().ok().cloned()
    }

    /// The profile with its plugins. A plugin that is quarantined is constructed again, so that the panics of one case do not
    /// hide the next.
    pub(crate) fn profile(&self) -> Arc<Profile> {
        let mut profile = self.profile.lock().unwrap_or_else(PoisonError::into_inner);
        if profile.plugins().any(PluginInstance::is_quarantined)
            && let Ok(renewed) = self.constructed_again()
        {
            observe(&renewed, &self.answers);
            *profile = renewed;
        }
        Arc::clone(&profile)
    }

    /// The profile with plugins that have not been called yet.
    pub(crate) fn constructed_again(&self) -> Result<Arc<Profile>, String> {
        let built = registry::build(&self.configuration, &self.directories);
        built.map(Arc::new).map_err(|errors| {
            let messages: Vec<String> = errors.iter().map(ToString::to_string).collect();
            messages.join("; ")
        })
    }

    /// The profile with further instances of all plugins, constructed once.
    ///
    /// # Errors
    ///
    /// The plugins cannot be constructed a second time.
    pub(crate) fn twin(&self) -> Result<Arc<Profile>, String> {
        self.twin.get_or_init(|| self.constructed_again()).clone()
    }

    /// A scheduler with the profile.
    pub(crate) fn scheduler(&self) -> Scheduler {
        Scheduler::new(self.profile())
    }

    /// Decides a case. Returns what the decision shows as well.
    ///
    /// # Errors
    ///
    /// The case cannot be read.
    pub(crate) fn decide(&self, case: &Case) -> Result<(Decision, Shown), String> {
        let situation = self.read(case)?;
        Ok(self.decide_shown(&situation))
    }

    /// Decides a case that was read. If the plugin is the profile's pace, it is also asked for the steps of moves to the result; what is
    /// wrong with them, [`Self::pace`] says.
    pub(crate) fn decide_situation(&self, situation: &Situation) -> Decision {
        let mut scheduler = situation.scheduler(self.profile());
        let decision = scheduler.schedule(&situation.binding, &situation.fleet);
        let _other_checks = self.pace(situation, &decision, 2);
        decision
    }

    /// Asks the plugin, if it is the profile's pace, for the steps of so many moves to the result of a decision.
    ///
    /// # Errors
    ///
    /// The first error of a step.
    pub(crate) fn pace(&self, situation: &Situation, decision: &Decision, moves: usize) -> Result<(), CycleError> {
        if !self.paces() {
            return Ok(());
        }
        moves::follow(&self.profile(), situation, decision, moves)
    }

    /// As [`Self::decide_situation`], with what the decision shows.
    pub(crate) fn decide_shown(&self, situation: &Situation) -> (Decision, Shown) {
        let before = self.answers.count.load(Ordering::Relaxed);
        let decision = self.decide_situation(situation);
        let shown = match self.answers.count.load(Ordering::Relaxed) == before {
            true => Shown::Nothing,
            false => shown(&decision),
        };
        (decision, shown)
    }

    /// Strategies of the profile that the plugin serves.
    pub(crate) fn strategies(&self) -> Vec<String> {
        let profile = self.profile();
        let own = profile.strategies().filter(|strategy| self.is_own(strategy.plugin()));
        own.map(|strategy| strategy.name().to_owned()).collect()
    }

    /// True if a strategy that the plugin serves in the profile has a feature.
    pub(crate) fn any_strategy(&self, has: impl Fn(&Strategy<'_>) -> bool) -> bool {
        let profile = self.profile();
        profile
            .strategies()
            .any(|strategy| self.is_own(strategy.plugin()) && has(&strategy))
    }

    /// True if the plugin serves this strategy, and the strategy has a feature.
    pub(crate) fn serves_strategy(&self, name: &str, has: impl Fn(&Strategy<'_>) -> bool) -> bool {
        self.any_strategy(|strategy| strategy.name() == name && has(strategy))
    }

    /// True if the plugin is one of the profile's filters.
    pub(crate) fn filters(&self) -> bool {
        self.profile().filters().any(|plugin| self.is_own(plugin))
    }

    /// True if the plugin is one of the profile's scores.
    pub(crate) fn scores(&self) -> bool {
        self.profile().scores().any(|(plugin, _)| self.is_own(plugin))
    }

    /// True if the plugin is one of the profile's selectors.
    pub(crate) fn selects(&self) -> bool {
        self.profile().selectors().any(|plugin| self.is_own(plugin))
    }

    /// True if the plugin is the profile's pace.
    pub(crate) fn paces(&self) -> bool {
        self.profile().pace().is_some_and(|plugin| self.is_own(plugin))
    }

    /// True if the plugin promises to enforce spread constraints.
    pub(crate) fn enforces_spread(&self) -> bool {
        let profile = self.profile();
        let mut own = profile.selectors().filter(|plugin| self.is_own(plugin));
        own.any(PluginInstance::enforces_spread)
    }

    /// True if the profile calls the plugin at a point, given as a value of [`kind`].
    pub(crate) fn serves(&self, point: u32) -> bool {
        match point {
            kind::FILTER => self.filters(),
            kind::SCORE => self.scores(),
            kind::SELECT => self.selects(),
            kind::ASSIGN => !self.strategies().is_empty(),
            kind::PACE => self.paces(),
            _ => false,
        }
    }

    /// True if the profile calls the plugin at a point and the plugin promises something there, given as a bit of [`feature`];
    /// of its strategies, one that duplicates.
    pub(crate) fn promises_at(&self, point: u32, promise: u64) -> bool {
        if point == kind::ASSIGN {
            return self.any_strategy(|strategy| strategy.duplicates() && features_of(strategy) & promise != 0);
        }
        let promises = self.with_instance(|instance| instance.library().has_at(point, promise));
        self.serves(point) && promises.unwrap_or(false)
    }

    /// Parts of a binding that the plugin acts on at a point at which the profile calls it; 0 for any.
    pub(crate) fn acts_on(&self, point: u32) -> u64 {
        let acts_on = self.with_instance(|instance| instance.library().acts_on(point));
        acts_on.filter(|_| self.serves(point)).unwrap_or(0)
    }

    /// True if the plugin promises something, given as a bit of [`feature`], at any point at which the profile calls it.
    pub(crate) fn promises_anywhere(&self, promise: u64) -> bool {
        let points = [kind::FILTER, kind::SCORE, kind::SELECT, kind::ASSIGN];
        points.into_iter().any(|point| self.promises_at(point, promise))
    }

    /// True if the plugin sees the time of a decision.
    pub(crate) fn needs_time(&self) -> bool {
        self.with_instance(|instance| instance.needs(feature::TIME))
            .unwrap_or(false)
    }

    /// Calls `read` with the plugin's instance; `None` if the profile does not use it.
    pub(crate) fn with_instance<T>(&self, read: impl FnOnce(&PluginInstance) -> T) -> Option<T> {
        let profile = self.profile();
        let mut plugins = profile.plugins();
        plugins.find(|plugin| self.is_own(plugin)).map(read)
    }

    /// The plugin as its library describes it, with the profile; the checks that apply are not listed yet.
    ///
    /// # Errors
    ///
    /// [`ProfileError::Unwritable`] if the profile cannot be written as TOML.
    pub fn describe(&self) -> Result<Loaded, ProfileError> {
        let library = self.with_instance(|instance| instance.library().clone());
        let of = |read: fn(&PluginLibrary) -> &str| library.as_ref().map_or("", read).to_owned();
        Ok(Loaded {
            name: self.plugin.clone(),
            version: of(|library| library.version()),
            sha256: of(PluginLibrary::checksum),
            profile: self.configuration.name.clone(),
            toml: self.configuration.with_absolute_paths().to_toml()?,
            checks: Vec::new(),
        })
    }

    fn is_own(&self, plugin: &PluginInstance) -> bool {
        plugin.name() == self.plugin
    }
}

/// Stands for a panic of a plugin where decisions are compared. The check `panics` reports it, and after three in a row the plugin is in
/// quarantine, which gives another error.
pub(crate) const PANIC: &str = "panic";

/// Features that a strategy's library lists for it: bits of [`feature`].
pub(crate) fn features_of(strategy: &Strategy<'_>) -> u64 {
    strategy.plugin().library().features_of(strategy.name())
}

/// True if two decisions differ, in words, and neither is a panic.
pub(crate) fn differ(first: &str, second: &str) -> bool {
    first != second && first != PANIC && second != PANIC
}

/// Has `answers` count the calls of a profile's plugins.
fn observe(profile: &Profile, answers: &Arc<Answers>) {
    let observer: Arc<dyn CallObserver> = answers.clone();
    profile.observe(&observer);
}

/// Evidence of a decision in which the plugin under test took part.
pub(crate) fn shown(decision: &Decision) -> Shown {
    match (&decision.outcome, decision.plan.as_ref()) {
        (Outcome::Scheduled(targets), Ok(plan)) if !targets.is_empty() => Shown::Decision(plan.strategy.clone()),
        _ => Shown::Nothing,
    }
}

/// The explanation of a decision, for comparing it with another.
pub(crate) fn explanation_of(decision: &Decision) -> String {
    format!("{:?}", decision.explanation)
}

/// A decision in words, with everything that must be the same if the same is decided again.
pub(crate) fn described(decision: &Decision) -> String {
    let outcome = match &decision.outcome {
        Outcome::Scheduled(targets) => {
            let parts: Vec<String> = targets
                .iter()
                .zip(&decision.figures)
                .map(|((cluster, replicas), figures)| match figures.score {
                    0 => format!("{cluster}={replicas}"),
                    score => format!("{cluster}={replicas} (score {score})"),
                })
                .collect();
            match parts.is_empty() {
                true => "no cluster".to_owned(),
                false => shortened(parts),
            }
        }
        Outcome::Skipped(reason) => format!("skipped: {reason}"),
        Outcome::Failed(CycleError::Plugin(CallError::Panic { .. } | CallError::Quarantined { .. })) => {
            return PANIC.to_owned();
        }
        Outcome::Failed(error) => format!("{}: {error}", error.kind()),
    };
    match decision.valid_until {
        None => outcome,
        Some(until) => format!("{outcome}, until {until}"),
    }
}

/// The parts joined; of many, the first ones and a number that differs if any of the others does.
fn shortened(parts: Vec<String>) -> String {
    const SHOWN: usize = 12;
    let Some((first, rest)) = parts.split_at_checked(SHOWN).filter(|(_, rest)| !rest.is_empty()) else {
        return parts.join(" ");
    };
    let sum = divvy_framework_abi::hash::hash_text(&rest.join(" "));
    format!("{} and {} more ({sum:016x})", first.join(" "), rest.len())
}
