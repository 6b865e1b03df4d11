//! Plans: who is where.

use crate::assignment::Assignment;
use crate::chains::Order;
use crate::classes::Classes;
use crate::fleet::{Fleet, Malformed};
use crate::prices::{Relaxation, Settings};
use crate::{refine, repair, rounding, split};

/// Where the replicas of each workload are to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// By demand, replicas by cluster, in ascending order of clusters.
    pub placed: Vec<Vec<(u32, u64)>>,
    /// By demand, replicas that are not placed.
    pub unplaced: Vec<u64>,
    /// By demand, replicas that leave the cluster where they run.
    pub moved: Vec<u64>,
    /// Moves times their price, costs of clusters, and the worth of what is not placed.
    pub cost: f64,
}

impl Plan {
    pub(crate) fn new(fleet: &Fleet, placed: Vec<Vec<(u32, u64)>>) -> Self {
        let mut plan = Self {
            unplaced: Vec::new(),
            moved: Vec::new(),
            cost: 0.0,
            placed,
        };
        for (demand, placed) in fleet.demands.iter().zip(&plan.placed) {
            let sum: u64 = placed.iter().map(|(_, replicas)| replicas).sum();
            let stay = |(cluster, replicas): &(u32, u64)| {
                let now = placed
                    .binary_search_by_key(cluster, |(cluster, _)| *cluster)
                    .map_or(0, |position| placed[position].1);
                replicas.saturating_sub(now)
            };
            let moved: u64 = demand.running.iter().map(stay).sum();
            let unplaced = demand.replicas - sum;
            for (cluster, replicas) in placed {
                let choice = demand.choices.binary_search_by_key(cluster, |choice| choice.cluster);
                plan.cost += choice.map_or(0.0, |position| demand.choices[position].cost) * *replicas as f64;
            }
            plan.cost += fleet.move_price * moved as f64 + demand.worth * unplaced as f64;
            plan.unplaced.push(unplaced);
            plan.moved.push(moved);
        }
        plan
    }
}

/// The plan for all workloads that costs least, as near as its relaxation leads, and the relaxation itself.
///
/// Workloads are placed in part where not all of their replicas can be.
///
/// # Errors
///
/// [`Malformed`] if the fleet is none.
pub fn plan(fleet: &Fleet, settings: &Settings) -> Result<(Plan, Relaxation), Malformed> {
    fleet.check()?;
    let classes = Classes::of(fleet);
    let relaxation = Relaxation::of(&classes, settings);
    Ok((plan_of(fleet, &classes, &relaxation), relaxation))
}

/// The plan that a relaxation leads to.
pub(crate) fn plan_of(fleet: &Fleet, classes: &Classes, relaxation: &Relaxation) -> Plan {
    let order = Order::new(classes, &relaxation.whole);
    let mut assignment = Assignment::empty(classes);
    rounding::round(&mut assignment, &order, &relaxation.placed);
    repair::repair(&mut assignment, &order);
    refine::refine(&mut assignment, &order, relaxation.bound);
    planned(fleet, &assignment)
}

/// The plan of an assignment.
pub(crate) fn planned(fleet: &Fleet, assignment: &Assignment<'_>) -> Plan {
    let mut placed = split::split(assignment, fleet);
    split::place_rest(fleet, &mut placed);
    Plan::new(fleet, placed)
}

/// Places what waits, by moving others where it must: at most two, one after the other, for each group of replicas. No replica that runs is
/// left out for it. If `whole`, a workload is placed with all its replicas or stays as it is.
///
/// # Errors
///
/// [`Malformed`] if the fleet is none.
pub fn place_waiting(fleet: &Fleet, whole: bool) -> Result<Plan, Malformed> {
    fleet.check()?;
    let running: Vec<_> = fleet.demands.iter().map(|demand| demand.running.clone()).collect();
    Ok(Plan::new(fleet, place_from(fleet, &running, whole)))
}

/// The same, from where replicas are under another plan. Those that may return home without harm do.
pub(crate) fn place_from(fleet: &Fleet, present: &[Vec<(u32, u64)>], whole: bool) -> Vec<Vec<(u32, u64)>> {
    let sum = |placed: &[(u32, u64)]| placed.iter().map(|(_, replicas)| replicas).sum::<u64>();
    let classes = Classes::apart(fleet, |number, demand| sum(&present[number]) < demand.replicas);
    // Prices of room were tried for the order, and found no more chains than their absence.
    let order = Order::new(&classes, &vec![0.0; classes.room.len()]);
    let mut assignment = Assignment::at(&classes, present);
    repair::place_waiting(&mut assignment, &order, whole);
    let mut placed = split::split(&assignment, fleet);
    if whole {
        for ((demand, placed), present) in fleet.demands.iter().zip(&mut placed).zip(present) {
            if sum(placed) < demand.replicas {
                // Also where no replica may be placed any more.
                placed.clone_from(present);
            }
        }
    }
    placed
}
