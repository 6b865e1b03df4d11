//! Compares both futures with each other and with the assigned clusters.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use divvy_karmada::detector::Binding;
use divvy_scheduler::cycle::CycleError;
use divvy_scheduler::plan::PlanInput;
use divvy_scheduler::profile::Profile;
use divvy_scheduler::strategy::{StrategyContext, resolve_strategy};

use crate::capacity::{self, Overflow};
use crate::cluster_view::Placed;
use crate::cost::GoneCosts;
use crate::document::{BindingRow, ClusterCounts, ClusterRow, Rejections, Totals};
use crate::eviction::takes_away;
use crate::future::{Entry, Fate, Future};
use crate::gone::Gone;
use crate::load::{self, Load};
use crate::missing::{Asked, Missing, Running, gone_copies};
use crate::movement::{Ending, Movement, entries};
use crate::situation::{Assignment, Situation, assigned};

/// Type of the condition that a scheduler writes.
const SCHEDULED: &str = "Scheduled";

/// Result of a binding that does not exist on the right side.
const DELETED: &str = "Deleted";
/// Reason why a binding does not exist on the right side.
const GONE: &str = "its workload is deleted, or no policy matches it any more";

/// Differences between the states.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Bindings whose clusters are not the same in all states, or that cannot be scheduled.
    pub bindings: Vec<BindingRow>,
    /// Every cluster.
    pub clusters: Vec<ClusterRow>,
    /// From base to after.
    pub totals: Totals,
    /// From the assigned clusters to base; `None` without a base.
    pub pending: Option<Totals>,
    /// What replicas cost that run nowhere in `after`; `None` without prices.
    pub gone: Option<GoneCosts>,
}

/// One binding in all its states.
struct States<'a> {
    before: Assignment,
    base: Option<&'a Entry>,
    after: &'a Entry,
}

/// The situations of both sides, and the profile of the right one.
#[derive(Clone, Copy)]
struct Sides<'a> {
    original: &'a Situation,
    after: &'a Situation,
    /// True if the left side is decided.
    has_base: bool,
    profile: &'a Profile,
}

/// Compares the futures with the assigned clusters, which are those of `original`.
///
/// Both futures have a binding for each of the original. `after` may have more, from overlays; they have no clusters
/// before.
pub fn compare(
    original: &Situation,
    base: Option<&Future>,
    after: (&Situation, &Future),
    profile: &Profile,
) -> Comparison {
    let (after_situation, after) = after;
    let sides = Sides {
        original,
        after: after_situation,
        has_base: base.is_some(),
        profile,
    };
    let assigned_before: BTreeMap<_, &Binding> = original
        .bindings
        .iter()
        .map(|binding| (binding.identity(), binding.as_ref()))
        .collect();
    let base_entries: Option<BTreeMap<_, &Entry>> = base.map(|base| {
        let entries = base.entries.iter();
        entries.map(|entry| (entry.binding.identity(), entry)).collect()
    });
    let of_entries = |entries: &&[Entry]| {
        let mut part = Part::new(profile);
        for entry in *entries {
            let key = entry.binding.identity();
            let known = assigned_before.get(&key).copied();
            let states = States {
                before: known.map(assigned).unwrap_or_default(),
                base: base_entries.as_ref().and_then(|entries| entries.get(&key).copied()),
                after: entry,
            };
            part.count_down(&entry.targets, &after_situation.failed);
            part.add(&states, known, sides);
        }
        part
    };
    let threads = divvy_parallel::threads();
    let share = after.entries.len().div_ceil(threads.get()).max(1);
    let shares: Vec<&[Entry]> = after.entries.chunks(share).collect();
    let mut all = Part::new(profile);
    for part in divvy_parallel::map(&shares, threads, || of_entries) {
        all.merge(part);
    }
    for entry in deleted(base, after) {
        let before = assigned_before.get(&entry.binding.identity());
        let before = before.map(|binding| assigned(binding)).unwrap_or_default();
        all.delete(entry, before, strategy(entry, profile));
    }
    let gone = all.gone.costs(|name| load::known(original, after_situation, name));
    let base_load = base.map(|_| &all.base_load);
    let mut clusters = load::rows(original, after_situation, &all.before_load, base_load, &all.after_load);
    let no_binding = Arc::new(Assignment::new());
    // The earlier state of each binding: before and base.
    let earlier = |entry: &Entry| {
        let key = entry.binding.identity();
        let before = assigned_before.get(&key).map(|binding| assigned(binding));
        let known = base_entries.as_ref().and_then(|entries| entries.get(&key));
        let base = known.map_or(&no_binding, |base| &base.targets);
        (before.unwrap_or_default(), Arc::clone(base))
    };
    if base.is_some() {
        let add = |overflow: &mut Overflow| {
            for entry in &after.entries {
                let (before, base) = earlier(entry);
                overflow.add(&entry.binding, &before, &base);
            }
        };
        capacity::count_base(&clusters, add, &mut all.pending);
    }
    let add = |overflow: &mut Overflow| {
        for entry in &after.entries {
            let (before, known) = earlier(entry);
            let from = if base.is_some() { &*known } else { &before };
            if *entry.targets != *from {
                overflow.add(&entry.binding, from, &entry.targets);
            }
        }
    };
    capacity::count(&mut clusters, add, &mut all.totals);
    Comparison {
        bindings: all.bindings,
        clusters,
        totals: all.totals,
        pending: base.map(|_| all.pending),
        gone,
    }
}

