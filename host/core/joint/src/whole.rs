//! Plans in which every workload has all its replicas, or stays as it is.

use crate::again::{Again, Former, plan_again};
use crate::fleet::{Demand, Fleet, Malformed};
use crate::plan::{Plan, place_from, place_waiting, plan};
use crate::prices::{Relaxation, Settings};
use crate::split;

/// Rounds in which workloads are given up.
const ROUNDS: usize = 40;

/// Replicas of each workload by cluster.
type Placed = Vec<Vec<(u32, u64)>>;

/// The plan with the least cost in which every workload has all its replicas, or stays as it is; with the relaxation, which may place
/// parts of them, so that its bound holds for this plan as well.
///
/// Workloads that the first plan places in part are completed by moving others. Of those that cannot be, some are given up, and the rest
/// is tried with the room that they leave. A plan that only moves others for what waits is made as well, and the better of the two counts.
///
/// # Errors
///
/// [`Malformed`] if the fleet is none.
pub fn plan_whole(fleet: &Fleet, settings: &Settings) -> Result<(Plan, Relaxation), Malformed> {
    let (first, relaxation) = plan(fleet, settings)?;
    Ok((whole(fleet, first)?, relaxation))
}

/// A plan like that of [`plan_whole`], made from a former one as [`plan_again`] does.
///
/// # Errors
///
/// [`Malformed`] if the fleet is none, or the former plan is not one of its demands and clusters.
pub fn plan_whole_again(fleet: &Fleet, former: Former<'_>, settings: &Settings) -> Result<Again, Malformed> {
    let again = plan_again(fleet, former, settings)?;
    Ok(Again {
        plan: whole(fleet, again.plan)?,
        ..again
    })
}

/// A plan without parts, from one that may have some.
fn whole(fleet: &Fleet, first: Plan) -> Result<Plan, Malformed> {
    let repaired = place_waiting(fleet, true)?;
    Ok(match completed(fleet, first.placed) {
        Some(placed) => better(fleet, Plan::new(fleet, placed), repaired),
        None => repaired,
    })
}

/// A plan without parts, from one with parts. `None` if a workload that runs would lose replicas.
fn completed(fleet: &Fleet, mut placed: Placed) -> Option<Placed> {
    for _ in 0..ROUNDS {
        placed = place_from(fleet, &placed, true);
        let mut partial: Vec<usize> = (0..fleet.demands.len())
            .filter(|number| is_partial(&fleet.demands[*number], &placed[*number]))
            .collect();
        if partial.is_empty() {
            // What had moved for a workload that was given up is home again.
            return Some(placed);
        }
        // The least urgent, and of these the ones that lack most, are given up first.
        let missing = |number: &usize| {
            let demand = &fleet.demands[*number];
            (demand.replicas - sum(&placed[*number])) as f64 / demand.replicas as f64
        };
        partial.sort_by(|left, right| {
            let priority = |number: &usize| fleet.demands[*number].priority;
            let by_priority = priority(left).cmp(&priority(right));
            by_priority
                .then(missing(right).total_cmp(&missing(left)))
                .then(left.cmp(right))
        });
        partial.truncate(partial.len().div_ceil(6));
        for number in partial {
            placed[number].clone_from(&fleet.demands[number].running);
        }
        // What ran there before may have no room any more.
        if split::free(fleet, &placed).iter().flatten().any(|free| *free < 0) {
            return None;
        }
    }
    None
}

fn sum(placed: &[(u32, u64)]) -> u64 {
    placed.iter().map(|(_, replicas)| replicas).sum()
}

/// Whether a workload has other replicas than now, but not all of them.
fn is_partial(demand: &Demand, placed: &[(u32, u64)]) -> bool {
    sum(placed) < demand.replicas && placed != demand.running.as_slice()
}

/// The plan that leaves less out, by what that is worth, or else the cheaper one.
fn better(fleet: &Fleet, one: Plan, other: Plan) -> Plan {
    let left_out = |plan: &Plan| {
        let list = fleet.demands.iter().zip(&plan.unplaced);
        list.map(|(demand, unplaced)| demand.worth * *unplaced as f64)
            .sum::<f64>()
    };
    let by_both = left_out(&one)
        .total_cmp(&left_out(&other))
        .then(one.cost.total_cmp(&other.cost));
    if by_both.is_gt() { other } else { one }
}
