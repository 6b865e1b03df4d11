//! The data behind every form of the report: bindings, each with its decision, and the fleet and profile they refer to.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

use divvy_burst::Share as BurstShare;
use divvy_command::exit::Exit;
use divvy_command::text::counted;
use divvy_forecast::cost::Costs;
use divvy_forecast::document::{ClusterRow, Totals};
use divvy_forecast::planned::CouldPlace;
use divvy_forecast::situation::{Assignment, assigned};
use divvy_forecast::verdict::Outcomes;
use divvy_karmada::detector::Binding;
use divvy_loader::PluginLibrary;
use divvy_scheduler::decision::{Decision, Outcome, Partial};
use divvy_scheduler::fleet::FleetSnapshot;
use divvy_scheduler::profile::Profile;

use super::binding_errors::BindingError;
use super::clusters::names::Names;
use super::clusters::shares::{Share, shares};
use super::clusters::sums::Sums;
use super::clusters::targets::Target;
use super::costs::Pricer;
use super::locations::{self, FaultLocation};

/// Input of tables, JSON and YAML.
#[derive(Debug)]
pub(crate) struct Report<'a> {
    /// The bindings, sorted by `<namespace>/<name>`; with `--top`, the worst ones.
    pub(crate) entries: Vec<Entry<'a>>,
    /// The bindings that `--top` leaves out. They count.
    pub(crate) beyond_top: Vec<Entry<'a>>,
    /// The clusters that were scheduled against, with their names.
    pub(crate) names: Names<'a>,
    /// The profile that decided.
    pub(crate) profile: ProfileSummary,
    /// Strategy that divides every binding, regardless of its policy.
    pub(crate) strategy: Option<String>,
    /// True if each result takes its new replicas from the capacity that later ones see.
    pub(crate) assumes: bool,
    /// Replicas and resources of the clusters before and after; empty unless they are shown.
    pub(crate) clusters: Vec<ClusterRow>,
    /// Costs of all clusters; `None` without prices, or if `clusters` is empty.
    pub(crate) cost: Option<Costs>,
    /// Prices with which costs of bindings are counted.
    pub(crate) pricer: Option<Pricer<'a>>,
    /// Replicas of all results that clusters gain although they do not fit, and the clusters that are full.
    pub(crate) capacity: Totals,
    /// What moves of others would place of what waits for room.
    pub(crate) could_place: Option<CouldPlace>,
    /// What one plan for all bindings has placed; `None` if they are decided one after another.
    pub(crate) jointly: Option<Jointly>,
    /// Number of bindings that were decided and are not shown.
    pub(crate) hidden: usize,
    /// Objects of the input that cannot be read and are left out.
    pub(crate) left_out: usize,
    /// True if data for programs contain the explanations.
    pub(crate) explains: bool,
}

/// Prints entries of a report. It is called for all of them at once, or for some after the others.
pub(crate) type Print<'p> = &'p mut dyn FnMut(&[Entry<'_>]) -> io::Result<()>;

/// What one plan for all bindings has placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Jointly {
    /// Bindings that would wait for room if all were decided one after another, and that a plan may place.
    pub(crate) waiting: usize,
    /// Of these, the bindings that the plan places.
    pub(crate) placed: usize,
    /// Bindings that have all their replicas one after another, and wait so that others need not.
    pub(crate) giving_way: usize,
    /// True if the plan has changed any result.
    pub(crate) is_changed: bool,
}

/// Facts about the profile that reports print.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProfileSummary {
    /// Name, as in its file.
    pub(crate) name: String,
    /// Seed with which ties are broken.
    pub(crate) seed: u64,
    /// Scheduler whose bindings it decides; bindings of other schedulers are marked.
    pub(crate) scheduler_name: String,
    /// Plugin that serves each strategy, as `<plugin> <version>`.
    pub(crate) strategies: BTreeMap<String, String>,
    /// All other plugins, as `<plugin> <version>`, in the order of the cycle.
    pub(crate) others: Vec<String>,
    /// Weight of each Score plugin.
    pub(crate) weights: BTreeMap<String, i64>,
    /// Number of Select plugins.
    pub(crate) selectors: usize,
}

/// A decision, with the clusters of its result apart.
#[derive(Debug, Clone)]
pub(crate) struct Decided {
    /// The decision; if the binding was scheduled, without clusters and figures.
    pub(crate) decision: Decision,
    /// The clusters of the result.
    pub(crate) targets: Box<[Target]>,
    /// Its share of the room, if all bindings are decided as one plan that may place it.
    pub(crate) share: Option<BurstShare>,
}

