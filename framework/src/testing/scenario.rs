//! The scenario: clusters and a binding, on which a test runs one step of one plugin at a time.

use std::cell::{Cell, RefCell};

use divvy_framework_abi::arena::NO_ROW;
use divvy_framework_abi::call::AssignCall;
use divvy_framework_abi::service::Texts;
use divvy_framework_abi::{Address, Function, Pointer, Slice};

use divvy_framework_calls::binding::{BindingRecord, BindingRecordBuilder};
use divvy_framework_calls::cycle::{CycleOptions, Resolution, cycle_view, policy_view};
use divvy_framework_calls::snapshot::SnapshotStore;
use divvy_framework_calls::stated::{Stated, StatedViolation};

use super::explanation::{Explanation, take_reason, take_text};
use super::identity::Names;
use super::inputs::ValidUntil;
use super::last::LastResult;
use super::peers::Peers;
use super::{AffinityBuilder, ClusterBuilder, TableBuilder};
use crate::assign::{AssignContext, AssignPlugin, AssignResult};
use crate::binding::{SpreadConstraint, Toleration};
use crate::clusters::Row;
use crate::configuration::Preferences;
use crate::cycle::{Candidate, Cycle};
use crate::division::ties;
use crate::export::Given;
use crate::filter::{FilterContext, FilterPlugin, FilterResult};
use crate::plugin::{Failure, Needs};
use crate::prepare::Kept;

/// The result of a filter, per cluster.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Filtered {
    /// 0 where the plugin does not reject it.
    pub(super) codes: Vec<u32>,
    /// 1 where the plugin cordons it.
    pub(super) cordoned: Vec<u32>,
}

/// Clusters and a binding, on which single steps of plugins can be run.
#[derive(Debug, Clone, Default)]
pub struct Scenario {
    pub(super) clusters: Vec<ClusterBuilder>,
    pub(super) replicas: i64,
    workload: Option<bool>,
    pub(super) fresh: bool,
    pub(super) duplicated: bool,
    seed: u64,
    pub(super) uid: String,
    resource: (String, String),
    pub(super) names: Names,
    pub(super) preferences: String,
    pub(super) time: Option<i64>,
    pub(super) valid_until: ValidUntil,
    /// The parts of the binding that are not stated above.
    pub(super) binding: BindingRecordBuilder,
    rules: usize,
    pub(super) last: LastResult,
    pub(super) needed: Option<i64>,
    ignores_spread_constraints: bool,
    /// Needs of the plugin's configuration.
    pub(super) needs: Needs,
    pub(super) tables: Vec<TableBuilder>,
    /// True if tables may have rows that are for no cluster.
    pub(super) has_stray_rows: bool,
    pub(super) peers: Peers,
}

impl Scenario {
    /// A binding of a Deployment with 0 replicas, and no clusters.
    pub fn new() -> Self {
        Self {
            uid: "00000000-0000-4000-8000-000000000000".to_owned(),
            resource: ("apps/v1".to_owned(), "Deployment".to_owned()),
            ..Self::default()
        }
    }

    /// Adds a cluster, replacing one with the same name. Clusters are numbered by name, regardless of the order of
    /// these calls.
    #[must_use]
    pub fn cluster(mut self, mut cluster: ClusterBuilder) -> Self {
        self.last.complete(&mut cluster);
        self.clusters.retain(|known| known.name != cluster.name);
        self.clusters.push(cluster);
        self.clusters.sort_by(|left, right| left.name.cmp(&right.name));
        self
    }

    /// Adds clusters, as [`Self::cluster`] does: `.clusters(["a", "b"].map(ClusterBuilder::new))`.
    #[must_use]
    pub fn clusters(self, clusters: impl IntoIterator<Item = ClusterBuilder>) -> Self {
        clusters.into_iter().fold(self, Self::cluster)
    }

    /// Sets the replicas to divide. 0 by default.
    #[must_use]
    pub fn replicas(mut self, replicas: i64) -> Self {
        self.replicas = replicas;
        self
    }