/// A part of a comparison: some consecutive bindings.
#[derive(Default)]
struct Part {
    bindings: Vec<BindingRow>,
    before_load: Load,
    base_load: Load,
    after_load: Load,
    gone: Gone,
    totals: Totals,
    pending: Totals,
}

impl Part {
    /// Nothing. Costs are counted with the prices of a profile.
    fn new(profile: &Profile) -> Self {
        let load = || Load::new(profile.pricing());
        Self {
            before_load: load(),
            base_load: load(),
            after_load: load(),
            gone: Gone::new(profile.pricing()),
            ..Self::default()
        }
    }

    /// Counts replicas that stay on failed clusters.
    fn count_down(&mut self, targets: &Assignment, failed: &BTreeSet<String>) {
        let down = failed.iter().filter_map(|cluster| targets.get(cluster));
        self.totals.down += down.sum::<i64>();
    }

    fn add(&mut self, states: &States<'_>, known: Option<&Binding>, sides: Sides<'_>) {
        let has_base = sides.has_base;
        let States { before, base, after } = states;
        self.before_load.add(known.unwrap_or(&after.binding), before);
        if let Some(base) = base {
            self.base_load.add(&base.binding, &base.targets);
        }
        self.after_load.add(&after.binding, &after.targets);
        let nothing = Assignment::new();
        let from = match has_base {
            true => base.map_or(&nothing, |base| &*base.targets),
            false => before,
        };
        let is_same = from == before && *from == *after.targets;
        let fails = after.error().is_some() || base.is_some_and(|base| base.error().is_some());
        let lacking = Lacking::of(states, known, has_base, &sides.after.failed);
        self.totals.missing += lacking.after.replicas;
        self.totals.newly_missing += lacking.newly.replicas;
        self.totals.missing_copies += lacking.newly.copies;
        self.pending.missing += lacking.base.replicas;
        self.pending.newly_missing += lacking.pending.replicas;
        self.pending.missing_copies += lacking.pending.copies;
        let lacks_more = lacking.newly.replicas > 0;
        // Nearly all bindings of a large fleet stay as they are and are not shown.
        if is_same && !fails && !lacks_more {
            let replicas: i64 = before.values().sum();
            self.totals.replicas += replicas;
            if base.is_some() {
                self.pending.replicas += replicas;
            }
            return;
        }
        let row = BindingRow {
            missing: lacking.after.replicas,
            newly_missing: lacking.newly.replicas,
            ..row(states, known, sides)
        };
        let earlier = match (has_base, base) {
            (true, Some(base)) => &*base.binding,
            _ => known.unwrap_or(&after.binding),
        };
        self.gone
            .add(earlier, from, &after.targets, &row.movement, ending(after));
        count(states, &row, has_base, &mut self.totals, &mut self.pending);
        if !is_same || after.error().is_some() || lacks_more {
            self.bindings.push(row);
        }
    }

