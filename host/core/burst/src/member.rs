//! The bindings of a burst, and which of them a plan may place.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use divvy_joint::Choice;
use divvy_karmada::api::TargetCluster;
use divvy_scheduler::cycle::{Cycle, CycleInput};
use divvy_scheduler::fleet::estimate::PODS;
use divvy_scheduler::plan::{Decidable, Plan, PlanResult, spread_clusters};

use crate::Burst;

/// A binding that is decided with others.
#[derive(Clone)]
pub struct Member<'a> {
    /// The binding.
    pub binding: &'a (dyn Decidable + Sync),
    /// Its plan under the profile.
    pub plan: PlanResult,
    /// True if its replicas are divided from scratch, so that those that run may move: no plan places it.
    pub is_fresh: bool,
    /// Its result if bindings are decided one after another.
    pub alone: Alone,
}

/// The result of a binding that is decided after those before it, and before those after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Alone {
    /// Its replicas by row, in ascending order; fewer than requested if its policy permits that.
    Placed(Vec<(u32, i64)>),
    /// There is too little room: it stays as it is.
    Waits,
    /// It is not scheduled, or not for another reason than room.
    Settled,
}

/// A member that a plan may place.
#[derive(Debug)]
pub(crate) struct Placeable {
    /// Its position among the members.
    pub(crate) number: usize,
    pub(crate) priority: i32,
    /// Replicas that it needs beyond those that stay.
    pub(crate) wanted: u64,
    /// Requests of a replica, by resource.
    pub(crate) requests: Vec<(String, u64)>,
    /// Clusters that its filters let it use.
    pub(crate) choices: Arc<[Choice]>,
    /// Replicas that run and stay, by row.
    pub(crate) kept: Vec<(u32, u64)>,
    /// Replicas that it gets if bindings are decided one after another, by row.
    pub(crate) alone: Vec<(u32, u64)>,
    /// Fewest and most clusters by which it is spread.
    pub(crate) groups: (u64, Option<u32>),
}

impl Placeable {
    /// Replicas that are missing if bindings are decided one after another.
    pub(crate) fn missing(&self) -> u64 {
        self.wanted - sum(&self.alone)
    }

    /// Requests of a replica as a ledger has them, which adds its pod.
    pub(crate) fn requests(&self) -> impl Iterator<Item = (&str, i64)> {
        let requests = self.requests.iter();
        requests.map(|(resource, quantity)| (resource.as_str(), i64::try_from(*quantity).unwrap_or(i64::MAX)))
    }
}

/// All replicas of a list by row.
pub(crate) fn sum(rows: &[(u32, u64)]) -> u64 {
    rows.iter().map(|(_, replicas)| replicas).sum()
}

/// The members that a plan may place, in their order.
pub(crate) fn placeable(burst: &Burst<'_>, members: &[Member<'_>]) -> Vec<Placeable> {
    let numbered: Vec<(usize, &Member<'_>)> = members.iter().enumerate().collect();
    let worker = || {
        let mut cycle = Cycle::new();
        move |(number, member): &(usize, &Member<'_>)| look_at(burst, *number, member, &mut cycle)
    };
    let found = divvy_parallel::map(&numbered, burst.threads, worker);
    // One list for all that may use the same clusters, so that a plan sees them as equals.
    let mut lists: HashMap<Vec<u32>, Arc<[Choice]>> = HashMap::new();
    let shared = |mut found: Placeable| {
        let rows = found.choices.iter().map(|choice| choice.cluster).collect();
        found.choices = Arc::clone(lists.entry(rows).or_insert_with(|| Arc::clone(&found.choices)));
        found
    };
    found.into_iter().flatten().map(shared).collect()
}

/// A member as a plan may place it; `None` if none may.
fn look_at(burst: &Burst<'_>, number: usize, member: &Member<'_>, cycle: &mut Cycle) -> Option<Placeable> {
    let plan = member.plan.as_ref().as_ref().ok()?;
    let strategy = burst.profile.strategy(&plan.strategy).ok()?;
    let [group] = plan.groups.as_slice() else {
        return None;
    };
    let own = member.binding.input();
    // Where others are decides where it may be, and a plan moves them.
    let has_peers = burst.profile.needs_placements() && own.affinity_groups.is_some();
    let is_divided = !plan.whole && strategy.respects_capacity() && !strategy.duplicates();
    if member.is_fresh || member.alone == Alone::Settled || has_peers || !is_divided {
        return None;
    }
    let input = CycleInput {
        time: burst.time,
        ..CycleInput::new(burst.profile, burst.fleet, plan, group)
    };
    let rows = cycle.feasible(&input).ok()?.to_vec();
    let kept = kept(burst, own.last, &rows);
    let wanted = u64::try_from(plan.replicas).ok()?.checked_sub(sum(&kept))?;
    let alone = growth(&member.alone, &kept, &rows)?;
    if wanted == 0 || sum(&alone) > wanted {
        return None;
    }
    let spread = own.placement.filter(|_| !plan.ignores_spread(strategy));
    let choice = |row: u32| Choice {
        cluster: row,
        cost: 0.0,
    };
    Some(Placeable {
        number,
        priority: own.priority,
        wanted,
        requests: requests(plan),
        alone,
        choices: rows.into_iter().map(choice).collect(),
        kept,
        groups: spread.map_or((0, None), spread_clusters),
    })
}

/// Replicas of the last result that stay, by row: those in clusters that may be used.
fn kept(burst: &Burst<'_>, last: &[TargetCluster], rows: &[u32]) -> Vec<(u32, u64)> {
    let clusters = burst.fleet.snapshot().clusters();
    let mut kept: BTreeMap<u32, u64> = BTreeMap::new();
    for target in last {
        let row = clusters
            .row(&target.name)
            .and_then(|row| u32::try_from(row.index()).ok());
        let row = row.filter(|row| rows.binary_search(row).is_ok());
        if let (Some(row), Ok(replicas @ 1..)) = (row, u64::try_from(target.replicas)) {
            // Of two entries with one name the first counts, as in a cycle.
            kept.entry(row).or_insert(replicas);
        }
    }
    kept.into_iter().collect()
}

/// What a result gives beyond the replicas that stay; `None` if it takes some of them away, or gives some where none may be.
fn growth(alone: &Alone, kept: &[(u32, u64)], rows: &[u32]) -> Option<Vec<(u32, u64)>> {
    let Alone::Placed(placed) = alone else {
        return Some(Vec::new());
    };
    let mut growth: BTreeMap<u32, u64> = BTreeMap::new();
    for (row, replicas) in placed {
        let replicas = u64::try_from(*replicas).ok()?;
        if replicas > 0 && rows.binary_search(row).is_err() {
            return None;
        }
        growth.insert(*row, replicas);
    }
    for (row, stays) in kept {
        let here = growth.get_mut(row)?;
        *here = here.checked_sub(*stays)?;
    }
    growth.retain(|_, replicas| *replicas > 0);
    Some(growth.into_iter().collect())
}

/// What a replica requests, a pod included.
fn requests(plan: &Plan) -> Vec<(String, u64)> {
    let requested = plan.requests.iter().filter(|(resource, _)| resource != PODS);
    let requested = requested.filter_map(|(resource, quantity)| {
        let quantity = u64::try_from(*quantity).ok().filter(|quantity| *quantity > 0)?;
        Some((resource.clone(), quantity))
    });
    requested.chain([(PODS.to_owned(), 1)]).collect()
}
