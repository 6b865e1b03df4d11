//! Runs the steps in order, in memory that is reused from binding to binding.

use divvy_framework_abi::Pointer;
use divvy_framework_abi::arena::NO_ROW;
use divvy_framework_abi::descriptor::feature;
use divvy_framework_calls::cycle::{self as calls, CycleOptions, Resolution};
use divvy_framework_calls::placements::PlacementsRecord;
use divvy_framework_memory::Slot;
use divvy_framework_view::clusters::Row;

use super::columns::{Candidates, Feasible};
use super::cordon::Cordons;
use super::error::CycleError;
use super::explanation::{Detail, Explanation};
use super::select::check_enforced;
use super::sink::Texts;
use super::skipped::Skipped;
use super::views::{self, ValidUntil, Views};
use crate::fleet::{FleetSnapshot, Ledger, estimate};
use crate::placements::Peers;
use crate::plan::{AffinityGroup, Plan};
use crate::plugin::log;
use crate::profile::{Profile, Strategy};

/// A cluster in a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// Row of the cluster in the snapshot.
    pub row: u32,
    /// Replicas assigned to the cluster; 0 if the binding has none to divide.
    pub replicas: i64,
}

/// Input of one cycle.
#[derive(Clone, Copy)]
pub struct CycleInput<'a> {
    /// Profile whose plugins decide.
    pub profile: &'a Profile,
    /// Clusters to choose from.
    pub fleet: &'a FleetSnapshot,
    /// Plan of the binding, made under the same profile.
    pub plan: &'a Plan,
    /// Affinity group to try, one of the plan's.
    pub group: &'a AffinityGroup,
    /// True if the replicas are divided from scratch.
    pub fresh: bool,
    /// Time of the decision, in milliseconds since 1970; `None` if it is not known. The cycle reads no clock.
    pub time: Option<i64>,
    /// The binding's workload affinity groups and the other bindings in them; `None` if they are not known, or if no
    /// plugin of the profile needs them.
    pub peers: Option<&'a Peers>,
    /// Plugins that are not called, because the decision is known to have gone on without them.
    pub without: &'a [Skipped],
}

impl<'a> CycleInput<'a> {
    /// Input of a steady cycle in which neither the time nor other bindings are known, and which calls every plugin.
    pub fn new(profile: &'a Profile, fleet: &'a FleetSnapshot, plan: &'a Plan, group: &'a AffinityGroup) -> Self {
        Self {
            profile,
            fleet,
            plan,
            group,
            fresh: false,
            time: None,
            peers: None,
            without: &[],
        }
    }
}

/// Inputs that a caller may not know.
pub(super) const INPUTS: u64 = feature::TIME | feature::PLACEMENTS | feature::TABLES;

/// Clusters per target up to which one pass over all rows sorts the targets faster than comparisons do.
pub(super) const DENSE: usize = 16;

/// Marks a cluster that is not in the result; replica counts are never negative.
const NO_TARGET: i64 = -1;

/// What plugins see of a cycle beside its columns.
#[derive(Debug, Default)]
struct Shown {
    resolution: Resolution,
    cycle: Slot,
    policy: Slot,
    placements: Slot,
}