    /// If false, the resource has no replicas to divide. True by default.
    #[must_use]
    pub fn workload(mut self, workload: bool) -> Self {
        self.workload = Some(workload);
        self
    }

    /// If true, the division starts from scratch. False by default.
    #[must_use]
    pub fn fresh(mut self, fresh: bool) -> Self {
        self.fresh = fresh;
        self
    }

    /// If true, the strategy gives every candidate the full count. False by default.
    #[must_use]
    pub fn duplicated(mut self, duplicated: bool) -> Self {
        self.duplicated = duplicated;
        self
    }

    /// Sets the profile's seed. 0 by default.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the resource's API version and kind. `apps/v1` and `Deployment` by default.
    #[must_use]
    pub fn resource(mut self, api_version: &str, kind: &str) -> Self {
        self.resource = (api_version.to_owned(), kind.to_owned());
        self
    }

    /// Adds a rule that gives the clusters with these names a value of `field`.
    #[must_use]
    pub fn rule(self, clusters: &[&str], field: &str, value: i64) -> Self {
        let origin = format!("rules[{}]", self.rules);
        self.rule_for("rules", &origin, &[(field, value)], |target| {
            _ = target.cluster_names(clusters)
        })
    }

    /// Adds a rule: its list, its path in the policy, its named numbers, and the affinity that selects its clusters.
    #[must_use]
    pub fn rule_for(
        mut self,
        list: &str,
        origin: &str,
        values: &[(&str, i64)],
        target: impl FnOnce(&mut AffinityBuilder),
    ) -> Self {
        self.rules += 1;
        let affinity = built(target);
        self.binding
            .rule(list, origin, values.iter().copied(), |writer| affinity.write(writer));
        self
    }

    /// Adds an affinity to the placement. A cluster must match one of its affinities.
    #[must_use]
    pub fn affinity(mut self, write: impl FnOnce(&mut AffinityBuilder)) -> Self {
        let affinity = built(write);
        self.binding.placement_affinity(|writer| affinity.write(writer));
        self
    }

    /// Adds a toleration.
    #[must_use]
    pub fn toleration(mut self, toleration: Toleration<'_>) -> Self {
        self.binding.toleration(toleration);
        self
    }

    /// Adds a spread constraint.
    #[must_use]
    pub fn spread_constraint(mut self, constraint: SpreadConstraint<'_>) -> Self {
        self.binding.spread_constraint(constraint);
        self
    }

    /// If true, Select ignores the spread constraints, as for a strategy that does. False by default.
    #[must_use]
    pub fn ignores_spread_constraints(mut self, ignores: bool) -> Self {
        self.ignores_spread_constraints = ignores;
        self
    }

    /// Adds a cluster that the binding is being evicted from.
    #[must_use]
    pub fn eviction(mut self, cluster: &str) -> Self {
        self.binding.eviction(cluster);
        self
    }

    /// Sets the replicas that the candidates together must have room for. By default these are the binding's replicas,
    /// or `None` for a strategy that duplicates.
    #[must_use]
    pub fn needed(mut self, needed: Option<i64>) -> Self {
        self.needed = Some(needed.unwrap_or(-1));
        self
    }

    /// Names of the clusters, in the order of the results.
    pub fn cluster_names(&self) -> Vec<String> {
        self.clusters.iter().map(|cluster| cluster.name.clone()).collect()
    }

