//! Moves that are taken back.

use crate::fleet::{Fleet, Malformed};
use crate::plan::Plan;
use crate::split;

/// A replica group that could stay where it runs.
struct Return {
    /// What one replica costs more at home.
    more: f64,
    demand: usize,
    home: u32,
    away: u32,
}

/// A plan with fewer moves that places the same and costs at most so much more for its clusters: replicas stay where they run as far as
/// there is room, those first of which that costs least.
///
/// # Errors
///
/// [`Malformed`] if the fleet is none.
pub fn moved_back(fleet: &Fleet, plan: &Plan, more: f64) -> Result<Plan, Malformed> {
    fleet.check()?;
    let mut placed = plan.placed.clone();
    let mut free = split::free(fleet, &placed);
    let mut left = more;
    let mut returns: Vec<Return> = (0..fleet.demands.len())
        .flat_map(|demand| returns(fleet, demand, &placed[demand]))
        .collect();
    returns.sort_by(|one, other| {
        let by_cost = one.more.total_cmp(&other.more);
        by_cost.then((one.demand, one.home, one.away).cmp(&(other.demand, other.home, other.away)))
    });
    for one in returns {
        let demand = &fleet.demands[one.demand];
        let here = |cluster: u32| replicas(&placed[one.demand], cluster);
        let missing = replicas(&demand.running, one.home).saturating_sub(here(one.home));
        let beyond = here(one.away).saturating_sub(replicas(&demand.running, one.away));
        let largest = demand.largest.unwrap_or(u64::MAX).saturating_sub(here(one.home));
        let is_spread_out = demand
            .clusters
            .is_some_and(|most| placed[one.demand].len() >= most as usize);
        let room = free[one.home as usize].iter().zip(&demand.request);
        let room = room.filter(|(_, request)| **request > 0);
        let fits = room.map(|(free, request)| u64::try_from(*free).unwrap_or(0) / request);
        let most = fits.fold(missing.min(beyond).min(largest), u64::min);
        let count = match one.more > 0.0 {
            true => most.min((left / one.more).floor().max(0.0) as u64),
            false => most,
        };
        // One that is in as many clusters as it may be would have to leave the other altogether.
        if count == 0 || is_spread_out && here(one.home) == 0 && here(one.away) > count {
            continue;
        }
        left -= one.more.max(0.0) * count as f64;
        change(&mut placed[one.demand], one.home, |here| here + count);
        change(&mut placed[one.demand], one.away, |here| here - count);
        for (resource, request) in demand.request.iter().enumerate() {
            free[one.home as usize][resource] -= (request * count) as i64;
            free[one.away as usize][resource] += (request * count) as i64;
        }
    }
    Ok(Plan::new(fleet, placed))
}

/// All pairs of a home that some replicas have left and a cluster that has more than run there.
fn returns(fleet: &Fleet, demand: usize, placed: &[(u32, u64)]) -> Vec<Return> {
    let of = &fleet.demands[demand];
    let cost = |cluster: u32| {
        let choice = of.choices.binary_search_by_key(&cluster, |choice| choice.cluster);
        choice.ok().map(|position| of.choices[position].cost)
    };
    let left = of
        .running
        .iter()
        .filter(|(cluster, running)| replicas(placed, *cluster) < *running);
    left.flat_map(|(home, _)| {
        let away = placed
            .iter()
            .filter(|(cluster, here)| *here > replicas(&of.running, *cluster));
        away.filter_map(|(away, _)| {
            Some(Return {
                more: cost(*home)? - cost(*away)?,
                demand,
                home: *home,
                away: *away,
            })
        })
    })
    .collect()
}

fn replicas(list: &[(u32, u64)], cluster: u32) -> u64 {
    list.binary_search_by_key(&cluster, |(cluster, _)| *cluster)
        .map_or(0, |position| list[position].1)
}

/// Changes the replicas in a cluster; a cluster without any is not listed.
fn change(list: &mut Vec<(u32, u64)>, cluster: u32, to: impl FnOnce(u64) -> u64) {
    match list.binary_search_by_key(&cluster, |(cluster, _)| *cluster) {
        Ok(position) => match to(list[position].1) {
            0 => drop(list.remove(position)),
            replicas => list[position].1 = replicas,
        },
        Err(position) => list.insert(position, (cluster, to(0))),
    }
}
