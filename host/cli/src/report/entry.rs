//! One binding of a report: what it asked for beside what became of it. What tables and JSON have in common.

use std::collections::{BTreeMap, BTreeSet};

use divvy_karmada::detector::Binding;
use divvy_scheduler::cycle::CycleError;
use divvy_scheduler::fleet::FleetSnapshot;
use divvy_scheduler::scheduler::{Decision, Outcome, Profile, TargetFigures};

use crate::command::Exit;

/// What a report is made of.
#[derive(Debug)]
pub(crate) struct Report<'a> {
    /// The bindings, sorted by `<namespace>/<name>`.
    pub(crate) entries: Vec<Entry<'a>>,
    /// The clusters.
    pub(crate) fleet: &'a FleetSnapshot,
    /// What is said of the profile.
    pub(crate) profile: ProfileSummary,
}

/// What a report says of the profile.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProfileSummary {
    /// Its name.
    pub(crate) name: String,
    /// Its seed.
    pub(crate) seed: u64,
    /// The scheduler that it is for.
    pub(crate) scheduler_name: String,
    /// Strategy to `<plugin> <version>`.
    pub(crate) strategies: BTreeMap<String, String>,
    /// The other plugins, in the order of the cycle: `<plugin> <version>`.
    pub(crate) others: Vec<String>,
    /// The weight of each Score plugin.
    pub(crate) weights: BTreeMap<String, i64>,
}

/// A binding and its decision.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<'a> {
    pub(crate) binding: &'a Binding,
    pub(crate) decision: &'a Decision,
}

/// A cluster of the result, or one that was in the last result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Share<'a> {
    /// The cluster.
    pub(crate) cluster: &'a str,
    /// Its replicas; `None` if it is not in the result.
    pub(crate) replicas: Option<i64>,
    /// Its replicas in the last result; `None` if it was not in it.
    pub(crate) last: Option<i64>,
    /// What the cycle knew of it.
    pub(crate) figures: TargetFigures,
}

impl ProfileSummary {
    /// The summary of a profile that is loaded.
    pub(crate) fn of(profile: &Profile) -> Self {
        let shown =
            |library: &divvy_scheduler::plugin::PluginLibrary| format!("{} {}", library.name(), library.version());
        let strategies: BTreeMap<String, String> = profile
            .strategies()
            .map(|strategy| (strategy.name().to_owned(), shown(strategy.plugin().library())))
            .collect();
        let serving: BTreeSet<&String> = strategies.values().collect();
        let others = profile
            .plugins()
            .map(|plugin| shown(plugin.library()))
            .filter(|plugin| !serving.contains(plugin))
            .collect();
        Self {
            name: profile.name().to_owned(),
            seed: profile.plan_options().seed,
            scheduler_name: profile.scheduler_name().to_owned(),
            others,
            weights: profile
                .scores()
                .map(|(plugin, weight)| (plugin.name().to_owned(), weight))
                .collect(),
            strategies,
        }
    }
}

impl<'a> Report<'a> {
    /// The report on these decisions, one an input.
    pub(crate) fn new(
        bindings: &'a [Binding],
        decisions: &'a [Decision],
        fleet: &'a FleetSnapshot,
        profile: ProfileSummary,
    ) -> Self {
        let mut entries: Vec<Entry<'a>> = bindings
            .iter()
            .zip(decisions)
            .map(|(binding, decision)| Entry { binding, decision })
            .collect();
        // By the text that is printed: `a-b/c` before `a/b`, which sorting by namespace would turn around.
        entries.sort_by(|left, right| left.decision.binding.cmp(&right.decision.binding));
        Self {
            entries,
            fleet,
            profile,
        }
    }

    /// The exit code: the highest that applies to a binding.
    pub(crate) fn exit(&self) -> Exit {
        let of_entry = |entry: &Entry<'_>| entry.exit();
        self.entries.iter().map(of_entry).max().unwrap_or_default()
    }

    /// The region of a cluster; empty if it has none.
    pub(crate) fn region(&self, cluster: &str) -> &'a str {
        let clusters = self.fleet.snapshot().clusters();
        clusters.row(cluster).map_or("", |row| clusters.get(row).region())
    }
}

impl<'a> Entry<'a> {
    /// The exit code that this binding asks for.
    pub(crate) fn exit(&self) -> Exit {
        match &self.decision.outcome {
            Outcome::Scheduled(_) | Outcome::Skipped(_) => Exit::Success,
            Outcome::Failed(CycleError::InvalidBinding { .. }) => Exit::Usage,
            Outcome::Failed(error) if error.is_plugin_fault() => Exit::Internal,
            Outcome::Failed(_) => Exit::Unschedulable,
        }
    }

    /// The clusters of the result and those that the last result had beside them, by name.
    pub(crate) fn shares(&self) -> Vec<Share<'a>> {
        let Outcome::Scheduled(targets) = &self.decision.outcome else {
            return Vec::new();
        };
        let mut shares: BTreeMap<&str, Share<'a>> = BTreeMap::new();
        for (index, (cluster, replicas)) in targets.iter().enumerate() {
            shares.insert(
                cluster,
                Share {
                    cluster,
                    replicas: Some(*replicas),
                    last: None,
                    figures: self.decision.figures.get(index).copied().unwrap_or_default(),
                },
            );
        }
        for (cluster, replicas) in self.binding.last() {
            let share = shares.entry(cluster).or_insert(Share {
                cluster,
                replicas: None,
                last: None,
                figures: TargetFigures::default(),
            });
            // Of a cluster that is listed twice the first entry counts, as in the cycle.
            share.last = share.last.or(Some(replicas));
        }
        shares.into_values().collect()
    }

    /// Whether there was a result before this one.
    pub(crate) fn has_last(&self) -> bool {
        self.binding.last().len() > 0
    }

    /// Why it ended as it did, where there is something to say.
    pub(crate) fn message(&self) -> String {
        match &self.decision.outcome {
            Outcome::Scheduled(_) => String::new(),
            Outcome::Skipped(reason) => reason.clone(),
            Outcome::Failed(error) => error.to_string(),
        }
    }

    /// What would help.
    pub(crate) fn hint(&self) -> Option<&'a str> {
        match &self.decision.outcome {
            Outcome::Failed(error) => error.hint(),
            _ => None,
        }
    }
}

impl Share<'_> {
    /// How many more replicas than in the last result.
    pub(crate) fn growth(&self) -> i64 {
        self.replicas.unwrap_or(0) - self.last.unwrap_or(0)
    }

    /// Replicas that fit after this decision. Shrinkage gives nothing back; what a strategy gave beyond capacity is below
    /// zero.
    pub(crate) fn free(&self) -> Option<i64> {
        self.replicas?;
        self.figures
            .fits_now
            .map(|fits| fits.saturating_sub(self.growth().max(0)))
    }
}