/// A binding and its decision.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<'a> {
    pub(crate) binding: &'a Binding,
    /// The decision without its clusters, which are in [`Self::targets`].
    pub(crate) decision: &'a Decision,
    pub(crate) targets: &'a [Target],
    pub(crate) share: Option<BurstShare>,
}

impl ProfileSummary {
    /// Summarises a loaded profile.
    pub(crate) fn of(profile: &Profile) -> Self {
        let shown = |library: &PluginLibrary| format!("{} {}", library.name(), library.version());
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
            selectors: profile.selectors().count(),
            weights: profile
                .scores()
                .map(|(plugin, weight)| (plugin.name().to_owned(), weight))
                .collect(),
            strategies,
        }
    }
}

impl<'a> Report<'a> {
    /// Pairs each binding with its decision. Both slices are in the same order.
    pub(crate) fn new(
        bindings: &'a [Binding],
        decisions: &'a [Decided],
        fleet: &'a FleetSnapshot,
        profile: ProfileSummary,
    ) -> Self {
        let entries = bindings.iter().zip(decisions);
        let mut entries: Vec<Entry<'a>> = entries
            .map(|(binding, decided)| Entry {
                binding,
                decision: &decided.decision,
                targets: &decided.targets,
                share: decided.share,
            })
            .collect();
        // Sort by the printed text: it puts `a-b/c` before `a/b`, while sorting by namespace would reverse them.
        entries.sort_by(|left, right| left.decision.binding.cmp(&right.decision.binding));
        Self {
            entries,
            beyond_top: Vec::new(),
            names: Names::of(fleet),
            profile,
            strategy: None,
            assumes: false,
            clusters: Vec::new(),
            cost: None,
            pricer: None,
            capacity: Totals::default(),
            could_place: None,
            jointly: None,
            hidden: 0,
            left_out: 0,
            explains: true,
        }
    }

    /// Shows only some bindings.
    pub(crate) fn retain(&mut self, is_shown: impl Fn(&Binding) -> bool) {
        let before = self.entries.len();
        self.entries.retain(|entry| is_shown(entry.binding));
        self.hidden += before - self.entries.len();
    }

    /// Keeps at most this many bindings, the worst first: those that fail, then those that miss the most replicas, then those that change
    /// the most.
    pub(crate) fn keep_top(&mut self, most: usize) {
        let names = &self.names;
        self.entries.sort_by_cached_key(|entry| {
            let (before, after) = (assigned(entry.binding), entry.after(names));
            let count = |assignment: &Assignment, cluster: &String| assignment.get(cluster).copied().unwrap_or(0);
            let clusters: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
            let changes = clusters
                .into_iter()
                .map(|cluster| count(&after, cluster).abs_diff(count(&before, cluster)));
            Reverse((entry.exit(), entry.missing(), changes.sum::<u64>()))
        });
        self.beyond_top = self.entries.split_off(most.min(self.entries.len()));
    }

    /// The bindings that count, also those that `--top` leaves out.
    pub(crate) fn counted(&self) -> impl Iterator<Item = &Entry<'a>> {
        self.entries.iter().chain(&self.beyond_top)
    }

    /// Replicas of all bindings, and the clusters that have them.
    pub(crate) fn sums(&self) -> Sums<'_> {
        let mut sums = Sums::new(&self.names);
        for entry in self.counted() {
            sums.add(&entry.shares(&self.names), entry.has_last());
        }
        sums
    }

    /// Number of bindings per outcome.
    pub(crate) fn outcomes(&self) -> Outcomes {
        let mut outcomes = Outcomes {
            beyond_capacity: self.capacity.beyond_capacity,
            ..Outcomes::default()
        };
        for entry in self.counted() {
            outcomes.missing += entry.missing();
            let count = match entry.decision.outcome.word() {
                "Scheduled" => &mut outcomes.scheduled,
                "Skipped" => &mut outcomes.skipped,
                "NoClusterFit" => &mut outcomes.no_cluster_fit,
                "Unschedulable" => &mut outcomes.unschedulable,
                _ => &mut outcomes.errors,
            };
            *count += 1;
        }
        outcomes
    }

    /// Errors of these bindings that are not outcomes of scheduling.
    pub(crate) fn errors(&self, of: impl Fn(&Binding) -> bool) -> Vec<BindingError> {
        let entries = self.entries.iter();
        let failed = entries.filter(|entry| entry.exit() >= Exit::Usage && of(entry.binding));
        let errors = failed.map(|entry| BindingError {
            binding: entry.decision.binding.clone(),
            location: entry.location().map(|found| found.all),
            message: entry.message(),
            hint: entry.hint().map(str::to_owned),
            is_warning: false,
        });
        errors.collect()
    }

    /// Exit code of the run: the highest of all bindings.
    pub(crate) fn exit(&self) -> Exit {
        let of_entry = |entry: &Entry<'_>| entry.exit();
        self.entries.iter().map(of_entry).max().unwrap_or_default()
    }
}

