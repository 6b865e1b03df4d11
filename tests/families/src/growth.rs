//! Fleets that grew: what came first was decided without what came later.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use divvy_joint::{Choice, Demand, Fleet};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{Instance, Policy, Strategy};

/// Rounds in which workloads go and come back.
const ROUNDS: usize = 4;

/// Lets a fleet grow: 85 % of the workloads come first. Then, four times, a fifth of what runs goes, and nearly everything that does not run
/// is tried again; at last, all of it is. Each workload is decided alone, in the order of priorities, wholly or not at all.
pub fn grown(mut instance: Instance, seed: u64) -> Instance {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let count = instance.fleet.demands.len();
    let mut chosen = |part: f64| -> Vec<bool> { (0..count).map(|_| random.random_range(0.0..1.0) < part).collect() };
    place_in_order(&mut instance, &chosen(0.85));
    for _ in 0..ROUNDS {
        let goes = chosen(0.2);
        for (demand, goes) in instance.fleet.demands.iter_mut().zip(goes) {
            if goes {
                demand.running.clear();
            }
        }
        place_in_order(&mut instance, &chosen(0.9));
    }
    place_in_order(&mut instance, &vec![true; count]);
    instance
}

/// The same fleet, to be placed with the fewest moves: clusters cost nothing, and waiting costs more, the more urgent it is.
pub fn fewest_moves(mut fleet: Fleet) -> Fleet {
    let mut free: HashMap<*const Choice, Arc<[Choice]>> = HashMap::new();
    let lists: Vec<Arc<[Choice]>> = fleet.demands.iter().map(|demand| Arc::clone(&demand.choices)).collect();
    for (demand, list) in fleet.demands.iter_mut().zip(&lists) {
        let free = free.entry(list.as_ptr()).or_insert_with(|| {
            let choices = list.iter().map(|choice| Choice { cost: 0.0, ..*choice });
            choices.collect()
        });
        demand.choices = Arc::clone(free);
        demand.worth = 20.0 * 3.0_f64.powi(demand.priority as i32);
    }
    fleet.move_price = 1.0;
    fleet
}

/// The same fleet, in which a move costs so many mean costs of a replica.
pub fn moves_priced(mut fleet: Fleet, price: f64) -> Fleet {
    let replicas: f64 = fleet.demands.iter().map(|demand| demand.replicas as f64).sum();
    let costs = fleet.demands.iter().map(|demand| {
        let all: f64 = demand.choices.iter().map(|choice| choice.cost).sum();
        all / demand.choices.len().max(1) as f64 * demand.replicas as f64
    });
    fleet.move_price = price * costs.sum::<f64>() / replicas.max(1.0);
    fleet
}

/// Decides chosen workloads that do not run, one after another.
fn place_in_order(instance: &mut Instance, is_chosen: &[bool]) {
    let fleet = &mut instance.fleet;
    let mut free: Vec<Vec<i64>> = fleet
        .room
        .iter()
        .map(|room| room.iter().map(|room| *room as i64).collect())
        .collect();
    for demand in &fleet.demands {
        take(&mut free, demand);
    }
    let mut order: Vec<usize> = (0..fleet.demands.len())
        .filter(|number| is_chosen[*number] && fleet.demands[*number].running.is_empty())
        .collect();
    order.sort_by_key(|number| (Reverse(fleet.demands[*number].priority), *number));
    for number in order {
        let demand = &mut fleet.demands[number];
        if let Some(running) = divided(demand, &instance.policies[number], &free) {
            demand.running = running;
            take(&mut free, demand);
        }
    }
}

/// Replicas of a workload by cluster, as its strategy divides them. `None` if not all fit.
fn divided(demand: &Demand, policy: &Policy, free: &[Vec<i64>]) -> Option<Vec<(u32, u64)>> {
    let fits = |choice: &Choice| {
        let free = free[choice.cluster as usize].iter().zip(&demand.request);
        let fits = free
            .filter(|(_, request)| **request > 0)
            .map(|(free, request)| (*free).max(0) as u64 / request);
        let limit = demand.largest.unwrap_or(u64::MAX);
        (choice.cluster, fits.fold(u64::MAX, u64::min).min(limit))
    };
    let mut room: Vec<(u32, u64)> = demand.choices.iter().map(fits).filter(|(_, fits)| *fits > 0).collect();
    if let Some(most) = demand.clusters {
        room.sort_by_key(|(cluster, fits)| (Reverse(*fits), *cluster));
        room.truncate(most as usize);
        room.sort_unstable();
    }
    let all = room.iter().fold(0_u64, |all, (_, fits)| all.saturating_add(*fits));
    if all < demand.replicas || (room.len() as u32) < policy.spread.unwrap_or(0) {
        return None;
    }
    let mut placed: Vec<(u32, u64)> = match policy.strategy {
        Strategy::Dynamic => by_room(&room, demand.replicas, all),
        Strategy::Aggregated => {
            room.sort_by_key(|(cluster, fits)| (Reverse(*fits), *cluster));
            room.iter().map(|(cluster, _)| (*cluster, 0)).collect()
        }
        Strategy::Average => {
            let share = demand.replicas / room.len() as u64;
            room.iter()
                .map(|(cluster, fits)| (*cluster, share.min(*fits)))
                .collect()
        }
    };
    let mut left = demand.replicas - placed.iter().map(|(_, replicas)| replicas).sum::<u64>();
    while left > 0 {
        // All of an aggregated workload that fits goes to one cluster, and one replica of the others to each.
        let most = if policy.strategy == Strategy::Average { 1 } else { left };
        for ((_, placed), (_, fits)) in placed.iter_mut().zip(&room) {
            let more = (fits - *placed).min(most).min(left);
            *placed += more;
            left -= more;
        }
    }
    placed.retain(|(_, replicas)| *replicas > 0);
    placed.sort_unstable();
    Some(placed)
}

/// Shares in proportion to what fits, rounded down.
fn by_room(room: &[(u32, u64)], replicas: u64, all: u64) -> Vec<(u32, u64)> {
    room.iter()
        .map(|(cluster, fits)| {
            let share = u128::from(*fits) * u128::from(replicas) / u128::from(all);
            (*cluster, share as u64)
        })
        .collect()
}

/// Takes the room of what runs of a demand.
fn take(free: &mut [Vec<i64>], demand: &Demand) {
    for (cluster, replicas) in &demand.running {
        for (free, request) in free[*cluster as usize].iter_mut().zip(&demand.request) {
            *free -= (request * replicas) as i64;
        }
    }
}
