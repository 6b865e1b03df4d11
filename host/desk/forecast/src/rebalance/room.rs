//! The fleet as a problem for all bindings at once.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::convert::Infallible;
use std::sync::Arc;

use divvy_framework_view::clusters::Row;
use divvy_joint::{Choice, Demand, Fleet, Worths, largest_part};
use divvy_scheduler::decision::Scheduler;
use divvy_scheduler::plan::spread_clusters;
use divvy_scheduler::profile::ConfiguredProfile;

use super::standing::{Standing, Stay};
use crate::future::{Entry, Future, Options};
use crate::load::requested;

/// What the plugins of a binding say before anything is planned.
#[derive(Debug, Clone, Default)]
pub(super) struct Surveyed {
    /// Strategy that divides it; empty if it has no plan.
    pub(super) strategy: String,
    /// Clusters that its filters let it use; shared by all that may use the same.
    choices: Option<Arc<[Choice]>>,
    /// Fewest and most clusters by which it is spread.
    groups: (u64, Option<u32>),
}

/// Asks the plugins of all bindings.
pub(super) fn survey(future: &Future, side: &ConfiguredProfile, options: Options) -> Vec<Surveyed> {
    let worker = || {
        let scheduler = Scheduler::new(Arc::clone(&side.profile)).keeping_no_plans();
        let mut scheduler = scheduler.deciding_at(options.time).knowing(future.placements.clone());
        move |entry: &Entry| -> (Surveyed, Option<Vec<u32>>) {
            let plan = scheduler.plan(&entry.binding);
            let Ok(plan) = plan.as_ref() else {
                return (Surveyed::default(), None);
            };
            let strategy = side.profile.strategy(&plan.strategy).ok();
            let is_spread = strategy.is_some_and(|strategy| !plan.ignores_spread(strategy));
            let spread = entry.binding.object.spec.placement.as_deref().filter(|_| is_spread);
            let surveyed = Surveyed {
                strategy: plan.strategy.clone(),
                choices: None,
                groups: spread.map_or((0, None), spread_clusters),
            };
            // A binding that is not scheduled or divided stays, whatever its filters say.
            let is_wanted = strategy.is_some_and(|strategy| strategy.respects_capacity());
            let names = is_wanted.then(|| scheduler.feasible(&entry.binding, &future.fleet));
            let clusters = future.fleet.snapshot().clusters();
            let rows = names.and_then(Result::ok).map(|names| {
                let rows = names.into_iter().filter_map(|name| clusters.row(name));
                rows.filter_map(|row| u32::try_from(row.index()).ok()).collect()
            });
            (surveyed, rows)
        }
    };
    let (mut lists, mut all) = (HashMap::<Vec<u32>, Arc<[Choice]>>::new(), Vec::new());
    let Ok(()) = divvy_parallel::each(&future.entries, options.threads, worker, |(surveyed, rows)| {
        let choices = rows.map(|mut rows: Vec<u32>| {
            rows.sort_unstable();
            let list = |rows: &Vec<u32>| {
                rows.iter()
                    .map(|row| Choice {
                        cluster: *row,
                        cost: 0.0,
                    })
                    .collect()
            };
            Arc::clone(lists.entry(rows).or_insert_with_key(list))
        });
        all.push(Surveyed { choices, ..surveyed });
        Ok::<(), Infallible>(())
    });
    all
}

/// What a plan may do with each entry.
pub(super) fn standings(future: &Future, surveyed: &[Surveyed], side: &ConfiguredProfile) -> Vec<Standing> {
    let entries = future.entries.iter().zip(surveyed);
    let standings = entries.map(|(entry, surveyed)| {
        let standing = Standing::of(entry, &surveyed.strategy, &side.profile);
        let is_elsewhere = || {
            let running = running(entry, future);
            running.len() != entry.targets.len() || running.iter().any(|(row, _)| !surveyed.may_use(*row))
        };
        match standing {
            Standing::Runs if is_elsewhere() => Standing::Stays(Stay::Elsewhere),
            standing => standing,
        }
    });
    standings.collect()
}

impl Surveyed {
    fn may_use(&self, row: u32) -> bool {
        let choices = self.choices.as_deref().unwrap_or_default();
        choices.binary_search_by_key(&row, |choice| choice.cluster).is_ok()
    }
}

/// Replicas of an entry by row, in clusters that exist.
pub(super) fn running(entry: &Entry, future: &Future) -> Vec<(u32, u64)> {
    let clusters = future.fleet.snapshot().clusters();
    let targets = entry.targets.iter().filter_map(|(name, replicas)| {
        let row = u32::try_from(clusters.row(name)?.index()).ok()?;
        Some((row, u64::try_from(*replicas).ok()?))
    });
    let mut running: Vec<(u32, u64)> = targets.filter(|(_, replicas)| *replicas > 0).collect();
    running.sort_unstable();
    running
}

/// A fleet to decide about, and the entry of each of its demands.
#[derive(Clone)]
pub(super) struct Model {
    pub(super) fleet: Fleet,
    pub(super) entries: Vec<usize>,
    pub(super) waits: Vec<bool>,
    /// What runs of each demand beside its own replicas, and stays.
    pub(super) keeps: Vec<Vec<(u32, u64)>>,
    /// Names of the resources.
    pub(super) resources: Vec<String>,
}