    /// Adds a binding that does not exist on the right side.
    fn delete(&mut self, base: &Entry, before: Assignment, strategy: String) {
        let nothing = Assignment::new();
        let states = States {
            before: before.clone(),
            base: Some(base),
            after: base,
        };
        let lacking = Lacking::of(&states, Some(&base.binding), true, &BTreeSet::new());
        self.pending.missing += lacking.base.replicas;
        self.pending.newly_missing += lacking.pending.replicas;
        self.pending.missing_copies += lacking.pending.copies;
        self.before_load.add(&base.binding, &before);
        self.base_load.add(&base.binding, &base.targets);
        let pending = Movement::between(&before, &base.targets, base.is_duplicated(), ending(base));
        let movement = Movement::between(&base.targets, &nothing, base.is_duplicated(), Ending::Placed);
        self.pending.replicas += before.values().sum::<i64>();
        self.pending.changed += usize::from(!pending.is_nothing());
        self.pending.movement += pending;
        self.gone
            .add(&base.binding, &base.targets, &nothing, &movement, Ending::Placed);
        self.totals.replicas += base.targets.values().sum::<i64>();
        self.totals.changed += usize::from(!movement.is_nothing());
        self.totals.movement += movement;
        self.bindings.push(BindingRow {
            binding: base.binding.key(),
            kind: base.binding.object.scope().kind().to_owned(),
            strategy,
            replicas: 0,
            partial: None,
            result: DELETED.to_owned(),
            message: GONE.to_owned(),
            rejections: None,
            location: None,
            locations: None,
            missing: 0,
            newly_missing: 0,
            newly_unschedulable: false,
            newly_schedulable: false,
            clusters: counts(&before, Some(&base.targets), &nothing),
            movement,
            pending: Some(pending),
        });
    }

    /// Adds the part that follows this one.
    fn merge(&mut self, other: Self) {
        self.bindings.extend(other.bindings);
        self.before_load.merge(other.before_load);
        self.base_load.merge(other.base_load);
        self.after_load.merge(other.after_load);
        self.gone.merge(other.gone);
        self.totals += other.totals;
        self.pending += other.pending;
    }
}

/// Bindings of the base that do not exist on the right side.
fn deleted<'a>(base: Option<&'a Future>, after: &Future) -> Vec<&'a Entry> {
    let Some(base) = base else { return Vec::new() };
    let kept: BTreeSet<_> = after.entries.iter().map(|entry| entry.binding.identity()).collect();
    let entries = base.entries.iter();
    entries
        .filter(|entry| !kept.contains(&entry.binding.identity()))
        .collect()
}

/// Every binding of either side, with its clusters in all states.
pub fn placed<'a>(
    original: &Situation,
    base: Option<&'a Future>,
    after: &'a Future,
    profile: &Profile,
) -> Vec<Placed<'a>> {
    let before: BTreeMap<_, Assignment> = original
        .bindings
        .iter()
        .map(|binding| (binding.identity(), assigned(binding)))
        .collect();
    let gone = deleted(base, after).into_iter().map(|entry| Placed {
        binding: &entry.binding,
        strategy: strategy(entry, profile),
        result: DELETED,
        message: GONE.to_owned(),
        before: before.get(&entry.binding.identity()).cloned().unwrap_or_default(),
        base: Some(&entry.targets),
        after: Assignment::new(),
        explanation: None,
    });
    let gone: Vec<Placed<'_>> = gone.collect();
    let base: Option<BTreeMap<_, &Assignment>> = base.map(|base| {
        let entries = base.entries.iter();
        entries
            .map(|entry| (entry.binding.identity(), &*entry.targets))
            .collect()
    });
    let placed = after.entries.iter().map(|entry| {
        let key = entry.binding.identity();
        Placed {
            binding: &entry.binding,
            strategy: strategy(entry, profile),
            result: result_word(entry),
            message: message(entry),
            before: before.get(&key).cloned().unwrap_or_default(),
            base: base.as_ref().and_then(|base| base.get(&key).copied()),
            after: Assignment::clone(&entry.targets),
            explanation: entry.decision().and_then(|decision| decision.explanation.as_ref()),
        }
    });
    placed.chain(gone).collect()
}