/// Runs one cycle at a time and keeps its allocations for the next.
#[derive(Debug, Default)]
pub struct Cycle {
    /// In a box, because it is moved out while the steps write to the rest; `None` meanwhile, and before the first cycle.
    shown: Option<Box<Shown>>,
    /// Placements of other bindings; made only if a plugin needs them.
    placements: Option<Box<PlacementsRecord>>,
    /// Texts from plugins; present only while they are being collected.
    pub(super) texts: Option<Box<Texts>>,
    /// Memory for texts, from an earlier cycle that collected them.
    spare_texts: Option<Box<Texts>>,
    /// One code per cluster of the snapshot: 0 while the cluster is feasible, otherwise the code of its rejection.
    pub(super) codes: Vec<u32>,
    /// Clusters that take no further replicas.
    pub(super) cordons: Cordons,
    pub(super) feasible: Feasible,
    pub(super) candidates: Candidates,
    /// Scratch with one entry per cluster of the snapshot; each step uses it differently.
    pub(super) by_row: Vec<u32>,
    pub(super) priorities: Vec<i64>,
    /// Scratch for matching the rules that give priorities.
    pub(super) priority_rows: Vec<Row>,
    /// Codes before a filter's call.
    pub(super) row_buffer: Vec<u32>,
    pub(super) marks: Vec<bool>,
    pub(super) selected: Vec<u32>,
    /// Row of each cluster that a selector left out, and the selector's index in [`Profile::plugin_names`]; filled only if
    /// an explanation is requested.
    pub(super) left_out: Vec<(u32, usize)>,
    pub(super) tiers: super::tiers::Tiers,
    pub(super) walk: super::walk::Walk,
    pub(super) score_buffer: Vec<i64>,
    /// Unweighted scores per Score plugin; filled only if an explanation is requested.
    pub(super) plugin_scores: Vec<Vec<i64>>,
    pub(super) targets: Vec<Target>,
    /// Scratch for putting the targets into row order: replicas by row, or by index among the feasible clusters.
    pub(super) replicas: Vec<i64>,
    /// Earliest time until which the answer of a plugin holds.
    pub(super) valid_until: ValidUntil,
    /// Plugins that the cycle goes on without.
    pub(super) skipped: Vec<Skipped>,
}

impl Cycle {
    /// Creates a cycle without allocating.
    pub fn new() -> Self {
        Self::default()
    }

    /// Schedules a binding with Karmada's general estimate and returns the targets, sorted by cluster name.
    ///
    /// If `ledger` is given, capacity that earlier results have taken does not count as free.
    ///
    /// # Errors
    ///
    /// A [`CycleError`], one variant per cause. An error aborts this cycle; the caller keeps the binding's previous
    /// result.
    pub fn run(&mut self, input: &CycleInput<'_>, ledger: Option<&Ledger>) -> Result<&[Target], CycleError> {
        self.texts = None;
        self.halves(input, general_estimate(input, ledger))?;
        Ok(&self.targets)
    }

    /// Schedules a binding with estimates of the caller's own, and explains the result in the requested detail.
    ///
    /// `estimate` is called with the rows of the feasible clusters and fills in the replicas that fit now, one count
    /// per row. A missing or negative count means that nothing fits.
    ///
    /// # Errors
    ///
    /// The same as those of [`Self::run`].
    pub fn run_with_estimates(
        &mut self,
        input: &CycleInput<'_>,
        detail: Option<Detail>,
        estimate: impl FnOnce(&[u32], &mut [i64]),
    ) -> (Result<&[Target], CycleError>, Option<Explanation>) {
        self.texts = detail.map(|_| self.empty_texts());
        let result = self.halves(input, estimate);
        let texts = self.texts.take();
        let explanation = texts.zip(detail).map(|(texts, detail)| {
            let explanation = self.account(input, &texts, detail, result.is_ok());
            self.spare_texts = Some(texts);
            explanation
        });
        (result.map(|()| self.targets.as_slice()), explanation)
    }

    /// Runs the filters alone and returns the rows of the clusters that none of them rejected, in ascending order.
    ///
    /// # Errors
    ///
    /// A [`CycleError`] if a filter fails. No feasible cluster is not an error.
    pub fn feasible(&mut self, input: &CycleInput<'_>) -> Result<&[u32], CycleError> {
        self.begin_without_texts(input);
        let outcome = self.with_view(input, |cycle, _, views, _| cycle.filter(input, views));
        match outcome {
            Ok(()) | Err(CycleError::NoClusterFit { .. }) => Ok(&self.feasible.rows),
            Err(error) => Err(error),
        }
    }

