//! A host with a profile, and the same path from manifests to decisions as in `divvy schedule`.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use divvy_isolation::WorkerProgram;
use divvy_karmada::detector::{Binding, Detected};
use divvy_karmada::workloads::WorkloadKinds;
use divvy_loader::PluginDirectories;
use divvy_manifests::{Manifests, ReadOptions, read_text};
use divvy_profile::{Isolation, ProfileConfiguration, ProfileSource};
use divvy_scheduler::decision::{Decision, Outcome, Scheduler, decide};
use divvy_scheduler::fleet::{Fleet, FleetSnapshot};
use divvy_scheduler::plan::Plan;
use divvy_scheduler::profile::{Profile, RegistryError, registry};
use serde_json::Value;

use crate::artifacts;
use crate::manifests::list;

/// Environment variable with which every plugin of every host has a process of its own.
pub(crate) const ISOLATED: &str = "DIVVY_TESTS_ISOLATED";

/// Names the program that workers run. From then on, each plugin that is not bundled gets a worker unless its profile says otherwise.
pub(crate) fn name_worker_program() {
    divvy_isolation::set_program(WorkerProgram {
        path: artifacts::workspace().binary("divvy").to_owned(),
        arguments: vec!["plugin-worker".to_owned()],
        deadline: Duration::from_secs(10),
    });
}

/// The profile, in which every plugin runs in this process unless it says otherwise.
fn placed(configuration: &ProfileConfiguration) -> ProfileConfiguration {
    name_worker_program();
    let usual = match std::env::var_os(ISOLATED) {
        Some(_) => Isolation::Process,
        None => Isolation::None,
    };
    let mut placed = configuration.clone();
    for name in configuration.plugin_names() {
        let table = placed.plugin.entry(name.to_owned()).or_default();
        table.isolation.get_or_insert(usual);
    }
    placed
}

/// A profile whose plugins are constructed from the libraries built for the tests.
#[derive(Debug)]
pub(crate) struct Host {
    profile: Arc<Profile>,
}

impl Host {
    /// The built-in profile, constructed once.
    pub(crate) fn built_in() -> &'static Self {
        static BUILT_IN: LazyLock<Host> = LazyLock::new(|| Host::extending(""));
        &BUILT_IN
    }

    /// True if the built-in profile has the plugin.
    pub(crate) fn has_built_in(plugin: &str) -> bool {
        let mut plugins = Self::built_in().profile().plugins();
        plugins.any(|known| known.name() == plugin)
    }

    /// The built-in profile with these lines of TOML added.
    #[track_caller]
    pub(crate) fn extending(lines: &str) -> Self {
        Self::try_extending(lines).unwrap_or_else(|errors| {
            let messages: Vec<String> = errors.iter().map(ToString::to_string).collect();
            panic!("{}", messages.join("\n"))
        })
    }

    /// The built-in profile with these lines of TOML added, or its errors.
    pub(crate) fn try_extending(lines: &str) -> Result<Self, Vec<RegistryError>> {
        let mut configuration = configuration(&format!("extends = 'default'\n{lines}"));
        name_libraries(&mut configuration);
        Self::new(&configuration, &PluginDirectories::default())
    }

    /// The built-in profile with these filters added.
    #[track_caller]
    pub(crate) fn with_filters(added: &[&str]) -> Self {
        Self::extending(&filters_with(added))
    }

    /// An unmodified profile, whose plugins are searched for in these directories.
    pub(crate) fn new(
        configuration: &ProfileConfiguration,
        directories: &PluginDirectories,
    ) -> Result<Self, Vec<RegistryError>> {
        Ok(Self {
            profile: Arc::new(registry::build(&placed(configuration), directories)?),
        })
    }

    /// The profile with its constructed plugins, to keep.
    pub(crate) fn shared(&self) -> Arc<Profile> {
        Arc::clone(&self.profile)
    }

    /// The profile with its constructed plugins.
    pub(crate) fn profile(&self) -> &Profile {
        &self.profile
    }

    /// A new scheduler with this profile.
    pub(crate) fn scheduler(&self) -> Scheduler {
        Scheduler::new(Arc::clone(&self.profile))
    }

    /// The plan for the only binding in a manifest.
    #[track_caller]
    pub(crate) fn plan(&self, manifest: &str) -> Plan {
        let (bindings, _) = read(manifest);
        assert_eq!(bindings.len(), 1);
        let plan = self.scheduler().plan(&bindings[0]);
        plan.as_ref().clone().unwrap_or_else(|error| panic!("{error}"))
    }

    /// The decisions on the bindings in a manifest, sorted by name.
    #[track_caller]
    pub(crate) fn decide_text(&self, manifest: &str) -> Vec<Decision> {
        let (bindings, fleet) = read(manifest);
        decide(&mut self.scheduler(), &bindings, &fleet)
    }

    /// The decisions on these objects, sorted by name.
    #[track_caller]
    pub(crate) fn decide(&self, objects: impl IntoIterator<Item = Value>) -> Vec<Decision> {
        self.decide_text(&list(objects))
    }

    /// Schedules the only binding among these objects with `uids` different UIDs, which determine ties. Returns the
    /// number of occurrences of each result, as counts in the order of `names`.
    #[track_caller]
    pub(crate) fn results_by_uid(
        &self,
        objects: impl IntoIterator<Item = Value>,
        names: &[&str],
        uids: u32,
    ) -> BTreeMap<Vec<i64>, u32> {
        let (mut bindings, fleet) = read(&list(objects));
        assert_eq!(bindings.len(), 1);
        let mut binding = bindings.remove(0);
        let mut scheduler = self.scheduler();
        let mut results = BTreeMap::new();
        for number in 0..uids {
            binding.object.metadata.uid = format!(
                "6f1c{number:04x}-3bd0-4f6f-9d0c-{:012x}",
                number.wrapping_mul(2_654_435_761)
            );
            let decision = scheduler.schedule(&binding, &fleet);
            let targets = scheduled(&decision);
            let counts = names.iter().map(|name| targets.get(name).copied().unwrap_or(0));
            *results.entry(counts.collect()).or_default() += 1;
        }
        results
    }

    /// The decision on the only binding in a manifest, as text.
    #[track_caller]
    pub(crate) fn told_text(&self, manifest: &str) -> String {
        let decisions = self.decide_text(manifest);
        let [decision] = decisions.as_slice() else {
            panic!("expected one binding: {decisions:?}");
        };
        told(decision)
    }

    /// The decision on the only binding among these objects, as text.
    #[track_caller]
    pub(crate) fn told(&self, objects: impl IntoIterator<Item = Value>) -> String {
        self.told_text(&list(objects))
    }
}