/// The row of a binding, without what is missing.
fn row(states: &States<'_>, known: Option<&Binding>, sides: Sides<'_>) -> BindingRow {
    let Sides { has_base, profile, .. } = sides;
    let States { before, base, after } = states;
    let nothing = Assignment::new();
    let base_targets = base.map_or(&nothing, |base| &*base.targets);
    let from = if has_base { base_targets } else { before };
    let fails = after.error().is_some_and(is_unschedulable);
    let was_unschedulable = match (has_base, base) {
        (true, base) => base.is_some_and(|base| base.error().is_some_and(is_unschedulable)),
        (false, _) => known.is_some_and(is_known_to_be_unschedulable),
    };
    BindingRow {
        binding: after.binding.key(),
        kind: after.binding.object.scope().kind().to_owned(),
        strategy: strategy(after, profile),
        replicas: after.binding.replicas(),
        partial: after.partial(),
        result: result_word(after).to_owned(),
        message: message(after),
        rejections: after.error().and_then(Rejections::of),
        location: None,
        locations: None,
        missing: 0,
        newly_missing: 0,
        newly_unschedulable: fails && !was_unschedulable,
        newly_schedulable: was_unschedulable && matches!(after.fate, Fate::Decided(..)) && after.error().is_none(),
        clusters: counts(before, has_base.then_some(base_targets), &after.targets),
        movement: movement(states, from, sides),
        pending: has_base.then(|| match base {
            Some(base) => Movement::between(before, &base.targets, base.is_duplicated(), ending(base)),
            None => Movement::default(),
        }),
    }
}

/// The movement to the later state. What a pending decision would have placed on clusters that stay is not lost by a failure: it waits.
fn movement(states: &States<'_>, from: &Assignment, sides: Sides<'_>) -> Movement {
    let States { before, after, .. } = states;
    let leaves = |cluster: &str| {
        let exists = |situation: &Situation| situation.clusters.contains_key(cluster);
        let lost = |situation: &Situation| takes_away(situation, cluster, &after.binding);
        // A cluster that goes takes what it was about to get as well, even if its taints were to take it anyway.
        let is_gone = exists(sides.original) && !exists(sides.after);
        is_gone || lost(sides.after) && !lost(sides.original)
    };
    let waits = |cluster: &str, loss: i64| {
        if after.is_cleared || leaves(cluster) {
            return 0;
        }
        let count = |assignment: &Assignment| assignment.get(cluster).copied().unwrap_or(0);
        let running = count(before).min(count(from));
        loss - (running - count(&after.targets)).max(0)
    };
    Movement::with_waiting(from, &after.targets, after.is_duplicated(), ending(after), waits)
}

/// Replicas of one binding that are missing.
#[derive(Debug, Default)]
struct Lacking {
    after: Missing,
    /// In the earlier state of the changes.
    base: Missing,
    /// After the changes, and not before them.
    newly: Missing,
    /// In the base, and not with the assigned clusters.
    pending: Missing,
}

impl Lacking {
    fn of(states: &States<'_>, known: Option<&Binding>, has_base: bool, failed: &BTreeSet<String>) -> Self {
        let States { before, base, after } = states;
        let asked = |entry: &Entry| Asked {
            replicas: entry.binding.replicas(),
            is_duplicated: entry.is_duplicated(),
            is_skipped: matches!(entry.fate, Fate::Skipped(_)),
        };
        let had = Running::on(entries(before));
        let assigned = known.map_or_else(Missing::default, |known| {
            let replicas = known.replicas();
            let asked = Asked {
                replicas,
                ..asked(after)
            };
            asked.missing(had, had.replicas, 0)
        });
        let in_base = base.map_or_else(Missing::default, |base| {
            let running = Running::on(entries(&base.targets));
            let gone = copies_gone(&base.binding, before, (base, &base.targets));
            asked(base).missing(running, had.replicas.max(running.replicas), gone)
        });
        let is_up = |cluster: &str| !failed.contains(cluster);
        let up: Assignment;
        let runs = match failed.is_empty() {
            true => &*after.targets,
            false => {
                let targets = after.targets.iter().filter(|(cluster, _)| is_up(cluster));
                up = targets
                    .map(|(cluster, replicas)| (cluster.clone(), *replicas))
                    .collect();
                &up
            }
        };
        let mut most = had.replicas;
        let mut copies = known.map_or(0, |known| copies_gone(known, before, (after, runs)));
        if let Some(base) = base {
            most = most.max(base.targets.values().sum());
            copies = copies.max(copies_gone(&base.binding, &base.targets, (after, runs)));
        }
        let missing = asked(after).missing(Running::on(entries(runs)), most, copies);
        let earlier = match (has_base, base) {
            (false, _) => assigned,
            (true, Some(_)) => in_base,
            (true, None) => Missing::default(),
        };
        Self {
            after: missing,
            base: in_base,
            newly: missing.since(earlier),
            pending: in_base.since(assigned),
        }
    }
}

