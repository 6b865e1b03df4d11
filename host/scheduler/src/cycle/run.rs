//! Runs the steps in order, in memory that is reused from binding to binding.

use divvy_framework::abi::arena::{ABSENT, NO_ROW};
use divvy_framework::abi::call::CycleView;
use divvy_framework::abi::object::Prepared;
use divvy_framework_driver::cycle::{self as driver, CycleOptions, Resolution};

use super::error::CycleError;
use super::explanation::{ClusterExplanation, Explanation, Note};
use super::sink::{DELETING_CODE, Texts};
use crate::fleet::{FleetSnapshot, Ledger, estimate};
use crate::plan::{AffinityGroup, Plan};
use crate::plugin::PluginInstance;
use crate::scheduler::{Profile, Strategy};

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
}

/// Clusters per target up to which one pass over all rows sorts the targets faster than comparisons do.
const DENSE: usize = 16;

/// Marks a cluster that is not in the result; replica counts are never negative.
const NO_TARGET: i64 = -1;

/// Runs one cycle at a time and keeps its allocations for the next.
#[derive(Debug, Default)]
pub struct Cycle {
    pub(super) resolution: Resolution,
    /// Texts from plugins; present only while they are being collected.
    texts: Option<Box<Texts>>,
    prepared: Vec<Prepared>,
    /// One code per cluster of the snapshot: 0 while the cluster is feasible, otherwise the code of its rejection.
    pub(super) codes: Vec<u32>,
    pub(super) feasible: Feasible,
    pub(super) candidates: Candidates,
    /// Scratch with one entry per cluster of the snapshot; each step uses it differently.
    pub(super) by_row: Vec<u32>,
    pub(super) priorities: Vec<i64>,
    pub(super) row_buffer: Vec<u32>,
    pub(super) marks: Vec<bool>,
    pub(super) selected: Vec<u32>,
    pub(super) tiers: super::tiers::Tiers,
    pub(super) walk: super::walk::Walk,
    pub(super) score_buffer: Vec<i64>,
    /// Unweighted scores per Score plugin; filled only if an explanation is requested.
    pub(super) plugin_scores: Vec<Vec<i64>>,
    pub(super) remarks: Vec<(u32, String)>,
    pub(super) targets: Vec<Target>,
    /// Scratch for sorting the targets, with one entry per cluster of the snapshot.
    replicas_by_row: Vec<i64>,
}

/// Columns with one entry per feasible cluster, in row order.
#[derive(Debug, Default)]
pub(super) struct Feasible {
    pub(super) rows: Vec<u32>,
    pub(super) scores: Vec<i64>,
    /// [`ABSENT`] where the last result does not list the cluster.
    pub(super) last: Vec<i64>,
    pub(super) fits_now: Vec<i64>,
    pub(super) available: Vec<i64>,
    /// Empty if the binding has no tiers.
    pub(super) tiers: Vec<u32>,
}