    /// Row of each cluster in the last result of the binding; [`NO_ROW`] if the cluster is gone.
    pub(super) fn last_rows(&self) -> &[u32] {
        self.shown.as_ref().map_or(&[], |shown| shown.resolution.last_rows())
    }

    /// Time until which the result of the last cycle holds, in milliseconds since 1970: the earliest that any of its plugins
    /// named, even if the cycle failed. `None` if no plugin named one.
    pub fn valid_until(&self) -> Option<i64> {
        self.valid_until.get()
    }

    /// True if the filters of the last cycle accepted the cluster in this row.
    pub(crate) fn is_feasible(&self, row: u32) -> bool {
        self.feasible.rows.binary_search(&row).is_ok()
    }

    /// Weighted score and estimate of a cluster; `None` if it was not feasible in the last cycle. The search begins at the index
    /// `guess` and sets it to the next one, because most targets of a large result are consecutive.
    pub(crate) fn figures(&self, row: u32, guess: &mut usize) -> Option<(i64, i64)> {
        let rows = &self.feasible.rows;
        let index = match rows.get(*guess) {
            Some(guessed) if *guessed == row => *guess,
            _ => rows.binary_search(&row).ok()?,
        };
        *guess = index + 1;
        Some((*self.feasible.scores.get(index)?, *self.feasible.fits_now.get(index)?))
    }

    /// Schedules a binding as [`Self::run`] does and explains the result. A failed cycle is explained as far as it got.
    ///
    /// # Errors
    ///
    /// The same as those of [`Self::run`].
    pub fn run_explained(
        &mut self,
        input: &CycleInput<'_>,
        ledger: Option<&Ledger>,
    ) -> (Result<&[Target], CycleError>, Explanation) {
        let (result, explanation) = self.run_with_estimates(input, Some(Detail::Full), general_estimate(input, ledger));
        let Some(explanation) = explanation else {
            unreachable!("a cycle that was run with a detail has an explanation");
        };
        (result, explanation)
    }

    /// Runs the steps with one view, so that it is built only once.
    fn halves(&mut self, input: &CycleInput<'_>, estimate: impl FnOnce(&[u32], &mut [i64])) -> Result<(), CycleError> {
        self.begin(input);
        let outcome = self.with_view(input, |cycle, strategy, views, resolution| {
            check_enforced(input, views)?;
            cycle.filter(input, views)?;
            cycle.last_of_feasible(input, resolution);
            cycle.room_of_feasible(estimate);
            cycle.score(input, views)?;
            cycle.close_cordoned();
            cycle.second_half(input, strategy, views)
        });
        self.with_reasons(input, outcome)
    }

    /// Begins a cycle whose plugins are not asked for reasons.
    pub(super) fn begin_without_texts(&mut self, input: &CycleInput<'_>) {
        self.texts = None;
        self.begin(input);
    }

    #[inline]
    fn begin(&mut self, input: &CycleInput<'_>) {
        self.reset();
        self.begin_without(input);
        let shown = self.shown.get_or_insert_default();
        shown.resolution.resolve(input.fleet.snapshot(), &input.group.record);
        if let Some(peers) = known_peers(input) {
            let placements = self.placements.get_or_insert_default();
            peers.write(placements);
            placements.resolve(input.fleet.snapshot());
        }
    }

    /// Repeats Filter to collect the reasons if no cluster was feasible. Collecting them costs time, so the first attempt
    /// runs without.
    fn with_reasons(&mut self, input: &CycleInput<'_>, outcome: Result<(), CycleError>) -> Result<(), CycleError> {
        if self.texts.is_some() || !matches!(outcome, Err(CycleError::NoClusterFit { .. })) {
            return outcome;
        }
        self.texts = Some(self.empty_texts());
        let outcome = self.with_view(input, |cycle, _, views, _| cycle.filter(input, views));
        self.spare_texts = self.texts.take();
        outcome
    }