    /// Runs Filter, and returns the names of the clusters that stay feasible.
    ///
    /// # Errors
    ///
    /// The plugin's [`Failure`].
    pub fn feasible<T: Preferences + 'static, P: FilterPlugin<T>>(&self, plugin: &P) -> Result<Vec<String>, Failure> {
        self.filter(plugin).map(|(feasible, _)| feasible)
    }

    /// Runs Filter with explanations. Returns the names of the clusters that stay feasible, and name and reason of each
    /// rejected cluster.
    ///
    /// # Errors
    ///
    /// The plugin's [`Failure`].
    #[allow(clippy::type_complexity, reason = "two lists, named in the documentation")]
    pub fn filter<T: Preferences + 'static, P: FilterPlugin<T>>(
        &self,
        plugin: &P,
    ) -> Result<(Vec<String>, Vec<(String, String)>), Failure> {
        let names = self.cluster_names();
        let (Filtered { codes, .. }, explanation) = self.filter_with(plugin, true)?;
        let mut feasible = Vec::new();
        let mut rejected = Vec::new();
        for (name, code) in names.into_iter().zip(codes) {
            if code == 0 {
                feasible.push(name);
            } else {
                // The kit gave the code when it took the reason, so an unknown code is the plugin's invention.
                let reason = explanation.reasons.get(code as usize - 1).cloned();
                let unknown = || Failure::internal(format!("rejects `{name}` with code {code}, which no reason has"));
                let reason = reason.ok_or_else(unknown)?;
                rejected.push((name, reason));
            }
        }
        Ok((feasible, rejected))
    }

    /// What the plugin decides about each cluster.
    pub(super) fn filter_with<T: Preferences + 'static, P: FilterPlugin<T>>(
        &self,
        plugin: &P,
        explain: bool,
    ) -> Result<(Filtered, Explanation), Failure> {
        let preferences = Given::<T>::new(self.preferences_as()?);
        self.run(explain, P::NEEDS, |cycle| {
            let (mut codes, mut cordoned) = (vec![0; self.clusters.len()], vec![0; self.clusters.len()]);
            let mut result = FilterResult::new(&cycle, &mut codes, &mut cordoned, 1);
            let context = FilterContext {
                plugin,
                cycle: &cycle,
                kept: Kept::default(),
                preferences: &preferences,
            };
            plugin.filter(&context, &mut result)?;
            within_range(result.dropped)?;
            Ok(Filtered { codes, cordoned })
        })
    }

    /// Runs Assign with all clusters as candidates, and returns the replicas per cluster.
    ///
    /// # Errors
    ///
    /// The plugin's [`Failure`].
    pub fn assign<T: Preferences + 'static, P: AssignPlugin<T>>(&self, plugin: &P) -> Result<Vec<i64>, Failure> {
        let (replicas, _) = self.assign_over(plugin, false, &self.rows(), (0, 1))?;
        Ok(replicas)
    }

    /// Runs Assign like [`Self::assign`], and also returns the plugin's explanation.
    ///
    /// # Errors
    ///
    /// The plugin's [`Failure`].
    pub fn assign_explained<T: Preferences + 'static, P: AssignPlugin<T>>(
        &self,
        plugin: &P,
    ) -> Result<(Vec<i64>, Explanation), Failure> {
        self.assign_over(plugin, true, &self.rows(), (0, 1))
    }

    /// Runs Assign with the candidates in another order: candidate `i` is the cluster with the number `order[i]`. The
    /// result is still in the order of the clusters, so a plugin that promises to be order-independent gives equal
    /// results for all orders.
    ///
    /// # Errors
    ///
    /// The plugin's [`Failure`].
    pub fn assign_in_order<T: Preferences + 'static, P: AssignPlugin<T>>(
        &self,
        plugin: &P,
        order: &[usize],
    ) -> Result<Vec<i64>, Failure> {
        let rows: Vec<Row> = order.iter().copied().map(Row::from_index).collect();
        let (replicas, _) = self.assign_over(plugin, false, &rows, (0, 1))?;
        let mut result = vec![0; self.clusters.len()];
        for (&row, replicas) in order.iter().zip(replicas) {
            if let Some(slot) = result.get_mut(row) {
                *slot = replicas;
            }
        }
        Ok(result)
    }

    /// Runs Assign for one tier: `clusters` are the numbers of its clusters, and `tier` is its index and the number of
    /// tiers. The result is in the order of `clusters`.
    ///
    /// # Errors
    ///
    /// The plugin's [`Failure`].
    pub fn assign_in_tier<T: Preferences + 'static, P: AssignPlugin<T>>(
        &self,
        plugin: &P,
        clusters: &[usize],
        tier: (u32, u32),
    ) -> Result<Vec<i64>, Failure> {
        let rows: Vec<Row> = clusters.iter().copied().map(Row::from_index).collect();
        let (replicas, _) = self.assign_over(plugin, false, &rows, tier)?;
        Ok(replicas)
    }

    fn assign_over<T: Preferences + 'static, P: AssignPlugin<T>>(
        &self,
        plugin: &P,
        explain: bool,
        rows: &[Row],
        tier: (u32, u32),
    ) -> Result<(Vec<i64>, Explanation), Failure> {
        self.with_assign_context(plugin, explain, rows, tier, |context| {
            let mut replicas = vec![0; rows.len()];
            let mut result = AssignResult::new(&mut replicas);
            // A host asks for the promises first, so a failure of theirs comes first as well.
            plugin.stated_promises(context)?;
            plugin.assign(context, &mut result)?;
            within_range(result.dropped)?;
            Ok(replicas)
        })
    }

    /// The first promise stated for all clusters as candidates that `counts` break.
    pub(super) fn broken_promise<T: Preferences + 'static, P: AssignPlugin<T>>(
        &self,
        plugin: &P,
        duplicates: bool,
        counts: &[i64],
    ) -> Result<Option<StatedViolation>, Failure> {
        let checked = self.with_assign_context(plugin, false, &self.rows(), (0, 1), |context| {
            let stated = Stated::of(&plugin.stated_promises(context)?.answered());
            let cluster = |index| context.cluster(Candidate::from_index(index));
            let kept = stated.check(P::NAME, (self.replicas, duplicates), counts, cluster);
            Ok(kept.err())
        });
        checked.map(|(broken, _)| broken)
    }

    /// Runs a step of Assign for these candidates.
    fn with_assign_context<T: Preferences + 'static, P: AssignPlugin<T>, R>(
        &self,
        plugin: &P,
        explain: bool,
        rows: &[Row],
        (tier, tier_count): (u32, u32),
        step: impl FnOnce(&AssignContext<'_, P, T>) -> Result<R, Failure>,
    ) -> Result<(R, Explanation), Failure> {
        let clusters = || rows.iter().filter_map(|row| self.clusters.get(row.index()));
        let columns = self.columns(rows);
        let all_rows = self.rows();
        let preferences = Given::<T>::new(self.preferences_as()?);
        // The host calls a strategy only for a binding that names it.
        let strategy = P::STRATEGIES.first().copied();
        let strategy = strategy.ok_or_else(|| Failure::internal("serves no strategy"))?;
        self.run_for(strategy, explain, P::NEEDS, |cycle| {
            // Like the host, derive the indices from the cluster names that the placement lists.
            let affinities = cycle.binding().affinities();
            let listed: Vec<&str> = affinities.flat_map(|affinity| affinity.cluster_names()).collect();
            let index = |cluster: &ClusterBuilder| listed.iter().position(|name| *name == cluster.name);
            let indices: Vec<u32> = clusters()
                .map(|cluster| index(cluster).map_or(NO_ROW, |index| index as u32))
                .collect();
            let context = AssignContext {
                call: columns.context(plugin, &cycle, rows, &preferences),
                preferences: &preferences,
                assign: AssignCall {
                    replicas: self.replicas,
                    tier,
                    tier_count,
                    policy_index: Slice::new(if listed.is_empty() { &[] } else { &indices }),
                    all_rows: Slice::new(Row::numbers(if tier_count > 1 { &all_rows } else { rows })),
                    ..AssignCall::DEFAULT
                },
            };
            step(&context)
        })
    }

    /// The preferences as the type that a plugin names.
    pub(super) fn preferences_as<T: Preferences>(&self) -> Result<Option<T>, Failure> {
        Ok(crate::export::preferences(&self.preferences)?)
    }

    pub(super) fn rows(&self) -> Vec<Row> {
        (0..self.clusters.len()).map(Row::from_index).collect()
    }

    pub(super) fn column(&self, value: impl Fn(&ClusterBuilder) -> i64) -> Vec<i64> {
        self.clusters.iter().map(value).collect()
    }

    /// Runs one step of a plugin, with a view like the host's.
    pub(super) fn run<T>(
        &self,
        explain: bool,
        needs: Needs,
        step: impl FnOnce(Cycle<'_>) -> Result<T, Failure>,
    ) -> Result<(T, Explanation), Failure> {
        self.run_for("", explain, needs, step)
    }

    /// Runs one step for a binding that names `strategy`, unless the scenario names another one.
    fn run_for<T>(
        &self,
        strategy: &str,
        explain: bool,
        needs: Needs,
        step: impl FnOnce(Cycle<'_>) -> Result<T, Failure>,
    ) -> Result<(T, Explanation), Failure> {
        let mut store = SnapshotStore::new();
        for cluster in &self.clusters {
            cluster.write(&mut store);
        }
        let snapshot = store.snapshot();
        let record = self.record(strategy);
        let mut resolution = Resolution::default();
        resolution.resolve(&snapshot, &record);
        let said = RefCell::new(Explanation::default());
        // SAFETY: the cell outlives the plugin's step, and the step runs on this thread.
        let texts = unsafe { Texts::new(Function::new(take_text), Function::new(take_reason), Address::of(&said)) };
        let options = CycleOptions {
            fresh: self.fresh,
            seed: ties::seed_for(self.seed, &self.uid),
            explain,
            duplicated: self.duplicated,
            ignore_spread: self.ignores_spread_constraints,
            time: self.time,
        };
        let needs = needs.and(self.needs.bits());
        let tables = self.declared_tables(needs, &snapshot)?;
        let resolved = tables.resolve(&snapshot, None);
        let mut placements = self.peers.record();
        placements.resolve(&snapshot);
        let placements = placements.view();
        let mut view = tables.seen_in(cycle_view(&snapshot, &record, &resolution, options), &resolved);
        view.placements = Pointer::new(&placements);
        let policy = policy_view(&record, &resolution);
        let valid_until = Cell::new(i64::MAX);
        let result = step(Cycle::new(&view, &policy, texts, needs, &valid_until));
        self.valid_until.set(valid_until.get());
        let result = result?;
        let said = said.take();
        let is_misplaced = |(cluster, _): &&(usize, String)| *cluster >= self.clusters.len();
        within_range(said.explanations.iter().filter(is_misplaced).count() as u64)?;
        said.check()?;
        Ok((result, said))
    }

    fn record(&self, strategy: &str) -> BindingRecord {
        let mut builder = self.binding.clone();
        let Names {
            namespace,
            binding,
            resource,
            resource_uid,
            strategy: named,
        } = &self.names;
        let resource_uid = resource_uid.as_deref().unwrap_or(&self.uid);
        builder
            .identity(namespace, binding, &self.uid)
            .resource(&self.resource.0, &self.resource.1, namespace, resource, resource_uid)
            .strategy(named.as_deref().unwrap_or(strategy), &self.preferences)
            .replicas(self.replicas, self.workload.unwrap_or(true));
        for (cluster, replicas) in self.last_targets() {
            builder.last(cluster, replicas);
        }
        builder.build()
    }
}

fn built(write: impl FnOnce(&mut AffinityBuilder)) -> AffinityBuilder {
    let mut affinity = AffinityBuilder::default();
    write(&mut affinity);
    affinity
}

/// Fails if the plugin wrote results for clusters that the call does not have. The host ignores and counts them.
pub(super) fn within_range(dropped: u64) -> Result<(), Failure> {
    match dropped {
        0 => Ok(()),
        _ => Err(Failure::internal(format!("{dropped} results are out of range"))),
    }
}
