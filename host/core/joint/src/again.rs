//! Plans for a fleet that has changed a little since another plan was made.
//!
//! What is still possible of the former plan stays, the rest is placed by chains at the former prices, and the same prices give a bound. That
//! takes a small part of a new plan. Only if it ends too far above the bound, the relaxation is worked on for some steps, from there.

use crate::assignment::Assignment;
use crate::bound::Bound;
use crate::chains::Order;
use crate::classes::Classes;
use crate::fleet::{Demand, Fleet, Malformed};
use crate::gap::{Prices, bound_at};
use crate::plan::{Plan, planned};
use crate::prices::{Relaxation, Settings};
use crate::{refine, repair, rounding, split};

/// A plan that is at most this part above the bound of the former prices is good enough.
const NEAR: f64 = 0.015;
/// Part of the steps of a new relaxation that one from former prices has at most.
const STEPS: usize = 5;

/// A plan of a similar fleet, with the prices of its relaxation.
#[derive(Clone, Copy, Debug)]
pub struct Former<'a> {
    /// By demand of the new fleet, the replicas by cluster of the former plan, in ascending order; empty for those that it did not have.
    pub placed: &'a [Vec<(u32, u64)>],
    /// By cluster of the new fleet; 0 for those that it did not have.
    pub prices: &'a Prices,
}

/// A plan with a bound, and the prices of the bound, which the next one can be made from.
#[derive(Clone, Debug)]
pub struct Again {
    /// The plan.
    pub plan: Plan,
    /// What no plan costs less than.
    pub bound: Bound,
    /// The prices that give the bound.
    pub prices: Prices,
    /// Steps of the relaxation; 0 if none was needed.
    pub steps: usize,
}

/// A plan like that of [`plan()`](crate::plan()), made from a former one. The fewer changes there are between the fleets, the sooner it is made;
/// it is valid in any case.
///
/// # Errors
///
/// [`Malformed`] if the fleet is none, or the former plan is not one of its demands and clusters.
pub fn plan_again(fleet: &Fleet, former: Former<'_>, settings: &Settings) -> Result<Again, Malformed> {
    fleet.check()?;
    let whole = former.prices.whole(fleet)?;
    if former.placed.len() != fleet.demands.len() {
        return Err(Malformed::Former {
            expected: fleet.demands.len(),
            actual: former.placed.len(),
        });
    }
    let classes = Classes::of(fleet);
    let order = Order::new(&classes, &whole);
    let kept = kept(fleet, former.placed);
    let mut assignment = Assignment::at(&classes, &kept);
    let bound = bound_at(&classes, &whole);
    rounding::fill(&mut assignment, &order);
    repair::repair(&mut assignment, &order);
    let near = (1.0 + NEAR) * bound.cost();
    if assignment.cost() > near {
        refine::refine(&mut assignment, &order, bound);
    }
    let again = Again {
        plan: planned(fleet, &assignment),
        bound,
        prices: former.prices.clone(),
        steps: 0,
    };
    if again.plan.cost <= near {
        return Ok(again);
    }
    let point: Vec<f64> = (0..classes.cluster.len())
        .map(|edge| assignment.placed(edge) as f64)
        .collect();
    let settings = Settings {
        steps: settings.steps.div_ceil(STEPS),
        ..*settings
    };
    let relaxation = Relaxation::from(&classes, &settings, whole, &point);
    let plan = crate::plan::plan_of(fleet, &classes, &relaxation);
    Ok(better(again, plan, relaxation))
}

/// The cheaper plan, with the higher bound.
fn better(again: Again, plan: Plan, relaxation: Relaxation) -> Again {
    let plan = if plan.cost < again.plan.cost { plan } else { again.plan };
    let is_higher = relaxation.bound.cost() > again.bound.cost();
    let (bound, prices) = match is_higher {
        true => (relaxation.bound, relaxation.prices),
        false => (again.bound, again.prices),
    };
    Again {
        plan,
        bound,
        prices,
        steps: relaxation.steps,
    }
}

/// What a former plan has that is still possible: no more than is wanted, where it may be, and as much as there is room for.
fn kept(fleet: &Fleet, former: &[Vec<(u32, u64)>]) -> Vec<Vec<(u32, u64)>> {
    let demands = fleet.demands.iter().zip(former);
    let mut kept: Vec<Vec<(u32, u64)>> = demands.map(|(demand, placed)| wanted(demand, placed)).collect();
    let mut free = split::free(fleet, &kept);
    let is_full: Vec<bool> = free.iter().map(|free| free.iter().any(|free| *free < 0)).collect();
    // The least urgent go first, and of these the ones that are worth least for what they take.
    let mut leaving: Vec<(i64, f64, usize, u32)> = Vec::new();
    for (number, (demand, placed)) in fleet.demands.iter().zip(&kept).enumerate() {
        for (cluster, _) in placed.iter().filter(|(cluster, _)| is_full[*cluster as usize]) {
            let room = fleet.room[*cluster as usize].iter().zip(&demand.request);
            let size: f64 = room
                .map(|(room, request)| *request as f64 / (*room as f64).max(1.0))
                .sum();
            leaving.push((
                demand.priority,
                demand.worth / size.max(f64::MIN_POSITIVE),
                number,
                *cluster,
            ));
        }
    }
    leaving.sort_by(|one, other| {
        let by_worth = one.0.cmp(&other.0).then(one.1.total_cmp(&other.1));
        by_worth.then((one.2, one.3).cmp(&(other.2, other.3)))
    });
    for (_, _, number, cluster) in leaving {
        let (demand, free) = (&fleet.demands[number], &mut free[cluster as usize]);
        let missing = free.iter().zip(&demand.request).filter(|(free, _)| **free < 0);
        let needed = missing.map(|(free, request)| match request {
            0 => 0,
            request => free.unsigned_abs().div_ceil(*request),
        });
        let Some((_, replicas)) = kept[number].iter_mut().find(|(other, _)| *other == cluster) else {
            continue;
        };
        let count = needed.max().unwrap_or(0).min(*replicas);
        *replicas -= count;
        for (free, request) in free.iter_mut().zip(&demand.request) {
            *free += (request * count) as i64;
        }
    }
    kept.iter_mut()
        .for_each(|placed| placed.retain(|(_, replicas)| *replicas > 0));
    kept
}

/// What one demand keeps of its replicas by its own limits: first where they run, then where they cost least.
fn wanted(demand: &Demand, placed: &[(u32, u64)]) -> Vec<(u32, u64)> {
    let runs = |cluster: u32| demand.running.iter().any(|(other, _)| *other == cluster);
    let mut possible: Vec<(bool, f64, u32, u64)> = Vec::with_capacity(placed.len());
    for (cluster, replicas) in placed {
        let choice = demand.choices.binary_search_by_key(cluster, |choice| choice.cluster);
        if let Ok(position) = choice {
            possible.push((!runs(*cluster), demand.choices[position].cost, *cluster, *replicas));
        }
    }
    possible.sort_by(|one, other| {
        let by_cost = one.0.cmp(&other.0).then(one.1.total_cmp(&other.1));
        by_cost.then(one.2.cmp(&other.2))
    });
    possible.truncate(demand.clusters.map_or(usize::MAX, |most| most as usize));
    let mut left = demand.replicas;
    let mut wanted = Vec::with_capacity(possible.len());
    for (_, _, cluster, replicas) in possible {
        let replicas = replicas.min(left).min(demand.largest.unwrap_or(u64::MAX));
        left -= replicas;
        if replicas > 0 {
            wanted.push((cluster, replicas));
        }
    }
    wanted.sort_unstable();
    wanted
}