    /// Empty texts, in the memory of an earlier cycle if there was one.
    fn empty_texts(&mut self) -> Box<Texts> {
        let mut texts = self.spare_texts.take().unwrap_or_default();
        texts.clear();
        texts
    }

    /// Fills in the room of each feasible cluster: the replicas that fit now, by `estimate`, and the capacity.
    pub(super) fn room_of_feasible(&mut self, estimate: impl FnOnce(&[u32], &mut [i64])) {
        let Feasible {
            rows,
            fits_now,
            capacity,
            last,
            ..
        } = &mut self.feasible;
        fits_now.resize(rows.len(), 0);
        estimate(rows, fits_now);
        for fits in fits_now.iter_mut() {
            *fits = (*fits).max(0);
        }
        capacity.clear();
        // A cluster has room for the last replicas, which already run there, in addition to those that fit now.
        let columns = fits_now.iter().zip(last.iter());
        capacity.extend(columns.map(|(fits, last)| fits.saturating_add(*last)));
    }

    fn second_half(
        &mut self,
        input: &CycleInput<'_>,
        strategy: &Strategy<'_>,
        views: Views<'_>,
    ) -> Result<(), CycleError> {
        self.targets.clear();
        self.tier_of_feasible(input);
        self.select(input, strategy, views)?;
        // Without replicas to divide, every candidate becomes a target and the strategy is not called.
        if input.plan.whole {
            self.targets.extend(self.selected.iter().map(|&index| Target {
                row: self.feasible.rows[index as usize],
                replicas: 0,
            }));
            self.sort_targets(input.fleet.len());
            return Ok(());
        }
        self.assign(input, strategy, views)
    }

    /// Runs `steps` with the views that the plugins' calls read.
    pub(super) fn with_view(
        &mut self,
        input: &CycleInput<'_>,
        steps: impl FnOnce(&mut Self, &Strategy<'_>, Views<'_>, &Resolution) -> Result<(), CycleError>,
    ) -> Result<(), CycleError> {
        let CycleInput {
            profile,
            fleet,
            plan,
            group,
            fresh,
            time,
            ..
        } = *input;
        let strategy = profile.strategy(&plan.strategy)?;
        // Moved out of `self`, so that the view can borrow them while the steps write to the rest.
        let mut shown = self.shown.take().unwrap_or_default();
        let Shown {
            resolution,
            cycle,
            policy,
            placements: peers,
        } = &mut *shown;
        let record = known_peers(input).and_then(|_| self.placements.take());
        let texts = self.texts.take();
        let options = CycleOptions {
            seed: plan.seed,
            fresh,
            explain: texts.is_some(),
            duplicated: strategy.duplicates(),
            ignore_spread: plan.ignores_spread(strategy),
            time: time.filter(|_| profile.needs_time()),
        };
        let cells = profile.tables().map(|tables| tables.resolve(fleet.snapshot()));
        let mut unknown = profile.needs() & INPUTS;
        for (is_known, input) in [
            (time.is_some(), feature::TIME),
            (record.is_some(), feature::PLACEMENTS),
            (cells.is_some(), feature::TABLES),
        ] {
            if is_known {
                unknown &= !input;
            }
        }
        let mut view = calls::cycle_view(fleet.snapshot(), &group.record, resolution, options);
        let placements = record.as_deref().map(PlacementsRecord::view);
        if let Some(placements) = &placements {
            view.placements = Pointer::new(peers.show(*placements));
        }
        let views = Views {
            cycle: cycle.show(view),
            policy: policy.show(calls::policy_view(&group.record, resolution)),
            record: &group.record,
            strategy: strategy.plugin().number(),
            tables: profile.tables().zip(cells.as_deref()),
            parts: views::parts(&group.record, record.as_deref()),
            unknown,
            texts: texts.as_deref(),
        };
        // Log records of plugins name the binding meanwhile.
        let outcome = log::of_binding(&group.record, || steps(self, &strategy, views, resolution));
        self.shown = Some(shown);
        if record.is_some() {
            self.placements = record;
        }
        self.texts = texts;
        outcome.map_err(|error| error.located(plan))
    }