impl Jointly {
    /// What the plan has placed, as a sentence.
    pub(crate) fn sentence(&self) -> String {
        if self.waiting == 0 {
            return "decided as one plan: one after another, everything that it may place has room as well".to_owned();
        }
        let waiting = counted(self.waiting, "binding");
        if !self.is_changed {
            return format!("decided one after another: no plan was found that places more ({waiting} without room)");
        }
        let gives_way = match self.giving_way {
            0 => String::new(),
            1 => "; 1 gives way to it".to_owned(),
            more => format!("; {more} give way to it"),
        };
        format!(
            "decided as one plan, which places {} of {waiting} that would have no room one after another{gives_way}",
            self.placed
        )
    }
}

impl<'a> Entry<'a> {
    /// True if the binding was scheduled.
    pub(crate) fn is_scheduled(&self) -> bool {
        matches!(self.decision.outcome, Outcome::Scheduled(_))
    }

    /// Exit code that this binding alone would cause.
    pub(crate) fn exit(&self) -> Exit {
        match &self.decision.outcome {
            Outcome::Scheduled(_) | Outcome::Skipped(_) => Exit::Success,
            Outcome::Failed(error) if error.is_input_fault() => Exit::Usage,
            Outcome::Failed(error) if error.is_plugin_fault() || error.is_defect() => Exit::Internal,
            Outcome::Failed(_) => Exit::Unschedulable,
        }
    }

    /// Clusters of this result with their replicas, sorted by name. Empty unless the binding was scheduled.
    pub(crate) fn clusters<'names>(&self, names: &'names Names<'_>) -> impl Iterator<Item = (&'names str, i64)> {
        let named = |target: &Target| (names.name(target.row), target.replicas);
        self.targets.iter().map(named)
    }

    /// Clusters of this result and of the last one, sorted by name. Empty unless the binding was scheduled.
    pub(crate) fn shares<'names>(&self, names: &'names Names<'_>) -> Vec<Share<'names>>
    where
        'a: 'names,
    {
        if !self.is_scheduled() {
            return Vec::new();
        }
        shares(self.binding, self.targets, names)
    }

    /// Clusters of the binding after this decision: those of the result, or the last ones if it was not scheduled.
    pub(crate) fn after(&self, names: &Names<'_>) -> Assignment {
        match &self.decision.outcome {
            Outcome::Scheduled(_) => self
                .clusters(names)
                .map(|(cluster, replicas)| (cluster.to_owned(), replicas))
                .collect(),
            Outcome::Failed(_) | Outcome::Skipped(_) => assigned(self.binding),
        }
    }

    /// Replicas that the binding asks for and that run nowhere after this decision. A duplicated binding that is not scheduled has all of
    /// them in each copy that it keeps, so that the sum of its last result says whether any is missing.
    pub(crate) fn missing(&self) -> i64 {
        match &self.decision.outcome {
            Outcome::Scheduled(_) => self.decision.partial.as_ref().map_or(0, Partial::missing),
            Outcome::Failed(_) => {
                let last: i64 = self.binding.last().map(|(_, replicas)| replicas).sum();
                (self.binding.replicas() - last).max(0)
            }
            Outcome::Skipped(_) => 0,
        }
    }

    /// True if the binding has a last result.
    pub(crate) fn has_last(&self) -> bool {
        self.binding.last().len() > 0
    }

    /// Reason why the binding was skipped or failed, or has fewer replicas than requested; empty otherwise.
    pub(crate) fn message(&self) -> String {
        self.decision.message()
    }

    /// What the binding could have had of the room and gets, as a sentence.
    pub(crate) fn share_text(&self) -> Option<String> {
        self.share.map(|share| share.to_string())
    }

    /// Locations of what is wrong with an invalid binding.
    pub(crate) fn location(&self) -> Option<FaultLocation> {
        match &self.decision.outcome {
            Outcome::Failed(error) => locations::fault(self.binding, error),
            _ => None,
        }
    }

    /// Suggested fix for a failure, if one is known.
    pub(crate) fn hint(&self) -> Option<&'a str> {
        match &self.decision.outcome {
            Outcome::Failed(error) => error.hint(),
            _ => None,
        }
    }
}

/// Reason why a binding was skipped or failed; empty if it was scheduled.
pub(crate) fn message(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Scheduled(_) => String::new(),
        Outcome::Skipped(reason) => reason.clone(),
        Outcome::Failed(error) => error.to_string(),
    }
}
