//! What no plan can be below: how many must wait, and how many replicas must move.

use divvy_joint::{Choice, Demand, Fleet, Plan, Relaxation, Settings, least_incomplete};

use super::document::{Bound, MustWait};
use super::room::Model;
use crate::future::{Future, Options};

/// Steps of each relaxation. A bound holds after any number of them.
const STEPS: usize = 600;

/// What it costs, in moves, not to place a replica that another plan places.
const LEFT_OUT: f64 = 20.0;

/// The bound on what waits in a model, and on the moves of plans that place the same bindings as the one given.
pub(super) fn bound(model: &Model, future: &Future, options: Options, planned: Option<(&Model, &Plan)>) -> Bound {
    let with_models = model.clusters_with_models(future);
    if with_models > 0 {
        return Bound {
            left_out: Some(format!(
                "clusters with resource models ({with_models}) have room by node, which the bound does not know"
            )),
            ..Bound::default()
        };
    }
    if !model.waits.contains(&true) {
        return Bound {
            waiting: Some(0),
            moves: Some(0),
            ..Bound::default()
        };
    }
    let settings = Settings {
        steps: STEPS,
        gap: 1e-4,
        ..Settings::new(options.threads)
    };
    let (alone, texts) = alone(model, future);
    let unplaced = match Relaxation::solve(&waiting_alone(model), &settings) {
        Ok(solved) => least(solved.bound.cost()),
        // Numbers of a manifest may be beyond all that a cluster has.
        Err(error) => {
            return Bound {
                left_out: Some(error.to_string()),
                ..Bound::default()
            };
        }
    };
    let sizes = model
        .fleet
        .demands
        .iter()
        .zip(&model.waits)
        .filter(|(_, waits)| **waits)
        .map(|(demand, _)| demand.replicas);
    let together = least_incomplete(sizes, unplaced);
    let moves = planned.and_then(|(planned, plan)| {
        // What the plan does not place takes no room in any plan that places the same.
        let is_placed = |(position, entry): (usize, &usize)| {
            let unplaced = planned
                .entries
                .binary_search(entry)
                .map(|position| plan.unplaced[position]);
            !model.waits[position] || unplaced == Ok(0)
        };
        let placed = model.entries.iter().enumerate().map(is_placed);
        let demands = model
            .fleet
            .demands
            .iter()
            .zip(placed)
            .filter(|(_, is_placed)| *is_placed);
        // The less the numbers differ, the sooner the bound is near the least.
        let demands = demands.map(|(demand, _)| Demand {
            worth: LEFT_OUT,
            ..demand.clone()
        });
        let same = relaxed(demands.collect(), model);
        let solved = Relaxation::solve(&same, &settings).ok()?;
        i64::try_from(least(solved.bound.cost())).ok()
    });
    Bound {
        waiting: Some(together.max(alone)),
        moves,
        alone: texts,
        left_out: None,
    }
}

/// The least whole number that is not below a bound.
fn least(bound: f64) -> u64 {
    (bound - 1e-6).ceil().max(0.0) as u64
}

/// The problem in which only replicas that wait cost something: its bound is their least number. Whatever runs has to stay placed.
fn waiting_alone(model: &Model) -> Fleet {
    let demands = model.fleet.demands.iter().zip(&model.waits);
    let demands = demands.map(|(demand, waits)| Demand {
        worth: if *waits { 1.0 } else { 100.0 },
        ..demand.clone()
    });
    Fleet {
        move_price: 0.0,
        ..relaxed(demands.collect(), model)
    }
}

/// These demands without the limits that only help a plan to be accepted: spread constraints are the plugins' own.
fn relaxed(demands: Vec<Demand>, model: &Model) -> Fleet {
    let demands = demands.into_iter().map(|demand| Demand {
        largest: None,
        clusters: None,
        ..demand
    });
    Fleet {
        demands: demands.collect(),
        room: model.fleet.room.clone(),
        move_price: model.fleet.move_price,
    }
}

/// How many bindings would wait even if no other one were there that may move, and why.
fn alone(model: &Model, future: &Future) -> (usize, Vec<MustWait>) {
    let mut rows = Vec::new();
    let waiting = model
        .entries
        .iter()
        .zip(&model.fleet.demands)
        .zip(&model.waits)
        .filter(|(_, waits)| **waits);
    for ((entry, demand), _) in waiting {
        let fits = |choice: &Choice| -> (u64, Option<usize>) {
            let room = model.fleet.room[choice.cluster as usize]
                .iter()
                .zip(&demand.request)
                .enumerate();
            let bounded = room
                .filter(|(_, (_, request))| **request > 0)
                .map(|(position, (room, request))| (room / request, position));
            bounded
                .min()
                .map_or((u64::MAX, None), |(fits, position)| (fits, Some(position)))
        };
        let fits: Vec<(u64, Option<usize>)> = demand.choices.iter().map(fits).collect();
        let all = fits.iter().fold(0_u64, |sum, (fits, _)| sum.saturating_add(*fits));
        if all >= demand.replicas {
            continue;
        }
        // The resource that stops most clusters.
        let mut stopped = vec![0; model.resources.len()];
        fits.iter()
            .filter_map(|(_, position)| *position)
            .for_each(|position| stopped[position] += 1);
        let most = stopped
            .iter()
            .enumerate()
            .max_by_key(|(position, count)| (**count, std::cmp::Reverse(*position)));
        rows.push(MustWait {
            binding: future.entries[*entry].binding.key(),
            kind: future.entries[*entry].binding.object.scope().kind().to_owned(),
            fits: i64::try_from(all).unwrap_or(i64::MAX),
            replicas: i64::try_from(demand.replicas).unwrap_or(i64::MAX),
            resource: most
                .filter(|(_, count)| **count > 0)
                .map(|(position, _)| model.resources[position].clone()),
        });
    }
    (rows.len(), rows)
}