    /// Sorts the targets by row, which is also the order of the clusters' names.
    pub(super) fn sort_targets(&mut self, clusters: usize) {
        let targets = &mut self.targets;
        if targets.is_sorted_by_key(|target| target.row) {
            return;
        }
        if targets.len() < clusters / DENSE {
            targets.sort_unstable_by_key(|target| target.row);
            return;
        }
        // Each row occurs at most once, so one pass over all rows sorts them, faster than comparisons would.
        let by_row = &mut self.replicas;
        by_row.clear();
        by_row.resize(clusters, NO_TARGET);
        for target in targets.iter() {
            by_row[target.row as usize] = target.replicas;
        }
        targets.clear();
        let chosen = (0..).zip(by_row.iter()).filter(|(_, replicas)| **replicas != NO_TARGET);
        targets.extend(chosen.map(|(row, &replicas)| Target { row, replicas }));
    }

    fn reset(&mut self) {
        self.cordons.clear();
        self.feasible.rows.clear();
        self.feasible.scores.clear();
        self.feasible.fits_now.clear();
        self.feasible.tiers.clear();
        self.selected.clear();
        self.left_out.clear();
        self.plugin_scores.clear();
        self.targets.clear();
        self.valid_until = ValidUntil::default();
    }

    /// Looks up the last replicas of each feasible cluster.
    pub(super) fn last_of_feasible(&mut self, input: &CycleInput<'_>, resolution: &Resolution) {
        let Feasible {
            rows, last, last_index, ..
        } = &mut self.feasible;
        last.clear();
        last.resize(rows.len(), 0);
        last_index.clear();
        let entries = input.group.record.last();
        if entries.len() == 0 {
            return;
        }
        last_index.resize(rows.len(), NO_ROW);
        index_rows(rows, input.fleet.len(), &mut self.by_row);
        let mut is_listed = false;
        for (((_, replicas), &row), index) in entries.zip(resolution.last_rows()).zip(0..) {
            let position = self
                .by_row
                .get(row as usize)
                .map_or(usize::MAX, |&position| position as usize);
            // If a cluster is listed twice, the first entry counts, as in Karmada.
            if let (Some(replicas_slot), Some(slot)) = (last.get_mut(position), last_index.get_mut(position))
                && *slot == NO_ROW
            {
                (*replicas_slot, *slot) = (replicas, index);
                is_listed = true;
            }
        }
        if !is_listed {
            last_index.clear();
        }
    }
}

/// The peers of the binding, if a plugin needs them and they are known.
fn known_peers<'a>(input: &CycleInput<'a>) -> Option<&'a Peers> {
    input.peers.filter(|_| input.profile.needs_placements())
}

/// Karmada's general estimate of the feasible clusters.
fn general_estimate<'a>(
    input: &CycleInput<'a>,
    ledger: Option<&'a Ledger>,
) -> impl FnOnce(&[u32], &mut [i64]) + use<'a> {
    let CycleInput { fleet, plan, .. } = *input;
    move |rows, fits| {
        let clusters = fleet.snapshot().clusters();
        estimate::estimate(&clusters, rows, &plan.demand, plan.replicas, ledger, fits);
    }
}

/// Fills `indices` with one entry per cluster of the snapshot: its index in `rows`, or [`NO_ROW`] if it is not among
/// them.
pub(super) fn index_rows(rows: &[u32], clusters: usize, indices: &mut Vec<u32>) {
    indices.clear();
    indices.resize(clusters, NO_ROW);
    for (index, &row) in (0..).zip(rows) {
        if let Some(slot) = indices.get_mut(row as usize) {
            *slot = index;
        }
    }
}