/// Replicas of the copies of a duplicated binding that are gone. A copy that a changed placement no longer asks for is not.
fn copies_gone(earlier: &Binding, from: &Assignment, (later, to): (&Entry, &Assignment)) -> i64 {
    let is_of_one_placement = || earlier.object.spec.placement == later.binding.object.spec.placement;
    match later.is_duplicated() && from != to && is_of_one_placement() {
        true => gone_copies(entries(from), entries(to)),
        false => 0,
    }
}

/// Adds a row to the sums.
fn count(states: &States<'_>, row: &BindingRow, has_base: bool, totals: &mut Totals, pending: &mut Totals) {
    let sum = |assignment: &Assignment| assignment.values().sum::<i64>();
    let is_failed = |entry: &Entry| entry.error().is_some_and(is_unschedulable);
    let is_error = |entry: &Entry| entry.error().is_some_and(|error| !is_unschedulable(error));
    let from = match (has_base, states.base) {
        (true, base) => base.map_or(0, |base| sum(&base.targets)),
        (false, _) => sum(&states.before),
    };
    totals.changed += usize::from(!row.movement.is_nothing());
    totals.replicas += from;
    totals.movement += row.movement;
    totals.unschedulable += usize::from(is_failed(states.after));
    totals.newly_unschedulable += usize::from(row.newly_unschedulable);
    totals.newly_schedulable += usize::from(row.newly_schedulable);
    totals.errors += usize::from(is_error(states.after));
    let was_error = !has_base || states.base.is_some_and(is_error);
    totals.newly_in_error += usize::from(is_error(states.after) && !was_error);
    let (Some(base), Some(movement)) = (states.base, row.pending) else {
        return;
    };
    pending.changed += usize::from(!movement.is_nothing());
    pending.replicas += sum(&states.before);
    pending.movement += movement;
    pending.unschedulable += usize::from(is_failed(base));
    pending.errors += usize::from(is_error(base));
}

/// The clusters of a binding in any state, by name.
pub(crate) fn counts(before: &Assignment, base: Option<&Assignment>, after: &Assignment) -> Vec<ClusterCounts> {
    let states = [Some(before), base, Some(after)];
    let names: BTreeSet<&String> = states.into_iter().flatten().flat_map(BTreeMap::keys).collect();
    let counts = names.into_iter().map(|name| ClusterCounts {
        name: name.clone(),
        before: before.get(name).copied(),
        base: base.and_then(|base| base.get(name).copied()),
        after: after.get(name).copied(),
    });
    counts.collect()
}

/// True for an outcome of scheduling; false for an invalid binding or a plugin's fault.
pub fn is_unschedulable(error: &CycleError) -> bool {
    matches!(error.kind(), "NoClusterFit" | "Unschedulable")
}

/// True if the binding's status says that it could not be scheduled.
pub fn is_known_to_be_unschedulable(binding: &Binding) -> bool {
    let mut conditions = binding.object.status.conditions.iter();
    conditions.any(|condition| condition.kind == SCHEDULED && condition.status == "False")
}

fn ending(entry: &Entry) -> Ending {
    match &entry.fate {
        Fate::Skipped(_) => Ending::Skipped,
        _ if entry.error().is_some() => Ending::Failed,
        _ => Ending::Placed,
    }
}

fn result_word(entry: &Entry) -> &'static str {
    match &entry.fate {
        Fate::Skipped(_) => "Skipped",
        Fate::Satisfied => "Satisfied",
        Fate::Decided(_, decision) => decision.outcome.word(),
    }
}

fn message(entry: &Entry) -> String {
    match &entry.fate {
        Fate::Skipped(reason) => reason.clone(),
        Fate::Satisfied => String::new(),
        Fate::Decided(_, decision) => decision.message(),
    }
}

/// Name of the strategy, even if the binding was not decided; empty if it is invalid.
fn strategy(entry: &Entry, profile: &Profile) -> String {
    match entry.decision() {
        Some(decision) => decision.strategy().to_owned(),
        None => strategy_of(&entry.binding, profile),
    }
}

/// Name of the strategy that divides a binding; empty if it is invalid.
pub(crate) fn strategy_of(binding: &Binding, profile: &Profile) -> String {
    let options = profile.plan_options();
    let context = StrategyContext {
        declarations: profile.declarations(),
        strategy_override: options.strategy_override.as_deref(),
        affinity_groups_as_tiers: options.affinity_groups_as_tiers,
    };
    let request = resolve_strategy(&PlanInput::new(binding), context);
    request.map(|request| request.strategy).unwrap_or_default()
}