/// The bindings and the clusters in a manifest.
#[track_caller]
pub(crate) fn read(manifest: &str) -> (Vec<Binding>, FleetSnapshot) {
    let (manifests, detected) = detected(manifest);
    let mut fleet = Fleet::new(false);
    fleet.extend(manifests.clusters.iter().map(|cluster| &cluster.object));
    (detected.bindings, fleet.snapshot())
}

/// A manifest and the bindings detected in it.
#[track_caller]
pub(crate) fn detected(manifest: &str) -> (Manifests, Detected) {
    let mut manifests = read_text("manifest.yaml", manifest, &ReadOptions::default());
    assert!(manifests.problems.is_empty(), "{:?}", manifests.problems);
    let detected = manifests.detect(WorkloadKinds::default());
    (manifests, detected)
}

/// A decision as text: `a=3 b=2`, or the outcome and its message.
pub(crate) fn told(decision: &Decision) -> String {
    match &decision.outcome {
        Outcome::Scheduled(targets) => {
            let parts: Vec<String> = targets
                .iter()
                .map(|(cluster, replicas)| format!("{cluster}={replicas}"))
                .collect();
            parts.join(" ")
        }
        Outcome::Skipped(reason) => format!("Skipped: {reason}"),
        Outcome::Failed(error) => format!("{}: {error}", error.kind()),
    }
}

/// The replicas of a result by cluster name.
///
/// # Panics
///
/// Panics if the binding was not scheduled.
#[track_caller]
pub(crate) fn scheduled(decision: &Decision) -> BTreeMap<&str, i64> {
    match &decision.outcome {
        Outcome::Scheduled(targets) => targets.iter().map(|(name, count)| (name.as_str(), *count)).collect(),
        _ => panic!("{}: {}", decision.binding, told(decision)),
    }
}

/// A profile named `test` with these lines.
#[track_caller]
pub(crate) fn configuration(lines: &str) -> ProfileConfiguration {
    let text = format!("[[profile]]\nname = 'test'\n{lines}");
    let source = ProfileSource::parse("profile.toml".into(), &text);
    source.profile(None).unwrap_or_else(|error| panic!("{error}"))
}

/// The line of a profile with the filters of the built-in profile and these.
pub(crate) fn filters_with(added: &[&str]) -> String {
    let built_in = Host::built_in().profile();
    let mut filters: Vec<String> = built_in.filters().map(|plugin| plugin.name().to_owned()).collect();
    filters.extend(added.iter().map(|&name| name.to_owned()));
    format!("filters = {filters:?}\n")
}

/// Sets the library of every plugin that the profile uses without naming a library: the bundled plugin with that name,
/// or the fixture if there is none.
pub(crate) fn name_libraries(configuration: &mut ProfileConfiguration) {
    let folders = artifacts::plugin_folders();
    let used: Vec<String> = configuration.plugin_names().map(str::to_owned).collect();
    // A name with a slash is already a path.
    for name in used.into_iter().filter(|name| !name.contains('/')) {
        let table = configuration.plugin.entry(name.clone()).or_default();
        if table.path.is_none() {
            let library = if folders.contains(&name) {
                artifacts::plugin(&name)
            } else {
                artifacts::fixture(&name)
            };
            table.path = Some(library.to_owned());
        }
    }
}