/// Columns with one entry per candidate, in the order that Select returned.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    pub(super) rows: Vec<u32>,
    pub(super) scores: Vec<i64>,
    pub(super) last: Vec<i64>,
    pub(super) fits_now: Vec<i64>,
    pub(super) tiers: Vec<u32>,
    pub(super) places: Vec<u32>,
    pub(super) result: Vec<i64>,
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

    /// Schedules a binding with estimates of the caller's own, and explains the result if `explains` is set.
    ///
    /// `estimate` is called with the rows of the feasible clusters and fills in the replicas that fit now, one count
    /// per row. A missing or negative count means that nothing fits.
    ///
    /// # Errors
    ///
    /// As [`Self::run`].
    pub fn run_with_estimates(
        &mut self,
        input: &CycleInput<'_>,
        explains: bool,
        estimate: impl FnOnce(&[u32], &mut Vec<i64>),
    ) -> (Result<&[Target], CycleError>, Option<Explanation>) {
        self.texts = explains.then(Box::default);
        let result = self.halves(input, estimate);
        let texts = self.texts.take();
        let explanation = texts.map(|texts| self.account(input, &texts, result.is_ok()));
        (result.map(|()| self.targets.as_slice()), explanation)
    }

    /// Weighted score and estimate of a cluster; `None` if it was not feasible in the last cycle.
    pub(crate) fn figures(&self, row: u32) -> Option<(i64, i64)> {
        let place = self.feasible.rows.binary_search(&row).ok()?;
        Some((*self.feasible.scores.get(place)?, *self.feasible.fits_now.get(place)?))
    }

    /// Schedules a binding as [`Self::run`] does and explains the result. A failed cycle is explained as far as it got.
    ///
    /// # Errors
    ///
    /// As [`Self::run`].
    pub fn run_explained(
        &mut self,
        input: &CycleInput<'_>,
        ledger: Option<&Ledger>,
    ) -> (Result<&[Target], CycleError>, Explanation) {
        let (result, explanation) = self.run_with_estimates(input, true, general_estimate(input, ledger));
        (result, explanation.unwrap_or_default())
    }

    /// Runs both halves with one view, so that it is built only once.
    fn halves(
        &mut self,
        input: &CycleInput<'_>,
        estimate: impl FnOnce(&[u32], &mut Vec<i64>),
    ) -> Result<(), CycleError> {
        self.begin(input);
        let outcome = self.with_view(input, |cycle, strategy, views, resolution, texts| {
            cycle.first_half(input, views, resolution, texts)?;
            let Feasible { rows, fits_now, .. } = &mut cycle.feasible;
            estimate(rows, fits_now);
            fits_now.resize(rows.len(), 0);
            for fits in fits_now.iter_mut() {
                *fits = (*fits).max(0);
            }
            cycle.second_half(input, strategy, views, texts)
        });
        self.with_reasons(input, outcome)
    }

    /// Runs the first half, Filter and Score, and returns the rows of the feasible clusters in ascending order.
    ///
    /// The caller estimates the replicas that fit in these and passes them to [`Self::select_and_assign`].
    ///
    /// # Errors
    ///
    /// A [`CycleError`]. An error aborts this cycle, so the second half must not follow.
    pub fn filter_and_score(&mut self, input: &CycleInput<'_>) -> Result<&[u32], CycleError> {
        self.begin(input);
        let outcome = self.with_view(input, |cycle, _, views, resolution, texts| {
            cycle.first_half(input, views, resolution, texts)
        });
        self.with_reasons(input, outcome)?;
        Ok(&self.feasible.rows)
    }

    /// Runs the second half, Select and Assign, after [`Self::filter_and_score`] with the same input, and returns the
    /// targets.
    ///
    /// `estimates` holds the replicas that fit now, one count per row that the first half returned. A missing or
    /// negative count means that nothing fits.
    ///
    /// # Errors
    ///
    /// As [`Self::run`].
    pub fn select_and_assign(&mut self, input: &CycleInput<'_>, estimates: &[i64]) -> Result<&[Target], CycleError> {
        let Feasible { rows, fits_now, .. } = &mut self.feasible;
        fits_now.clear();
        fits_now.extend(estimates.iter().take(rows.len()).map(|fits| (*fits).max(0)));
        fits_now.resize(rows.len(), 0);
        self.with_view(input, |cycle, strategy, views, _, texts| {
            cycle.second_half(input, strategy, views, texts)
        })?;
        Ok(&self.targets)
    }

    fn begin(&mut self, input: &CycleInput<'_>) {
        self.reset();
        self.resolution.resolve(input.fleet.snapshot(), &input.group.record);
    }

    /// Repeats the first half to collect the reasons if no cluster was feasible. Collecting them has a cost, so the
    /// first attempt runs without.
    fn with_reasons(&mut self, input: &CycleInput<'_>, outcome: Result<(), CycleError>) -> Result<(), CycleError> {
        if self.texts.is_some() || !matches!(outcome, Err(CycleError::NoClusterFit { .. })) {
            return outcome;
        }
        self.texts = Some(Box::default());
        let outcome = self.with_view(input, |cycle, _, views, resolution, texts| {
            cycle.first_half(input, views, resolution, texts)
        });
        self.texts = None;
        outcome
    }

    fn first_half(
        &mut self,
        input: &CycleInput<'_>,
        [general, _]: [&CycleView<'_>; 2],
        resolution: &Resolution,
        texts: Option<&Texts>,
    ) -> Result<(), CycleError> {
        self.filter(input, general, texts)?;
        self.last_of_feasible(input, resolution);
        self.score(input, general, texts)
    }

    fn second_half(
        &mut self,
        input: &CycleInput<'_>,
        strategy: &Strategy<'_>,
        [general, view]: [&CycleView<'_>; 2],
        texts: Option<&Texts>,
    ) -> Result<(), CycleError> {
        self.targets.clear();
        let Feasible {
            fits_now,
            available,
            last,
            ..
        } = &mut self.feasible;
        available.clear();
        // The last replicas already run on a cluster, so it has room for them in addition to what fits now.
        let capacity = fits_now.iter().zip(last.iter());
        available.extend(capacity.map(|(fits, last)| fits.saturating_add((*last).max(0))));
        self.tier_of_feasible(input);
        self.select(input, strategy, general, texts)?;
        // Without replicas to divide, every candidate becomes a target and the strategy is not called.
        if input.plan.whole {
            self.targets.extend(self.selected.iter().map(|&place| Target {
                row: self.feasible.rows[place as usize],
                replicas: 0,
            }));
        } else {
            self.assign(input, strategy, view, texts)?;
        }
        self.sort_targets(input.fleet.len());
        Ok(())
    }

    /// Runs `steps` with two views: the general one, and the one for the strategy's plugin, which also shows the
    /// preferences.
    fn with_view(
        &mut self,
        input: &CycleInput<'_>,
        steps: impl FnOnce(
            &mut Self,
            &Strategy<'_>,
            [&CycleView<'_>; 2],
            &Resolution,
            Option<&Texts>,
        ) -> Result<(), CycleError>,
    ) -> Result<(), CycleError> {
        let CycleInput {
            profile,
            fleet,
            plan,
            group,
            fresh,
        } = *input;
        let strategy = profile.strategy(&plan.strategy)?;
        // Moved out of `self`, so that the view can borrow them while the steps write to the rest.
        let resolution = std::mem::take(&mut self.resolution);
        let texts = self.texts.take();
        let options = CycleOptions {
            seed: plan.seed,
            fresh,
            explain: texts.is_some(),
            duplicated: strategy.duplicates(),
            ignore_spread: strategy.ignores_spread(),
        };
        let sink = texts.as_deref().map(Texts::sink);
        let view = driver::cycle_view(fleet.snapshot(), &group.record, &resolution, options, sink);
        // Only the strategy's plugin sees the preferences. Most bindings have none, and one view serves all plugins.
        let mut hiding = None;
        let general = if view.names.preferences.length == 0 {
            &view
        } else {
            let hiding = hiding.insert(view);
            hiding.names.preferences = divvy_framework::abi::text::Text::EMPTY;
            &*hiding
        };
        let outcome = steps(self, &strategy, [general, &view], &resolution, texts.as_deref());
        self.resolution = resolution;
        self.texts = texts;
        // State that plugins prepared is valid only for these steps.
        self.prepared.clear();
        outcome
    }

    /// Sorts the targets by row, which is also the order of the clusters' names.
    fn sort_targets(&mut self, clusters: usize) {
        let targets = &mut self.targets;
        if targets.is_sorted_by_key(|target| target.row) {
            return;
        }
        if targets.len() < clusters / DENSE {
            targets.sort_unstable_by_key(|target| target.row);
            return;
        }
        // Each row occurs at most once, so one pass over all rows sorts them, faster than comparisons would.
        let by_row = &mut self.replicas_by_row;
        by_row.clear();
        by_row.resize(clusters, NO_TARGET);
        for target in targets.iter() {
            by_row[target.row as usize] = target.replicas;
        }
        targets.clear();
        targets.extend(
            (0..)
                .zip(by_row.iter())
                .filter(|(_, replicas)| **replicas != NO_TARGET)
                .map(|(row, &replicas)| Target { row, replicas }),
        );
    }

    fn reset(&mut self) {
        self.prepared.clear();
        self.feasible.rows.clear();
        self.feasible.scores.clear();
        self.feasible.fits_now.clear();
        self.feasible.tiers.clear();
        self.selected.clear();
        self.plugin_scores.clear();
        self.remarks.clear();
        self.targets.clear();
    }

    /// Prepares a plugin for the binding, keeps its state until the steps end, and returns the state's address.
    ///
    /// `index` is that of the plugin in [`Profile::plugin_names`]. The texts that it hands over are filed under it.
    #[inline]
    pub(super) fn prepare(
        &mut self,
        plugin: &PluginInstance,
        view: &CycleView<'_>,
        texts: Option<&Texts>,
        index: impl FnOnce() -> usize,
    ) -> Result<*const std::ffi::c_void, CycleError> {
        if let Some(texts) = texts {
            texts.calling(index());
        }
        let prepared = plugin.prepare(view).map_err(CycleError::of_call)?;
        let address = prepared.address();
        self.prepared.push(prepared);
        Ok(address)
    }

    /// Looks up the last replicas of each feasible cluster.
    fn last_of_feasible(&mut self, input: &CycleInput<'_>, resolution: &Resolution) {
        let Feasible { rows, last, .. } = &mut self.feasible;
        last.clear();
        last.resize(rows.len(), ABSENT);
        let entries = input.group.record.last();
        if entries.len() == 0 {
            return;
        }
        places_of_rows(rows, input.fleet.len(), &mut self.by_row);
        for ((_, replicas), &row) in entries.zip(resolution.last_rows()) {
            let place = self
                .by_row
                .get(row as usize)
                .map_or(usize::MAX, |&place| place as usize);
            // If a cluster is listed twice, the first entry counts, as in Karmada.
            if let Some(slot) = last.get_mut(place)
                && *slot == ABSENT
            {
                *slot = replicas;
            }
        }
    }

    /// Builds the explanation from the columns that the steps left behind.
    fn account(&self, input: &CycleInput<'_>, texts: &Texts, scheduled: bool) -> Explanation {
        let names = input.profile.plugin_names();
        let name = |plugin: usize| names.get(plugin).cloned().unwrap_or_default();
        let mut clusters: Vec<ClusterExplanation> = (0..input.fleet.len() as u32)
            .map(|row| ClusterExplanation {
                name: input.fleet.name(row).to_owned(),
                rejected: match self.codes.get(row as usize).copied().unwrap_or(0) {
                    0 => None,
                    DELETING_CODE => Some(Note {
                        plugin: String::new(),
                        text: "cluster is being deleted".to_owned(),
                    }),
                    code => {
                        let (plugin, text) = texts.reason(code).unwrap_or_default();
                        Some(Note {
                            plugin: name(plugin),
                            text,
                        })
                    }
                },
                ..ClusterExplanation::default()
            })
            .collect();
        for (place, &row) in self.feasible.rows.iter().enumerate() {
            let Some(cluster) = clusters.get_mut(row as usize) else {
                continue;
            };
            let last = self.feasible.last.get(place).copied();
            cluster.last = last.filter(|&last| last != ABSENT);
            cluster.score = self.feasible.scores.get(place).copied();
            cluster.fits_now = self.feasible.fits_now.get(place).copied();
            cluster.tier = self.feasible.tiers.get(place).copied();
            cluster.scores = input
                .profile
                .score_names()
                .zip(&self.plugin_scores)
                .filter_map(|(plugin, scores)| {
                    scores.get(place).map(|&score| super::explanation::PluginScore {
                        plugin: plugin.to_owned(),
                        score,
                    })
                })
                .collect();
        }
        for &place in &self.selected {
            if let Some(&row) = self.feasible.rows.get(place as usize)
                && let Some(cluster) = clusters.get_mut(row as usize)
            {
                cluster.candidate = true;
            }
        }
        // After a failure, targets may remain from tiers that succeeded. They are not a result.
        if scheduled {
            for target in &self.targets {
                if let Some(cluster) = clusters.get_mut(target.row as usize) {
                    cluster.replicas = Some(target.replicas);
                }
            }
        }
        for (row, remark) in &self.remarks {
            if let Some(cluster) = clusters.get_mut(*row as usize) {
                cluster.remarks.push(remark.clone());
            }
        }
        Explanation {
            clusters,
            notes: texts
                .notes()
                .into_iter()
                .map(|(plugin, text)| Note {
                    plugin: name(plugin),
                    text,
                })
                .collect(),
        }
    }
}

/// Karmada's general estimate of the feasible clusters.
fn general_estimate<'a>(
    input: &CycleInput<'a>,
    ledger: Option<&'a Ledger>,
) -> impl FnOnce(&[u32], &mut Vec<i64>) + use<'a> {
    let CycleInput { fleet, plan, .. } = *input;
    move |rows, fits| {
        let clusters = fleet.snapshot().clusters();
        estimate::estimate(&clusters, rows, &plan.demand, plan.replicas, ledger, fits);
    }
}

/// Fills `places` with one entry per cluster of the snapshot: its index in `rows`, or [`NO_ROW`] if it is not among
/// them.
pub(super) fn places_of_rows(rows: &[u32], clusters: usize, places: &mut Vec<u32>) {
    places.clear();
    places.resize(clusters, NO_ROW);
    for (place, &row) in (0..).zip(rows) {
        if let Some(slot) = places.get_mut(row as usize) {
            *slot = place;
        }
    }
}