/// The bindings that run or wait. Everything else uses the room that it has, and so does what runs of a binding that waits, unless it is
/// where it may not be any more.
pub(super) fn model(future: &Future, standings: &[Standing], surveyed: &[Surveyed]) -> Model {
    let all = || (0..).zip(&future.entries).zip(standings.iter().zip(surveyed));
    let included = || all().filter(|(_, (standing, _))| !matches!(standing, Standing::Stays(_)));
    let resources: BTreeSet<&str> = included()
        .flat_map(|((_, entry), _)| requested(&entry.binding).map(|(name, _)| name))
        .collect();
    let resources: Vec<String> = resources.into_iter().map(str::to_owned).collect();
    let worths = Worths::new(included().map(|((_, entry), _)| entry.binding.priority().into()));
    let mut model = Model {
        fleet: Fleet {
            room: vec![vec![0; resources.len()]; future.fleet.len()],
            demands: Vec::new(),
            move_price: 1.0,
        },
        entries: Vec::new(),
        waits: Vec::new(),
        keeps: Vec::new(),
        resources,
    };
    let mut uses = vec![vec![0_u64; model.resources.len()]; future.fleet.len()];
    for ((index, entry), (standing, surveyed)) in included() {
        let waits = *standing == Standing::Waits;
        let priority = i64::from(entry.binding.priority());
        let mut running = running(entry, future);
        let mut keeps = Vec::new();
        if waits {
            keeps = running.into_iter().filter(|(row, _)| surveyed.may_use(*row)).collect();
            running = Vec::new();
        }
        let request = request(entry, &model.resources);
        for (row, replicas) in &running {
            for (uses, request) in uses[*row as usize].iter_mut().zip(&request) {
                *uses = uses.saturating_add(request.saturating_mul(*replicas));
            }
        }
        let kept: u64 = keeps.iter().map(|(_, replicas)| replicas).sum();
        let replicas = u64::try_from(entry.binding.replicas())
            .unwrap_or(0)
            .saturating_sub(kept);
        let (least, clusters) = surveyed.groups;
        model.fleet.demands.push(Demand {
            largest: largest_part(replicas, least).filter(|_| waits && kept == 0),
            clusters: clusters.map(|most| most.saturating_sub(u32::try_from(keeps.len()).unwrap_or(u32::MAX))),
            replicas,
            request,
            // Whatever runs is worth more than all that waits: it is never left out.
            priority: if waits { priority } else { i64::MAX },
            worth: if waits {
                worths.of(priority)
            } else {
                Worths::of_running()
            },
            choices: surveyed.choices.clone().unwrap_or_else(|| Arc::from([])),
            running,
        });
        model.entries.push(index);
        model.waits.push(waits);
        model.keeps.push(keeps);
    }
    model.add_room(future, &uses);
    model
}

/// By resource, what one replica of an entry takes.
pub(super) fn request(entry: &Entry, resources: &[String]) -> Vec<u64> {
    let mut request = vec![0; resources.len()];
    for (name, quantity) in requested(&entry.binding) {
        if let Ok(position) = resources.binary_search_by(|resource| resource.as_str().cmp(name)) {
            request[position] = u64::try_from(quantity).unwrap_or(0);
        }
    }
    request
}

impl Model {
    /// What an entry of the model has under a plan of it, by row.
    pub(super) fn part(&self, number: usize, placed: &[(u32, u64)]) -> Vec<(u32, u64)> {
        let mut part: BTreeMap<u32, u64> = placed.iter().copied().collect();
        for (row, replicas) in &self.keeps[number] {
            *part.entry(*row).or_insert(0) += replicas;
        }
        part.into_iter().collect()
    }

    /// Adds what is free in each cluster, and what the bindings of the model use there: not more together than the cluster has, unless
    /// they already use more.
    fn add_room(&mut self, future: &Future, uses: &[Vec<u64>]) {
        let clusters = future.fleet.snapshot().clusters();
        for (position, name) in self.resources.iter().enumerate() {
            let columns = clusters.resource(name);
            for (row, (room, uses)) in self.fleet.room.iter_mut().zip(uses).enumerate() {
                let cell = |column: divvy_framework_view::clusters::Column<'_, Row, i64>| {
                    column.get(Row::from_index(row)).unwrap_or(0)
                };
                let (free, most) = columns
                    .as_ref()
                    .map_or((0, 0), |columns| (cell(columns.remaining), cell(columns.allocatable)));
                let taken = future.ledger.as_ref().map_or(0, |ledger| ledger.taken(name, row));
                let free = u64::try_from(free.saturating_sub(taken)).unwrap_or(0);
                let most = u64::try_from(most).unwrap_or(0);
                room[position] = free.saturating_add(uses[position]).min(most).max(uses[position]);
            }
        }
    }

    /// Number of clusters with resource models, which the model counts by their sums.
    pub(super) fn clusters_with_models(&self, future: &Future) -> usize {
        let clusters = future.fleet.snapshot().clusters();
        (0..future.fleet.len())
            .filter(|row| clusters.get(Row::from_index(*row)).model_set() != 0)
            .count()
    }
}
